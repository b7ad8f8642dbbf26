"""The charts around GPUs, and the autoscaler: one advertiser, one driver, and the right names."""

import pytest
from kubernetes_lab import EKS_SCOPE, GPU_GROUP, RELEASE, SYSTEM_GROUP, Lab
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


def autoscaler(**values):
    given = {
        "autoDiscovery": {"clusterName": "ci"},
        "awsRegion": "us-west-2",
        "image": {"tag": "v1.35.0"},
        "rbac": {"serviceAccount": {"name": "cluster-autoscaler"}},
    }
    return {
        "chart": "cluster-autoscaler",
        "name": "cluster-autoscaler",
        "namespace": "kube-system",
        "repositoryOpts": {"repo": "https://kubernetes.github.io/autoscaler"},
        "values": {**given, **values},
        "version": "9.59.0",
    }


@pytest.fixture
def gpu_lab(eks_lab: Lab) -> Lab:
    eks_lab.namespace("gpu-operator", labels=PRIVILEGED)
    return eks_lab


def associate(lab: Lab, account="cluster-autoscaler"):
    inputs = {"clusterName": "ci", "namespace": "kube-system", "serviceAccount": account}
    lab.put("aws:eks/podIdentityAssociation:PodIdentityAssociation", "ca", inputs, inputs)


def with_group(**changes):
    lab = Lab(EKS_SCOPE)
    lab.eks(SYSTEM_GROUP, {**GPU_GROUP, **changes})
    lab.namespace("gpu-operator", labels=PRIVILEGED)
    return lab


def test_the_operator_and_the_plugin_go_together_with_one_advertiser(gpu_lab: Lab):
    gpu_lab.release(operator(devicePlugin={"enabled": False}))
    gpu_lab.release(plugin())
    assert world_faults(gpu_lab.world) == []


def test_the_operators_plugin_beside_a_stand_alone_one_is_refused(gpu_lab: Lab, refused):
    gpu_lab.release(plugin())
    with refused("advertises nvidia.com/gpu in this cluster already"):
        gpu_lab.release(operator())


def test_two_stand_alone_plugins_are_refused(gpu_lab: Lab, refused):
    gpu_lab.release(plugin())
    gpu_lab.namespace("more")
    with refused("advertises nvidia.com/gpu in this cluster already"):
        gpu_lab.release({**plugin(), "namespace": "more"})


def test_gpus_that_nobody_advertises_are_a_fault(gpu_lab: Lab):
    gpu_lab.release(operator(devicePlugin={"enabled": False}))
    assert ["nothing in its cluster advertises" in f for f in world_faults(gpu_lab.world)] == [True]


@pytest.mark.parametrize("part", ["driver", "toolkit"])
def test_what_the_image_brings_is_not_brought_again(gpu_lab: Lab, refused, part):
    with refused(f"{part}.enabled is on, but the nodes' image AL2023_x86_64_NVIDIA brings"):
        gpu_lab.release(operator(**{part: {"enabled": True}}))


@pytest.mark.parametrize("part", ["driver", "toolkit"])
def test_the_charts_own_default_brings_driver_and_toolkit(gpu_lab: Lab, refused, part):
    with refused(f"{part}.enabled is on"):
        gpu_lab.release(operator(**{part: {}}))


def test_a_node_group_that_comes_after_the_operator_is_a_fault():
    lab = Lab(EKS_SCOPE)
    lab.eks(SYSTEM_GROUP)
    lab.namespace("gpu-operator", labels=PRIVILEGED)
    lab.release(operator(driver={"enabled": True}))
    group = {"clusterName": "ci", **GPU_GROUP}
    lab.put("aws:eks/nodeGroup:NodeGroup", "late", group, group)
    assert any("driver.enabled is on" in fault for fault in world_faults(lab.world))


