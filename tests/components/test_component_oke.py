"""Components of OKE: inputs that are text, taints in two places, and dependencies."""

import base64
import json
from typing import Any

import pulumi_oci as oci
import pytest

from fleet.clusters.nodes import LiveSize
from fleet.clusters.oke import OkePool
from tests import fleets
from tests.components import oke_makers
from tests.computed import OCI_CALLS
from tests.engine import Registered, Registration, deploy_both

POOL = oci.containerengine.NodePool
ADDON = oci.containerengine.Addon
RULE = oci.core.NetworkSecurityGroupSecurityRule
GPU = {"shape": "VM.GPU.A10.1"}
CPU = {"shape": "VM.Standard.E5.Flex", "ocpus": 2, "memory_gb": 16}


def made(make: Any, plan: Any, **args: Any) -> Registered:
    return deploy_both(
        lambda: make("one", plan, fleets.providers(), **args) and None, calls=OCI_CALLS
    )


def pool(which: OkePool, **args: Any) -> Registration:
    plan = oke_makers.platform()
    return made(oke_makers.node_pool, plan, which=which, **args).one(POOL)


def settings(addon: Registration) -> dict[str, Any]:
    return {one["key"]: one["value"] for one in addon.inputs["configurations"]}


def test_taints_are_in_the_kubelet_arguments_and_in_the_metadata_for_the_autoscaler() -> None:
    metadata = pool(oke_makers.pool(**GPU, preemptible=True)).inputs["nodeMetadata"]
    flag = metadata["kubelet-extra-args"]
    assert flag == (
        "--register-with-taints=nvidia.com/gpu=:NoSchedule,"
        "oci.oraclecloud.com/oke-is-preemptible=present:NoSchedule"
    )
    script = base64.b64decode(metadata["user_data"]).decode()
    assert script.startswith("#!/bin/bash\n"), "cloud-init looks at the first bytes"
    assert f'--kubelet-extra-args "{flag}"' in script
    assert script.index("oci-growfs") < script.index("oke-init.sh --kubelet"), (
        "the kubelet reports the disk that it finds when it starts"
    )


def test_a_pool_without_taints_has_no_kubelet_arguments() -> None:
    inputs = pool(oke_makers.pool(**CPU)).inputs
    assert set(inputs["nodeMetadata"]) == {"user_data"}
    assert inputs["nodeShapeConfig"] == {"ocpus": 2, "memoryInGbs": 16}


def test_a_gpu_pool_has_a_large_boot_volume_as_text_and_no_size() -> None:
    inputs = pool(oke_makers.pool(**GPU)).inputs
    assert inputs["nodeSourceDetails"]["bootVolumeSizeInGbs"] == "400"
    assert "nodeShapeConfig" not in inputs, "a fixed shape takes no size"
    labels = {one["key"]: one["value"] for one in inputs["initialNodeLabels"]}
    assert labels["gpu-runners/pool"] == "this"
    assert labels["gpu-runners/role"] == "gpu"
    assert inputs["freeformTags"]["cluster-autoscaler/node-ephemeral-storage"].endswith("i")


def test_domains_are_in_order_with_their_capacity() -> None:
    wanted = ["Uocm:US-ASHBURN-AD-2", "Uocm:US-ASHBURN-AD-1"]
    placed = pool(oke_makers.pool(**GPU)).inputs["nodeConfigDetails"]["placementConfigs"]
    assert [one["availabilityDomain"] for one in placed] == wanted
    assert not any("preemptibleNodeConfig" in one for one in placed)
    reserved = "ocid1.capacityreservation.oc1.iad.aaaaone"
    (placed,) = pool(
        oke_makers.pool(**GPU, availability_domains=wanted[1:], capacity_reservation_id=reserved)
    ).inputs["nodeConfigDetails"]["placementConfigs"]
    assert placed["capacityReservationId"] == reserved
    spot = pool(oke_makers.pool(**GPU, preemptible=True)).inputs["nodeConfigDetails"]
    for one in spot["placementConfigs"]:
        action = one["preemptibleNodeConfig"]["preemptionAction"]
        assert action == {"type": "TERMINATE", "isPreserveBootVolume": False}


def test_cycling_and_eviction_are_as_asked() -> None:
    inputs = pool(oke_makers.pool(**GPU, node_cycling=True, eviction_minutes=5)).inputs
    assert inputs["nodePoolCyclingDetails"]["isNodeCyclingEnabled"] is True
    assert inputs["nodePoolCyclingDetails"]["maximumUnavailable"] == "0"
    assert inputs["nodeEvictionNodePoolSettings"]["evictionGraceDuration"] == "PT5M"
    assert "nodePoolCyclingDetails" not in pool(oke_makers.pool(**GPU)).inputs


def test_oke_ends_no_job_on_a_gpu_pool_and_the_provider_waits_as_long() -> None:
    settings = "nodeEvictionNodePoolSettings"
    gpu, cpu = pool(oke_makers.pool(**GPU)), pool(oke_makers.pool(**CPU))
    assert gpu.inputs[settings]["isForceDeleteAfterGraceDuration"] is False
    assert cpu.inputs[settings]["isForceDeleteAfterGraceDuration"] is True, "pods of others too"
    assert gpu.timeouts == {"update": "120m", "delete": "120m"}
    cycled = pool(oke_makers.pool(**GPU, node_cycling=True, max_size=8, eviction_minutes=30))
    assert cycled.timeouts == {"update": "300m", "delete": "90m"}, "one node after the other"


