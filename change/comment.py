"""A diff as Markdown: the comment of a pull request, and the summary of the job that made it.

The comment is one per stack, found again by its marker, and always below GitHub's limit: what is
folded goes first. Every string of the document is shown as code (`change.escape`), so a
document that somebody else's branch made may be rendered with rights. No engine is imported.

    python -m change.comment --from diff.json --output comment.md
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from change import caution, document, properties, wording
from change.document import Document, Subject
from change.escape import code, fenced, visible_lines
from change.fleet_sections import sections
from change.wording import Name, Phrase
from fleet.report.difference import is_empty

MAX_CHARACTERS: Final = 65_000
"""GitHub takes 65,536 in a comment's body; some are left for what a workflow adds."""

MAX_SUMMARY_BYTES: Final = 1_000_000
"""GitHub takes 1 MiB in the summary of a step
(https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands)."""

RUN_URL: Final = re.compile(r"https://[A-Za-z0-9.:-]{1,200}(/[A-Za-z0-9_.-]{1,100}){2,10}")
"""A link to the run that has the full text; it comes from the workflow, not from the document."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much is shown unfolded: rows of each table, lines and characters of each block."""

    rows: int
    lines: int
    report: int


_SHRINKING: Final = tuple(
    Limits(rows=rows, lines=lines, report=report)
    for rows, lines, report in (
        (50, 80, 12_000),
        (25, 40, 12_000),
        (10, 20, 8_000),
        (3, 10, 4_000),
        (0, 0, 0),
    )
)
_EVERYTHING: Final = Limits(rows=document.MAX_RESOURCES, lines=20_000, report=300_000)


def comment(diff: Document, run: str | None = None) -> str:
    """The comment, below GitHub's limit; `run` is the URL of the job that has the full text."""
    where = f"[the job's summary]({run})" if run else "the job's summary"
    lines = properties.lines(diff)
    for limits in _SHRINKING:
        text = "\n".join([*_open(diff, limits, where), *_properties(lines[: limits.lines]), ""])
        if len(text) <= MAX_CHARACTERS:
            return text + _folded(lines[limits.lines :], MAX_CHARACTERS - len(text), where)
    raise AssertionError("without any row and line the comment is short")


def summary(diff: Document, engine_text: Sequence[str]) -> str:
    """Everything, nothing folded, below GitHub's limit for a summary."""
    lines = properties.lines(diff)
    text = "\n".join([*_open(diff, _EVERYTHING, "diff.txt"), *_properties(lines)])
    room = MAX_SUMMARY_BYTES - len(text.encode())
    if room < 0:
        return comment(diff)
    kept: list[str] = []
    for line in engine_text:
        # A hidden character may grow to three bytes.
        room -= 3 * len(line) + 1
        if room < 0:
            kept.append("… cut here; all of it is in diff.txt")
            break
        kept.append(line)
    return "\n".join([text, "", "### The engine's own words", "", *fenced(kept, "diff"), ""])


