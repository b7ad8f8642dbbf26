"""The command line: `python -m change --stack staging --base origin/main`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pulumi_rehearsal import interrupts
from pulumi_rehearsal.errors import RehearsalError
from rich.console import Console

INTERRUPTED = 130
WRONG_OPTION = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a diff. Exit codes: 0; 1 if the head is refused; 2 for a wrong option; 130."""
    options = _options(arguments)
    console = Console()
    try:
        return _diff(options, console)
    except KeyboardInterrupt:
        console.print("interrupted; the scratch folders are removed", highlight=False)
        return INTERRUPTED


def _diff(options: argparse.Namespace, console: Console) -> int:
    # Not at the top: importing the SDKs takes half a second, and --help does not need them.
    from change import terminal  # noqa: PLC0415
    from change.make import make  # noqa: PLC0415
    from change.revision import WrongBaseError  # noqa: PLC0415
    from rehearsal.project import ROOT  # noqa: PLC0415

    def say(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    config = options.config or ROOT / f"Pulumi.{options.stack}.yaml"
    try:
        result = make(config, options.base, exact=options.exact, say=say)
    except (RehearsalError, OSError) as refused:
        console.print(
            f"refused: {refused}", style="bold red", markup=False, highlight=False, soft_wrap=True
        )
        return WRONG_OPTION if isinstance(refused, WrongBaseError) else 1
    terminal.show(result, console)
    return 1 if result.document.refused else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m change",
        description="Show what this branch changes in a stack: the engine's preview of the working "
        "tree against the rehearsed base.",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--stack", default="staging", metavar="NAME", help="compare Pulumi.NAME.yaml (staging)"
    )
    which.add_argument(
        "--config", type=Path, metavar="FILE", help="compare any stack file of the repository"
    )
    parser.add_argument(
        "--base",
        metavar="REF",
        help="compare with the merge base of this branch and REF (origin/main, else main)",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="compare with the tip of REF instead of the merge base",
    )
    parser.add_argument(
        "--project",
        default="fleet",
        metavar="NAME",
        help="only fleet is supported",
    )
    options = parser.parse_args(arguments)
    if options.project != "fleet":
        parser.error(
            f"--project {options.project}: only the fleet has diffs; for the bootstrap run "
            "make rehearse PROJECT=bootstrap FROM=old.yaml TO=new.yaml"
        )
    return options


if __name__ == "__main__":
    interrupts.install()
    sys.exit(main())
