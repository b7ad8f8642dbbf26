"""The GPU stack of a cluster: one advertiser, on GPU nodes only."""

import json
from typing import Any

import pytest

from fleet.gpu_stack.plan import GpuStackPlan
from fleet.kubernetes.releases import to_values
from tests.fleet.samples import GONE, cluster_of, eks_of, pool_of

STACK = "clusters.ci.gpu_stack"
T4 = "clusters.ci.eks.pools.t4"
GPU_NODES = [{"key": "gpu-runners/role", "operator": "In", "values": ["gpu"]}]
SYSTEM_NODES = [{"key": "gpu-runners/role", "operator": "In", "values": ["system"]}]
BY_OPERATOR = {STACK: {"advertiser": "operator", "operator": {}}}
PLUGIN_ALONE = {STACK: {"advertiser": "device_plugin"}}


def selected(values: dict[str, Any]) -> list[Any]:
    (term,) = values["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    return term["matchExpressions"]


def advertisers(plan: GpuStackPlan) -> list[str]:
    found = ["device_plugin"] if plan.device_plugin is not None else []
    if plan.operator is not None and plan.operator.values["devicePlugin"]["enabled"]:
        found.append("operator")
    return found


@pytest.mark.parametrize(
    ("changes", "advertiser"),
    [({}, "device_plugin"), (PLUGIN_ALONE, "device_plugin"), (BY_OPERATOR, "operator")],
    ids=["plugin beside operator", "plugin alone", "operator"],
)
def test_exactly_one_chart_advertises_gpus(changes: dict[str, Any], advertiser: str) -> None:
    assert advertisers(cluster_of(changes).gpu_stack) == [advertiser]


def test_the_operator_is_installed_only_where_the_stack_file_has_it() -> None:
    assert cluster_of(PLUGIN_ALONE).gpu_stack.operator is None


def test_the_node_image_owns_driver_and_toolkit() -> None:
    operator = cluster_of().gpu_stack.operator
    assert operator is not None
    assert operator.values["driver"] == operator.values["toolkit"] == {"enabled": False}


@pytest.mark.parametrize("metrics", [True, False])
def test_metrics_are_a_choice_and_need_no_definitions_of_prometheus(metrics: bool) -> None:
    operator = cluster_of({f"{STACK}.operator.metrics": metrics}).gpu_stack.operator
    assert operator is not None
    exporter = operator.values["dcgmExporter"]
    assert exporter["enabled"] is metrics
    assert exporter.get("serviceMonitor") == ({"enabled": False} if metrics else None)


def test_a_cluster_without_gpus_has_no_gpu_stack() -> None:
    changes = {
        "clusters.existing.eks.pools.t4": GONE,
        "clusters.existing.gitlab": GONE,
        "clusters.existing.gpu_stack": {"advertiser": "operator", "operator": {}},
    }
    plan = cluster_of(changes, name="existing")
    assert plan.gpu_stack == GpuStackPlan(device_plugin=None, operator=None)
    assert eks_of(changes, name="existing").efa_plugin is None


def test_daemonsets_select_gpu_nodes_and_deployments_the_system_pool() -> None:
    stack = cluster_of().gpu_stack
    assert stack.device_plugin is not None
    assert stack.operator is not None
    assert selected(stack.device_plugin.values) == GPU_NODES
    nfd = stack.operator.values["node-feature-discovery"]
    assert selected(nfd["worker"]) == GPU_NODES
    assert selected(nfd["master"]) == selected(nfd["gc"]) == SYSTEM_NODES
    assert selected(stack.operator.values["operator"]) == SYSTEM_NODES


def test_every_taint_of_the_gpu_pools_is_tolerated_by_everything_that_runs_there() -> None:
    changes = {f"{T4}.paused": True}
    stack = cluster_of(changes).gpu_stack
    assert stack.device_plugin is not None
    assert stack.operator is not None
    taints = [
        to_values(taint.tolerated())
        for taint in (*pool_of(changes).taints, *pool_of(changes, "a100").taints)
    ]
    for tolerations in (
        stack.device_plugin.values["tolerations"],
        stack.operator.values["daemonsets"]["tolerations"],
        stack.operator.values["node-feature-discovery"]["worker"]["tolerations"],
    ):
        assert all(taint in tolerations for taint in taints)
        assert all(one["operator"] == "Exists" for one in tolerations)


@pytest.mark.parametrize("changes", [{}, BY_OPERATOR], ids=["plugin", "operator"])
def test_each_pool_names_a_config_that_its_advertiser_has(changes: dict[str, Any]) -> None:
    more = {**changes, "clusters.ci.eks.pools.a100.sharing": {"time_slicing": 4}}
    more["clusters.ci.github.lanes.big.gpus"] = 1
    plan = cluster_of(more)
    stack = plan.gpu_stack
    if stack.device_plugin is not None:
        configs = stack.device_plugin.values["config"]["map"]
        default = stack.device_plugin.values["config"]["default"]
    else:
        assert stack.operator is not None
        configs = stack.operator.values["devicePlugin"]["config"]["data"]
        default = stack.operator.values["devicePlugin"]["config"]["default"]
    named = {
        pool.labels["nvidia.com/device-plugin.config"]
        for pool in plan.pools
        if pool.gpu is not None
    }
    assert named == {"time-slicing-2", "time-slicing-4"}
    assert set(configs) == {"whole", *named}
    assert default == "whole"
    for pool in eks_of(more).gpu_pools:
        config = json.loads(configs[pool.labels["nvidia.com/device-plugin.config"]])
        (sliced,) = config["sharing"]["timeSlicing"]["resources"]
        assert sliced == {"name": "nvidia.com/gpu", "replicas": pool.time_slices}


def test_the_efa_plugin_comes_with_the_pools_that_ask_for_it() -> None:
    plugin = eks_of().efa_plugin
    assert plugin is not None
    assert plugin.values["supportedInstanceLabels"] == {
        "keys": ["gpu-runners/pool"],
        "values": ["a100"],
    }
    assert plugin.values["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]
    assert eks_of({"clusters.ci.eks.pools.a100.efa": False}).efa_plugin is None


def test_a_change_of_the_gpu_stack_has_half_an_hour() -> None:
    stack = cluster_of().gpu_stack
    for release in (stack.device_plugin, stack.operator, eks_of().efa_plugin):
        assert release is not None
        assert release.timeout_s >= 1800


def test_the_values_of_the_device_plugin_have_the_charts_keys() -> None:
    release = cluster_of(PLUGIN_ALONE).gpu_stack.device_plugin
    assert release is not None
    values = dict(release.values)
    assert values.pop("affinity")["nodeAffinity"]
    assert values.pop("tolerations")
    assert set(values.pop("config")) == {"map", "default"}
    assert values == {
        "priorityClassName": "system-node-critical",
        "failOnInitError": False,
        "gfd": {"enabled": False},
        "nfd": {"enabled": False},
    }


def test_the_values_of_the_operator_have_the_charts_keys() -> None:
    release = cluster_of(BY_OPERATOR).gpu_stack.operator
    assert release is not None
    values = dict(release.values)
    assert set(values.pop("devicePlugin")["config"]) == {"name", "create", "default", "data"}
    assert set(values.pop("node-feature-discovery")) == {"worker", "master", "gc"}
    assert set(values.pop("operator")) == {"affinity"}
    assert set(values.pop("daemonsets")) == {"tolerations"}
    assert values == {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "nfd": {"enabled": True},
        "dcgmExporter": {"enabled": True, "serviceMonitor": {"enabled": False}},
        "migManager": {"enabled": False},
    }


def host_devices_of(devices: dict[str, int]) -> dict[str, Any]:
    plan = cluster_of({"clusters.honey.existing.pools.dri.devices": devices}, "honey")
    assert plan.host_devices is not None
    (daemonset,) = plan.host_devices.daemonsets
    return daemonset.pod["spec"]


def test_each_host_device_is_one_flag_with_its_count() -> None:
    (container,) = host_devices_of({"dri": 4, "kvm": 2})["containers"]
    arguments = container["args"]
    assert arguments[:2] == ["--domain", "gpu-runners"]
    assert arguments[2::2] == ["--device", "--device"]
    assert [json.loads(text) for text in arguments[3::2]] == [
        {"name": "dri", "groups": [{"count": 4, "paths": [{"path": "/dev/dri"}]}]},
        {"name": "kvm", "groups": [{"count": 2, "paths": [{"path": "/dev/kvm"}]}]},
    ]


def test_the_host_device_plugin_mounts_the_hosts_devices_and_the_kubelets_sockets() -> None:
    spec = host_devices_of({"dri": 1})
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"]}
    (container,) = spec["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert paths == mounts == {"device-plugins": "/var/lib/kubelet/device-plugins", "dev": "/dev"}
    assert container["securityContext"] == {"privileged": True}
    assert spec["automountServiceAccountToken"] is False
