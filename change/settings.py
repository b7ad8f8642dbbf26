"""The difference of two stack files: which settings changed, and what only got another name."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from change.document import Rename, Setting
from change.values import ABSENT, scalar

KINDS: Final = ("eks", "oke", "existing")
FORGES: Final = {"github": "GitHub lane", "gitlab": "GitLab lane"}


def renames(base: object, head: object) -> tuple[Rename, ...]:
    """Clusters, pools and lanes with the same content under another name, in that order.

    A rename is told only where one thing went and one like it came: of twins nobody knows which is
    which. The values are those of `gpu-runners:stack`.
    """
    return tuple(_renames(copy.deepcopy(base), head))


def settings(base: object, head: object) -> tuple[Setting, ...]:
    """Every setting that differs once the renamed things are given their new names."""
    before = copy.deepcopy(base)
    # The generator renames in its copy as it goes.
    for _ in _renames(before, head):
        pass
    return tuple(_settings(before, head, ""))


def _renames(base: object, head: object) -> Iterator[Rename]:
    """Finds what is renamed, and renames it in `base`."""
    old_clusters, new_clusters = _map(base, "clusters"), _map(head, "clusters")
    for old, new in _moved(old_clusters, new_clusters):
        yield Rename(kind="cluster", old=old, new=new)
    for name in old_clusters.keys() & new_clusters.keys():
        before, after = _map(old_clusters, name), _map(new_clusters, name)
        for kind in KINDS:
            pools = _map(before, kind, "pools")
            for old, new in _moved(pools, _map(after, kind, "pools")):
                _rename_in_lanes(before, old, new)
                yield Rename(kind="pool", cluster=name, old=old, new=new)
        for forge, kind in FORGES.items():
            lanes = _map(before, forge, "lanes")
            for old, new in _moved(lanes, _map(after, forge, "lanes")):
                yield Rename.model_validate(
                    {
                        "kind": kind,
                        "cluster": name,
                        "old": old,
                        "new": new,
                        "lost": (old,) if _answers_to_name(forge, _map(lanes, new)) else (),
                    }
                )


def _moved(base: dict[str, Any], head: dict[str, Any]) -> list[tuple[str, str]]:
    """Names under which equal content went and came; moved in `base`."""
    gone = {name: value for name, value in base.items() if name not in head}
    come = {name: value for name, value in head.items() if name not in base}
    pairs = [
        (old, new)
        for old, value in gone.items()
        for new, other in come.items()
        if value == other
        and list(gone.values()).count(value) == 1
        and list(come.values()).count(value) == 1
    ]
    for old, new in pairs:
        base[new] = base.pop(old)
    return pairs


def _rename_in_lanes(cluster: dict[str, Any], old: str, new: str) -> None:
    for forge in FORGES:
        for lane in _map(cluster, forge, "lanes").values():
            pools = _map(lane).get("pools")
            if isinstance(pools, list):
                listed = cast("list[Any]", pools)
                listed[:] = [new if pool == old else pool for pool in listed]


def _answers_to_name(forge: str, lane: Mapping[str, Any]) -> bool:
    """A scale set answers to its name; a GitLab runner only where it has no tags of its own."""
    return forge == "github" or not lane.get("tags")


def _map(value: object, *keys: str) -> dict[str, Any]:
    """The map at some keys; an empty one where there is none."""
    for key in keys:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _settings(old: Any, new: Any, path: str) -> Iterator[Setting]:
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = cast("dict[Any, Any]", old), cast("dict[Any, Any]", new)
        for key in {**before, **after}:
            here = f"{path}.{key}" if path else str(key)
            yield from _settings(before.get(key, ABSENT), after.get(key, ABSENT), here)
    elif old is ABSENT:
        yield Setting(path=path[:500], change="add", new=scalar(new))
    elif new is ABSENT:
        yield Setting(path=path[:500], change="delete", old=scalar(old))
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield Setting(path=path[:500], change="update", old=scalar(old), new=scalar(new))