def test_the_operators_namespace_lets_privileged_pods_in(eks_lab: Lab, refused):
    eks_lab.namespace("gpu-operator")
    with refused("lacks the label pod-security.kubernetes.io/enforce=privileged"):
        eks_lab.release(operator())


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        ({**operator(), "atomic": True, "timeout": 300}, "timeout", "at least 1800"),
        (
            operator(devicePlugin={"config": {"create": True, "name": "c"}}),
            "values.devicePlugin.config.data",
            "is needed",
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
        (plugin(config={"map": {"a": "{"}}), "values.config.map.a", "is no YAML"),
        (
            plugin(config={"map": {"a": SLICED.replace("4", "1")}}),
            "values.config.map.a",
            "at least 2",
        ),
        (plugin(config={"defualt": "a"}), "values.config.defualt", "did you mean 'default'"),
        (autoscaler(awsRegion=""), "values.awsRegion", "is needed"),
        (autoscaler(awsSecretAccessKey="x"), "values.awsSecretAccessKey", "clear text"),
        (autoscaler(extraArgs={"expander": "priority"}), "values.expanderPriorities", "is needed"),
    ],
    ids=[
        "a hasty rollback",
        "a config map without data",
        "the namespace 'default'",
        "a map beside a name",
        "a default that is not there",
        "no default among several",
        "a config without its version",
        "a config that is no YAML",
        "slices of one",
        "a mistyped key",
        "no region",
        "keys in the values",
        "priorities that are missing",
    ],
)
def test_a_release_is_refused_for(lab: Lab, inputs, path, reason):
    found = lab.invalid(RELEASE, inputs)
    assert path in found, f"the objection belongs to {path}: {found}"
    assert reason in found[path]


def test_a_node_label_names_a_config_that_exists(refused):
    labels = {**GPU_GROUP["labels"], CONFIG_LABEL: "sliced"}
    lab = with_group(labels=labels)
    with refused("asks for the config 'sliced'"):
        lab.release(plugin(config={"default": "a", "map": {"a": SLICED}}))
    assert lab.release(plugin(config={"default": "sliced", "map": {"sliced": SLICED}}))


def test_the_plugin_tolerates_every_gpu_pool(refused):
    taints = [*GPU_GROUP["taints"], {"key": "team", "value": "ml", "effect": "NO_EXECUTE"}]
    lab = with_group(taints=taints)
    with refused("has the taint 'team', which is not tolerated"):
        lab.release(plugin())
    both = [{"key": "nvidia.com/gpu", "operator": "Exists"}, {"key": "team", "value": "ml"}]
    assert lab.release(plugin(tolerations=both))


def test_the_plugin_finds_the_gpu_pool_by_its_label(refused):
    lab = with_group(labels={})
    with refused("lacks the label nvidia.com/gpu.present=true"):
        lab.release(plugin())


def test_the_plugin_needs_no_ordinary_node():
    lab = Lab(EKS_SCOPE)
    lab.eks(GPU_GROUP)
    lab.namespace("gpu-operator")
    assert lab.release(plugin())


def test_an_autoscaler_with_its_identity_is_installed(eks_lab: Lab):
    associate(eks_lab)
    assert eks_lab.release(autoscaler()).id == "kube-system/cluster-autoscaler"


def test_the_autoscaler_names_its_cluster(eks_lab: Lab, refused):
    associate(eks_lab)
    with refused("autoDiscovery.clusterName is 'other', the cluster is called 'ci'"):
        eks_lab.release(autoscaler(autoDiscovery={"clusterName": "other"}))


def test_the_autoscaler_has_the_clusters_minor_version(eks_lab: Lab, refused):
    associate(eks_lab)
    with refused("is not of the cluster's minor version 1.35"):
        eks_lab.release(autoscaler(image={"tag": "v1.34.2"}))


def test_the_autoscalers_identity_comes_first(eks_lab: Lab, refused):
    associate(eks_lab, account="another")
    with refused("no Pod Identity association for kube-system/cluster-autoscaler exists yet"):
        eks_lab.release(autoscaler())


def test_the_autoscalers_account_is_named_after_release_and_provider(eks_lab: Lab):
    associate(eks_lab, account="cluster-autoscaler-aws-cluster-autoscaler")
    assert eks_lab.release(autoscaler(rbac={"create": True}))


def test_a_node_group_that_comes_after_the_plugin_is_a_fault():
    lab = Lab(EKS_SCOPE)
    lab.eks(SYSTEM_GROUP)
    lab.namespace("gpu-operator", labels=PRIVILEGED)
    lab.release(plugin())
    group = {"clusterName": "ci", **GPU_GROUP, "labels": {}}
    lab.put("aws:eks/nodeGroup:NodeGroup", "late", group, group)
    assert any("lacks the label nvidia.com/gpu.present" in f for f in world_faults(lab.world))
