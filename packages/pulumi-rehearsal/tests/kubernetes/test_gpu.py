"""The charts of NVIDIA's GPU operator and device plugin."""

import pytest
from kubernetes_cluster import DEFINITION, EKS_SCOPE, GPU_GROUP, RELEASE, SYSTEM_GROUP, Cluster
from pulumi_rehearsal.standin.kubernetes import world_faults

PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}
CONFIG_LABEL = "nvidia.com/device-plugin.config"
SLICED = "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}"


def operator(**values):
    off = {"driver": {"enabled": False}, "toolkit": {"enabled": False}}
    return {
        "chart": "gpu-operator",
        "name": "gpu-operator",
        "namespace": "gpu-operator",
        "repositoryOpts": {"repo": "https://helm.ngc.nvidia.com/nvidia"},
        "timeout": 1800,
        "values": {**off, **values},
        "version": "v26.7.0",
    }


def plugin(**values):
    return {
        "chart": "nvidia-device-plugin",
        "name": "device-plugin",
        "namespace": "gpu-operator",
        "repositoryOpts": {"repo": "https://nvidia.github.io/k8s-device-plugin"},
        "values": values,
        "version": "0.20.0",
    }


@pytest.fixture
def gpu_cluster(eks_cluster: Cluster) -> Cluster:
    eks_cluster.namespace("gpu-operator", labels=PRIVILEGED)
    return eks_cluster


def with_group(**changes):
    cluster = Cluster(EKS_SCOPE)
    cluster.eks(SYSTEM_GROUP, {**GPU_GROUP, **changes})
    cluster.namespace("gpu-operator", labels=PRIVILEGED)
    return cluster


def test_operator_and_plugin_with_one_advertiser(gpu_cluster: Cluster):
    gpu_cluster.release(operator(devicePlugin={"enabled": False}))
    gpu_cluster.release(plugin())
    assert world_faults(gpu_cluster.world) == []


def test_operator_leaves_its_definitions_in_an_existing_cluster(cluster: Cluster):
    cluster.namespace("gpu-operator", labels=PRIVILEGED)
    made = cluster.release(operator())
    cluster.change(made, version="v26.7.1")
    cluster.delete(made)
    (warning,) = cluster.warnings()
    assert "groups nvidia.com and nfd.k8s-sigs.io stay in the cluster" in warning
    (left,) = cluster.world.all(DEFINITION)
    assert cluster.world.is_kept(left)


def test_definitions_of_the_operator_go_with_a_cluster_of_the_program(gpu_cluster: Cluster):
    gpu_cluster.release(operator())
    assert gpu_cluster.warnings() == []


def test_install_refuses_the_operators_plugin_beside_another_one(gpu_cluster: Cluster, refused):
    gpu_cluster.release(plugin())
    with refused("advertises nvidia.com/gpu in this cluster already"):
        gpu_cluster.release(operator())


def test_install_refuses_a_second_plugin(gpu_cluster: Cluster, refused):
    gpu_cluster.release(plugin())
    gpu_cluster.namespace("more")
    with refused("advertises nvidia.com/gpu in this cluster already"):
        gpu_cluster.release({**plugin(), "namespace": "more"})


def test_gpus_that_are_not_advertised_are_a_fault(gpu_cluster: Cluster):
    gpu_cluster.release(operator(devicePlugin={"enabled": False}))
    assert ["nothing in its cluster advertises" in f for f in world_faults(gpu_cluster.world)] == [
        True
    ]


@pytest.mark.parametrize("part", ["driver", "toolkit"])
def test_install_refuses_what_the_image_contains(gpu_cluster: Cluster, refused, part):
    with refused(f"{part}.enabled is true, but the nodes' image AL2023_x86_64_NVIDIA contains"):
        gpu_cluster.release(operator(**{part: {"enabled": True}}))


@pytest.mark.parametrize("part", ["driver", "toolkit"])
def test_install_refuses_the_chart_defaults_of(gpu_cluster: Cluster, refused, part):
    with refused(f"{part}.enabled is true"):
        gpu_cluster.release(operator(**{part: {}}))


