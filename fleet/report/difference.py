"""What differs between two reports: money, GPUs, clusters, pools, lanes, findings, running jobs.

It works on the data of both (`fleet.report.shape`), of which the base may be of another revision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from fleet.report.fields import Split, changes, cluster_fields, lane_fields, pool_fields
from fleet.report.read import Data, filled, part, parts, rows, text, usd, words
from fleet.report.updates import Update, updates

VERSION: Final = 1

_MOST_ODD_FIELDS: Final = 2
"""By how many fields a thing may differ from the one that it was before it got another name."""

Bodies: TypeAlias = Mapping[str, Data]
"""Clusters, pools or lanes by id: the names on the way to them, joined by slashes."""

Splits: TypeAlias = Callable[[Data, Data], tuple[Split, Split]]
"""The fields of a thing and of the one with which it is compared."""

Change: TypeAlias = dict[str, Any]
"""Keys `added` and `removed` (ids), `renamed` (new id by old), `changed` and `effects` (by id and
field: old and new). Effects follow from what is stated, like a price from an instance type."""


def compare(base: Data | None, head: Data) -> dict[str, Any]:
    """The difference; without a base everything is new.

    Keys: version, stack, base (whether there is one), money (floor and ceiling, old and new), gpus
    (by model), clusters, pools and lanes (see `Change`), findings (new, gone), updates
    (see `fleet.report.updates`).
    """
    old: Data = base if base is not None else {}
    clusters = _compared(_clusters(old), _clusters(head), _split_clusters, _same_cluster)
    cluster_names: dict[str, str] = clusters["renamed"]
    pools = _compared(_pools(old, cluster_names), _pools(head), _split_pools, _same_pool)
    lanes = _compared(
        _lanes(old, cluster_names, pools["renamed"]), _lanes(head), _split_lanes, _same_lane
    )
    return {
        "version": VERSION,
        "stack": head.get("stack"),
        "base": base is not None,
        "money": _money(old, head),
        "gpus": changes(_gpus(old), _gpus(head)),
        "clusters": clusters,
        "pools": pools,
        "lanes": lanes,
        "findings": _findings(old, head, _moved(pools["renamed"], lanes["renamed"])),
        "updates": [_called(update, lanes["renamed"]) for update in updates(base, head)],
    }


def is_empty(difference: Data) -> bool:
    """Whether nothing differs."""
    things = [part(difference, name) for name in ("clusters", "pools", "lanes", "findings")]
    whole = ("money", "gpus", "updates")
    return not (
        any(difference.get(name) for name in whole) or any(any(one.values()) for one in things)
    )


def _money(old: Data, new: Data) -> dict[str, Any]:
    before, after = (part(one, "totals", "usd_per_month") for one in (old, new))
    return {
        name: {"old": usd(before, name), "new": usd(after, name)}
        for name in ("floor", "ceiling")
        if usd(before, name) != usd(after, name)
    }


def _gpus(report: Data) -> dict[str, Any]:
    """A model of which there is none counts as absent."""
    return {model: number for model, number in part(report, "totals", "gpus").items() if number}


def _clusters(report: Data) -> Bodies:
    return dict(parts(report, "clusters"))


def _pools(report: Data, names: Mapping[str, str] | None = None) -> Bodies:
    """By cluster and name, that of the cluster being the new one; with the cluster's kind."""
    return {
        f"{(names or {}).get(cluster, cluster)}/{name}": {**pool, "platform": body.get("kind")}
        for cluster, body in parts(report, "clusters")
        for name, pool in parts(body, "pools")
    }


def _lanes(
    report: Data,
    clusters: Mapping[str, str] | None = None,
    pools: Mapping[str, str] | None = None,
) -> Bodies:
    """By cluster, forge and name; clusters and pools by their new names."""
    found: dict[str, Data] = {}
    for cluster, body in parts(report, "clusters"):
        now = (clusters or {}).get(cluster, cluster)
        for name, lane in parts(body, "lanes"):
            found[f"{now}/{name}"] = _by_new_names(now, lane, pools or {})
    return found


def _by_new_names(cluster: str, lane: Data, pools: Mapping[str, str]) -> Data:
    renamed: dict[str, Any] = dict(lane)
    if "pools" in lane:
        renamed["pools"] = [_renamed(cluster, pool, pools) for pool in words(lane, "pools")]
    if "placements" in lane:
        renamed["placements"] = [
            {**one, "pool": _renamed(cluster, text(one, "pool"), pools)}
            for one in rows(lane, "placements")
        ]
    return renamed


def _renamed(cluster: str, pool: str, names: Mapping[str, str]) -> str:
    return names.get(f"{cluster}/{pool}", pool).rpartition("/")[2]


def _compared(
    old: Bodies, new: Bodies, split: Splits, same: Callable[[Data, Data], bool]
) -> Change:
    removed = [name for name in old if name not in new]
    added = [name for name in new if name not in old]
    renamed = _renames(old, new, (removed, added), split, same)
    stated: dict[str, Any] = {}
    effects: dict[str, Any] = {}
    former = {after: before for before, after in renamed.items()}
    for name in new:
        before = former.get(name, name)
        if before not in old:
            continue
        first, second = split(filled(old[before], new[name]), filled(new[name], old[before]))
        if found := changes(first.stated, second.stated):
            stated[name] = found
        if found := changes(first.effects, second.effects):
            effects[name] = found
    return {
        "added": [name for name in added if name not in renamed.values()],
        "removed": [name for name in removed if name not in renamed],
        "renamed": renamed,
        "changed": stated,
        "effects": effects,
    }


