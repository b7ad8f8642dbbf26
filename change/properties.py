"""The property diff of a document as lines of a `diff` block."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import groupby

from change import wording
from change.document import Document, Group, Operation, Property, Resource
from change.escape import clipped, visible, visible_lines

MAX_CHARACTERS = 300
"""Maximum length of one line."""

MAX_TEXT_LINES = 60
"""Maximum number of lines of the diff of one text."""

_SIGNS: dict[Operation, str] = {"create": "+", "delete": "-", "replace": "-", "import": "+"}


def lines(diff: Document) -> list[str]:
    """Return each changing resource with its properties, under its group."""
    return [line for group in diff.groups for line in _group(group)]


def _group(group: Group) -> Iterator[str]:
    yield _line(f"@@ {wording.plain([*wording.title(group), ' ', *wording.event(group)])} @@")
    ordered = sorted(group.resources, key=lambda one: _rank(one, group))
    for (operation, kind, body), resources in groupby(ordered, key=_alike):
        names = [one.name for one in resources]
        sign = _SIGNS.get(operation, "!")
        yield _line(f"{sign} {operation} {kind}: {', '.join(names)}")
        yield from body


def _rank(one: Resource, group: Group) -> tuple[bool, Operation, str, tuple[str, ...], str]:
    """Sort defining resources first; resources with equal changes become neighbours."""
    defines = bool(group.causes) and all(cause in one.properties for cause in group.causes)
    return not defines, *_alike(one), one.name


def _alike(one: Resource) -> tuple[Operation, str, tuple[str, ...]]:
    return one.operation, one.type, tuple(line for p in one.properties for line in _property(p))


def _property(one: Property) -> Iterator[str]:
    forced = "  (forces the replacement)" if one.replaces else ""
    if one.secret:
        yield _line(f"!   {one.path}: a secret changes{forced}")
        return
    old, new = wording.shown(one.old), wording.shown(one.new)
    if "\n" in old or "\n" in new:
        yield _line(f"!   {one.path}:{forced}")
        yield from _text(old, new)
        return
    if one.change != "add":
        yield _line(f"-   {one.path}: {old}")
    if not one.known:
        yield _line(f"+   {one.path}: known after up{forced}")
    elif one.change != "delete":
        yield _line(f"+   {one.path}: {new}{forced}")


def _text(old: str, new: str) -> Iterator[str]:
    """Yield a unified diff of two texts, without its header and line numbers."""
    changed = list(difflib.unified_diff(visible_lines(old), visible_lines(new), n=2, lineterm=""))
    body = [line for line in changed[2:] if not line.startswith("@@")]
    yield from (_line(f"{line[:1]}       {line[1:]}") for line in body[:MAX_TEXT_LINES])
    if len(body) > MAX_TEXT_LINES:
        yield f"        … {len(body) - MAX_TEXT_LINES} more lines"


def _line(text: str) -> str:
    return clipped(visible(text), MAX_CHARACTERS)
