"""A diff on the terminal: what is dangerous first and last, between them what differs."""

from __future__ import annotations

from typing import Final

from pulumi_rehearsal import messages
from rich.console import Console
from rich.markdown import Markdown

from change import caution, wording
from change.document import Document
from change.escape import visible
from change.files import Made
from change.wording import Phrase
from fleet.report import difference_markdown
from fleet.report.difference import is_empty

_MOST_NAMES: Final = 5
"""Protected resources that are named."""


def show(made: Made, console: Console) -> None:
    """Prints it; says at the end where it was left, and again what is dangerous."""
    document = made.document
    _urgent(document, console)
    if document.removed:
        for phrase in caution.holdings(document):
            _line(console, phrase)
    if protected := wording.protected(document):
        _line(console, (f"protected: {', '.join(protected[:_MOST_NAMES])}",))
        if len(protected) > _MOST_NAMES:
            _line(console, (f"and {len(protected) - _MOST_NAMES} more, see comment.md",))
    if document.difference is not None and not is_empty(document.difference):
        console.print(Markdown(difference_markdown(document.difference)))
    _changes(document, console)
    if made.text:
        _line(console, ("the engine:",), "")
        for text in made.text:
            _line(console, (text,), "")
    _line(console, (*wording.compared(document), ": ", *wording.counts(document)), "")
    _line(console, (f"see {messages.short(made.folder)}/",), "")
    if made.text:
        # The first ones have left the screen by now.
        _urgent(document, console)


def _urgent(document: Document, console: Console) -> None:
    for reason in document.refused:
        for part in f"refused: {reason}".split("\n"):
            _line(console, (part,), "", "bold red")
    for phrase in caution.lines(document):
        _line(console, phrase, "! ", "bold red")


def _changes(document: Document, console: Console) -> None:
    if document.settings or document.renames:
        _line(console, ("the stack file:",), "")
        for renamed in document.renames:
            _line(console, wording.rename(renamed))
        for setting in document.settings:
            _line(console, wording.setting(setting))
    others = [one for one in document.subjects if not one.called_out]
    if others:
        _line(console, ("what else changes:",), "")
        for one in others:
            after = ", which follows" if wording.follows(one, document) else ""
            _line(console, (*wording.thing(one), " ", *wording.event(one), after))


def _line(console: Console, phrase: Phrase, indent: str = "  ", style: str = "") -> None:
    text = visible(f"{indent}{wording.plain(phrase)}")
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
