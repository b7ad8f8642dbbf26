"""Resources that change, under the thing that people name: a cluster, a pool, a lane.

The engine says what happens to each resource; a component of the program says what it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from change.document import (
    MAX_PROPERTIES,
    MAX_RESOURCES,
    Kind,
    Operation,
    Property,
    Rename,
    Resource,
    Subject,
)
from change.steps import Step

CLUSTER: Final = "gpu-runners:index:RunnerCluster"

COMPONENTS: Final[Mapping[str, tuple[Kind, frozenset[str]]]] = {
    CLUSTER: ("cluster", frozenset()),
    "gpu-runners:aws:EksCluster": ("control plane", frozenset({"aws:eks/cluster:Cluster"})),
    "gpu-runners:oci:OkeCluster": (
        "control plane",
        frozenset({"oci:ContainerEngine/cluster:Cluster"}),
    ),
    "gpu-runners:aws:Network": ("network", frozenset({"aws:ec2/vpc:Vpc"})),
    "gpu-runners:oci:OkeNetwork": ("network", frozenset({"oci:Core/vcn:Vcn"})),
    "gpu-runners:aws:NodeGroup": ("pool", frozenset({"aws:eks/nodeGroup:NodeGroup"})),
    "gpu-runners:oci:NodePool": ("pool", frozenset({"oci:ContainerEngine/nodePool:NodePool"})),
    "gpu-runners:runners:ArcLane": ("GitHub lane", frozenset({"kubernetes:helm.sh/v3:Release"})),
    "gpu-runners:runners:GitLabLane": (
        "GitLab lane",
        frozenset({"kubernetes:helm.sh/v3:Release", "gitlab:index/userRunner:UserRunner"}),
    ),
    "gpu-runners:gpu:DevicePlugin": ("GPU stack", frozenset({"kubernetes:helm.sh/v3:Release"})),
    "gpu-runners:gpu:HostDevices": ("GPU stack", frozenset()),
    "gpu-runners:gpu:Operator": ("GPU stack", frozenset({"kubernetes:helm.sh/v3:Release"})),
    "gpu-runners:aws:ClusterAutoscaler": (
        "autoscaler",
        frozenset({"kubernetes:helm.sh/v3:Release"}),
    ),
    "gpu-runners:oci:OkeAutoscaler": (
        "autoscaler",
        frozenset({"oci:ContainerEngine/addon:Addon"}),
    ),
    "gpu-runners:aws:EksAddons": ("add-ons", frozenset()),
    "gpu-runners:oci:OkeAddons": ("add-ons", frozenset()),
    "gpu-runners:runners:ArcController": (
        "controller",
        frozenset({"kubernetes:helm.sh/v3:Release"}),
    ),
}
"""What each component is to a reader, and the types of the resources that it stands or falls with:
where one of them is replaced, so is the thing."""

ORDER: Final[tuple[Kind, ...]] = (
    "cluster",
    "control plane",
    "network",
    "pool",
    "GitHub lane",
    "GitLab lane",
    "GPU stack",
    "autoscaler",
    "add-ons",
    "controller",
    "provider",
    "other",
)

CALLED_OUT: Final = frozenset(
    {"cluster", "control plane", "network", "pool", "GitHub lane", "GitLab lane"}
)
"""Kinds of which a replace or delete takes running jobs along, or leaves waiting ones alone."""

LANES: Final = {"GitHub lane": "-github-", "GitLab lane": "-gitlab-"}


def subjects(steps: Sequence[Step], renames: Iterable[Rename] = ()) -> list[Subject]:
    """The things that change, the dangerous ones first; a renamed one once, under its new name.

    A cluster that comes or goes as a whole is one thing, with all its resources.
    """
    by_urn = {step.urn: step for step in steps}
    groups: dict[str, list[Step]] = {}
    for step in sorted(steps, key=lambda step: step.urn):
        if step.operation is not None:
            groups.setdefault(_owner(step, by_urn), []).append(step)
    found = [_subject(by_urn.get(urn), group, by_urn) for urn, group in groups.items()]
    found = list(_with_renames(found, renames))
    return sorted(
        found,
        key=lambda one: (not one.called_out, ORDER.index(one.kind), one.cluster, one.name),
    )


def listed(found: Sequence[Subject], most: int = MAX_RESOURCES) -> tuple[list[Subject], int]:
    """At most so many things, with as many resources in all; and how many resources that leaves."""
    kept: list[Subject] = []
    room = most
    for one in found[:most]:
        kept.append(one.model_copy(update={"resources": one.resources[:room]}))
        room = max(0, room - len(one.resources))
    total = sum(len(one.resources) for one in found)
    return kept, total - sum(len(one.resources) for one in kept)


def _owner(step: Step, by_urn: Mapping[str, Step]) -> str:
    """URN of the component that a reader knows; empty for what is in none."""
    owner = ""
    for ancestor in _ancestors(step, by_urn):
        if ancestor.type in COMPONENTS and not owner:
            owner = ancestor.urn
        if ancestor.type == CLUSTER and ancestor.operation in ("create", "delete"):
            return ancestor.urn
    return owner or (step.urn if step.type.startswith("pulumi:providers:") else "")


def _ancestors(step: Step, by_urn: Mapping[str, Step]) -> Iterator[Step]:
    """The resource itself, then its parents."""
    seen: set[str] = set()
    current: Step | None = step
    while current is not None and current.urn not in seen:
        seen.add(current.urn)
        yield current
        current = by_urn.get(current.parent)


def _subject(owner: Step | None, group: Sequence[Step], by_urn: Mapping[str, Step]) -> Subject:
    if owner is None:
        return Subject(kind="other", name="", operation="update", resources=_resources(group))
    if owner.type not in COMPONENTS:
        return Subject(
            kind="provider",
            name=owner.name,
            operation=owner.operation or "update",
            causes=owner.properties,
            resources=_resources(group),
        )
    kind, types = COMPONENTS[owner.type]
    defining = [step for step in group if step.type in types and step.parent == owner.urn]
    operation = _operation(owner, defining)
    cluster = next((one.name for one in _ancestors(owner, by_urn) if one.type == CLUSTER), "")
    return Subject(
        kind=kind,
        cluster="" if kind == "cluster" else cluster,
        name=_name(owner.name, kind, cluster),
        operation=operation,
        called_out=kind in CALLED_OUT and operation in ("replace", "delete"),
        causes=tuple(_causes(operation, defining))[:MAX_PROPERTIES],
        resources=_resources(group),
    )


def _operation(owner: Step, defining: Sequence[Step]) -> Operation:
    if owner.operation in ("create", "delete"):
        return owner.operation
    if any(step.operation == "replace" for step in defining):
        return "replace"
    return "update"


def _causes(operation: Operation, defining: Sequence[Step]) -> Iterator[Property]:
    for step in defining:
        for one in step.properties:
            if operation != "replace" or one.replaces:
                yield one


def _name(name: str, kind: Kind, cluster: str) -> str:
    """The name that the stack file gives it."""
    prefix = f"{cluster}{LANES.get(kind, '-')}"
    return name.removeprefix(prefix) if kind != "cluster" and cluster else name


def _resources(group: Sequence[Step]) -> tuple[Resource, ...]:
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
        for step in group
    )


def _with_renames(found: Sequence[Subject], renames: Iterable[Rename]) -> Iterator[Subject]:
    """Joins what went under the old name with what came under the new one."""
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
