"""What a change does to nodes, running jobs and queued jobs, in rules and in sentences.

The rules compare two reports. They do not know how many nodes run: numbers are upper bounds.

- EKS: fields that replace (ForceNew) or roll a node group: hashicorp/terraform-provider-aws
  internal/service/eks/node_group.go; everything in the launch template rolls it too. How long EKS
  waits for jobs: `fleet.clusters.eks`.
- OKE: a change applies to new nodes only, unless nodes are cycled; a change of placement ends them:
  https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengscalingnodepools.htm
- Clouds wait for jobs because evictions do: `components/runners/job_budget.py`.
- A replaced pool or lane is created before the old one is deleted. A lane that is deleted is
  drained: it takes no jobs, and the update waits for those that run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from change.escape import Name
from change.fields import field_changes
from fleet.clusters.eks import EKS_DELETE_MINUTES
from fleet.report.model import Cluster, Lane, Pool, Report, Section

RELEASE: Final = "kubernetes:helm.sh/v3:Release"

_FAIL: Final = "Jobs that run on them fail"
_GO_ON: Final = (
    "The change ends no job of a lane: if one takes longer, the update fails, and the next one "
    "waits on"
)
_REFRESH: Final = (
    "A longer job goes on: the update fails, and needs pulumi refresh before the next one"
)
"""The state then has the new values although old nodes run: pulumi/pulumi#21458, pulumi-eks#875."""

CLUSTERS: Final = {
    "replaced": "the cluster or its network is replaced, with all pools and lanes",
    "removed": "its pools and lanes are deleted with it",
    "renamed": "a new cluster is created, and the old one is deleted with its pools and lanes",
}

NODES: Final = {
    "replaced": "new nodes are created, then the old ones are deleted",
    "renamed": "new nodes are created under the new name, then the old ones are deleted",
    "removed": "its nodes are deleted",
    "rolled": "its nodes are replaced one by one",
    "shrunk": "if more nodes run than the new maximum, those above it are deleted",
}

NEW_NODES_ONLY: Final = (
    "running nodes stay as they are until they are deleted; node_cycling: true would replace them"
)

LANES: Final = {
    "replaced": "a new {set} takes the next jobs, and the old one is deleted",
    "moved": "its new {set} takes the next jobs, and the old one is deleted",
    "removed": "jobs that select it find no runner",
    "renamed": "jobs that select its old name find no runner",
}


def consequence(
    what: str, effect: str, variant: str = "", *, minutes: int | None = None, jobs: int = 0
) -> str:
    """Return the sentence for an effect on a cluster, pool or lane; empty if there is none.

    `variant`: eks, oke or `oke cpu` for a pool, github or gitlab for a lane. `minutes` and `jobs`
    are upper bounds: how long jobs are waited for, and how many run there.
    """
    match what:
        case "cluster" if effect in CLUSTERS:
            refused = "with protect: true the engine refuses"
            return f"{CLUSTERS[effect]} ({refused}). {drained(minutes, jobs)}"
        case "pool" if effect == "new nodes only":
            return NEW_NODES_ONLY
        case "pool" if effect in NODES:
            return f"{NODES[effect]}. {_jobs_of_nodes(effect, variant, minutes)}"
        case "lane" if effect in LANES:
            text = LANES[effect].format(set="runner" if variant == "gitlab" else "scale set")
            return f"{text}. {drained(minutes, jobs)}"
        case _:
            return ""


def drained(minutes: int | None, jobs: int) -> str:
    """Return how long an update waits for the running jobs of a lane, or of each of several."""
    limit = f" at most {minutes} minutes" if minutes is not None else ""
    bound = f" (at most {jobs})" if jobs else ""
    return f"The update waits{limit} for its running jobs{bound}. {_GO_ON}"


