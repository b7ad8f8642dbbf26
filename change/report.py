"""The command `python -m change.report`: a stack file's report and its difference to a base.

Both stack files are read by the code of this revision; a base that is a report is taken as it is.
Exit codes: those of `fleet.report`; 2 also for a base that does not exist.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from change import revision
from change.difference import compare
from change.difference_page import difference_markdown
from change.revision import WrongBaseError
from fleet.config.stackfile import NotAStackFile
from fleet.findings import StackFileError
from fleet.report.__main__ import Appendix, options_parser, report_of, run
from fleet.report.model import Report


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report and the difference; return the exit code."""
    parser = options_parser("python -m change.report")
    parser.add_argument(
        "--base",
        required=True,
        help="git revision, stack file or report (.json) to compare the stack file with",
    )

    def appendix(options: argparse.Namespace, file: Path, report: Report) -> Appendix | None:
        try:
            base = base_report(options.base, file, options.stack)
        except WrongBaseError as error:
            parser.error(f"--base: {error}")
        except (StackFileError, NotAStackFile) as error:
            # An older stack file may break rules of this revision.
            print(f"no difference is shown, because the base is refused:\n{error}", file=sys.stderr)
            return None
        difference = compare(base, report)
        return Appendix(
            json={"difference": difference.model_dump(mode="json")},
            markdown=difference_markdown(difference),
        )

    return run(parser, arguments, appendix)


def base_report(base: str, file: Path, stack: str | None) -> Report | None:
    """Return the report of `base`; `None` if it is a revision without `file`.

    Raises `WrongBaseError`, `StackFileError`, `NotAStackFile`.
    """
    other = Path(base)
    if not other.is_file():
        try:
            repository = revision.repository(file.parent)
            text = repository.text(repository.base(base, exact=True).commit, file.name)
        except WrongBaseError as error:
            raise WrongBaseError(f"{base} is not a file, and {error}") from None
        return None if text is None else report_of(text, f"{base}:{file.name}", stack)
    try:
        text = other.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise WrongBaseError(f"{base}: cannot be read as text") from None
    if other.suffix != ".json":
        return report_of(text, base, stack)
    try:
        report = Report.model_validate_json(text)
    except ValidationError:
        report = Report()
    if not report.clusters:
        raise WrongBaseError(f"{base}: is not a report that --format json wrote")
    return report


if __name__ == "__main__":
    sys.exit(main())