def test_later_node_group_that_does_not_fit_the_operator_is_a_fault():
    cluster = Cluster(EKS_SCOPE)
    cluster.eks(SYSTEM_GROUP)
    cluster.namespace("gpu-operator", labels=PRIVILEGED)
    cluster.release(operator(driver={"enabled": True}))
    group = {"clusterName": "ci", **GPU_GROUP}
    cluster.put("aws:eks/nodeGroup:NodeGroup", "late", group, group)
    assert any("driver.enabled is true" in fault for fault in world_faults(cluster.world))


def test_install_refuses_a_namespace_without_privileged_pods(eks_cluster: Cluster, refused):
    eks_cluster.namespace("gpu-operator")
    with refused("lacks the label pod-security.kubernetes.io/enforce=privileged"):
        eks_cluster.release(operator())


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        (
            operator(devicePlugin={"config": {"create": True, "name": "c"}}),
            "values.devicePlugin.config.data",
            "is required",
        ),
        ({**plugin(), "namespace": "default"}, "namespace", "refuses the namespace 'default'"),
        (
            plugin(config={"name": "x", "map": {"a": SLICED}}),
            "values.config.name",
            "one of the two",
        ),
        (
            plugin(config={"default": "b", "map": {"a": SLICED}}),
            "values.config.default",
            "not in config.map",
        ),
        (
            plugin(config={"map": {"a": SLICED, "b": SLICED}}),
            "values.config.default",
            "several configs",
        ),
        (plugin(config={"map": {"a": "flags: {}"}}), "values.config.map.a", "version: v1"),
        (plugin(config={"map": {"a": "{"}}), "values.config.map.a", "is not YAML"),
        (
            plugin(config={"map": {"a": SLICED.replace("4", "1")}}),
            "values.config.map.a",
            "at least 2",
        ),
        (plugin(config={"defualt": "a"}), "values.config.defualt", "did you mean 'default'"),
    ],
    ids=[
        "a config map without data",
        "the namespace 'default'",
        "a map beside a name",
        "a missing default",
        "no default among several",
        "a config without its version",
        "a config that is not YAML",
        "slices of one",
        "a mistyped key",
    ],
)
def test_check_refuses(cluster: Cluster, inputs, path, reason):
    found = cluster.invalid(RELEASE, inputs)
    assert path in found, found
    assert reason in found[path]


def test_install_refuses_a_node_label_without_its_config(refused):
    labels = {**GPU_GROUP["labels"], CONFIG_LABEL: "sliced"}
    cluster = with_group(labels=labels)
    with refused("has the label nvidia.com/device-plugin.config=sliced, which is not"):
        cluster.release(plugin(config={"default": "a", "map": {"a": SLICED}}))
    assert cluster.release(plugin(config={"default": "sliced", "map": {"sliced": SLICED}}))


def test_install_refuses_a_taint_that_the_plugin_does_not_tolerate(refused):
    taints = [*GPU_GROUP["taints"], {"key": "team", "value": "ml", "effect": "NO_EXECUTE"}]
    cluster = with_group(taints=taints)
    with refused("has the taint 'team', which the plugin does not tolerate"):
        cluster.release(plugin())
    both = [{"key": "nvidia.com/gpu", "operator": "Exists"}, {"key": "team", "value": "ml"}]
    assert cluster.release(plugin(tolerations=both))


def test_install_refuses_gpu_nodes_without_the_charts_label(refused):
    cluster = with_group(labels={})
    with refused("lacks the label nvidia.com/gpu.present=true"):
        cluster.release(plugin())


def test_plugin_needs_no_node_without_taints():
    cluster = Cluster(EKS_SCOPE)
    cluster.eks(GPU_GROUP)
    cluster.namespace("gpu-operator")
    assert cluster.release(plugin())


def test_later_node_group_that_does_not_fit_the_plugin_is_a_fault():
    cluster = Cluster(EKS_SCOPE)
    cluster.eks(SYSTEM_GROUP)
    cluster.namespace("gpu-operator", labels=PRIVILEGED)
    cluster.release(plugin())
    group = {"clusterName": "ci", **GPU_GROUP, "labels": {}}
    cluster.put("aws:eks/nodeGroup:NodeGroup", "late", group, group)
    assert any("lacks the label nvidia.com/gpu.present" in f for f in world_faults(cluster.world))
