"""Add-ons: names, settings, and what the autoscaler may manage by what right."""

from __future__ import annotations

import pytest
from oci_tenancy import PLUGIN_OFF, RIGHTS, as_json, labels, statements
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.oci import set_node_pool_size, tokens
from pulumi_rehearsal.standin.oci.oke_nodes import runs_gpu_plugin


def setting(key, value):
    return [{"key": key, "value": value}]


def test_an_addon_has_a_composite_id_and_a_version(fleet):
    made = fleet.addon("NvidiaGpuPlugin")
    assert made.id == f"clusters/{fleet.cluster.id}/addons/NvidiaGpuPlugin"
    assert made.outputs["currentInstalledVersion"].startswith("v")


@pytest.mark.parametrize(
    ("name", "inputs", "words"),
    [
        ("NvidiaGpuPlugins", {}, "OKE has no add-on 'NvidiaGpuPlugins'"),
        ("NvidiaGpuPlugin", {"version": "latest"}, "'latest' is no version"),
        ("CoreDNS", {"configurations": setting("minReplicas", "2")}, "has no setting 'minRepl"),
        ("CoreDNS", {"configurations": setting("numOfReplicas", "two")}, "no whole number"),
        ("CoreDNS", {"configurations": setting("numOfReplicas", 2)}, "must be a string"),
        ("CoreDNS", {"configurations": setting("tolerations", "[{")}, "tolerations must be JSON"),
        ("CoreDNS", {"configurations": 2 * setting("minReplica", "2")}, "given twice"),
    ],
)
def test_what_oke_does_not_take_is_invalid(fleet, invalid, name, inputs, words):
    with invalid(words):
        fleet.addon(name, **inputs)


def test_json_may_be_in_base64(fleet):
    assert fleet.addon(
        "NvidiaGpuPlugin", configurations=setting("tolerations", "W3sib3BlcmF0b3IiOiAiRXhpc3RzIn1d")
    )


def test_addons_need_an_enhanced_cluster(fleet, refused):
    basic = fleet.make_cluster("basic", type="BASIC_CLUSTER")
    with refused("add-on NvidiaGpuPlugin needs an enhanced cluster, basic is a basic one"):
        fleet.addon("NvidiaGpuPlugin", clusterId=basic.id)


def test_one_resource_owns_an_addon(fleet, refused):
    fleet.addon("NvidiaGpuPlugin")
    with refused("has add-on NvidiaGpuPlugin from resource NvidiaGpuPlugin already"):
        fleet.addon("NvidiaGpuPlugin", "again")


def test_an_essential_addon_is_overridden_only_on_purpose(fleet, refused):
    with refused("CoreDNS is in every cluster from the beginning; set overrideExisting"):
        fleet.addon("CoreDNS")
    assert fleet.addon("CoreDNS", overrideExisting=True)


def test_deleting_the_resource_of_a_default_addon_disables_it(fleet):
    pool = fleet.pool()
    plugin = fleet.addon("NvidiaGpuPlugin")
    assert runs_gpu_plugin(fleet.world, pool)
    fleet.delete(plugin)
    assert not runs_gpu_plugin(fleet.world, pool)
    assert any("nothing in its cluster advertises" in one for one in world_faults(fleet.world))
    fleet.addon("NvidiaGpuPlugin", "again")
    assert runs_gpu_plugin(fleet.world, pool)


def test_an_essential_addon_that_was_disabled_is_a_fault(fleet):
    coredns = fleet.addon("CoreDNS", overrideExisting=True)
    fleet.delete(coredns)
    assert ["'ci' has no add-on CoreDNS" in one for one in world_faults(fleet.world)] == [True]


def test_nothing_is_left_of_a_disabled_addon_when_its_cluster_goes(fleet):
    fleet.delete(fleet.addon("NvidiaGpuPlugin"))
    fleet.delete(fleet.cluster)
    assert fleet.world.all(tokens.ADDON) == ()


def test_oracles_plugin_runs_on_nvidia_gpus_unless_a_label_says_no(fleet):
    off = labels(**{PLUGIN_OFF: "true"})
    assert runs_gpu_plugin(fleet.world, fleet.pool())
    assert not runs_gpu_plugin(fleet.world, fleet.pool("off", initialNodeLabels=off))
    assert not runs_gpu_plugin(fleet.world, fleet.system_pool())


# The autoscaler


@pytest.fixture
def managed(fleet):
    """A fleet with a system pool, a GPU pool and the policy."""
    fleet.system_pool()
    fleet.gpu = fleet.pool()
    fleet.policy()
    return fleet


