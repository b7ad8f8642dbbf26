"""Add-ons: names and settings, and the pools and policy of the autoscaler."""

from __future__ import annotations

import pytest
from oci_tenancy import PLUGIN_OFF, RIGHTS, as_json, labels, statements
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.oci import set_node_pool_size, tokens
from pulumi_rehearsal.standin.oci.oke_nodes import runs_gpu_plugin


def setting(key, value):
    return [{"key": key, "value": value}]


def test_addon_has_a_composite_id_and_a_version(oke):
    made = oke.addon("NvidiaGpuPlugin")
    assert made.id == f"clusters/{oke.cluster.id}/addons/NvidiaGpuPlugin"
    assert made.outputs["currentInstalledVersion"].startswith("v")


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("NvidiaGpuPlugins", {}, "OKE has no add-on 'NvidiaGpuPlugins'"),
        ("NvidiaGpuPlugin", {"version": "latest"}, "'latest' must have the form"),
        ("CoreDNS", {"configurations": setting("minReplicas", "2")}, "has no setting 'minRepl"),
        ("CoreDNS", {"configurations": setting("numOfReplicas", "two")}, "not a whole number"),
        ("CoreDNS", {"configurations": setting("numOfReplicas", 2)}, "must be a string"),
        ("CoreDNS", {"configurations": setting("tolerations", "[{")}, "tolerations must be JSON"),
        ("CoreDNS", {"configurations": 2 * setting("minReplica", "2")}, "given twice"),
    ],
)
def test_invalid_addon(oke, invalid, name, inputs, message):
    with invalid(message):
        oke.addon(name, **inputs)


def test_json_may_be_in_base64(oke):
    assert oke.addon(
        "NvidiaGpuPlugin", configurations=setting("tolerations", "W3sib3BlcmF0b3IiOiAiRXhpc3RzIn1d")
    )


def test_refuse_an_addon_of_a_basic_cluster(oke, refused):
    basic = oke.make_cluster("basic", type="BASIC_CLUSTER")
    with refused("add-on NvidiaGpuPlugin requires an enhanced cluster, basic is a basic one"):
        oke.addon("NvidiaGpuPlugin", clusterId=basic.id)


def test_refuse_a_second_resource_of_an_addon(oke, refused):
    oke.addon("NvidiaGpuPlugin")
    with refused("resource NvidiaGpuPlugin already installs add-on NvidiaGpuPlugin"):
        oke.addon("NvidiaGpuPlugin", "again")


def test_refuse_an_essential_addon_without_override_existing(oke, refused):
    with refused("CoreDNS is part of every new cluster; set overrideExisting"):
        oke.addon("CoreDNS")
    assert oke.addon("CoreDNS", overrideExisting=True)


def test_delete_of_a_default_addon_disables_it(oke):
    pool = oke.pool()
    plugin = oke.addon("NvidiaGpuPlugin")
    assert runs_gpu_plugin(oke.world, pool)
    oke.delete(plugin)
    assert not runs_gpu_plugin(oke.world, pool)
    assert any("nothing in its cluster advertises" in one for one in world_faults(oke.world))
    oke.addon("NvidiaGpuPlugin", "again")
    assert runs_gpu_plugin(oke.world, pool)


def test_disabled_essential_addon_is_a_fault(oke):
    coredns = oke.addon("CoreDNS", overrideExisting=True)
    oke.delete(coredns)
    assert ["'ci' has no add-on CoreDNS" in one for one in world_faults(oke.world)] == [True]


def test_delete_of_a_cluster_removes_its_disabled_addons(oke):
    oke.delete(oke.addon("NvidiaGpuPlugin"))
    oke.delete(oke.cluster)
    assert oke.world.all(tokens.ADDON) == ()


def test_oracles_plugin_runs_on_nvidia_gpus_without_its_label(oke):
    off = labels(**{PLUGIN_OFF: "true"})
    assert runs_gpu_plugin(oke.world, oke.pool())
    assert not runs_gpu_plugin(oke.world, oke.pool("off", initialNodeLabels=off))
    assert not runs_gpu_plugin(oke.world, oke.system_pool())


# The autoscaler


@pytest.fixture
def managed(oke):
    """A cluster with a system pool, a GPU pool and the policy."""
    oke.system_pool()
    oke.gpu = oke.pool()
    oke.policy()
    return oke


