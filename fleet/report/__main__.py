"""The report of a stack file on the terminal, as Markdown or as JSON: needs no engine, no account.

Ends with 1 where the stack file is refused, every finding on stderr (and, as JSON, where the report
would be), and with 2 for a wrong option.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fleet.config.stackfile import NotAStackFile, stack_value
from fleet.findings import StackFileError
from fleet.load import load
from fleet.report.base import NoSuchBase, base_report
from fleet.report.data import data, finding_data
from fleet.report.difference import compare
from fleet.report.difference_page import difference_markdown
from fleet.report.markdown import markdown

FORMATS = ("terminal", "markdown", "json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report. Exit code: 0, or 1 where the stack file is refused."""
    parser = _parser()
    options = parser.parse_args(arguments)
    file = Path(options.config or f"Pulumi.{options.stack}.yaml")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        parser.error(f"{file}: cannot be read; name a stack or the path of its file")
    try:
        report = _report(text, str(file), options.stack)
    except (StackFileError, NotAStackFile) as error:
        print(error, file=sys.stderr)
        if options.format == "json" and isinstance(error, StackFileError):
            refused = {"refused": True, "findings": [finding_data(one) for one in error.findings]}
            _put(options.output, f"{json.dumps(refused, indent=2, ensure_ascii=False)}\n")
        return 1
    difference = None
    if options.base:
        try:
            base = base_report(
                options.base, file, lambda text, source: _report(text, source, options.stack)
            )
            difference = compare(base, report)
        except NoSuchBase as error:
            parser.error(f"--base {error}")
        except (StackFileError, NotAStackFile) as error:
            # An older file may be one that this revision refuses: the report stands without it.
            print(f"there is no difference to show, the base is refused:\n{error}", file=sys.stderr)
    _write(options, report, difference)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fleet.report", description="what a stack file stands for"
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--stack", help="name of a stack: Pulumi.<stack>.yaml is read")
    what.add_argument("--config", help="path of a stack file")
    parser.add_argument(
        "--base", help="show the difference to this git revision, stack file or report (.json)"
    )
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0])
    parser.add_argument("--output", help="file to write; default: standard output")
    return parser


def _report(text: str, source: str, stack: str | None) -> dict[str, Any]:
    """The report of a stack file's text; it needs no secret, so every one counts as there."""
    try:
        value = stack_value(text)
    except NotAStackFile as error:
        raise NotAStackFile(f"{source}: {error}") from None
    name = stack or Path(source.rpartition(":")[2]).stem.removeprefix("Pulumi.")
    return data(load(value, source=source, has_secret=lambda _: True), stack=name)


def _write(
    options: argparse.Namespace, report: dict[str, Any], difference: dict[str, Any] | None
) -> None:
    if options.format == "terminal":
        from fleet.report.terminal import write  # noqa: PLC0415 (only a terminal pays for rich)

        if options.output is None:
            write(report, difference, sys.stdout)
            return
        with Path(options.output).open("w", encoding="utf-8") as file:
            write(report, difference, file)
        return
    if options.format == "json":
        whole = report if difference is None else {**report, "difference": difference}
        text = f"{json.dumps(whole, indent=2, ensure_ascii=False)}\n"
    else:
        text = markdown(report)
        if difference is not None:
            text = f"{text}\n{difference_markdown(difference)}"
    _put(options.output, text)


def _put(output: str | None, text: str) -> None:
    if output is None:
        sys.stdout.write(text)
    else:
        Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