def test_an_autoscaler_with_its_policy_and_pools_is_fine(managed):
    made = managed.autoscaler(
        nodes=f"0:4:{managed.gpu.id}",
        authType="workload",
        maxNodeProvisionTime="25m",
        nodeSelectors=as_json({"gpu-runners/role": "system"}),
        scaleDownUnneededTime="10m",
        balanceSimilarNodeGroups="true",
    )
    assert made.outputs["state"] == "ACTIVE"
    assert managed.warnings() == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "nodes and nodeGroupAutoDiscovery; given: none"),
        (
            {"nodes": "0:4:ocid1.nodepool.x", "nodeGroupAutoDiscovery": "compartmentId:x"},
            "given: nodes and nodeGroupAutoDiscovery",
        ),
        ({"nodes": "4:ocid1.nodepool.x"}, "is not <min>:<max>:<node pool's OCID>"),
        ({"nodes": "4:0:ocid1.nodepool.x"}, "a minimum above the maximum"),
        ({"nodes": "0:4:a, 0:5:a"}, "names node pool a twice"),
        ({"nodes": "0:4:a", "authType": "user"}, "neither 'instance' nor 'workload'"),
        ({"nodes": "0:4:a", "expander": "price"}, "'price' is not supported on OCI"),
        ({"nodes": "0:4:a", "maxNodeProvisionTime": "25"}, "'25' is no duration such as 15m"),
        ({"nodes": "0:4:a", "leaderElect": "yes"}, "'yes' is neither 'true' nor 'false'"),
        ({"nodes": "0:4:a", "scaleDownUnneeded": "5m"}, "has no setting 'scaleDownUnneeded'"),
        ({"nodeGroupAutoDiscovery": "all"}, "is not written as compartmentId:<ocid>"),
    ],
)
def test_what_the_autoscaler_does_not_take_is_invalid(managed, invalid, settings, words):
    with invalid(words):
        managed.autoscaler(**settings)


def test_an_autoscaler_of_pools_that_do_not_exist_is_refused(managed, refused):
    with refused("names node pool ocid1.nodepool.x, which does not exist"):
        managed.autoscaler(nodes="0:4:ocid1.nodepool.x", authType="workload")


def test_an_autoscaler_of_another_clusters_pool_is_refused(managed, refused):
    other = managed.make_cluster("other")
    pool = managed.pool("theirs", clusterId=other.id)
    with refused("node pool theirs, which is of another cluster than ci"):
        managed.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


def test_a_workload_identity_without_its_policy_is_refused(fleet, refused):
    fleet.system_pool()
    pool = fleet.pool()
    with refused("no policy of the stack lets kube-system/cluster-autoscaler of cluster ci"):
        fleet.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


@pytest.mark.parametrize("missing", RIGHTS)
def test_each_right_is_needed(fleet, refused, missing):
    fleet.system_pool()
    pool = fleet.pool()
    fleet.policy(*(right for right in RIGHTS if right != missing))
    with refused(f"of cluster ci {missing} .yet"):
        fleet.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


def test_a_policy_for_another_cluster_does_not_count(fleet, refused):
    fleet.system_pool()
    pool = fleet.pool()
    term = "request.principal.cluster_id = 'ocid1.cluster.oc1.iad.aaaaaaaaother'"
    text = statements(fleet.cluster, RIGHTS, term)
    fleet.make(tokens.POLICY, "other", description="d", statements=text)
    with refused("no policy of the stack"):
        fleet.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


def test_a_wider_right_holds_a_narrower_one(fleet):
    fleet.system_pool()
    pool = fleet.pool()
    fleet.policy("manage all-resources")
    assert fleet.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


def test_an_instance_principal_without_a_policy_is_warned_of(managed):
    managed.autoscaler(nodes=f"0:4:{managed.gpu.id}")
    assert "authType instance: no policy of the stack" in managed.warnings()[-1]


def test_an_autoscaler_that_manages_every_pool_is_warned_of(fleet):
    system = fleet.system_pool()
    fleet.policy()
    fleet.autoscaler(nodes=f"1:4:{system.id}", authType="workload")
    assert "leave one pool out of nodes" in fleet.warnings()[0]


def test_an_autoscaler_without_a_node_for_itself_is_warned_of(fleet):
    pool = fleet.pool()
    fleet.system_pool(size=0)
    fleet.policy()
    fleet.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")
    assert "NEEDS_ATTENTION" in fleet.warnings()[0]


def test_the_autoscaler_keeps_within_its_bounds(managed):
    managed.autoscaler(nodes=f"0:4:{managed.gpu.id}", authType="workload")
    set_node_pool_size(managed.world, "ci", "a10", 4)
    assert len(managed.now(managed.gpu).outputs["nodes"]) == 4
    with pytest.raises(ValueError, match="5 is outside 0 to 4 of node pool a10"):
        set_node_pool_size(managed.world, "ci", "a10", 5)
    with pytest.raises(ValueError, match="means none, must mean one"):
        set_node_pool_size(managed.world, "ci", "t4", 1)
