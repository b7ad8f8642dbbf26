"""Pools and nodes: labels, taints and tags exactly, and what a node has left for jobs."""

from typing import Any

import pytest

from fleet.catalog.daemonsets import (
    DEVICE_PLUGIN_DAEMONSETS,
    EFA_DAEMONSETS,
    EKS_NODE_DAEMONSETS,
    GPU_OPERATOR_DAEMONSETS,
    GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS,
    NODE_MONITORING_DAEMONSETS,
)
from fleet.catalog.ec2 import instance_type
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.kubelet import eks_allocatable
from fleet.clusters.nodes import (
    daemonset_placement,
    daemonset_requests,
    daemonset_tolerations,
    job_tolerations,
    smallest,
)
from fleet.gpu_stack.ownership import gpu_daemonsets, ownership
from fleet.kubernetes.labels import GPU_TAINT, PAUSED_TAINT
from fleet.kubernetes.pods import Toleration
from fleet.kubernetes.resources import Resources, format_cpu, format_memory
from tests.fleet.samples import GONE, every_key, loaded, pool_of

T4 = "clusters.ci.eks.pools.t4"
A100 = "clusters.ci.eks.pools.a100"
STACK = "clusters.ci.gpu_stack"
OF_EKS = (*EKS_NODE_DAEMONSETS, *NODE_MONITORING_DAEMONSETS)


def test_a_cpu_pool_says_its_name_and_its_role_and_repels_nobody() -> None:
    pool = pool_of(name="system")
    assert pool.labels == {"gpu-runners/pool": "system", "gpu-runners/role": "system"}
    assert (pool.role, pool.taints, pool.sharing, pool.gpu) == ("system", (), None, None)
    assert pool.ami_type == "AL2023_x86_64_STANDARD"


def test_a_gpu_pool_carries_what_plugin_autoscaler_and_lanes_look_for() -> None:
    pool = pool_of({f"{T4}.sharing": GONE, f"{T4}.ami_type": GONE})
    assert pool.labels == {
        "example.com/team": "ci",
        "gpu-runners/pool": "t4",
        "gpu-runners/role": "gpu",
        "nvidia.com/gpu.present": "true",
        "k8s.amazonaws.com/accelerator": "nvidia-tesla-t4",
        "nvidia.com/device-plugin.config": "whole",
    }
    assert pool.taints == (GPU_TAINT,)
    assert pool.ami_type == "AL2023_x86_64_NVIDIA"
    assert (pool.gpu, pool.advertised, pool.time_slices) == ("T4", 1, 1)


def test_a_shared_pool_names_its_config_and_advertises_every_slice() -> None:
    pool = pool_of({f"{T4}.instance_types": ["g4dn.12xlarge"], f"{T4}.sharing.time_slicing": 3})
    assert pool.labels["nvidia.com/device-plugin.config"] == pool.sharing == "time-slicing-3"
    assert (pool.advertised, pool.nodes[0].gpus, pool.time_slices) == (12, 4, 3)


def test_an_empty_group_is_imagined_as_its_nodes_will_be() -> None:
    pool = pool_of()
    offer = eks_allocatable(
        instance_type("g4dn.2xlarge"), root_disk_gib=200, instance_store_raid0=True
    )
    node = "k8s.io/cluster-autoscaler/node-template"
    assert pool.autoscaling_tags == {
        "k8s.io/cluster-autoscaler/enabled": "true",
        "k8s.io/cluster-autoscaler/ci": "owned",
        f"{node}/label/example.com/team": "ci",
        f"{node}/label/gpu-runners/pool": "t4",
        f"{node}/label/gpu-runners/role": "gpu",
        f"{node}/label/nvidia.com/gpu.present": "true",
        f"{node}/label/k8s.amazonaws.com/accelerator": "nvidia-tesla-t4",
        f"{node}/label/nvidia.com/device-plugin.config": "time-slicing-2",
        f"{node}/taint/nvidia.com/gpu": "true:NoSchedule",
        f"{node}/resources/cpu": format_cpu(offer.cpu_m),
        f"{node}/resources/memory": format_memory(offer.memory_mib),
        f"{node}/resources/ephemeral-storage": format_memory(offer.disk_mib),
        f"{node}/resources/nvidia.com/gpu": "2",
    }


def test_tags_of_a_group_offer_the_least_of_its_instance_types() -> None:
    pool = pool_of({f"{T4}.instance_types": ["g4dn.2xlarge", "g4dn.xlarge"]})
    least = smallest(node.allocatable for node in pool.nodes)
    assert least == pool.nodes[1].allocatable
    tags = pool.autoscaling_tags
    assert tags["k8s.io/cluster-autoscaler/node-template/resources/cpu"] == format_cpu(least.cpu_m)


def test_a_pool_with_efa_offers_it_to_the_autoscaler_too() -> None:
    pool = pool_of(name="a100")
    tag = "k8s.io/cluster-autoscaler/node-template/resources/vpc.amazonaws.com/efa"
    assert pool.autoscaling_tags[tag] == "4"
    assert (pool.efa_interfaces, pool.network_cards) == (4, 4)
    assert tag not in pool_of({f"{A100}.efa": False}, name="a100").autoscaling_tags


