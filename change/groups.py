"""Changing resources, grouped by the cluster, pool or lane (or other component) they belong to.

A step of the engine contains the operation on a resource; its parents show the component.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, get_args

from change.consequences import RELEASE
from change.document import (
    MAX_PROPERTIES,
    MAX_RESOURCES,
    Group,
    Kind,
    Operation,
    Property,
    Rename,
    Resource,
)
from change.steps import Step

CLUSTER: Final = "gpu-runners:index:RunnerCluster"

_CHART: Final = "kubernetes:helm.sh/v4:Chart"

_COMPONENTS: Final[tuple[tuple[str, Kind, tuple[str, ...]], ...]] = (
    ("index:RunnerCluster", "cluster", ()),
    ("aws:EksCluster", "control plane", ("aws:eks/cluster:Cluster",)),
    ("oci:OkeCluster", "control plane", ("oci:ContainerEngine/cluster:Cluster",)),
    ("aws:Network", "network", ("aws:ec2/vpc:Vpc",)),
    ("oci:OkeNetwork", "network", ("oci:Core/vcn:Vcn",)),
    ("aws:NodeGroup", "pool", ("aws:eks/nodeGroup:NodeGroup",)),
    ("oci:NodePool", "pool", ("oci:ContainerEngine/nodePool:NodePool",)),
    # An older version of this program installed lanes as releases.
    ("runners:ArcLane", "GitHub lane", (_CHART, RELEASE)),
    ("runners:GitLabLane", "GitLab lane", (_CHART, RELEASE)),
    ("gpu:DevicePlugin", "GPU stack", (RELEASE,)),
    ("gpu:HostDevices", "GPU stack", ()),
    ("gpu:Operator", "GPU stack", (RELEASE,)),
    ("aws:ClusterAutoscaler", "autoscaler", (RELEASE,)),
    ("oci:OkeAutoscaler", "autoscaler", ("oci:ContainerEngine/addon:Addon",)),
    ("aws:EksAddons", "add-ons", ()),
    ("oci:OkeAddons", "add-ons", ()),
    ("runners:ArcController", "controller", (RELEASE,)),
)

COMPONENTS: Final[Mapping[str, tuple[Kind, frozenset[str]]]] = {
    f"gpu-runners:{token}": (kind, frozenset(types)) for token, kind, types in _COMPONENTS
}
"""Kind and defining resource types by component. The component is replaced if a resource of these
types is, or if one is created and another deleted: a successor has another name."""

ORDER: Final[tuple[Kind, ...]] = get_args(Kind)

CALLED_OUT: Final = frozenset(
    {"cluster", "control plane", "network", "pool", "GitHub lane", "GitLab lane"}
)
"""Kinds whose replacement or deletion ends running jobs or leaves queued jobs without a runner."""

LANES: Final = {"GitHub lane": "-github-", "GitLab lane": "-gitlab-"}
"""What logical names of lanes have between cluster and lane."""


def groups(steps: Sequence[Step], renames: Iterable[Rename] = ()) -> list[Group]:
    """Return the changing components, those that are called out first.

    A renamed component is one group, under its new name. A cluster that is created or deleted is
    one group with all its resources.
    """
    by_urn = {step.urn: step for step in steps}
    by_owner: dict[str, list[Step]] = {}
    for step in sorted(steps, key=lambda step: step.urn):
        if step.operation is not None:
            by_owner.setdefault(_owner(step, by_urn), []).append(step)
    found = [_group(by_urn.get(urn), members, by_urn) for urn, members in by_owner.items()]
    found = list(_with_renames(found, renames))
    return sorted(
        found,
        key=lambda one: (not one.called_out, ORDER.index(one.kind), one.cluster, one.name),
    )


def listed(found: Sequence[Group], limit: int = MAX_RESOURCES) -> tuple[list[Group], int]:
    """Return at most `limit` groups and resources, and how many resources are left out."""
    kept: list[Group] = []
    room = limit
    for one in found[:limit]:
        kept.append(one.model_copy(update={"resources": one.resources[:room]}))
        room = max(0, room - len(one.resources))
    total = sum(len(one.resources) for one in found)
    return kept, total - sum(len(one.resources) for one in kept)


def _owner(step: Step, by_urn: Mapping[str, Step]) -> str:
    """Return the URN of the component of `COMPONENTS` that holds the step, or an empty text."""
    owner = ""
    for ancestor in _ancestors(step, by_urn):
        if ancestor.type in COMPONENTS and not owner:
            owner = ancestor.urn
        if ancestor.type == CLUSTER and ancestor.operation in ("create", "delete"):
            return ancestor.urn
    return owner or (step.urn if step.type.startswith("pulumi:providers:") else "")


def _ancestors(step: Step, by_urn: Mapping[str, Step]) -> Iterator[Step]:
    """Yield the resource itself, then its parents."""
    seen: set[str] = set()
    current: Step | None = step
    while current is not None and current.urn not in seen:
        seen.add(current.urn)
        yield current
        current = by_urn.get(current.parent)


def _group(owner: Step | None, members: Sequence[Step], by_urn: Mapping[str, Step]) -> Group:
    if owner is None:
        return Group(kind="other", name="", operation="update", resources=_resources(members))
    if owner.type not in COMPONENTS:
        return Group(
            kind="provider",
            name=owner.name,
            operation=owner.operation or "update",
            causes=owner.properties,
            resources=_resources(members),
        )
    kind, types = COMPONENTS[owner.type]
    defining = [step for step in members if step.type in types and step.parent == owner.urn]
    operation = _operation(owner, defining)
    cluster = next((one.name for one in _ancestors(owner, by_urn) if one.type == CLUSTER), "")
    return Group(
        kind=kind,
        cluster="" if kind == "cluster" else cluster,
        name=_name(owner.name, kind, cluster),
        operation=operation,
        called_out=kind in CALLED_OUT and operation in ("replace", "delete"),
        causes=tuple(_causes(operation, defining))[:MAX_PROPERTIES],
        resources=_resources(members),
    )


def _operation(owner: Step, defining: Sequence[Step]) -> Operation:
    if owner.operation in ("create", "delete"):
        return owner.operation
    operations = {step.operation for step in defining}
    return "replace" if "replace" in operations or {"create", "delete"} <= operations else "update"


def _causes(operation: Operation, defining: Sequence[Step]) -> Iterator[Property]:
    for step in defining:
        for one in step.properties:
            if operation != "replace" or one.replaces:
                yield one


def _name(name: str, kind: Kind, cluster: str) -> str:
    """Return the name in the stack file."""
    prefix = f"{cluster}{LANES.get(kind, '-')}"
    return name.removeprefix(prefix) if kind != "cluster" and cluster else name


def _resources(members: Sequence[Step]) -> tuple[Resource, ...]:
    return tuple(
        Resource(
            operation=step.operation or "other",
            type=step.type,
            name=step.name[:500],
            urn=step.urn[:4000],
            protected=step.protected,
            reasons=tuple(reason[:500] for reason in step.reasons),
            properties=step.properties,
        )
        for step in members
    )


def _with_renames(found: Sequence[Group], renames: Iterable[Rename]) -> Iterator[Group]:
    """Join the group that is deleted under the old name with the one created under the new name."""
    left = {(one.kind, one.cluster, one.name): one for one in found}
    for rename in renames:
        gone = left.get((rename.kind, rename.cluster, rename.old))
        come = left.get((rename.kind, rename.cluster, rename.new))
        if gone is None or come is None:
            continue
        if (gone.operation, come.operation) != ("delete", "create"):
            continue
        del left[rename.kind, rename.cluster, rename.old]
        left[rename.kind, rename.cluster, rename.new] = come.model_copy(
            update={
                "operation": "replace",
                "renamed_from": rename.old,
                "called_out": True,
                "resources": (*come.resources, *gone.resources)[:MAX_RESOURCES],
            }
        )
    yield from left.values()
