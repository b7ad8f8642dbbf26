"""The cluster that a provider points at: its objects, and its nodes where a cloud made them.

The scope of a resource is `kubernetes:<endpoint>`. Its cluster is found among the EKS and OKE
clusters of the same world by that endpoint. For any other (existing) cluster no nodes are known, so
rules that depend on nodes do not apply to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import yaml

from pulumi_rehearsal.standin.kind import Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import manifest
from pulumi_rehearsal.standin.oci import oke_addon, oke_node_pool, oke_nodes
from pulumi_rehearsal.standin.oci import tokens as oci
from pulumi_rehearsal.standin.oci.addon_keys import GPU_OPERATOR
from pulumi_rehearsal.standin.properties import number, objects, strings, text
from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

EKS_CLUSTER: Final = "aws:eks/cluster:Cluster"
EKS_NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
POD_IDENTITY: Final = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
SECRET: Final = "kubernetes:core/v1:Secret"
NAMESPACE: Final = "kubernetes:core/v1:Namespace"

OUTSIDE: Final = "kubernetes:*"
"""Scope of objects that exist outside the program in every cluster, see `outside_scopes`."""

BUILT_IN_NAMESPACES: Final = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})

Taint = Mapping[str, str]
"""`key`, `value` and `effect`, spelled as Kubernetes spells them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGroup:
    """The nodes of one EKS node group or OKE node pool."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    """Without the effect PreferNoSchedule."""
    size: int
    has_gpus: bool
    image: str
    """The image's name, for messages."""
    driver_system: str = ""
    """The operating system, if the image contains NVIDIA's driver."""
    brings_toolkit: bool = False
    """Whether the image contains a container runtime that the operator's toolkit would break."""
    advertiser: str = ""
    """The cloud's own component that advertises the GPUs already."""
    advertiser_switch: str = ""
    """How to switch that component off."""
    refuses_short_names: bool = False
    """Whether the container runtime accepts only fully qualified image names."""


def scope(configuration: Properties) -> str:
    """Return `kubernetes:<endpoint>`, or the context's name if the kubeconfig cannot be read.

    A kubeconfig is a text or a path (pulumi/pulumi-kubernetes provider/pkg/provider/provider.go,
    Configure). A path is not opened; the name of its context identifies the cluster.
    """
    kubeconfig, context = configuration.get("kubeconfig"), configuration.get("context")
    if kubeconfig is UNKNOWN or context is UNKNOWN:
        return "kubernetes:?"
    endpoint = _endpoint(str(kubeconfig), None if context is None else str(context))
    named = context or (Path(str(kubeconfig)).name if kubeconfig else "current-context")
    return f"kubernetes:{endpoint or named}"


def cloud_cluster(world: World, scope: str) -> Resource | None:
    """Return the EKS or OKE cluster whose endpoint the scope names."""
    return _with_endpoint(scope, clusters(world))


def deleted_cluster(world: World, scope: str) -> Resource | None:
    """Return the cluster whose endpoint the scope names, if it was deleted."""
    if cloud_cluster(world, scope) is not None:
        return None
    return _with_endpoint(scope, (*world.gone(EKS_CLUSTER), *world.gone(oci.CLUSTER)))


def clusters(world: World) -> tuple[Resource, ...]:
    """Return every EKS and OKE cluster."""
    return (*world.all(EKS_CLUSTER), *world.all(oci.CLUSTER))


def scopes_of(cluster: Resource) -> tuple[str, ...]:
    """Return the scope of each endpoint of the cluster."""
    if cluster.type == EKS_CLUSTER:
        return (f"kubernetes:{cluster.outputs.get('endpoint')}",)
    names = ("publicEndpoint", "privateEndpoint", "vcnHostnameEndpoint", "kubernetes")
    return tuple(
        f"kubernetes:https://{address}"
        for endpoint in objects(cluster.outputs, "endpoints")
        for name in names
        if (address := text(endpoint, name))
    )


def kubernetes_version(world: World, scope: str) -> str:
    """Return the cluster's minor version, `1.35`; the reference version if it is not known."""
    found = cloud_cluster(world, scope)
    if found is None:
        return manifest.REFERENCE_VERSION
    version = text(found.outputs, "version") or text(found.outputs, "kubernetesVersion") or ""
    return ".".join(version.removeprefix("v").split(".")[:2]) or manifest.REFERENCE_VERSION


def node_groups_of(world: World, cluster: Resource) -> tuple[NodeGroup, ...]:
    """Return the node groups or node pools of an EKS or OKE cluster."""
    if cluster.type == EKS_CLUSTER:
        name = cluster.outputs.get("name")
        groups = world.where(EKS_NODE_GROUP, cluster.scope, clusterName=name)
        return tuple(_eks_group(group) for group in groups)
    pools = world.where(oci.NODE_POOL, cluster.scope, clusterId=cluster.id)
    operator = world.find(oci.ADDON, cluster.scope, clusterId=cluster.id, addonName=GPU_OPERATOR)
    return tuple(_oke_pool(world, pool, operator) for pool in pools)


