"""Cost, picture and difference of the reports in a comment: the report's own Markdown.

The reports of a document may be hostile: their texts are made harmless first, and a report of a
shape that nobody can read leaves a line in the place of its section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from fleet.report import compare, difference_markdown, picture
from fleet.report.markdown import headline
from rehearsal.diff.document import Document
from rehearsal.diff.escape import fenced, harmless

MOST_CHARACTERS: Final = 12_000
"""Of one section of a comment."""

_UNREADABLE: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a renderer may raise for data of any shape."""


def sections(diff: Document, where: str, most: int = MOST_CHARACTERS) -> Iterator[str]:
    """The lines of all three sections, each of at most so many characters."""
    if diff.report is None:
        return
    head = harmless(diff.report)
    base = harmless(diff.base_report) if diff.base_report is not None else None
    yield from ("", "### The fleet", "")
    # Its own heading would be one level too high.
    yield from _made(lambda: "\n".join([*headline(head)][2:]), where, most)
    if base is not None:
        yield from ("", "### What differs in it", "")
        yield from _made(lambda: _difference(base, head), where, most)
    yield ""
    yield from _made(lambda: "\n".join(fenced(picture(head).split("\n"), "mermaid")), where, most)


def _difference(base: dict[str, Any], head: dict[str, Any]) -> str:
    text = difference_markdown(compare(base, head))
    return text.removeprefix("## Difference\n").strip("\n")


def _made(make: Callable[[], str], where: str, most: int) -> list[str]:
    try:
        text = make()
    except _UNREADABLE:
        return ["This report cannot be read."]
    if len(text) > most:
        return [f"This is too long to be shown here: see {where}."]
    return text.split("\n")
