"""The cluster behind a scope: its EKS cluster and node groups, where the rehearsal made them.

A scope is `kubernetes:<endpoint>`. A cluster that the rehearsal did not make (an existing one) has
no EKS cluster here, and what depends on nodes cannot be judged there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from rehearsal.standin.kind import Properties, Refusal, Thing
from rehearsal.standin.kubernetes import manifest
from rehearsal.standin.properties import number, objects, text

if TYPE_CHECKING:
    from rehearsal.standin.world import World

CLUSTER: Final = "aws:eks/cluster:Cluster"
NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
POD_IDENTITY: Final = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
SECRET: Final = "kubernetes:core/v1:Secret"
NAMESPACE: Final = "kubernetes:core/v1:Namespace"

OUTSIDE: Final = "kubernetes:*"
"""Scope of objects that something other than the stack makes, in whichever cluster is asked."""

BUILT_IN_NAMESPACES: Final = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})

_EKS_DOMAIN: Final = ".eks.amazonaws.com"


def assume_secret(world: World, namespace: str, name: str, keys: Iterable[str]) -> None:
    """Puts a Secret there that a stack names but something else makes, in every cluster.

    The rehearsal calls this before `up`, for each such name; the values are made up.
    """
    metadata: Properties = {"name": name, "namespace": namespace}
    inputs: Properties = {"metadata": metadata, "stringData": dict.fromkeys(keys, "made-elsewhere")}
    id = f"{namespace}/{name}"
    made = Thing(
        urn="", type=SECRET, name=name, id=id, scope=OUTSIDE, inputs=inputs, outputs=inputs
    )
    world.replace(made)


def eks_cluster(world: World, scope: str) -> Thing | None:
    """The EKS cluster whose endpoint the scope names."""
    endpoint = scope.removeprefix("kubernetes:")
    return world.find(CLUSTER, endpoint=endpoint)


def require_alive(world: World, scope: str, what: str) -> None:
    """Raises `Refusal` where the cluster of `scope` was deleted already."""
    if not scope.endswith(_EKS_DOMAIN) or eks_cluster(world, scope) is not None:
        return
    if any(event.action == "deleted" and event.type == CLUSTER for event in world.journal):
        raise Refusal(
            f"{what}: its cluster is gone, so the API server cannot be reached. "
            "Make what lives in a cluster depend on the cluster and its system nodes, "
            "so that it is deleted first."
        )


def kubernetes_version(world: World, scope: str) -> str:
    """The cluster's minor version, `1.35`; the reference version where it is not known."""
    cluster = eks_cluster(world, scope)
    version = None if cluster is None else text(cluster.outputs, "version")
    return version or manifest.REFERENCE_VERSION


def node_groups(world: World, scope: str) -> tuple[Thing, ...]:
    """The managed node groups of the scope's cluster."""
    cluster = eks_cluster(world, scope)
    if cluster is None:
        return ()
    return world.where(NODE_GROUP, cluster.scope, clusterName=cluster.outputs.get("name"))


def gpu_node_groups(world: World, scope: str) -> tuple[Thing, ...]:
    """The node groups whose image type carries NVIDIA's driver (`AL2023_x86_64_NVIDIA` etc.)."""
    return tuple(
        group
        for group in node_groups(world, scope)
        if "NVIDIA" in (text(group.inputs, "amiType") or "")
    )


def has_room_for_pods(world: World, scope: str) -> bool:
    """Whether an ordinary pod finds a node: an untainted group with at least one node.

    True where the cluster is not in the world.
    """
    if eks_cluster(world, scope) is None:
        return True
    return any(
        not list(blocking_taints(group)) and _desired(group) > 0
        for group in node_groups(world, scope)
    )


def blocking_taints(group: Thing) -> Iterator[dict[str, str]]:
    """The group's taints in Kubernetes' words, without those that only prefer."""
    effects = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute"}
    for taint in objects(group.inputs, "taints"):
        effect = effects.get(str(taint.get("effect")))
        if effect is not None:
            key, value = str(taint.get("key", "")), str(taint.get("value") or "")
            yield {"key": key, "value": value, "effect": effect}


def tolerates(tolerations: tuple[Properties, ...], taint: dict[str, str]) -> bool:
    """Whether one of a pod's tolerations matches `taint`."""
    return any(_matches(toleration, taint) for toleration in tolerations)


def namespace(world: World, scope: str, name: str) -> Thing | None:
    """The Namespace object, where there is one."""
    return world.get(name, NAMESPACE, scope) or world.get(name, NAMESPACE, OUTSIDE)


def namespace_exists(world: World, scope: str, name: str) -> bool:
    """Whether objects can be put there."""
    return name in BUILT_IN_NAMESPACES or namespace(world, scope, name) is not None


def find_object(world: World, scope: str, token: str, namespace: str, name: str) -> Thing | None:
    """A namespaced object of that type: the cluster's own, or one from outside the stack."""
    id = f"{namespace}/{name}"
    return world.get(id, token, scope) or world.get(id, token, OUTSIDE)


def _desired(group: Thing) -> int:
    size = number(group.inputs, "scalingConfig.desiredSize")
    return (number(group.inputs, "scalingConfig.minSize") or 0) if size is None else size


def _matches(toleration: dict[str, Any], taint: dict[str, str]) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    key, exists = toleration.get("key"), toleration.get("operator") == "Exists"
    if not key:
        return exists
    return key == taint["key"] and (exists or (toleration.get("value") or "") == taint["value"])
