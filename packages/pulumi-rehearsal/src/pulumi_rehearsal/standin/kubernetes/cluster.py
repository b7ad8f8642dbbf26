"""The cluster behind a scope: what lives in it, and its nodes where the rehearsal made them.

A scope is `kubernetes:<endpoint>`. A cluster that the rehearsal did not make (an existing one) has
no cluster of a cloud here, and what depends on nodes cannot be judged there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from pulumi_rehearsal.standin.kind import Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import clouds, manifest
from pulumi_rehearsal.standin.kubernetes.clouds import NodeGroup, Taint

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

POD_IDENTITY: Final = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
SECRET: Final = "kubernetes:core/v1:Secret"
NAMESPACE: Final = "kubernetes:core/v1:Namespace"

OUTSIDE: Final = "kubernetes:*"
"""Scope of objects that something other than the stack makes, in whichever cluster is asked."""

BUILT_IN_NAMESPACES: Final = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


def assume_secret(world: World, namespace: str, name: str, keys: Iterable[str]) -> None:
    """Puts a Secret there that a stack names but something else makes, in every cluster.

    The rehearsal calls this before `up`, for each such name; the values are made up.
    """
    metadata: Properties = {"name": name, "namespace": namespace}
    inputs: Properties = {"metadata": metadata, "stringData": dict.fromkeys(keys, "made-elsewhere")}
    id = f"{namespace}/{name}"
    made = Resource(
        urn="", type=SECRET, name=name, id=id, scope=OUTSIDE, inputs=inputs, outputs=inputs
    )
    world.replace(made)


def assume_named(world: World, token: str, name: str) -> None:
    """Puts an object without a namespace there that something else makes, in every cluster."""
    inputs: Properties = {"metadata": {"name": name}}
    world.replace(
        Resource(
            urn="", type=token, name=name, id=name, scope=OUTSIDE, inputs=inputs, outputs=inputs
        )
    )


def require_alive(world: World, scope: str, what: str) -> None:
    """Raises `Refusal` where the cluster of `scope` was deleted already."""
    if clouds.lost_cluster(world, scope) is not None:
        raise Refusal(
            f"{what}: its cluster is gone, so the API server cannot be reached. "
            "Make what lives in a cluster depend on the cluster and its system nodes, "
            "so that it is deleted first."
        )


def kubernetes_version(world: World, scope: str) -> str:
    """The cluster's minor version, `1.35`; the reference version where it is not known."""
    found = clouds.cloud_cluster(world, scope)
    version = None if found is None else clouds.version_of(found)
    return version or manifest.REFERENCE_VERSION


def node_groups(world: World, scope: str) -> tuple[NodeGroup, ...]:
    """The node groups or node pools of the scope's cluster."""
    found = clouds.cloud_cluster(world, scope)
    return () if found is None else clouds.node_groups(world, found)


def gpu_node_groups(world: World, scope: str) -> tuple[NodeGroup, ...]:
    """Those with NVIDIA's GPUs."""
    return tuple(group for group in node_groups(world, scope) if group.has_gpus)


def has_room_for_pods(world: World, scope: str) -> bool:
    """Whether an ordinary pod finds a node: an untainted group with at least one node.

    True where the cluster is not in the world.
    """
    if clouds.cloud_cluster(world, scope) is None:
        return True
    return any(not group.taints and group.size > 0 for group in node_groups(world, scope))


def tolerates(tolerations: tuple[Properties, ...], taint: Taint) -> bool:
    """Whether one of a pod's tolerations matches `taint`."""
    return any(_matches(toleration, taint) for toleration in tolerations)


def namespace(world: World, scope: str, name: str) -> Resource | None:
    """The Namespace object, where there is one."""
    return world.get(name, NAMESPACE, scope) or world.get(name, NAMESPACE, OUTSIDE)


def namespace_exists(world: World, scope: str, name: str) -> bool:
    """Whether objects can be put there."""
    return name in BUILT_IN_NAMESPACES or namespace(world, scope, name) is not None


def find_object(world: World, scope: str, token: str, namespace: str, name: str) -> Resource | None:
    """A namespaced object of that type: the cluster's own, or one from outside the stack."""
    id = f"{namespace}/{name}"
    return world.get(id, token, scope) or world.get(id, token, OUTSIDE)


def _matches(toleration: dict[str, Any], taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    key, exists = toleration.get("key"), toleration.get("operator") == "Exists"
    if not key:
        return exists
    return key == taint["key"] and (exists or (toleration.get("value") or "") == taint["value"])
