"""What the command lines of rehearsals share: options for faults, errors, exit statuses."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console

from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.standin.faults import STEPS, Fault
from pulumi_rehearsal.standin.jobs import DEFAULT_MINUTES, Busy

if TYPE_CHECKING:
    from pulumi_rehearsal.result import Result

STALL_S: Final = 30.0
INTERRUPTED: Final = 130


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add `--fail`, `--stall`, `--busy` and `--policy`."""
    parser.add_argument(
        "--fail",
        action="append",
        default=[],
        metavar="NAME[:STEP]",
        help=f"let a resource fail once, by logical name (* ? match); STEP is {', '.join(STEPS)}",
    )
    parser.add_argument(
        "--stall",
        action="append",
        default=[],
        metavar="NAME[:SECONDS]",
        help=f"let a resource take longer ({STALL_S:.0f} s)",
    )
    parser.add_argument(
        "--busy",
        action="append",
        default=[],
        metavar="RUNNERS[:MINUTES]",
        help="let a job run on runners, by name or label (* ? match), "
        f"during a change or else destroy ({DEFAULT_MINUTES:.0f} min)",
    )
    parser.add_argument(
        "--policy", type=Path, metavar="FOLDER", help="apply a policy pack to the last revision"
    )


def faults(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[Fault]:
    """Return the faults of `--fail` and `--stall`; exit with a message if one is malformed."""
    found: list[Fault] = []
    for text in options.fail:
        name, colon, step = text.partition(":")
        if colon and step not in STEPS:
            parser.error(f"--fail {text}: write one of {', '.join(STEPS)} after the colon")
        found.append(Fault(name=name, steps=tuple(s for s in STEPS if step in ("", s))))
    for text in options.stall:
        name, colon, seconds = text.partition(":")
        if colon and not seconds.isdigit():
            parser.error(f"--stall {text}: write a whole number of seconds after the colon")
        found.append(Fault(name=name, seconds=float(seconds or STALL_S)))
    return found


def busy(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[Busy]:
    """Return the plans of `--busy`; exit with a message if one is malformed."""
    found: list[Busy] = []
    for text in options.busy:
        name, colon, minutes = text.partition(":")
        if colon and not minutes.isdigit():
            parser.error(f"--busy {text}: write a whole number of minutes after the colon")
        found.append(Busy(runners=name, minutes=float(minutes or DEFAULT_MINUTES)))
    return found


def run(rehearsal: Callable[[Console], Result]) -> int:
    """Run a rehearsal; return 0 if it passed, 1 if it failed or was refused, 130 if interrupted."""
    console = Console()
    try:
        return 0 if rehearsal(console).ok else 1
    except (RehearsalError, OSError) as error:
        style = "bold red"
        console.print(
            f"refused: {error}", style=style, markup=False, highlight=False, soft_wrap=True
        )
        return 1
    except KeyboardInterrupt:
        console.print("interrupted: nothing was left behind", highlight=False)
        return INTERRUPTED
