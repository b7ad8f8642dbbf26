"""What a change does to jobs that run: which nodes go, of which pools, under which lanes.

It compares two reports and knows nothing of how many nodes run now: numbers are at most. Sources:
- EKS: ForceNew of a node group, and what rolls it: hashicorp/terraform-provider-aws
  internal/service/eks/node_group.go; everything of the launch template rolls as well. The nodes of
  a group that is deleted are drained for five minutes:
  https://docs.aws.amazon.com/eks/latest/userguide/delete-managed-node-group.html
- OKE: a change reaches new nodes only, unless they are cycled; a change of placement ends them:
  https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengscalingnodepools.htm
- ARC: a set that goes waits for its runners, and one with a job is not removed:
  actions/actions-runner-controller controllers/actions.github.com/ephemeralrunnerset_controller.go
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypedDict

from fleet.report.fields import changes, cluster_fields, pool_fields
from fleet.report.read import Data, count, filled, part, parts, text, words

Effect = Literal["replaced", "renamed", "rolled", "new nodes only", "removed", "shrunk"]


class Update(TypedDict):
    """What becomes of a cluster, of one pool's nodes, or of one lane's runners."""

    what: Literal["cluster", "pool", "lane"]
    id: str
    """Cluster; cluster and pool; or cluster, forge and lane, joined by slashes."""
    effect: Effect
    because: list[str]
    """Fields that changed; those of the cluster begin with it."""
    nodes: int
    """At most, with every pool at its maximum; 0 of a lane."""
    lanes: list[str]
    """Lanes whose jobs may run there."""
    says: str


SEVERE: Final[tuple[Effect, ...]] = ("replaced", "renamed", "removed", "rolled", "shrunk")
"""Effects that jobs may feel."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rules:
    """Fields of a pool, and of its cluster, that decide what becomes of its nodes."""

    replaces: tuple[str, ...]
    makes: tuple[str, ...]
    """What a node takes from its pool when it is made; a trailing dot stands for all below it."""
    moves: tuple[str, ...]
    """Fields of the cluster for which all of it, or its network, is made anew."""
    subnet: str | None
    """Role of the nodes' subnet; None where each zone has its own."""


_RULES: Final = {
    "eks": _Rules(
        replaces=("kinds", "capacity", "zones", "made_of.image_type"),
        makes=(
            *("made_of.image", "made_of.disk_gib", "made_of.raid0", "made_of.efa_interfaces"),
            *("made_of.reservation", "cluster.version", "cluster.tags."),
        ),
        moves=("kind", "region", "network.id", "network.cidr"),
        subnet=None,
    ),
    "oke": _Rules(
        replaces=("zones",),
        makes=(
            *("kinds", "capacity", "labels.", "taints", "made_of.image", "made_of.disk_gib"),
            *("made_of.ocpus", "made_of.memory_gb", "made_of.reservation", "cluster.version"),
        ),
        moves=(
            *("kind", "region", "compartment", "network.id", "network.cidr"),
            *("network.subnets.endpoint", "network.subnets.load-balancer"),
        ),
        subnet="worker",
    ),
}

_ROLLED: Final = "nodes are drained and replaced one by one, and jobs that run there are evicted"
_SAYS: Final[dict[tuple[str, Effect], str]] = {
    ("eks", "replaced"): (
        "a new node group is made, then the old one is deleted: its nodes are drained for five "
        "minutes at most, and jobs that still run there fail"
    ),
    ("oke", "replaced"): "its nodes are terminated and new ones made; jobs that run there fail",
    ("eks", "rolled"): _ROLLED,
    ("oke", "rolled"): _ROLLED,
    ("oke", "new nodes only"): (
        "nodes that run stay as they are until they go; node_cycling: true would replace them"
    ),
}
_CLUSTER_REPLACED: Final = (
    "the cluster or its network is made anew, with every node and lane; jobs that run there fail "
    "(with protect: true the engine refuses)"
)
_CLUSTER_REMOVED: Final = (
    "it goes with its nodes and lanes, and jobs that run there fail (with protect: true the engine "
    "refuses)"
)
_SHRUNK: Final = "if more nodes run than the new maximum, those above it go under their jobs"
_REMOVED: Final = "its nodes go, and jobs that run there fail"
_LANE_REPLACES: Final = ("write", "url", "chart_version")
_LANE_REPLACED: Final = (
    "the scale set is uninstalled and installed anew: meanwhile no job starts, and those that run "
    "end first; if they take longer than Helm waits (10 minutes), the update fails: run it again"
)
_LANE_REMOVED: Final = "jobs that ask for it find no runner any more"


