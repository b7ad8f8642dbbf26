"""What a change does to nodes, running jobs and queued jobs, in rules and in sentences.

The rules compare two reports. They do not know how many nodes run: numbers are upper bounds.

- EKS: fields that replace (ForceNew) or roll a node group: hashicorp/terraform-provider-aws
  internal/service/eks/node_group.go; everything in the launch template rolls it too. EKS drains the
  nodes of a deleted group for five minutes:
  https://docs.aws.amazon.com/eks/latest/userguide/delete-managed-node-group.html
- OKE: a change applies to new nodes only, unless nodes are cycled; a change of placement ends them:
  https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengscalingnodepools.htm
- ARC: a deleted scale set waits for its runners, and a runner with a job is not removed:
  actions/actions-runner-controller controllers/actions.github.com/ephemeralrunnerset_controller.go
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from change.escape import Name
from change.fields import field_changes
from fleet.report.model import Cluster, Lane, Pool, Report, Section

SENTENCES: Final[dict[tuple[str, str], str]] = {
    ("cluster", "replaced"): (
        "the cluster or its network is replaced, with all pools and lanes, and running jobs fail "
        "(with protect: true the engine refuses)"
    ),
    ("cluster", "removed"): (
        "its pools and lanes are deleted with it, and running jobs fail (with protect: true the "
        "engine refuses)"
    ),
    ("cluster", "renamed"): (
        "a new cluster is created, the old one is deleted with its pools and lanes, and running "
        "jobs fail (with protect: true the engine refuses)"
    ),
    ("pool", "replaced"): "its nodes are replaced, and jobs that run on them fail",
    ("eks pool", "replaced"): (
        "a new node group is created, then the old one is deleted: EKS drains its nodes for at "
        "most five minutes, and jobs that still run there fail"
    ),
    ("oke pool", "replaced"): (
        "its nodes are terminated and new ones are created; jobs that run there fail"
    ),
    ("pool", "renamed"): (
        "new nodes are created under the new name, the old ones are deleted, and jobs that run on "
        "them fail"
    ),
    ("pool", "rolled"): (
        "its nodes are drained and replaced one by one, and jobs that run there are evicted"
    ),
    ("pool", "new nodes only"): (
        "running nodes stay as they are until they are deleted; node_cycling: true would replace "
        "them"
    ),
    ("pool", "shrunk"): (
        "if more nodes run than the new maximum, the nodes above it are deleted, and jobs that run "
        "on them fail"
    ),
    ("pool", "removed"): "its nodes are deleted, and jobs that run on them fail",
    ("lane", "replaced"): "it is uninstalled and installed again; until then its new jobs wait",
    ("github lane", "replaced"): (
        "the scale set is uninstalled and installed again; until then its new jobs wait. Running "
        "jobs finish first: if that takes longer than Helm waits (10 minutes), the update fails; "
        "run it again"
    ),
    ("lane", "removed"): "jobs that select it find no runner",
    ("lane", "renamed"): "jobs that select its old name find no runner",
}
"""What an effect means for jobs, by what it hits and by effect. A key with a platform or a forge
comes before the one without."""


def consequence(what: str, effect: str, variant: str = "") -> str:
    """Return the sentence for an effect on a cluster, pool or lane; empty if there is none.

    `variant`: eks or oke for a pool, github or gitlab for a lane.
    """
    specific = SENTENCES.get((f"{variant} {what}", effect))
    return specific or SENTENCES.get((what, effect), "")


def renamed_lane(forge: str, new: str, lost: Iterable[str]) -> Iterator[str]:
    """Yield the parts of the sentence for a renamed lane, names as `Name`.

    `lost`: labels or tags of the old lane that no lane has any more.
    """
    kind, key = ("scale set", "runs-on") if forge == "github" else ("runner", "tags")
    finished = " after its running jobs have finished" if forge == "github" else ""
    yield f"the {kind} is deleted{finished}, and a new one is created with the name "
    yield Name(new)
    kept = True
    for label in lost:
        yield f"; no runner takes jobs with {key}: "
        yield Name(label)
        kept = False
    if kept:
        yield "; jobs find it by the same tags"


class Update(Section):
    """What happens to a cluster, to the nodes of a pool, or to the runners of a lane."""

    what: str = ""
    """cluster, pool or lane."""
    id: str = ""
    """`cluster`, `cluster/pool` or `cluster/forge/lane`, by names."""
    effect: str = ""
    """replaced, renamed, rolled, new nodes only, removed or shrunk."""
    because: list[str] = Field(default=[])
    """Fields that changed; those of the cluster start with `cluster.`."""
    nodes: int = 0
    """Upper bound, with every pool at its maximum; 0 for a lane."""
    lanes: list[str] = Field(default=[])
    """Lanes whose jobs may run there."""
    says: str = ""
    """The consequence, as a sentence."""


SEVERE: Final = ("replaced", "renamed", "removed", "rolled", "shrunk")
"""Effects that can end or delay jobs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rules:
    """Fields of a pool and of its cluster that decide what a change does to nodes."""

    replaces: tuple[str, ...]
    rolls: tuple[str, ...]
    """Fields that a node takes when it is created. A trailing dot includes everything below."""
    replaces_cluster: tuple[str, ...]
    """Fields of the cluster that replace it or its network."""
    subnet: str | None
    """Role of the nodes' subnet; `None` where each zone has its own."""


