"""The charts of NVIDIA's GPU operator and device plugin, and of the EFA plugin.

Sources: NVIDIA/gpu-operator@v26.7.0 deployments/gpu-operator/values.yaml;
NVIDIA/k8s-device-plugin@v0.20.0 deployments/helm/nvidia-device-plugin (values.yaml, templates,
README: choice of a named config by node label); NVIDIA/k8s-device-plugin issue 255 (two plugins);
NVIDIA/gpu-operator issue 686 (no driver container for Amazon Linux);
aws/eks-charts stable/aws-efa-k8s-device-plugin/values.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

import yaml

from pulumi_rehearsal.standin.kind import Properties
from pulumi_rehearsal.standin.kubernetes import cluster
from pulumi_rehearsal.standin.kubernetes.arc import DEFINITION
from pulumi_rehearsal.standin.kubernetes.release import (
    Chart,
    Release,
    created_by,
    enabled,
    key_set,
    releases,
)
from pulumi_rehearsal.standin.properties import (
    flag,
    given,
    lookup,
    mapping,
    number,
    objects,
    strings,
    text,
)
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource
    from pulumi_rehearsal.standin.world import World

OPERATOR: Final = "gpu-operator"
PLUGIN: Final = "nvidia-device-plugin"

POLICIES: Final = "clusterpolicies.nvidia.com"
"""One of the definitions in the folder `crds` of the operator's chart and of its dependency NFD."""

GPU_PRESENT: Final = "nvidia.com/gpu.present"
CONFIG_LABEL: Final = "nvidia.com/device-plugin.config"
ENFORCE: Final = "pod-security.kubernetes.io/enforce"

_DEFAULT_TOLERATIONS: Final[tuple[Properties, ...]] = (
    {"key": "CriticalAddonsOnly", "operator": "Exists"},
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
)


class GpuOperator(Chart):
    """The chart of NVIDIA's GPU operator."""

    name: ClassVar[str] = OPERATOR
    keys: ClassVar[Mapping[str, frozenset[str]]] = {
        "": key_set(
            "ccManager cdi clusterPolicy daemonsets dcgm dcgmExporter devicePlugin draDriver "
            "driver fabricManager gdrcopy gds gfd global gpuCluster hostPaths kataManager "
            "kataSandboxDevicePlugin mig migManager nfd node-feature-discovery nodeStatusExporter "
            "operator platform psa sandboxDevicePlugin sandboxWorkloads toolkit validator "
            "vfioManager vgpuDeviceManager vgpuManager"
        ),
    }

    def value_problems(self, release: Release) -> Iterator[Problem]:
        config = mapping(release.values, "devicePlugin.config")
        if config.get("create") is True:
            for part in ("name", "data"):
                if not given(config, part):
                    yield f"values.devicePlugin.config.{part}", "is required if create is true"

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        yield from _advertiser_problems(release, world)
        yield from _driver_problems(release, world)
        yield from _privilege_problems(release, world)

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        # Definitions in an EKS or OKE cluster of the program go with the cluster.
        known = world.get(POLICIES, DEFINITION, release.scope)
        if known is None and cluster.cloud_cluster(world, release.scope) is None:
            world.add_kept(
                created_by(release, DEFINITION, POLICIES),
                "Helm does not delete the custom resource definitions of a chart: those of the "
                "groups nvidia.com and nfd.k8s-sigs.io stay in the cluster after a destroy",
            )

    def faults(self, release: Release, world: World) -> Iterator[str]:
        # Node groups may be created after the operator.
        for reason in (*_driver_problems(release, world), *_advertiser_problems(release, world)):
            yield f"release {release.id!r}: {reason}"


class DevicePlugin(Chart):
    """The chart of NVIDIA's device plugin without the operator."""

    name: ClassVar[str] = PLUGIN
    needs_node: ClassVar[bool] = False  # a DaemonSet without a node is complete
    keys: ClassVar[Mapping[str, frozenset[str]]] = {
        "": key_set(
            "affinity allowDefaultNamespace cdi compatWithCPUManager componentSelectorLabels "
            "config deviceDiscoveryStrategy deviceIDStrategy deviceListStrategy devicePlugin "
            "failOnInitError fullnameOverride gdrcopyEnabled gdsEnabled gfd global image "
            "imagePullSecrets migStrategy mofedEnabled mps nameOverride namespaceOverride nfd "
            "nodeSelector nvidiaDriverRoot podAnnotations podSecurityContext priorityClassName "
            "resources runtimeClassName securityContext selectorLabelsOverride tolerations "
            "updateStrategy"
        ),
        "config": key_set("default fallbackStrategies map name"),
    }

    def value_problems(self, release: Release) -> Iterator[Problem]:
        if release.namespace == "default" and not flag(release.values, "allowDefaultNamespace"):
            yield "namespace", "the chart refuses the namespace 'default': use another one"
        configs = _configs(release)
        if configs and given(release.values, "config.name"):
            yield "values.config.name", "conflicts with config.map: give one of the two"
        default = text(release.values, "config.default")
        if configs and default and default not in configs:
            yield "values.config.default", f"{default!r} is not in config.map"
        if len(configs) > 1 and not default and "default" not in configs:
            yield (
                "values.config.default",
                "is required with several configs, or nodes without the label get none",
            )
        for name, document in configs.items():
            if isinstance(document, str):
                yield from _config_problems(name, document)

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        yield from _advertiser_problems(release, world)
        yield from _placement_problems(release, world)

    def faults(self, release: Release, world: World) -> Iterator[str]:
        # Node groups may be created after the plugin.
        for reason in (*_advertiser_problems(release, world), *_placement_problems(release, world)):
            yield f"release {release.id!r}: {reason}"


