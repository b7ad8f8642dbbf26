"""A diff on the terminal: what is dangerous first, then what differs, then the engine's words."""

from __future__ import annotations

from rich.console import Console
from rich.markdown import Markdown

from fleet.report import difference_markdown
from fleet.report.difference import is_empty
from rehearsal import words
from rehearsal.diff import wording
from rehearsal.diff.escape import visible
from rehearsal.diff.make import Made
from rehearsal.diff.wording import Phrase


def show(made: Made, console: Console) -> None:
    """Prints it; says at the end where it was left."""
    document = made.document

    def line(phrase: Phrase, indent: str = "  ", style: str = "") -> None:
        text = visible(f"{indent}{wording.plain(phrase)}")
        console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    for reason in document.refused:
        for part in f"refused: {reason}".split("\n"):
            line((part,), "", "bold red")
    dangerous = [one for one in document.subjects if one.called_out]
    for one in dangerous:
        line(wording.called_out(one, document.renames), "! ", "bold red")
    if document.difference is not None and not is_empty(document.difference):
        console.print(Markdown(difference_markdown(document.difference)))
    if document.settings or document.renames:
        line(("the stack file:",), "")
        for renamed in document.renames:
            line(wording.rename(renamed))
        for setting in document.settings:
            line(wording.setting(setting))
    others = [one for one in document.subjects if not one.called_out]
    if others:
        line(("what else changes:",), "")
        for one in others:
            after = ", which follows" if wording.follows(one, document) else ""
            line((*wording.thing(one), " ", *wording.event(one), after))
    if made.text:
        line(("the engine:",), "")
        for text in made.text:
            line((text,), "")
    line((*wording.compared(document), ": ", *wording.counts(document)), "")
    line((f"see {words.short(made.folder)}/",), "")