def _jobs_of_nodes(effect: str, variant: str, minutes: int | None) -> str:
    """Return what the cloud does with jobs on nodes that it replaces or deletes."""
    cloud = variant.partition(" ")[0].upper()
    wait = f"{cloud} waits at most {minutes} minutes for the jobs of a node"
    match variant, effect:
        case "eks", "rolled" if minutes:
            return f"{wait}. {_REFRESH}"
        case "eks", "replaced" | "renamed" | "removed":
            return (
                f"EKS waits at most {EKS_DELETE_MINUTES} minutes for their jobs, which then fail. "
                "To lose none, first set paused: true on the old pool, and go on when it is empty"
            )
        case "oke", _ if minutes:
            return f"{wait}. {_REFRESH}"
        case "oke cpu", _ if minutes:
            return f"{wait}, which then fail"
        case _:
            return _FAIL


def renamed_lane(forge: str, new: str, lost: Iterable[str]) -> Iterator[str]:
    """Yield the parts of the sentence for a renamed lane, names as `Name`.

    `lost`: labels or tags of the old lane that no lane has any more.
    """
    kind, key = ("scale set", "runs-on") if forge == "github" else ("runner", "tags")
    yield f"a new {kind} is created with the name "
    yield Name(new)
    yield ", and the old one is deleted"
    kept = True
    for label in lost:
        yield f"; no runner takes jobs with {key}: "
        yield Name(label)
        kept = False
    if kept:
        yield "; jobs find it by the same tags"


class Reach(Section):
    """What a change of a cluster, pool or lane may touch: upper bounds."""

    nodes: int = 0
    """With every pool at its maximum; 0 for a lane."""
    lanes: list[str] = Field(default=[])
    """Lanes whose jobs may run there."""
    jobs: int = 0
    minutes: int | None = None
    """How long the jobs of the lane, or of each node, are waited for; `None` if unknown."""


class Update(Reach):
    """What happens to a cluster, to the nodes of a pool, or to the runners of a lane."""

    what: str = ""
    """cluster, pool or lane."""
    id: str = ""
    """`cluster`, `cluster/pool` or `cluster/forge/lane`, by names."""
    effect: str = ""
    """replaced, renamed, moved, rolled, new nodes only, removed or shrunk."""
    to: str = ""
    """The cluster to which a lane moves."""
    because: list[str] = Field(default=[])
    """Fields that changed; those of the cluster start with `cluster.`."""
    says: str = ""
    """The consequence, as a sentence."""


def reach(report: Report | None, what: str, item: str, nodes: int | None = None) -> Reach:
    """Return what a change of a cluster, pool or lane of the report may touch.

    `item` is its id, see `Update`.
    `nodes`: how many nodes of a pool change, if not all.
    """
    name, _, rest = item.partition("/")
    cluster = report.clusters.get(name) if report is not None else None
    if cluster is None:
        return Reach()
    match what:
        case "cluster":
            lanes = [*cluster.lanes]
            nodes = sum(pool.max for pool in cluster.pools.values())
            jobs = sum(lane.most_jobs for lane in cluster.lanes.values())
            limits = [lane.drain_minutes for lane in cluster.lanes.values()]
        case "pool" if rest in cluster.pools:
            lanes = [key for key, lane in cluster.lanes.items() if rest in lane.pools]
            nodes = cluster.pools[rest].max if nodes is None else nodes
            jobs = _most_jobs(cluster, rest, nodes)
            limits = [cluster.pools[rest].drain_minutes]
        case "lane" if rest in cluster.lanes:
            lanes, nodes = [rest], 0
            jobs = cluster.lanes[rest].most_jobs
            limits = [cluster.lanes[rest].drain_minutes]
        case _:
            return Reach()
    return Reach(
        nodes=nodes,
        lanes=[f"{name}/{key}" for key in lanes],
        jobs=jobs,
        minutes=max((one for one in limits if one is not None), default=None),
    )


