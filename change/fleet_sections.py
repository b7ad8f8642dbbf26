"""Cost, picture and difference of the reports in a comment: the report's own Markdown.

What a document holds of them may be hostile: its texts are made harmless first, and data of a shape
that nobody can read leave a line in the place of their section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from change.document import Document
from change.escape import fenced, harmless
from fleet.report import difference_markdown, picture
from fleet.report.markdown import headline

MAX_CHARACTERS: Final = 12_000
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


def sections(diff: Document, where: str, most: int = MAX_CHARACTERS) -> Iterator[str]:
    """The lines of all three sections, each of at most so many characters."""
    if diff.report is None:
        return
    head = harmless(diff.report)
    changed = harmless(diff.difference)
    yield from ("", "### The fleet", "")
    # Its own heading would be one level too high.
    yield from _made(lambda: "\n".join([*headline(head)][2:]), where, most)
    if changed is not None:
        yield from ("", "### What differs in it", "")
        yield from _made(lambda: _difference(changed), where, most)
    yield ""
    yield from _made(lambda: "\n".join(fenced(picture(head).split("\n"), "mermaid")), where, most)


def _difference(changed: dict[str, Any]) -> str:
    return difference_markdown(changed).removeprefix("## Difference\n").strip("\n")


def _made(make: Callable[[], str], where: str, most: int) -> list[str]:
    try:
        text = make()
    except _UNREADABLE:
        return ["This report cannot be read."]
    if len(text) > most:
        return [f"This is too long to be shown here: see {where}."]
    return text.split("\n")
