"""The command `python -m fleet.report`: the report of a stack file, without engine or account.

Exit codes: 0; 1 if the stack file is refused, with every finding on stderr (with `--format json`
also on stdout); 2 for a wrong option. `change.report` adds the difference to a base.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fleet.config.stackfile import NotAStackFile, stack_value
from fleet.findings import StackFileError
from fleet.load import load
from fleet.report.build import build_report, finding_section
from fleet.report.markdown import markdown
from fleet.report.model import Report


@dataclass(frozen=True, kw_only=True, slots=True)
class Appendix:
    """An addition to the report: more keys for its JSON, or more Markdown."""

    json: dict[str, Any]
    markdown: str


MakeAppendix = Callable[[argparse.Namespace, Path, Report], Appendix | None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report of a stack file; return the exit code."""
    return run(options_parser("python -m fleet.report"), arguments)


def options_parser(program: str) -> argparse.ArgumentParser:
    """Return a parser of the options that choose the stack file and the output."""
    parser = argparse.ArgumentParser(
        prog=program, description="Show the lanes, pools, cost and findings of a stack file."
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--stack", help="name of a stack: its file is Pulumi.<stack>.yaml")
    which.add_argument("--config", help="path of a stack file")
    parser.add_argument("--format", choices=("terminal", "markdown", "json"), default="terminal")
    parser.add_argument("--output", help="file to write; default: standard output")
    return parser


def run(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    make_appendix: MakeAppendix | None = None,
) -> int:
    """Print the report and its appendix; return the exit code."""
    options = parser.parse_args(arguments)
    file = Path(options.config or f"Pulumi.{options.stack}.yaml")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        parser.error(f"{file}: cannot be read; name a stack or the path of its file")
    try:
        report = report_of(text, str(file), options.stack)
    except (StackFileError, NotAStackFile) as error:
        print(error, file=sys.stderr)
        if options.format == "json" and isinstance(error, StackFileError):
            findings = [finding_section(one).model_dump() for one in error.findings]
            with _output(options.output) as out:
                out.write(_json({"refused": True, "findings": findings}))
        return 1
    appendix = make_appendix(options, file, report) if make_appendix is not None else None
    with _output(options.output) as out:
        _write(out, options.format, report, appendix)
    return 0


def report_of(text: str, source: str, stack: str | None) -> Report:
    """Return the report of a stack file's text; `source` names the file in messages.

    Secrets are not needed, so all of them count as set. Raises `StackFileError`, `NotAStackFile`.
    """
    try:
        value = stack_value(text)
    except NotAStackFile as error:
        raise NotAStackFile(f"{source}: {error}") from None
    name = stack or Path(source.rpartition(":")[2]).stem.removeprefix("Pulumi.")
    return build_report(load(value, source=source, has_secret=lambda _: True), stack=name)


def _write(out: IO[str], style: str, report: Report, appendix: Appendix | None) -> None:
    if style == "json":
        more = appendix.json if appendix is not None else {}
        out.write(_json({**report.model_dump(mode="json"), **more}))
    elif style == "markdown":
        out.write(markdown(report) + (f"\n{appendix.markdown}" if appendix is not None else ""))
    else:
        from fleet.report.terminal import write  # noqa: PLC0415 (only a terminal needs rich)

        write(out, report, appendix.markdown if appendix is not None else "")


def _json(data: dict[str, Any]) -> str:
    return f"{json.dumps(data, indent=2, ensure_ascii=False)}\n"


@contextmanager
def _output(path: str | None) -> Generator[IO[str]]:
    if path is None:
        yield sys.stdout
    else:
        with Path(path).open("w", encoding="utf-8") as file:
            yield file


if __name__ == "__main__":
    sys.exit(main())