def _most_jobs(cluster: Cluster, pool: str, nodes: int) -> int:
    """Return an upper bound of the jobs on some nodes of a pool.

    Jobs of several lanes share a node, so that their numbers add up, unless GPUs run out first.
    """
    lanes = [lane for lane in cluster.lanes.values() if pool in lane.pools]
    fit = sum(
        max((one.jobs_per_node for one in lane.placements if one.pool == pool), default=0)
        for lane in lanes
    )
    if lanes and (gpus := min(lane.job.gpus for lane in lanes)):
        fit = min(fit, cluster.pools[pool].advertised // gpus)
    return min(sum(lane.most_jobs for lane in lanes), nodes * fit)


def variant(report: Report | None, what: str, item: str) -> str:
    """Return the variant of a pool or lane for `consequence`."""
    name, _, rest = item.partition("/")
    if what == "lane":
        return rest.partition("/")[0]
    cluster = report.clusters.get(name) if report is not None else None
    if what != "pool" or cluster is None:
        return ""
    cpu = cluster.kind == "oke" and rest in cluster.pools and cluster.pools[rest].role == "system"
    return "oke cpu" if cpu else cluster.kind


SEVERE: Final = ("replaced", "renamed", "moved", "removed", "rolled", "shrunk")
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

FIXED: Final[dict[str, dict[str, str]]] = {
    "github": {
        "write": "its labels",
        "url": "its URL",
        "chart_version": "the version of ARC",
        "container_mode": "its container mode",
    },
    "gitlab": {"url": "its URL", "owner": "the group or project of its runner"},
}
"""Fields of a lane that are in its generation (`fleet.runners.lanes.generation`), in words."""


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
            yield _update(base, "cluster", name, "replaced" if because else "removed", because)
            continue
        if rules is not None and new is not None:
            yield from _pools(base, head, name, changed, rules)
        for key, lane in old.lanes.items():
            after = new.lanes.get(key) if new is not None else None
            effect, fields = _lane(lane, after, because)
            to = _new_cluster(base, head, name, key) if effect == "removed" else ""
            if effect:
                effect = "moved" if to else effect
                yield _update(base, "lane", f"{name}/{key}", effect, fields, to=to)


def _update(
    base: Report,
    what: str,
    item: str,
    effect: str,
    because: list[str],
    *,
    nodes: int | None = None,
    minutes: int | None = None,
    to: str = "",
) -> Update:
    """Return an update; `nodes` and `minutes` go before what the base's report shows."""
    bounds = reach(base, what, item, nodes)
    if minutes is not None:
        bounds = bounds.model_copy(update={"minutes": minutes})
    says = consequence(
        what, effect, variant(base, what, item), minutes=bounds.minutes, jobs=bounds.jobs
    )
    return Update(
        **bounds.model_dump(), what=what, id=item, effect=effect, because=because, to=to, says=says
    )


def _pools(
    base: Report, head: Report, cluster: str, changed: Collection[str], rules: _Rules
) -> Iterator[Update]:
    new = head.clusters[cluster].pools
    for name, before in base.clusters[cluster].pools.items():
        after = new.get(name)
        minutes = after.drain_minutes if after is not None else None
        for effect, because, nodes in _pool(before, after, changed, rules):
            item = f"{cluster}/{name}"
            yield _update(base, "pool", item, effect, because, nodes=nodes, minutes=minutes)


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


def _lane(before: Lane, after: Lane | None, because: list[str]) -> tuple[str, list[str]]:
    """Return the effect on a lane, empty without one, and its causes."""
    if after is None:
        return "removed", []
    if because:
        return "replaced", because
    stated, effects = field_changes(before, after)
    because = [name for name in FIXED.get(before.forge, ()) if name in stated or name in effects]
    known = before.generation and after.generation
    replaced = before.generation != after.generation if known else bool(because)
    return ("replaced", because) if replaced else ("", [])


def _new_cluster(base: Report, head: Report, cluster: str, lane: str) -> str:
    """Return the cluster to which a removed lane moves, or an empty text."""
    for name, body in head.clusters.items():
        was_there = name in base.clusters and lane in base.clusters[name].lanes
        if name != cluster and lane in body.lanes and not was_there:
            return name
    return ""