def node_groups(world: World, scope: str) -> tuple[NodeGroup, ...]:
    """Return the node groups of the scope's cluster; none for an existing cluster."""
    found = cloud_cluster(world, scope)
    return () if found is None else node_groups_of(world, found)


def gpu_node_groups(world: World, scope: str) -> tuple[NodeGroup, ...]:
    """Return the node groups with NVIDIA GPUs."""
    return tuple(group for group in node_groups(world, scope) if group.has_gpus)


def has_room_for_pods(world: World, scope: str) -> bool:
    """Whether a pod without tolerations can be scheduled; true for an existing cluster."""
    if cloud_cluster(world, scope) is None:
        return True
    return any(not group.taints and group.size > 0 for group in node_groups(world, scope))


def storage_classes(cluster: Resource) -> tuple[frozenset[str], str | None]:
    """Return the storage classes that the cloud creates with a cluster, and the default one.

    EKS has no default class since Kubernetes 1.30.
    """
    if cluster.type == EKS_CLUSTER:
        return frozenset({"gp2"}), None
    # https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengcreatingpersistentvolumeclaim.htm
    return frozenset({"oci", "oci-bv"}), "oci-bv"


def faults(world: World, cluster: Resource) -> Iterator[str]:
    """Describe what keeps an OKE cluster or its nodes from working after a successful `up`."""
    yield from oke_addon.faults(world, cluster)
    for pool in world.where(oci.NODE_POOL, cluster.scope, clusterId=cluster.id):
        yield from oke_node_pool.faults(world, pool)


def require_alive(world: World, scope: str, what: str) -> None:
    """Raise `Refusal` if the cluster of `scope` was deleted."""
    if deleted_cluster(world, scope) is not None:
        raise Refusal(
            f"{what}: its cluster was deleted, so the API server cannot be reached. "
            "Make the resource depend on the cluster and its system nodes, so that it is deleted "
            "before them."
        )


def tolerates(tolerations: tuple[Properties, ...], taint: Taint) -> bool:
    """Whether one of a pod's tolerations matches `taint`."""
    return any(_matches(toleration, taint) for toleration in tolerations)


def namespace(world: World, scope: str, name: str) -> Resource | None:
    """Return the Namespace object; `None` for a built-in namespace."""
    return world.get(name, NAMESPACE, scope) or outside(world, scope, NAMESPACE, name)


def namespace_exists(world: World, scope: str, name: str) -> bool:
    """Whether the namespace is built in or was created."""
    return name in BUILT_IN_NAMESPACES or namespace(world, scope, name) is not None


def find_object(world: World, scope: str, token: str, namespace: str, name: str) -> Resource | None:
    """Return a namespaced object, created in the cluster or assumed to exist in it."""
    id = f"{namespace}/{name}"
    return world.get(id, token, scope) or outside(world, scope, token, id)


def outside(world: World, scope: str, token: str, id: str) -> Resource | None:
    """Return an object of the cluster that the program did not create."""
    found = (world.get(id, token, where) for where in outside_scopes(world, scope))
    return next((one for one in found if one is not None), None)


def outside_scopes(world: World, scope: str) -> tuple[str, str]:
    """Return the scopes of objects outside the program: in every cluster, and in this one.

    A cluster is named by the program, an existing one by what `scope` returns without its prefix.
    """
    found = cloud_cluster(world, scope)
    name = scope.removeprefix("kubernetes:") if found is None else text(found.outputs, "name")
    return OUTSIDE, f"{OUTSIDE}/{name}"


def _with_endpoint(scope: str, found: Iterable[Resource]) -> Resource | None:
    return next((cluster for cluster in found if scope in scopes_of(cluster)), None)


def _endpoint(kubeconfig: str, context: str | None) -> str | None:
    try:
        parsed: Any = yaml.safe_load(kubeconfig)
    except yaml.YAMLError:
        return None
    if not isinstance(parsed, dict):
        return None
    document = cast("Properties", parsed)
    wanted = context or text(document, "current-context")
    contexts = objects(document, "contexts")
    chosen = [entry for entry in contexts if entry.get("name") == wanted] or list(contexts)
    name = text(chosen[0], "context.cluster") if chosen else None
    for entry in objects(document, "clusters"):
        if name is None or entry.get("name") == name:
            return text(entry, "cluster.server")
    return None


def _eks_group(group: Resource) -> NodeGroup:
    image = text(group.inputs, "amiType") or ""
    has_gpus = "NVIDIA" in image
    size = number(group.inputs, "scalingConfig.desiredSize")
    return NodeGroup(
        name=group.name,
        labels=strings(group.inputs, "labels"),
        taints=tuple(_eks_taints(group)),
        size=(number(group.inputs, "scalingConfig.minSize") or 0) if size is None else size,
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


def _matches(toleration: Properties, taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    key, exists = toleration.get("key"), toleration.get("operator") == "Exists"
    if not key:
        return exists
    return key == taint["key"] and (exists or (toleration.get("value") or "") == taint["value"])
