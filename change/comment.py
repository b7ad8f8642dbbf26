"""A diff as Markdown: the comment on a pull request, and the summary of the job that made it.

There is one comment per stack, which is found again by its marker. It stays below GitHub's limit:
folded parts are cut first. Every string of the document is shown as code (`change.escape`), so a
job with write access may render the document of a fork. The Pulumi SDK is not imported.

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

from change import alerts, document, properties, wording
from change.difference import Difference
from change.difference_page import difference_markdown
from change.document import Document, Group
from change.escape import Name, Phrase, code, fenced, harmless, visible_lines
from fleet.report.markdown import headline
from fleet.report.model import Report
from fleet.report.phrases import count
from fleet.report.picture import picture

MAX_CHARACTERS: Final = 65_000
"""GitHub's limit for a comment is 65,536; the rest is for what a workflow adds."""

MAX_SUMMARY_BYTES: Final = 1_000_000
"""GitHub's limit for the summary of a step is 1 MiB
(https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands)."""

RUN_URL: Final = re.compile(r"https://[A-Za-z0-9.:-]{1,200}(/[A-Za-z0-9_.-]{1,100}){2,10}")
"""Link to the run with the full text; it comes from the workflow, not from the document."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much is not folded: rows of each table, lines of each block, characters of the report."""

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
    """Return the comment, below GitHub's limit; `run` is the URL of the job with the full text."""
    where = f"[the job's summary]({run})" if run else "the job's summary"
    lines = properties.lines(diff)
    for limits in _SHRINKING:
        text = "\n".join([*_open(diff, limits, where), *_properties(lines[: limits.lines]), ""])
        if len(text) <= MAX_CHARACTERS:
            return text + _folded(lines[limits.lines :], MAX_CHARACTERS - len(text), where)
    raise AssertionError("a comment without rows and lines is below the limit")


def summary(diff: Document, engine_text: Sequence[str]) -> str:
    """Return the whole diff without folded parts, below GitHub's limit for a summary."""
    lines = properties.lines(diff)
    text = "\n".join([*_open(diff, _EVERYTHING, "diff.txt"), *_properties(lines)])
    room = MAX_SUMMARY_BYTES - len(text.encode())
    if room < 0:
        return comment(diff)
    kept: list[str] = []
    for line in engine_text:
        # A hidden character may be replaced by one of three bytes.
        room -= 3 * len(line) + 1
        if room < 0:
            kept.append("… cut here; diff.txt has the rest")
            break
        kept.append(line)
    return "\n".join([text, "", "### Output of the engine", "", *fenced(kept, "diff"), ""])