_RULES: Final = {
    "eks": _Rules(
        replaces=("kinds", "capacity", "zones", "made_of.image_type"),
        rolls=(
            *("made_of.image", "made_of.disk_gib", "made_of.raid0", "made_of.efa_interfaces"),
            *("made_of.reservation", "cluster.version", "cluster.tags."),
        ),
        replaces_cluster=("kind", "region", "network.id", "network.cidr"),
        subnet=None,
    ),
    "oke": _Rules(
        replaces=("zones",),
        rolls=(
            *("kinds", "capacity", "labels.", "taints", "made_of.image", "made_of.disk_gib"),
            *("made_of.ocpus", "made_of.memory_gb", "made_of.reservation", "cluster.version"),
        ),
        replaces_cluster=(
            *("kind", "region", "compartment", "network.id", "network.cidr"),
            *("network.subnets.endpoint", "network.subnets.load-balancer"),
        ),
        subnet="worker",
    ),
}

_LANE_REPLACES: Final = ("write", "url", "chart_version")


def updates(base: Report | None, head: Report) -> list[Update]:
    """Return what the change does to existing nodes and runners.

    Nodes of existing clusters are left out: this program does not manage them.
    """
    return [*_updates(base, head)] if base is not None else []


def _updates(base: Report, head: Report) -> Iterator[Update]:
    for name, old in base.clusters.items():
        new = head.clusters.get(name)
        rules = _RULES.get(old.kind)
        changed: Collection[str] = field_changes(old, new)[0] if new is not None else ()
        cluster_fields = rules.replaces_cluster if rules is not None else ("kind",)
        because = [f"cluster.{field}" for field in cluster_fields if field in changed]
        if rules is not None and (because or new is None):
            yield _cluster(name, old, because)
            continue
        if rules is not None and new is not None:
            yield from _pools(name, old, new, changed, rules)
        for key, lane in old.lanes.items():
            effect = _lane(lane, new.lanes.get(key) if new is not None else None, because)
            if effect is not None:
                yield Update(
                    what="lane",
                    id=f"{name}/{key}",
                    effect=effect[0],
                    because=effect[1],
                    lanes=[f"{name}/{key}"],
                    says=consequence("lane", effect[0], lane.forge),
                )


def _cluster(name: str, old: Cluster, because: list[str]) -> Update:
    effect = "replaced" if because else "removed"
    return Update(
        what="cluster",
        id=name,
        effect=effect,
        because=because,
        nodes=sum(pool.max for pool in old.pools.values()),
        lanes=[f"{name}/{key}" for key in old.lanes],
        says=consequence("cluster", effect),
    )


def _pools(
    cluster: str, old: Cluster, new: Cluster, changed: Collection[str], rules: _Rules
) -> Iterator[Update]:
    for name, before in old.pools.items():
        for effect, because, nodes in _pool(before, new.pools.get(name), changed, rules):
            yield Update(
                what="pool",
                id=f"{cluster}/{name}",
                effect=effect,
                because=because,
                nodes=nodes,
                lanes=[f"{cluster}/{key}" for key, lane in old.lanes.items() if name in lane.pools],
                says=consequence("pool", effect, old.kind),
            )


def _pool(
    before: Pool, after: Pool | None, changed: Collection[str], rules: _Rules
) -> Iterator[tuple[str, list[str], int]]:
    """Yield the effects on one pool, each with its causes and an upper bound of nodes."""
    if after is None:
        yield "removed", [], before.max
        return
    stated, effects = field_changes(before, after)
    found = {*stated, *effects, *(f"cluster.{field}" for field in changed)}
    subnets = [rules.subnet] if rules.subnet is not None else before.zones
    own_subnets = (f"cluster.network.subnets.{subnet}" for subnet in subnets)
    replaces = _matching(found, (*rules.replaces, *own_subnets))
    rolls = _matching(found, rules.rolls)
    if replaces:
        yield "replaced", replaces, before.max
        return
    if rolls:
        # Only OKE leaves running nodes unchanged.
        stays = rules.subnet is not None and not after.made_of.cycling
        yield ("new nodes only" if stays else "rolled"), rolls, before.max
    if after.max < before.max:
        yield "shrunk", ["max"], before.max - after.max


def _matching(found: Collection[str], wanted: Iterable[str]) -> list[str]:
    """Return the fields of `found` that are wanted, in the order of `wanted`."""
    return [
        name
        for one in wanted
        for name in sorted(found)
        if name == one or (one.endswith(".") and name.startswith(one))
    ]


def _lane(before: Lane, after: Lane | None, because: list[str]) -> tuple[str, list[str]] | None:
    if after is None:
        return "removed", []
    if because:
        return "replaced", because
    if before.forge != "github":
        return None
    stated, effects = field_changes(before, after)
    because = [name for name in _LANE_REPLACES if name in stated or name in effects]
    return ("replaced", because) if because else None
