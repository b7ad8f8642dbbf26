"""The property diff of a document as lines of a `diff` block."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import groupby

from change import wording
from change.document import Document, Operation, Property, Resource, Subject
from change.escape import clipped, visible, visible_lines

MAX_CHARACTERS = 300
"""Of one line."""

MAX_TEXT_LINES = 60
"""Lines of the difference of one text of several lines."""

_SIGNS: dict[Operation, str] = {"create": "+", "delete": "-", "replace": "-", "import": "+"}


def lines(diff: Document) -> list[str]:
    """Each resource that changes with its properties, under the thing that it belongs to."""
    return [line for subject in diff.subjects for line in _subject(subject)]


def _subject(subject: Subject) -> Iterator[str]:
    yield _line(f"@@ {wording.plain([*wording.thing(subject), ' ', *wording.event(subject)])} @@")
    ordered = sorted(subject.resources, key=lambda one: _rank(one, subject))
    for (operation, kind, body), group in groupby(ordered, key=_alike):
        names = [one.name for one in group]
        sign = _SIGNS.get(operation, "!")
        yield _line(f"{sign} {operation} {kind}: {', '.join(names)}")
        yield from body


def _rank(one: Resource, subject: Subject) -> tuple[bool, Operation, str, tuple[str, ...], str]:
    """What defines the thing first, then what is alike side by side."""
    defines = bool(subject.causes) and all(cause in one.properties for cause in subject.causes)
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
    """The difference of two texts, without the names and numbers that files would have."""
    changed = list(difflib.unified_diff(visible_lines(old), visible_lines(new), n=2, lineterm=""))
    body = [line for line in changed[2:] if not line.startswith("@@")]
    yield from (_line(f"{line[:1]}       {line[1:]}") for line in body[:MAX_TEXT_LINES])
    if len(body) > MAX_TEXT_LINES:
        yield f"        … {len(body) - MAX_TEXT_LINES} lines more"


def _line(text: str) -> str:
    return clipped(visible(text), MAX_CHARACTERS)
