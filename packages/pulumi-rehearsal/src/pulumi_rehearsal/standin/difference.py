"""The answer to Diff: which inputs changed, and whether that replaces the resource.

Paths are the engine's property paths: `scalingConfig.minSize`, `taints[0].key`, `tags["a.b"]`. A
null counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, cast

from pulumi.runtime.proto import provider_pb2

from pulumi_rehearsal.standin.kind import Kind
from pulumi_rehearsal.standin.values import Properties
from pulumi_rehearsal.standin.wire import Path

Change = Literal["add", "delete", "update"]

_KINDS: Final = {
    ("add", False): provider_pb2.PropertyDiff.ADD,
    ("add", True): provider_pb2.PropertyDiff.ADD_REPLACE,
    ("delete", False): provider_pb2.PropertyDiff.DELETE,
    ("delete", True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    ("update", False): provider_pb2.PropertyDiff.UPDATE,
    ("update", True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def changes(old: Properties, new: Properties) -> dict[Path, Change]:
    """Return every leaf that differs; an unknown value differs from every other."""
    return dict(_mapping_changes(old, new, ()))


def unsourced(kind: Kind, changed: Collection[Path]) -> list[str]:
    """Return the changed paths that the kind lists neither as replacing nor as in place."""
    known = (kind.replaced_on, kind.updated_on)
    return [text(path) for path in changed if not any(_listed(path, paths) for paths in known)]


def answer(
    kind: Kind,
    name: str,
    old: Properties,
    new: Properties,
    changed: Mapping[Path, Change],
    *,
    settings: Properties | None = None,
) -> provider_pb2.DiffResponse:
    """Return the answer for a resource of that logical name, with its provider's settings."""
    replaced_on = kind.replaces(settings or {})
    replacing = {path for path in changed if _listed(path, replaced_on)}
    return provider_pb2.DiffResponse(
        changes=_some_or_none(changed),
        replaces=_top_level(replacing),
        diffs=_top_level(changed),
        deleteBeforeReplace=bool(replacing) and kind.deletes_first(name, old, new),
        hasDetailedDiff=True,
        detailedDiff={
            text(path): provider_pb2.PropertyDiff(
                kind=_KINDS[change, path in replacing], inputDiff=True
            )
            for path, change in changed.items()
        },
    )


def provider_answer(changed: Collection[Path], *, replaces: bool) -> provider_pb2.DiffResponse:
    """Return the answer for a provider resource."""
    return provider_pb2.DiffResponse(
        changes=_some_or_none(changed),
        replaces=_top_level(changed) if replaces else [],
        diffs=_top_level(changed),
    )


def text(path: Path) -> str:
    """Return a path in the engine's notation."""
    parts: list[str] = []
    for part in path:
        if isinstance(part, int):
            parts.append(f"[{part}]")
        elif _PLAIN_KEY.fullmatch(part):
            parts.append(f".{part}" if parts else part)
        else:
            escaped = part.replace('"', '\\"')
            parts.append(f'["{escaped}"]')
    return "".join(parts)


def _some_or_none(changed: Collection[Path]) -> provider_pb2.DiffResponse.DiffChanges.ValueType:
    some, none = provider_pb2.DiffResponse.DIFF_SOME, provider_pb2.DiffResponse.DIFF_NONE
    return some if changed else none


def _top_level(paths: Iterable[Path]) -> list[str]:
    return sorted({str(path[0]) for path in paths})


def _listed(path: Path, listed: frozenset[str]) -> bool:
    """Whether `path` is one of `listed`, or below or above one; `*` is every path."""
    if "*" in listed:
        return True
    keys = [part for part in path if isinstance(part, str)]
    for entry in listed:
        wanted = entry.split(".")
        shorter = min(len(keys), len(wanted))
        if keys[:shorter] == wanted[:shorter]:
            return True
    return False


def _mapping_changes(
    old: Mapping[str, Any], new: Mapping[str, Any], path: Path
) -> Iterator[tuple[Path, Change]]:
    for key in {**old, **new}:
        yield from _changes(old.get(key), new.get(key), (*path, key))


def _changes(old: Any, new: Any, path: Path) -> Iterator[tuple[Path, Change]]:
    if isinstance(old, dict | None) and isinstance(new, dict | None) and (old or new):
        before = cast("Properties", old or {})
        after = cast("Properties", new or {})
        yield from _mapping_changes(before, after, path)
    elif isinstance(old, list) and isinstance(new, list):
        before_items, after_items = cast("list[Any]", old), cast("list[Any]", new)
        longest = max(len(before_items), len(after_items))
        for index in range(longest):
            before_item = before_items[index] if index < len(before_items) else None
            after_item = after_items[index] if index < len(after_items) else None
            yield from _changes(before_item, after_item, (*path, index))
    elif old is None and new is not None:
        yield path, "add"
    elif old is not None and new is None:
        yield path, "delete"
    elif old != new:
        yield path, "update"
