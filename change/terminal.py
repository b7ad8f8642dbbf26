"""Print a diff on the terminal, with the alerts at the start and again at the end."""

from __future__ import annotations

from typing import Final

from pulumi_rehearsal import messages
from rich.console import Console
from rich.markdown import Markdown

from change import alerts, wording
from change.difference_page import difference_markdown
from change.document import Document
from change.escape import Phrase, visible
from change.files import Result

_MAX_NAMES: Final = 5
"""Maximum number of protected resources that are named."""


def show(result: Result, console: Console) -> None:
    """Print the diff, where its files are, and the alerts again."""
    document = result.document
    _alerts(document, console)
    if document.removed:
        for phrase in alerts.remaining(document):
            _line(console, phrase)
    if protected := wording.protected(document):
        _line(console, (f"protected: {', '.join(protected[:_MAX_NAMES])}",))
        if len(protected) > _MAX_NAMES:
            _line(console, (f"and {len(protected) - _MAX_NAMES} more, see comment.md",))
    if document.difference is not None and not document.difference.is_empty():
        console.print(Markdown(difference_markdown(document.difference)))
    _changes(document, console)
    if result.engine_output:
        _line(console, ("output of the engine:",), "")
        for text in result.engine_output:
            _line(console, (text,), "")
    _line(console, (*wording.compared(document), ": ", *wording.counts(document)), "")
    _line(console, (f"see {messages.short(result.folder)}/",), "")
    if result.engine_output:
        # A long diff has scrolled the first ones off the screen.
        _alerts(document, console)


def _alerts(document: Document, console: Console) -> None:
    for reason in document.refused:
        for part in f"refused: {reason}".split("\n"):
            _line(console, (part,), "", "bold red")
    for phrase in alerts.alerts(document):
        _line(console, phrase, "! ", "bold red")


def _changes(document: Document, console: Console) -> None:
    if document.settings or document.renames:
        _line(console, ("the stack file:",), "")
        for renamed in document.renames:
            _line(console, wording.rename(renamed))
        for setting in document.settings:
            _line(console, wording.setting(setting))
    others = [one for one in document.groups if not one.called_out]
    if others:
        _line(console, ("other changes:",), "")
        for one in others:
            after = " because of other changes" if wording.is_indirect(one, document) else ""
            _line(console, (*wording.title(one), " ", *wording.event(one), after))


def _line(console: Console, phrase: Phrase, indent: str = "  ", style: str = "") -> None:
    text = visible(f"{indent}{wording.plain(phrase)}")
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
