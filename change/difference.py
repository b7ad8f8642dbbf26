"""The difference of two reports: cost, GPUs, clusters, pools, lanes, findings, running jobs.

The base's report may come from another revision of this program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import Field

from change.consequences import Update, drained, renamed_lane, updates
from change.fields import Body, Changes, Values, changes, field_changes
from fleet.report.model import Cluster, Finding, Lane, Pool, Report, Section

VERSION: Final = 1

MAX_RENAMED_FIELDS: Final = 2
"""Stated fields in which an item with a new name may differ from the old one."""

NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})

Identity = tuple[str, str, str]
"""Rule, severity and path of a finding."""


class ItemChanges(Section):
    """Differences of the clusters, the pools or the lanes, by id: the names on the way, with `/`.

    `changed` has the fields that the stack file states, `effects` those that follow from them.
    """

    added: list[str] = Field(default=[])
    removed: list[str] = Field(default=[])
    renamed: dict[str, str] = Field(default={})
    """New id by old id."""
    changed: dict[str, Changes] = Field(default={})
    effects: dict[str, Changes] = Field(default={})

    def is_empty(self) -> bool:
        """Return whether nothing differs."""
        parts = (self.added, self.removed, self.renamed, self.changed, self.effects)
        return not any(parts)


class FindingChanges(Section):
    """Findings of one revision only."""

    new: list[Finding] = Field(default=[])
    gone: list[Finding] = Field(default=[])


class Difference(Section):
    """The difference of two reports, as `diff.json` and `make report BASE= FORMAT=json` have it."""

    version: int = VERSION
    stack: str | None = None
    base: bool = False
    """Whether there is a base; without one everything is new."""
    money: dict[str, Values] = Field(default={})
    """USD per month: floor and ceiling."""
    gpus: dict[str, Values] = Field(default={})
    """GPU devices at full size by model."""
    clusters: ItemChanges = ItemChanges()
    pools: ItemChanges = ItemChanges()
    lanes: ItemChanges = ItemChanges()
    findings: FindingChanges = FindingChanges()
    updates: list[Update] = Field(default=[])

    def is_empty(self) -> bool:
        """Return whether nothing differs."""
        items = (self.clusters, self.pools, self.lanes)
        return all(one.is_empty() for one in items) and not any(
            (self.money, self.gpus, self.findings.new, self.findings.gone, self.updates)
        )


def compare(base: Report | None, head: Report) -> Difference:
    """Return the difference of two reports; without a base everything is new."""
    old = base if base is not None else Report()
    existing = {name for name, body in head.clusters.items() if body.kind == "existing"}
    clusters = _items(old.clusters, head.clusters, _same_cluster)
    pools = _items(_pools(old, clusters.renamed), _pools(head), _same_pool, existing)
    lanes = _items(_lanes(old, clusters.renamed, pools.renamed), _lanes(head), _same_lane)
    costs = [one.totals.usd_per_month.model_dump() for one in (old, head)]
    gpus = [{gpu: n for gpu, n in one.totals.gpus.items() if n} for one in (old, head)]
    return Difference(
        stack=head.stack,
        base=base is not None,
        money=changes(*costs),
        gpus=changes(*gpus),
        clusters=clusters,
        pools=pools,
        lanes=lanes,
        findings=_findings(old, head, _moved_paths(pools.renamed, lanes.renamed)),
        updates=[_with_new_name(one, old, head, lanes.renamed) for one in updates(base, head)],
    )


def lost_labels(base: Report, head: Report, forge: str, lane: str) -> list[str]:
    """Return the labels or tags of a lane of the base that no lane of the head has any more."""
    gone = {
        label
        for _, _, one in base.lanes()
        if (one.forge, one.name) == (forge, lane)
        for label in one.write
    }
    return sorted(
        gone - {label for _, _, one in head.lanes() if one.forge == forge for label in one.write}
    )


def _pools(report: Report, clusters: Mapping[str, str] = NO_NAMES) -> dict[str, Pool]:
    """Return the pools by id, with the new name of a renamed cluster."""
    return {f"{clusters.get(at, at)}/{name}": pool for at, name, pool in report.pools()}


def _lanes(
    report: Report,
    clusters: Mapping[str, str] = NO_NAMES,
    pools: Mapping[str, str] = NO_NAMES,
) -> dict[str, Lane]:
    """Return the lanes by id, with the new names of renamed clusters and pools."""
    found: dict[str, Lane] = {}
    for old_cluster, key, lane in report.lanes():
        cluster = clusters.get(old_cluster, old_cluster)

        def renamed(pool: str, cluster: str = cluster) -> str:
            return pools.get(f"{cluster}/{pool}", pool).rpartition("/")[2]

        updates = {
            "pools": [renamed(pool) for pool in lane.pools],
            "placements": [
                one.model_copy(update={"pool": renamed(one.pool)}) for one in lane.placements
            ],
        }
        known = {key: value for key, value in updates.items() if key in lane.model_fields_set}
        found[f"{cluster}/{key}"] = lane.model_copy(update=known)
    return found


def _items(
    old: Mapping[str, Body],
    new: Mapping[str, Body],
    same: Callable[[Body, Body], bool],
    existing: Collection[str] = (),
) -> ItemChanges:
    """Compare clusters, pools or lanes by id; `existing` are names of existing clusters."""

    def compared(before: str, after: str) -> tuple[Changes, Changes]:
        managed = after.partition("/")[0] not in existing
        return field_changes(old[before], new[after], managed=managed)

    removed = [name for name in old if name not in new]
    added = [name for name in new if name not in old]

    def distance(before: str, after: str) -> int | None:
        if _parent(before) != _parent(after) or not same(old[before], new[after]):
            return None
        return len(compared(before, after)[0].keys() - {"write"})

    renamed = _renames(removed, added, distance)
    former = {after: before for before, after in renamed.items()}
    pairs = {name: former.get(name, name) for name in new}
    found = {name: compared(before, name) for name, before in pairs.items() if before in old}
    return ItemChanges(
        added=[name for name in added if name not in former],
        removed=[name for name in removed if name not in renamed],
        renamed=renamed,
        changed={name: stated for name, (stated, _) in found.items() if stated},
        effects={name: effects for name, (_, effects) in found.items() if effects},
    )


def _renames(
    removed: Iterable[str], added: Iterable[str], distance: Callable[[str, str], int | None]
) -> dict[str, str]:
    """Pair each removed id with the nearest added one, exact matches first.

    `distance` is the number of stated fields that differ, `None` if the two cannot be the same.
    """
    renamed: dict[str, str] = {}
    free = dict.fromkeys(added)
    near: list[tuple[int, str, str]] = []
    for before in removed:
        for after in free:
            fields = distance(before, after)
            if fields == 0:
                renamed[before] = after
                del free[after]
                break
            if fields is not None and fields <= MAX_RENAMED_FIELDS:
                near.append((fields, before, after))
    for _, before, after in sorted(near, key=lambda pair: pair[0]):
        if before not in renamed and after in free:
            renamed[before] = after
            del free[after]
    return renamed


def _parent(name: str) -> str:
    return name.rpartition("/")[0]


def _same_cluster(old: Cluster, new: Cluster) -> bool:
    return (
        (old.kind, old.region, old.context) == (new.kind, new.region, new.context)
        and old.pools.keys() == new.pools.keys()
        and old.lanes.keys() == new.lanes.keys()
    )


def _same_pool(old: Pool, new: Pool) -> bool:
    keys = ("kinds", "capacity", "gpu", "gpus")
    return all(getattr(old, key) == getattr(new, key) for key in keys)


def _same_lane(old: Lane, new: Lane) -> bool:
    """Return whether pools and GPUs are equal, and a label or tag other than the name is shared."""
    first, second = ([one for one in lane.write if one != lane.name] for lane in (old, new))
    return (old.pools, old.job.gpus) == (new.pools, new.job.gpus) and (
        first == second or not {*first}.isdisjoint(second)
    )


def _with_new_name(
    update: Update, base: Report, head: Report, renamed: Mapping[str, str]
) -> Update:
    """Report a lane that was removed and added under another name as renamed."""
    name = renamed.get(update.id) if update.what == "lane" else None
    if name is None:
        return update
    _, forge, lane = update.id.split("/")
    lost = lost_labels(base, head, forge, lane)
    sentence = "".join(renamed_lane(forge, name.rpartition("/")[2], lost))
    text = f"{sentence}. {drained(update.minutes, update.jobs)}"
    return update.model_copy(update={"effect": "renamed", "says": text})


def _moved_paths(pools: Mapping[str, str], lanes: Mapping[str, str]) -> dict[str, str]:
    """Return the path in the stack file of every renamed pool and lane, new by old."""
    found: dict[str, str] = {}
    for renamed, folder in ((pools, "pools"), (lanes, "lanes")):
        for ids in renamed.items():
            old, new = (one.split("/") for one in ids)
            kinds = ("eks", "oke", "existing") if folder == "pools" else (old[1],)
            for kind in kinds:
                before, after = (
                    ".".join(("clusters", one[0], kind, folder, one[-1])) for one in (old, new)
                )
                found[before] = after
    return found


def _findings(old: Report, new: Report, moved: Mapping[str, str]) -> FindingChanges:
    """Match findings by rule, severity and path; of several in one place, equal messages first."""
    before = [(one, _identity(one, moved)) for one in old.findings]
    after = [(one, _identity(one, NO_NAMES)) for one in new.findings]
    equal = Counter((identity, one.message) for one, identity in before)
    equal &= Counter((identity, one.message) for one, identity in after)
    before = _without(before, equal, lambda one, identity: (identity, one.message))
    after = _without(after, equal, lambda one, identity: (identity, one.message))
    matched = Counter(identity for _, identity in before)
    matched &= Counter(identity for _, identity in after)
    return FindingChanges(
        new=[one for one, _ in _without(after, matched, lambda _, identity: identity)],
        gone=[one for one, _ in _without(before, matched, lambda _, identity: identity)],
    )


def _without(
    findings: list[tuple[Finding, Identity]],
    matched: Counter[Any],
    key: Callable[[Finding, Identity], object],
) -> list[tuple[Finding, Identity]]:
    """Leave out as many findings of each key as are matched."""
    left = matched.copy()
    kept: list[tuple[Finding, Identity]] = []
    for finding, identity in findings:
        left[key(finding, identity)] -= 1
        if left[key(finding, identity)] < 0:
            kept.append((finding, identity))
    return kept


def _identity(finding: Finding, moved: Mapping[str, str]) -> Identity:
    path = finding.path
    for before, after in moved.items():
        if path == before or path.startswith(f"{before}."):
            path = after + path.removeprefix(before)
            break
    return finding.rule, finding.severity, path