@pytest.mark.parametrize(("live", "size"), [(None, 1), (5, 5), (0, 1), (9, 8)])
def test_the_autoscaler_owns_the_size_within_the_bounds(live: int | None, size: int) -> None:
    plan = oke_makers.pool(**GPU, min_size=1)
    if live is not None:
        plan = plan.at_live_size(LiveSize(desired_size=live))
    registered = pool(plan)
    assert registered.inputs["nodeConfigDetails"]["size"] == size
    assert registered.ignore_changes == (), "an ignored size is a stale one when a tag changes"


def test_the_autoscaler_has_its_policy_first_and_names_every_pool_that_it_scales() -> None:
    found = made(oke_makers.autoscaler, oke_makers.platform())
    addon = found.one(ADDON)
    assert found.one("oci:Identity/policy:Policy").urn in addon.depends_on
    assert settings(addon)["authType"] == "workload"
    assert settings(addon)["nodes"] == "0:4:ocid1.nodepool.oc1.iad.t4"
    assert json.loads(settings(addon)["nodeSelectors"]) == {"gpu-runners/role": "system"}
    for statement in found.one("oci:Identity/policy:Policy").inputs["statements"]:
        assert statement.startswith("Allow any-user to ")
        for part in ("type = 'workload'", "namespace = 'kube-system'", oke_makers.CLUSTER_ID):
            assert part in statement, "without the conditions any-user is every principal"


def test_the_gpu_plugin_has_one_owner() -> None:
    provider = made(oke_makers.addons, oke_makers.platform()).one(ADDON)
    assert provider.inputs["addonName"] == "NvidiaGpuPlugin"
    assert provider.inputs["overrideExisting"] is True
    assert json.loads(settings(provider)["tolerations"])[0]["key"] == "nvidia.com/gpu"
    plan = oke_makers.cluster({"gpu_stack": {"advertiser": "device_plugin"}})
    assert made(oke_makers.addons, plan.platform).find(ADDON) == []
    assert plan.gpu_stack.device_plugin is not None
    label = "oci.oraclecloud.com/disable-gpu-device-plugin"
    assert [one.labels.get(label) for one in plan.pools] == [None, "true"]


def test_the_cluster_is_enhanced_and_its_kubeconfig_holds_no_token() -> None:
    found = made(oke_makers.oke_cluster, oke_makers.platform({"oke": {"profile": "ci"}}))
    cluster = found.one(oci.containerengine.Cluster)
    assert cluster.inputs["type"] == "ENHANCED_CLUSTER"
    assert cluster.inputs["kubernetesVersion"] == "v1.35.2"
    assert cluster.protect
    (component,) = found.find("gpu-runners:oci:OkeCluster")
    (outputs,) = found.outputs[component.urn]
    assert outputs.is_secret("kubeconfig")
    kubeconfig = json.loads(outputs.data["kubeconfig"])
    assert kubeconfig["clusters"][0]["cluster"] == {
        "server": "https://203.0.113.9:6443",
        "certificate-authority-data": "Y2VydGlmaWNhdGU=",
    }
    user = kubeconfig["users"][0]["user"]["exec"]
    assert user["command"] == "oci"
    assert user["args"][:4] == ["--region", "us-ashburn-1", "--profile", "ci"]


def test_a_private_cluster_has_a_private_endpoint() -> None:
    plan = oke_makers.platform({"oke": {"api": {"allow": []}}})
    found = made(oke_makers.oke_cluster, plan)
    endpoint = found.one(oci.containerengine.Cluster).inputs["endpointConfig"]
    assert endpoint["isPublicIpEnabled"] is False
    subnets = made(oke_makers.network, plan).find(oci.core.Subnet)
    public = {one.name for one in subnets if not one.inputs["prohibitPublicIpOnVnic"]}
    assert public == {"one-load-balancer"}


def test_nodes_may_reach_the_control_plane_and_only_named_ranges_the_api() -> None:
    found = made(oke_makers.network, oke_makers.platform())
    rules = {one.name.removeprefix("one-"): one for one in found.find(RULE)}
    for port in (6443, 12250):
        assert f"endpoint-ingress-worker-tcp-{port}" in rules
        assert f"worker-egress-endpoint-tcp-{port}" in rules
    outside = [
        one
        for one in rules.values()
        if one.inputs.get("sourceType") == "CIDR_BLOCK" and one.inputs["protocol"] != "1"
    ]
    assert [one.inputs["source"] for one in outside] == ["203.0.113.0/24"]
    assert not any(
        one.inputs.get("ingressSecurityRules") for one in found.find(oci.core.SecurityList)
    ), "the security list of the subnets allows no ingress"


def test_an_existing_vcn_is_used_without_changes() -> None:
    subnet = "ocid1.subnet.oc1.iad.aaaa"
    network = {
        "cidr": None,
        "vcn_id": "ocid1.vcn.oc1.iad.aaaa",
        "endpoint_subnet_id": f"{subnet}1",
        "worker_subnet_id": f"{subnet}2",
    }
    plan = oke_makers.platform({"oke": {"network": network}})
    found = made(oke_makers.network, plan)
    assert [one for one in found.resources if one.type.startswith("oci:")] == []
    outputs = found.outputs[found.one("gpu-runners:oci:OkeNetwork").urn][0].data
    assert outputs["subnet_ids"]["pod"] == f"{subnet}2"
