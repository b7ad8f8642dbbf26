"""The table of all checks in docs/troubleshooting.md, generated from the checks.

`python -m fleet.checks` prints it; `--write` replaces the text between the document's two markers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from fleet.checks.check import Check
from fleet.checks.judge import CHECKS

FILE = Path(__file__).parents[2] / "docs" / "troubleshooting.md"
BEGIN = "<!-- checks: begin (make schema) -->"
END = "<!-- checks: end -->"


def table() -> str:
    """Return the checks as a Markdown table, sorted by identifier."""
    rows = [
        f"| `{check.identifier}` | {_severity(check)} | {check.summary} |"
        for check in sorted(CHECKS, key=lambda check: check.identifier)
    ]
    return "\n".join(["| identifier | severity | what it finds |", "|---|---|---|", *rows])


def _severity(check: Check) -> str:
    return f"{check.severity}, error if strict" if check.strict else check.severity


def with_table(document: str) -> str:
    """Return the document with the table between its markers.

    Raise ValueError if a marker is missing.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the document lacks a line {BEGIN} or {END}: add both")
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or write it into the document."""
    parser = argparse.ArgumentParser(prog="python -m fleet.checks", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {FILE.name}")
    if parser.parse_args(arguments).write:
        FILE.write_text(with_table(FILE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(table())


if __name__ == "__main__":
    main()