class EfaPlugin(Chart):
    """The chart of AWS' device plugin for Elastic Fabric Adapters."""

    name: ClassVar[str] = "aws-efa-k8s-device-plugin"
    needs_node: ClassVar[bool] = False
    keys: ClassVar[Mapping[str, frozenset[str]]] = {
        "": key_set(
            "additionalPodAnnotations additionalPodLabels fullnameOverride image imagePullSecrets "
            "nameOverride nodeSelector resources securityContext supportedInstanceLabels "
            "tolerations"
        ),
    }


def advertises(release: Release) -> bool:
    """Whether the release advertises `nvidia.com/gpu`."""
    return release.chart in (OPERATOR, PLUGIN) and enabled(release, "devicePlugin.enabled", True)


def advertisers(world: World, scope: str) -> tuple[Release, ...]:
    """Return the releases of a cluster that advertise `nvidia.com/gpu`."""
    found = (*releases(world, scope, OPERATOR), *releases(world, scope, PLUGIN))
    return tuple(release for release in found if advertises(release))


def _advertiser_problems(release: Release, world: World) -> Iterator[str]:
    if not advertises(release):
        return
    for other in advertisers(world, release.scope):
        if other.id != release.id:
            yield (
                f"{other.id!r} ({other.chart}) advertises nvidia.com/gpu in this cluster already, "
                "and removing one of the two would set the nodes to 0 GPUs: keep one, and switch "
                "the operator's off by devicePlugin.enabled: false"
            )
    for group in cluster.gpu_node_groups(world, release.scope):
        if group.advertiser:
            yield (
                f"node group {group.name!r} has {group.advertiser}, which advertises "
                f"nvidia.com/gpu already: keep one, switch that off by {group.advertiser_switch}, "
                "or the release's by devicePlugin.enabled: false"
            )


def _driver_problems(release: Release, world: World) -> Iterator[str]:
    for group in cluster.gpu_node_groups(world, release.scope):
        if group.driver_system and enabled(release, "driver.enabled", True):
            yield (
                f"driver.enabled is true, but the nodes' image {group.image} contains the driver, "
                f"and NVIDIA has no driver container for {group.driver_system}: set it to false"
            )
        if group.brings_toolkit and enabled(release, "toolkit.enabled", True):
            yield (
                f"toolkit.enabled is true, but the nodes' image {group.image} contains the toolkit "
                "and its containerd has no runtime called runc: the operator's toolkit would turn "
                "the nodes NotReady. Set it to false"
            )
        if group.driver_system:
            return


def _privilege_problems(release: Release, world: World) -> Iterator[str]:
    namespace = cluster.namespace(world, release.scope, release.namespace)
    labels = {} if namespace is None else strings(namespace.inputs, "metadata.labels")
    if labels.get(ENFORCE) != "privileged":
        yield (
            f"namespace {release.namespace!r} lacks the label {ENFORCE}=privileged: a cluster that "
            "enforces pod security standards refuses the operator's privileged pods"
        )


def _placement_problems(release: Release, world: World) -> Iterator[str]:
    if not advertises(release):
        return
    tolerations = objects(release.values, "tolerations")
    if lookup(release.values, "tolerations") is None:
        tolerations = _DEFAULT_TOLERATIONS
    for group in cluster.gpu_node_groups(world, release.scope):
        here = f"node group {group.name!r}"
        for taint in group.taints:
            if not cluster.tolerates(tolerations, taint):
                yield f"{here} has the taint {taint['key']!r}, which the plugin does not tolerate"
        if lookup(release.values, "affinity") is None and group.labels.get(GPU_PRESENT) != "true":
            yield f"{here} lacks the label {GPU_PRESENT}=true, by which the chart selects nodes"
        wanted = group.labels.get(CONFIG_LABEL)
        known = given(release.values, "config.name") or wanted in (None, *_configs(release))
        if not known:
            yield f"{here} has the label {CONFIG_LABEL}={wanted}, which is not in config.map"


def _configs(release: Release) -> Mapping[str, Any]:
    return mapping(release.values, "config.map")


def _config_problems(name: str, document: str) -> Iterator[Problem]:
    path = f"values.config.map.{name}"
    try:
        parsed: Any = yaml.safe_load(document)
    except yaml.YAMLError:
        yield path, "is not YAML"
        return
    if not isinstance(parsed, dict) or text({"config": parsed}, "config.version") != "v1":
        yield path, "must begin with 'version: v1'"
        return
    for resource in objects({"config": parsed}, "config.sharing.timeSlicing.resources"):
        replicas = number(resource, "replicas")
        if replicas is None or replicas < 2:
            yield path, "time slicing needs at least 2 replicas of each resource"


def unadvertised(world: World, cloud_cluster: Resource) -> Iterator[str]:
    """Describe GPU nodes without a component that advertises their GPUs to the scheduler."""
    found = cluster.node_groups_of(world, cloud_cluster)
    groups = [group for group in found if group.has_gpus and not group.advertiser]
    scopes = cluster.scopes_of(cloud_cluster)
    if groups and not any(advertisers(world, scope) for scope in scopes):
        yield (
            f"node group {groups[0].name!r} has GPUs, but nothing in its cluster advertises "
            "nvidia.com/gpu: pods that request one stay pending"
        )


CHARTS: Final[tuple[Chart, ...]] = (GpuOperator(), DevicePlugin(), EfaPlugin())