def _open(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    """Yield the part that is not folded: alerts and refusals first."""
    yield f"<!-- gpu-runners diff: {diff.stack} -->"
    yield from ("", f"## {_headline(diff)}", "")
    yield from _alerts(diff, limits, where)
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
    yield from _remaining(diff, limits, where)
    yield from _fleet(diff, limits, where)
    yield from _settings(diff, limits, where)
    yield from _groups(diff, limits, where)


def _headline(diff: Document) -> str:
    stack = code(diff.stack)
    if diff.removed:
        return f"{stack}: the stack file is removed"
    if diff.refused:
        return f"{stack}: refused"
    if alert := alerts.summary(diff):
        return f"{stack}: {alert}"
    changing = sum(diff.counts.values())
    if not changing:
        return f"{stack}: no changes"
    return f"{stack}: {count(changing, 'changed resource')}"


def _is_nothing(diff: Document) -> bool:
    """Return whether neither the engine nor the reports show a difference."""
    parts = (diff.counts, diff.refused, diff.problem, diff.groups, diff.settings, diff.renames)
    differs = diff.difference is not None and not diff.difference.is_empty()
    return not (any(parts) or diff.removed or differs)


def _refused(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    if diff.refused:
        yield from ("**This cannot be deployed:**", "")
        lines = [line for reason in diff.refused for line in visible_lines(reason)]
        yield from fenced(lines[: limits.lines + 10], "text")
        yield ""
        protected = wording.protected(diff)
        if protected and limits.lines:
            many = count(len(protected), "protected resource")
            yield from (f"<details><summary>{many}</summary>", "")
            yield from fenced(protected[: limits.lines], "text")
            yield from _more(len(protected) - limits.lines, where, "\n")
            yield from ("", "</details>", "")


def _alerts(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    if found := alerts.alerts(diff):
        sentences = [(*phrase, ".") for phrase in found]
        yield from ("> [!CAUTION]", *_list(sentences, limits, where, "> - "), "")


def _remaining(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    if diff.removed:
        yield from ("", "### What stays in the account", "")
        yield from _list([*alerts.remaining(diff)], limits, where)


def _fleet(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    """Yield cost, difference and picture of the reports, in the report's own Markdown.

    That Markdown does not show every string as code, so the strings are made harmless before.
    """
    if diff.report is None:
        if not (diff.refused or diff.removed):
            yield from ("", "The head has no report, or one that cannot be read.")
        return
    report = Report.model_validate(harmless(diff.report.model_dump()))
    yield from ("", "### The fleet", "")
    # Without its own heading, which would be one level too high.
    yield from _limited([*headline(report)][2:], limits, where)
    if diff.difference is not None:
        difference = Difference.model_validate(harmless(diff.difference.model_dump()))
        page = difference_markdown(difference).removeprefix("## Difference\n").strip("\n")
        yield from ("", "### What differs in it", "", *_limited(page.split("\n"), limits, where))
    yield ""
    yield from _limited(fenced(picture(report).split("\n"), "mermaid"), limits, where)


def _limited(lines: Sequence[str], limits: Limits, where: str) -> Sequence[str]:
    fits = len("\n".join(lines)) <= limits.report
    return lines if fits else [f"Too long for this comment: see {where}."]


def _settings(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    rows = [*map(wording.rename, diff.renames), *map(wording.setting, diff.settings)]
    if rows:
        yield from ("", "### The stack file", "", *_list(rows, limits, where))


def _groups(diff: Document, limits: Limits, where: str) -> Iterator[str]:
    if not diff.groups:
        return
    yield from ("", "### What changes", "")
    yield from ("| What | Change | Why | Resources |", "|---|---|---|---:|")
    for one in diff.groups[: limits.rows]:
        cells = (
            _markdown(wording.title(one)),
            _markdown(wording.event(one)),
            _why(one, diff),
            str(len(one.resources)),
        )
        yield f"| {' | '.join(cells)} |"
    yield from _more(len(diff.groups) - limits.rows, where, "\n")
    if diff.left_out:
        yield from ("", f"{count(diff.left_out, 'more resource')} counted, but not listed.")


def _why(one: Group, diff: Document) -> str:
    changes = wording.changes(one)
    causes = [_markdown(wording.change(change)) for change in changes[: wording.MAX_CAUSES]]
    if len(changes) > wording.MAX_CAUSES:
        causes.append(f"{len(changes) - wording.MAX_CAUSES} more")
    if wording.is_indirect(one, diff):
        causes.insert(0, "caused by other changes")
    return "<br>".join(causes)


def _properties(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", "### Properties", "")
        yield from fenced(lines, "diff")


def _folded(lines: Sequence[str], room: int, where: str) -> str:
    """Return as many of the lines as fit into `room` characters, folded."""
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
    cut = f"\n{count(left_out, 'more line')} in {where}.\n" if left_out else ""
    if not kept:
        return cut
    return "".join((begin, "\n".join(fenced(kept, "diff")), "\n", cut, end))


def _list(rows: Sequence[Phrase], limits: Limits, where: str, bullet: str = "- ") -> Iterator[str]:
    for row in rows[: limits.rows]:
        yield f"{bullet}{_markdown(row)}"
    yield from _more(len(rows) - limits.rows, where, bullet)


def _more(number: int, where: str, prefix: str) -> Iterator[str]:
    if number > 0:
        yield f"{prefix}{number} more: see {where}"


def _markdown(phrase: Phrase) -> str:
    return "".join(code(part) if isinstance(part, Name) else part for part in phrase)


def main(arguments: Sequence[str] | None = None) -> int:
    """Render a `diff.json`. Exit codes: 0; 1 if it is not valid; 2 for a wrong option."""
    parser = argparse.ArgumentParser(
        prog="python -m change.comment",
        description="Render diff.json, which may be hostile, as the comment of a pull request.",
    )
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="FILE")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE")
    parser.add_argument("--run", metavar="URL", help="the CI run with the full text")
    options = parser.parse_args(arguments)
    if options.run is not None and not RUN_URL.fullmatch(options.run):
        parser.error("--run: is not the URL of a run")
    try:
        diff = document.read(options.source)
    except document.InvalidDocumentError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    options.output.write_text(comment(diff, options.run), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
