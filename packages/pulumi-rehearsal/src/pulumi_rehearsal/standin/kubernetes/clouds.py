"""The cluster of a cloud behind an endpoint, EKS or OKE, and its nodes as Kubernetes sees them.

A cluster that the rehearsal did not make (an existing one) has none here, and what depends on nodes
cannot be judged there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pulumi_rehearsal.standin.oci import oke_addon, oke_node_pool_rules, oke_nodes
from pulumi_rehearsal.standin.oci import tokens as oci
from pulumi_rehearsal.standin.oci.addon_keys import GPU_OPERATOR
from pulumi_rehearsal.standin.properties import number, objects, strings, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource
    from pulumi_rehearsal.standin.world import World

EKS_CLUSTER: Final = "aws:eks/cluster:Cluster"
EKS_NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"

Taint = Mapping[str, str]
"""`key`, `value` and `effect`, in Kubernetes' words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGroup:
    """The nodes of one node group or node pool."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    """Without those that only prefer."""
    size: int
    has_gpus: bool
    image: str
    """What a message calls the image."""
    driver_system: str = ""
    """The operating system, where the image brings NVIDIA's driver."""
    brings_toolkit: bool = False
    """Whether the image's container runtime must not be touched by the operator's toolkit."""
    advertiser: str = ""
    """What of the cloud's own advertises the GPUs already."""
    advertiser_switch: str = ""
    """How that is switched off."""
    refuses_short_names: bool = False
    """Whether the container runtime takes fully qualified image names only."""


def cloud_cluster(world: World, scope: str) -> Resource | None:
    """The cluster whose endpoint the scope names."""
    return _behind(scope, _all(world))


def lost_cluster(world: World, scope: str) -> Resource | None:
    """The cluster whose endpoint the scope named, where it was deleted."""
    if cloud_cluster(world, scope) is not None:
        return None
    return _behind(scope, (*world.gone(EKS_CLUSTER), *world.gone(oci.CLUSTER)))


def clusters(world: World) -> tuple[Resource, ...]:
    """Every cluster of every cloud."""
    return _all(world)


def scopes_of(cluster: Resource) -> tuple[str, ...]:
    """The scopes that a kubeconfig for the cluster can lead to."""
    if cluster.type == EKS_CLUSTER:
        return (f"kubernetes:{cluster.outputs.get('endpoint')}",)
    names = ("publicEndpoint", "privateEndpoint", "vcnHostnameEndpoint", "kubernetes")
    return tuple(
        f"kubernetes:https://{address}"
        for endpoint in objects(cluster.outputs, "endpoints")
        for name in names
        if (address := text(endpoint, name))
    )


def version_of(cluster: Resource) -> str | None:
    """The control plane's minor version, `1.35`."""
    if cluster.type == EKS_CLUSTER:
        return text(cluster.outputs, "version")
    version = (text(cluster.outputs, "kubernetesVersion") or "").removeprefix("v")
    return ".".join(version.split(".")[:2]) or None


def node_groups(world: World, cluster: Resource) -> tuple[NodeGroup, ...]:
    """The node groups or node pools of the cluster."""
    if cluster.type == EKS_CLUSTER:
        name = cluster.outputs.get("name")
        groups = world.where(EKS_NODE_GROUP, cluster.scope, clusterName=name)
        return tuple(_eks_group(group) for group in groups)
    pools = world.where(oci.NODE_POOL, cluster.scope, clusterId=cluster.id)
    operator = world.find(oci.ADDON, cluster.scope, clusterId=cluster.id, addonName=GPU_OPERATOR)
    return tuple(_oke_pool(world, pool, operator) for pool in pools)


def storage_classes(cluster: Resource) -> tuple[frozenset[str], str | None]:
    """The classes that the cloud makes with each cluster, and which of them is the default."""
    if cluster.type == EKS_CLUSTER:
        return frozenset({"gp2"}), None
    # https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengcreatingpersistentvolumeclaim.htm
    return frozenset({"oci", "oci-bv"}), "oci-bv"


def faults(world: World, cluster: Resource) -> Iterator[str]:
    """What is wrong between the cluster and its nodes after an `up` that went well."""
    yield from oke_addon.faults(world, cluster)
    for pool in world.where(oci.NODE_POOL, cluster.scope, clusterId=cluster.id):
        yield from oke_node_pool_rules.faults(world, pool)


def _all(world: World) -> tuple[Resource, ...]:
    return (*world.all(EKS_CLUSTER), *world.all(oci.CLUSTER))


def _behind(scope: str, found: Iterable[Resource]) -> Resource | None:
    return next((cluster for cluster in found if scope in scopes_of(cluster)), None)


def _eks_group(group: Resource) -> NodeGroup:
    image = text(group.inputs, "amiType") or ""
    has_gpus = "NVIDIA" in image
    size = number(group.inputs, "scalingConfig.desiredSize")
    least = number(group.inputs, "scalingConfig.minSize") or 0
    return NodeGroup(
        name=group.name,
        labels=strings(group.inputs, "labels"),
        taints=tuple(_eks_taints(group)),
        size=least if size is None else size,
        has_gpus=has_gpus,
        image=image,
        driver_system="Amazon Linux" if has_gpus else "",
        brings_toolkit=has_gpus,
    )


def _eks_taints(group: Resource) -> Iterator[Taint]:
    effects = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute"}
    for taint in objects(group.inputs, "taints"):
        effect = effects.get(str(taint.get("effect")))
        if effect is not None:
            key, value = str(taint.get("key", "")), str(taint.get("value") or "")
            yield {"key": key, "value": value, "effect": effect}


def _oke_pool(world: World, pool: Resource, operator: Resource | None) -> NodeGroup:
    shape, image = oke_nodes.shape_of(pool), oke_nodes.image_of(pool)
    has_gpus = shape is not None and shape.has_nvidia_gpu
    advertiser = switch = ""
    if oke_nodes.runs_gpu_plugin(world, pool):
        advertiser = "Oracle's own device plugin"
        switch = f"its initial node label {oke_nodes.PLUGIN_OFF}=true"
    elif operator is not None and has_gpus:
        advertiser = f"the add-on {GPU_OPERATOR}"
        switch = "leaving that add-on out"
    taints = oke_nodes.taints_of(pool)
    return NodeGroup(
        name=pool.name,
        labels=oke_nodes.labels_of(pool),
        taints=tuple(taint for taint in taints if taint["effect"] != "PreferNoSchedule"),
        size=oke_nodes.live_size(pool),
        has_gpus=has_gpus,
        image=image.name if image else text(pool.outputs, "nodeSourceDetails.imageId") or "",
        driver_system="Oracle Linux" if image is not None and image.has_gpu_driver else "",
        advertiser=advertiser,
        advertiser_switch=switch,
        refuses_short_names=oke_nodes.refuses_short_names(pool),
    )
