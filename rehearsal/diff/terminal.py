"""A diff on the terminal: what is dangerous first and last, between them what differs."""

from __future__ import annotations

from rich.console import Console
from rich.markdown import Markdown

from fleet.report.difference import is_empty
from rehearsal import words
from rehearsal.diff import caution, wording
from rehearsal.diff.escape import visible
from rehearsal.diff.files import Made
from rehearsal.diff.fleet_sections import difference_page
from rehearsal.diff.wording import Phrase


def show(made: Made, console: Console) -> None:
    """Prints it; says at the end where it was left."""
    document = made.document

    def line(phrase: Phrase, indent: str = "  ", style: str = "") -> None:
        text = visible(f"{indent}{wording.plain(phrase)}")
        console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    def urgent() -> None:
        for reason in document.refused:
            for part in f"refused: {reason}".split("\n"):
                line((part,), "", "bold red")
        for phrase in caution.lines(document):
            line(phrase, "! ", "bold red")

    urgent()
    if document.removed:
        for phrase in caution.holdings(document):
            line(phrase)
    for one in wording.protected(document):
        line(("protected: ", one))
    if document.difference is not None and not is_empty(document.difference):
        console.print(Markdown(difference_page(document.difference)))
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
    if made.text:
        # The first ones have left the screen by now.
        urgent()