def _open(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    """What is seen without unfolding."""
    yield f"<!-- gpu-runners diff: {diff.stack} -->"
    yield from ("", f"## {_headline(diff)}", "")
    # What must be seen comes before what explains it.
    yield from _caution(diff, limits, where)
    yield from _refused(diff, limits, where)
    engine = f" Pulumi {code(diff.engine)}." if diff.engine else ""
    yield f"{_markdown(wording.compared(diff))}: {_markdown(wording.counts(diff))}.{engine}"
    if diff.problem is not None:
        yield from ("", "**The base could not be rehearsed, so everything shows as new:**", "")
        yield from fenced(visible_lines(diff.problem)[: limits.lines + 1], "text")
    for note in diff.notes[: limits.rows]:
        yield from ("", f"Note: {code(note, 500)}")
    if _is_nothing(diff):
        return
    yield from _holdings(diff, limits, where)
    yield from sections(diff, where, limits.report)
    yield from _settings(diff, limits, where)
    yield from _things(diff, limits, where)


def _headline(diff: Document) -> str:
    stack = code(diff.stack)
    if diff.removed:
        return f"{stack}: the stack file is removed"
    if diff.refused:
        return f"{stack}: refused"
    if dangerous := caution.title(diff):
        return f"{stack}: {dangerous}"
    changing = sum(diff.counts.values())
    if not changing:
        return f"{stack}: no changes"
    return f"{stack}: {wording.number(changing, 'resource changes', 'resources change')}"


def _is_nothing(diff: Document) -> bool:
    """Whether there is nothing to read: neither the engine nor the reports know a difference."""
    told = (diff.counts, diff.refused, diff.problem, diff.subjects, diff.settings, diff.renames)
    differs = diff.difference is not None and not is_empty(diff.difference)
    return not (any(told) or diff.removed or differs)


def _refused(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    if diff.refused:
        yield from ("**This cannot be deployed:**", "")
        told = [line for reason in diff.refused for line in visible_lines(reason)]
        yield from fenced(told[: limits.lines + 10], "text")
        yield ""
        protected = wording.protected(diff)
        if protected and limits.lines:
            many = wording.number(len(protected), "protected resource", "protected resources")
            yield from (f"<details><summary>{many}</summary>", "")
            yield from fenced(protected[: limits.lines], "text")
            yield from _more(len(protected) - limits.lines, where, "\n")
            yield from ("", "</details>", "")


def _caution(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    found = caution.lines(diff)
    if found:
        yield "> [!CAUTION]"
        for phrase in found[: limits.rows]:
            yield f"> - {_markdown(phrase)}."
        yield from _more(len(found) - limits.rows, where, "> - ")
        yield ""


def _holdings(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    if diff.removed:
        yield from ("", "### What stays in the account", "")
        rows = [_markdown(phrase) for phrase in caution.holdings(diff)]
        yield from (f"- {row}" for row in rows[: limits.rows])
        yield from _more(len(rows) - limits.rows, where, "- ")


def _settings(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    total = len(diff.renames) + len(diff.settings)
    if not total:
        return
    yield from ("", "### The stack file", "")
    rows = [_markdown(wording.rename(one)) for one in diff.renames]
    rows += [_markdown(wording.setting(one)) for one in diff.settings]
    yield from (f"- {row}" for row in rows[: limits.rows])
    yield from _more(total - limits.rows, where, "- ")


def _things(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    if not diff.subjects:
        return
    yield from ("", "### What changes", "", "| | | Why | Resources |", "|---|---|---|---:|")
    for one in diff.subjects[: limits.rows]:
        cells = (
            _markdown(wording.thing(one)),
            _markdown(wording.event(one)),
            _why(one, diff),
            str(len(one.resources)),
        )
        yield f"| {' | '.join(cells)} |"
    yield from _more(len(diff.subjects) - limits.rows, where, "\n")
    if diff.left_out:
        more = wording.number(diff.left_out, "more resource is", "more resources are")
        yield from ("", f"{more} counted, but not listed.")


def _why(one: Subject, diff: Document) -> str:
    changes = wording.changes(one)
    told = [_markdown(wording.change(change)) for change in changes[: wording.MAX_CAUSES]]
    if len(changes) > wording.MAX_CAUSES:
        told.append(f"{len(changes) - wording.MAX_CAUSES} more")
    if wording.follows(one, diff):
        told.insert(0, "follows from the others")
    return "<br>".join(told)


def _properties(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", "### Properties", "")
        yield from fenced(lines, "diff")


def _folded(lines: Sequence[str], room: int, where: str) -> str:
    """What did not fit above, folded, as much of it as fits here."""
    if not lines:
        return ""
    begin, end = "\n<details><summary>More properties</summary>\n\n", "\n</details>\n"
    room -= len(begin) + len(end) + len(where) + 3 * properties.MAX_CHARACTERS
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    left_out = len(lines) - len(kept)
    more = wording.number(left_out, "more line is", "more lines are")
    cut = f"\n{more} in {where}.\n" if left_out else ""
    if not kept:
        return cut
    return "".join((begin, "\n".join(fenced(kept, "diff")), "\n", cut, end))


def _more(count: int, where: str, before: str) -> Iterator[str]:
    if count > 0:
        yield f"{before}{count} more: see {where}"


def _markdown(phrase: Phrase) -> str:
    return "".join(code(part) if isinstance(part, Name) else part for part in phrase)


def main(arguments: Sequence[str] | None = None) -> int:
    """Renders a `diff.json`; 0 where it is one, 1 where it is not, 2 for a wrong option."""
    parser = argparse.ArgumentParser(
        prog="python -m change.comment",
        description="Render diff.json, which may be hostile, as the comment of a pull request.",
    )
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="FILE")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE")
    parser.add_argument("--run", metavar="URL", help="the run that has the full text")
    options = parser.parse_args(arguments)
    if options.run is not None and not RUN_URL.fullmatch(options.run):
        parser.error("--run: is no URL of a run")
    try:
        diff = document.read(options.source)
    except document.WrongDocument as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 1
    options.output.write_text(comment(diff, options.run), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
