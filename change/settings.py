"""The difference of two stack files (the values of `gpu-runners:stack`)."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Final, cast

from change.document import Rename, Setting, scalar
from change.values import leaves

_KINDS: Final = ("eks", "oke", "existing")
_FORGES: Final = {"GitHub lane": "github", "GitLab lane": "gitlab"}


def settings(base: object, head: object, renames: Iterable[Rename] = ()) -> tuple[Setting, ...]:
    """Return every setting that differs, except the names of renamed clusters, pools and lanes.

    A map that only one side has is one setting.
    """
    old = copy.deepcopy(base)
    for rename in renames:
        _apply(rename, old)
    return tuple(
        Setting(
            path=leaf.path[:500], change=leaf.change, old=scalar(leaf.old), new=scalar(leaf.new)
        )
        for leaf in leaves(old, head, one_sided=False)
    )


def _apply(rename: Rename, stack: object) -> None:
    """Give a cluster, pool or lane of the stack its new name; clusters come before the others."""
    clusters = _map(stack, "clusters")
    cluster = _map(clusters, rename.cluster)
    if rename.kind == "cluster":
        holders = [clusters]
    elif rename.kind == "pool":
        holders = [_map(cluster, kind, "pools") for kind in _KINDS]
        _rename_in_lanes(cluster, rename)
    else:
        holders = [_map(cluster, _FORGES[rename.kind], "lanes")]
    for holder in holders:
        if rename.old in holder:
            holder[rename.new] = holder.pop(rename.old)


def _rename_in_lanes(cluster: dict[str, Any], rename: Rename) -> None:
    for forge in _FORGES.values():
        for lane in _map(cluster, forge, "lanes").values():
            pools = _map(lane).get("pools")
            if isinstance(pools, list):
                names = cast("list[Any]", pools)
                names[:] = [rename.new if name == rename.old else name for name in names]


def _map(value: object, *keys: str) -> dict[str, Any]:
    """Return the map at a path, or an empty one."""
    for key in keys:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