def test_autoscaler_with_pools_and_policy(managed):
    made = managed.autoscaler(
        nodes=f"0:4:{managed.gpu.id}",
        authType="workload",
        maxNodeProvisionTime="25m",
        nodeSelectors=as_json({"example.com/role": "system"}),
        scaleDownUnneededTime="10m",
        balanceSimilarNodeGroups="true",
    )
    assert made.outputs["state"] == "ACTIVE"
    assert managed.warnings() == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "nodes and nodeGroupAutoDiscovery; given: none"),
        (
            {"nodes": "0:4:ocid1.nodepool.x", "nodeGroupAutoDiscovery": "compartmentId:x"},
            "given: nodes and nodeGroupAutoDiscovery",
        ),
        ({"nodes": "4:ocid1.nodepool.x"}, "is not <min>:<max>:<node pool's OCID>"),
        ({"nodes": "4:0:ocid1.nodepool.x"}, "whose minimum is above its maximum"),
        ({"nodes": "0:4:a, 0:5:a"}, "contains node pool a twice"),
        ({"nodes": "0:4:a", "authType": "user"}, "neither 'instance' nor 'workload'"),
        ({"nodes": "0:4:a", "expander": "price"}, "'price' is not supported on OCI"),
        ({"nodes": "0:4:a", "maxNodeProvisionTime": "25"}, "'25' is not a duration such as 15m"),
        ({"nodes": "0:4:a", "leaderElect": "yes"}, "'yes' is neither 'true' nor 'false'"),
        ({"nodes": "0:4:a", "scaleDownUnneeded": "5m"}, "has no setting 'scaleDownUnneeded'"),
        ({"nodeGroupAutoDiscovery": "all"}, "must have the form compartmentId:<ocid>"),
    ],
)
def test_invalid_autoscaler(managed, invalid, settings, message):
    with invalid(message):
        managed.autoscaler(**settings)


def test_refuse_an_autoscaler_of_a_missing_pool(managed, refused):
    with refused("contains node pool ocid1.nodepool.x, which does not exist"):
        managed.autoscaler(nodes="0:4:ocid1.nodepool.x", authType="workload")


def test_refuse_an_autoscaler_of_another_clusters_pool(managed, refused):
    other = managed.make_cluster("other")
    pool = managed.pool("theirs", clusterId=other.id)
    with refused("node pool theirs, which is not in cluster ci"):
        managed.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


def test_refuse_a_workload_identity_without_a_policy(oke, refused):
    oke.system_pool()
    pool = oke.pool()
    with refused("no policy of the program allows kube-system/cluster-autoscaler of cluster ci"):
        oke.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


@pytest.mark.parametrize("missing", RIGHTS)
def test_refuse_a_policy_without(oke, refused, missing):
    oke.system_pool()
    pool = oke.pool()
    oke.policy(*(right for right in RIGHTS if right != missing))
    with refused(f"of cluster ci to {missing} .yet"):
        oke.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


def test_refuse_the_policy_of_another_cluster(oke, refused):
    oke.system_pool()
    pool = oke.pool()
    term = "request.principal.cluster_id = 'ocid1.cluster.oc1.iad.aaaaaaaaother'"
    text = statements(oke.cluster, RIGHTS, term)
    oke.make(tokens.POLICY, "other", description="d", statements=text)
    with refused("no policy of the program"):
        oke.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


def test_policy_may_grant_more(oke):
    oke.system_pool()
    pool = oke.pool()
    oke.policy("manage all-resources")
    assert oke.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")


def test_warn_of_an_instance_principal_without_a_policy(managed):
    managed.autoscaler(nodes=f"0:4:{managed.gpu.id}")
    assert "authType is instance, but no policy of the program" in managed.warnings()[-1]


def test_warn_of_an_autoscaler_that_manages_every_pool(oke):
    system = oke.system_pool()
    oke.policy()
    oke.autoscaler(nodes=f"1:4:{system.id}", authType="workload")
    assert "leave one pool out of nodes" in oke.warnings()[0]


def test_warn_of_an_autoscaler_without_a_node_for_its_pod(oke):
    pool = oke.pool()
    oke.system_pool(size=0)
    oke.policy()
    oke.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")
    assert "NEEDS_ATTENTION" in oke.warnings()[0]


def test_set_node_pool_size_is_limited_by_the_bounds(managed):
    managed.autoscaler(nodes=f"0:4:{managed.gpu.id}", authType="workload")
    set_node_pool_size(managed.world, "ci", "a10", 4)
    assert len(managed.now(managed.gpu).outputs["nodes"]) == 4
    with pytest.raises(ValueError, match="5 is outside 0 to 4 of node pool a10"):
        set_node_pool_size(managed.world, "ci", "a10", 5)
    with pytest.raises(ValueError, match="matches none, must match one pool"):
        set_node_pool_size(managed.world, "ci", "t4", 1)