def updates(base: Data | None, head: Data) -> list[Update]:
    """Everything that the change from `base` to `head` does to nodes and runners that are there.

    Nodes of a cluster that exists already are nobody's business here.
    """
    return [*_updates(base, head)] if base is not None else []


def _updates(base: Data, head: Data) -> Iterator[Update]:
    for name, old in parts(base, "clusters"):
        new = part(head, "clusters", name)
        rules = _RULES.get(text(old, "kind"))
        between: Collection[str] = _between(old, new) if new else ()
        moved = [
            f"cluster.{one}" for one in (rules.moves if rules else ("kind",)) if one in between
        ]
        if rules is not None and (moved or not new):
            yield _whole(name, old, moved)
            continue
        if rules is not None:
            yield from _pools(name, old, new, between, rules)
        for lane, before in parts(old, "lanes"):
            found = _lane(before, part(new, "lanes", lane), moved)
            if found is not None:
                yield {
                    "what": "lane",
                    "id": f"{name}/{lane}",
                    "effect": found[0],
                    "because": found[1],
                    "nodes": 0,
                    "lanes": [f"{name}/{lane}"],
                    "says": _LANE_REMOVED if found[0] == "removed" else _LANE_REPLACED,
                }


def _whole(cluster: str, old: Data, moved: list[str]) -> Update:
    """A cluster that goes, or is made anew, takes everything on it along."""
    return {
        "what": "cluster",
        "id": cluster,
        "effect": "replaced" if moved else "removed",
        "because": moved,
        "nodes": sum(count(pool, "max") for _, pool in parts(old, "pools")),
        "lanes": [f"{cluster}/{name}" for name, _ in parts(old, "lanes")],
        "says": _CLUSTER_REPLACED if moved else _CLUSTER_REMOVED,
    }


def _pools(
    cluster: str, old: Data, new: Data, between: Collection[str], rules: _Rules
) -> Iterator[Update]:
    for name, before in parts(old, "pools"):
        for effect, because, nodes in _pool(before, part(new, "pools", name), between, rules):
            yield {
                "what": "pool",
                "id": f"{cluster}/{name}",
                "effect": effect,
                "because": because,
                "nodes": nodes,
                "lanes": [
                    f"{cluster}/{lane}"
                    for lane, body in parts(old, "lanes")
                    if name in words(body, "pools")
                ],
                "says": _says(text(old, "kind"), effect),
            }


def _between(old: Data, new: Data) -> set[str]:
    """Fields of a cluster that differ."""
    before, after = (cluster_fields(one).stated for one in (filled(old, new), filled(new, old)))
    return {*changes(before, after)}


def _says(kind: str, effect: Effect) -> str:
    if effect == "removed":
        return _REMOVED
    return _SHRUNK if effect == "shrunk" else _SAYS[kind, effect]


def _pool(
    before: Data, after: Data, between: Collection[str], rules: _Rules
) -> Iterator[tuple[Effect, list[str], int]]:
    """Effects on one pool, each with its causes and the nodes that it reaches at most."""
    most = count(before, "max")
    if not after:
        yield "removed", [], most
        return
    found = {*_differences(before, after), *(f"cluster.{name}" for name in between)}
    subnets = [rules.subnet] if rules.subnet is not None else words(before, "zones")
    own_subnets = (f"cluster.network.subnets.{one}" for one in subnets)
    replaces = _matching(found, (*rules.replaces, *own_subnets))
    makes = _matching(found, rules.makes)
    if replaces:
        yield "replaced", replaces, most
        return
    if makes:
        # Only OKE leaves nodes as they are.
        stays = rules.subnet is not None and not part(after, "made_of").get("cycling")
        yield ("new nodes only" if stays else "rolled"), makes, most
    if count(after, "max") < most:
        yield "shrunk", ["max"], most - count(after, "max")


def _differences(before: Data, after: Data) -> set[str]:
    both = (filled(before, after), filled(after, before))
    old, new = (pool_fields(one, made_here=True) for one in both)
    return {*changes(old.stated, new.stated), *changes(old.effects, new.effects)}


def _matching(found: Collection[str], wanted: Iterable[str]) -> list[str]:
    """Fields of `found`, in the order in which they are wanted."""
    return [
        name
        for one in wanted
        for name in sorted(found)
        if name == one or (one.endswith(".") and name.startswith(one))
    ]


def _lane(before: Data, after: Data, moved: list[str]) -> tuple[Effect, list[str]] | None:
    if not after:
        return "removed", []
    if moved:
        return "replaced", moved
    if text(before, "forge") != "github":
        return None
    old, new = filled(before, after), filled(after, before)
    because = [name for name in _LANE_REPLACES if old.get(name) != new.get(name)]
    return ("replaced", because) if because else None