def _renames(
    old: Bodies,
    new: Bodies,
    candidates: tuple[list[str], list[str]],
    split: Splits,
    same: Callable[[Data, Data], bool],
) -> dict[str, str]:
    """Pairs of a removed and an added thing of one place that are the same but for the name."""
    removed, added = candidates
    pairs: list[tuple[int, str, str]] = []
    renamed: dict[str, str] = {}
    free = dict.fromkeys(added)
    for before in removed:
        nearest: list[tuple[int, str, str]] = []
        for after in free:
            if _place(before) == _place(after) and same(old[before], new[after]):
                first, second = split(
                    filled(old[before], new[after]), filled(new[after], old[before])
                )
                odd = len(changes(first.stated, second.stated).keys() - {"write"})
                nearest.append((odd, before, after))
                if not odd:  # no other can be nearer
                    break
        if nearest and not nearest[-1][0]:
            renamed[before] = nearest[-1][2]
            del free[renamed[before]]
        else:
            pairs += nearest
    for odd, before, after in sorted(pairs, key=lambda pair: pair[0]):
        if odd <= _MOST_ODD_FIELDS and before not in renamed and after in free:
            renamed[before] = after
            del free[after]
    return renamed


def _place(name: str) -> str:
    return name.rpartition("/")[0]


def _split_clusters(old: Data, new: Data) -> tuple[Split, Split]:
    return cluster_fields(old), cluster_fields(new)


def _split_pools(old: Data, new: Data) -> tuple[Split, Split]:
    here = text(new, "platform") != "existing"
    return pool_fields(old, made_here=here), pool_fields(new, made_here=here)


def _split_lanes(old: Data, new: Data) -> tuple[Split, Split]:
    return lane_fields(old, beside=new), lane_fields(new, beside=old)


def _same_cluster(old: Data, new: Data) -> bool:
    return all(old.get(name) == new.get(name) for name in ("kind", "region", "context")) and all(
        part(old, name).keys() == part(new, name).keys() for name in ("pools", "lanes")
    )


def _same_pool(old: Data, new: Data) -> bool:
    return all(old.get(name) == new.get(name) for name in ("kinds", "capacity", "gpu", "gpus"))


def _same_lane(old: Data, new: Data) -> bool:
    """What it is written by may differ in its own name alone."""
    first, second = (
        [word for word in words(lane, "write") if word != text(lane, "name")] for lane in (old, new)
    )
    return (
        old.get("pools") == new.get("pools")
        and part(old, "job").get("gpus") == part(new, "job").get("gpus")
        and (first == second or {*first} & {*second} != set())
    )


def _called(update: Update, renamed: Mapping[str, str]) -> Update:
    """What goes by one name comes by another: say which."""
    name = renamed.get(update["id"]) if update["what"] == "lane" else None
    if name is None:
        return update
    says = f"it is called {name} now; jobs that ask for the old name find no runner any more"
    return {**update, "effect": "renamed", "says": says}


def _moved(pools: Mapping[str, str], lanes: Mapping[str, str]) -> dict[str, str]:
    """Where the stack file says it now, by where it said it."""
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


def _findings(old: Data, new: Data, moved: Mapping[str, str]) -> dict[str, list[Data]]:
    """A finding is the same while rule, severity and place are, whatever its numbers.

    Those that say the very same are taken first: several may lie in one place.
    """
    before, after = rows(old, "findings"), rows(new, "findings")
    said = Counter(_said(one, moved) for one in before) & Counter(_said(one, {}) for one in after)
    before, after = _without(before, said, moved), _without(after, said, {})
    known = Counter(_identity(one, moved) for one in before)
    found = Counter(_identity(one, {}) for one in after)
    return {
        "new": [dict(one) for one in after if not _taken(known, _identity(one, {}))],
        "gone": [dict(one) for one in before if not _taken(found, _identity(one, moved))],
    }


def _said(finding: Data, moved: Mapping[str, str]) -> tuple[str, ...]:
    return (*_identity(finding, moved), text(finding, "message"))


def _without(
    findings: list[Data], said: Counter[tuple[str, ...]], moved: Mapping[str, str]
) -> list[Data]:
    left = said.copy()
    return [one for one in findings if not _taken(left, _said(one, moved))]


def _taken(stock: Counter[tuple[str, ...]], identity: tuple[str, ...]) -> bool:
    stock[identity] -= 1
    return stock[identity] >= 0


def _identity(finding: Data, moved: Mapping[str, str]) -> tuple[str, ...]:
    path = text(finding, "path")
    for before, after in moved.items():
        if path == before or path.startswith(f"{before}."):
            path = after + path.removeprefix(before)
            break
    return (text(finding, "rule"), text(finding, "severity"), path)