def test_a_paused_pool_keeps_its_maximum_and_takes_no_job() -> None:
    pool = pool_of({f"{T4}.paused": True, f"{T4}.min_size": 3})
    assert (pool.min_size, pool.max_size) == (0, 10)
    assert pool.taints == (GPU_TAINT, PAUSED_TAINT)
    assert job_tolerations([pool]) == (Toleration(key="nvidia.com/gpu", effect="NoSchedule"),)
    taint = "k8s.io/cluster-autoscaler/node-template/taint/gpu-runners/paused"
    assert pool.autoscaling_tags[taint] == "true:NoSchedule", "else it would grow for a lane"


def test_daemonsets_tolerate_every_taint_of_the_pools_once() -> None:
    pools = [pool_of(), pool_of({f"{T4}.paused": True}), pool_of(name="system")]
    tolerated = (
        Toleration(key="nvidia.com/gpu", effect="NoSchedule"),
        Toleration(key="gpu-runners/paused", effect="NoSchedule"),
    )
    assert daemonset_tolerations(pools) == tolerated
    assert daemonset_placement(pools).tolerations == tolerated


def test_what_is_left_for_jobs_is_what_daemonsets_and_reserve_leave() -> None:
    node = pool_of().nodes[0]
    pods = (*OF_EKS, *DEVICE_PLUGIN_DAEMONSETS, *GPU_OPERATOR_DAEMONSETS)
    assert node.daemonsets == Resources(
        cpu_m=sum(pod.cpu_m for pod in pods),
        memory_mib=sum(pod.memory_mib for pod in pods),
        disk_mib=0,
    )
    assert node.reserve == Resources(cpu_m=100, memory_mib=256, disk_mib=1024)
    assert node.free + node.daemonsets + node.reserve == node.allocatable


@pytest.mark.parametrize(
    ("stack", "added"),
    [
        (GONE, DEVICE_PLUGIN_DAEMONSETS),
        ({"advertiser": "device_plugin"}, DEVICE_PLUGIN_DAEMONSETS),
        ({"operator": {}}, (*DEVICE_PLUGIN_DAEMONSETS, *GPU_OPERATOR_DAEMONSETS)),
        (
            {"advertiser": "operator", "operator": {}},
            (*GPU_OPERATOR_DAEMONSETS, *GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS),
        ),
    ],
    ids=["by default", "plugin", "plugin and operator", "operator"],
)
def test_a_gpu_node_runs_the_daemonsets_of_its_gpu_stack(stack: Any, added: tuple) -> None:
    changes = {STACK: stack, f"{A100}.efa": False}
    assert (
        gpu_daemonsets(ownership(loaded(every_key(changes)).stack.clusters["ci"].gpu_stack))
        == added
    )
    assert pool_of(changes).nodes[0].daemonsets == daemonset_requests((*OF_EKS, *added))
    assert pool_of(changes, "a100").nodes[0].daemonsets == daemonset_requests((*OF_EKS, *added))
    with_efa = pool_of({STACK: stack}, "a100")
    assert with_efa.nodes[0].daemonsets == daemonset_requests((*OF_EKS, *added, *EFA_DAEMONSETS))


@pytest.mark.parametrize("operator", [GONE, {}])
def test_a_cpu_node_runs_none_of_the_gpu_stack(operator: Any) -> None:
    pool = pool_of({f"{STACK}.operator": operator}, "system")
    everywhere = [pod for pod in OF_EKS if pod.where == "every_node"]
    assert pool.nodes[0].daemonsets == daemonset_requests(everywhere)


def test_a_pool_takes_zones_and_release_of_its_cluster_unless_it_has_its_own() -> None:
    pool = pool_of({f"{T4}.release_version": GONE})
    assert pool.zones == ("us-west-2a", "us-west-2b")
    assert pool.release_version == KUBERNETES_VERSIONS["1.35"].ami_release
    assert pool_of().release_version == "1.35.8-20260923"
    assert pool_of(name="a100").zones == ("us-west-2a",)


@pytest.mark.parametrize(
    ("changes", "raid0"),
    [
        ({}, True),
        ({f"{T4}.instance_store": "unused"}, False),
        ({f"{T4}.instance_types": ["p3.2xlarge"]}, False),
    ],
    ids=["by default", "unused", "a type without"],
)
def test_local_disks_are_joined_where_there_are_some(changes: dict, raid0: bool) -> None:
    pool = pool_of(changes)
    assert pool.raid0 is raid0
    on_root = eks_allocatable(
        instance_type(pool.instance_types[0]), root_disk_gib=200, instance_store_raid0=False
    )
    assert (pool.nodes[0].allocatable.disk_mib == on_root.disk_mib) is not raid0


def test_a_pool_is_found_by_its_place_and_named_after_its_cluster() -> None:
    pool = pool_of()
    assert (pool.path, pool.logical_name) == ("clusters.ci.eks.pools.t4", "ci-t4")
    assert pool.instance_types == ("g4dn.2xlarge",)


def test_the_least_is_taken_resource_by_resource() -> None:
    several = [
        Resources(cpu_m=1, memory_mib=20, disk_mib=300),
        Resources(cpu_m=2, memory_mib=10, disk_mib=400),
    ]
    assert smallest(iter(several)) == Resources(cpu_m=1, memory_mib=10, disk_mib=300)


def test_the_least_of_nothing_is_no_amount() -> None:
    with pytest.raises(ValueError, match="empty"):
        smallest([])
