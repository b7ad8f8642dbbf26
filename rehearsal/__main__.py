"""The command line: `python -m rehearsal --stack staging`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pulumi_rehearsal import interrupts
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.standin.faults import STEPS, Fault
from rich.console import Console

STALL_S = 30.0
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Rehearses; 0 where everything was as it should be, 1 where not, 2 for a wrong option."""
    options = _options(arguments)
    console = Console()
    try:
        # Late: an import of the SDKs takes half a second, and --help needs none of them.
        from pulumi_rehearsal.driver import rehearse  # noqa: PLC0415

        from rehearsal.project import PROJECTS  # noqa: PLC0415

        project = PROJECTS[options.project]
        chosen = options.config or project.stack_file(options.stack or project.default_stack)
        result = rehearse(
            options.from_file or chosen,
            to=options.to_file,
            project=project,
            policy=options.policy,
            faults=[*map(_failure, options.fail), *map(_stall, options.stall)],
            console=console,
        )
    except RehearsalError as refused:
        console.print(
            f"refused: {refused}", style="bold red", markup=False, highlight=False, soft_wrap=True
        )
        return 1
    except OSError as error:
        console.print(f"refused: {error}", style="bold red", markup=False, highlight=False)
        return 1
    except KeyboardInterrupt:
        console.print("interrupted: nothing was left behind", highlight=False)
        return INTERRUPTED
    return 0 if result.ok else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m rehearsal",
        description="Take a stack file through the real Pulumi engine against stand-in clouds.",
    )
    parser.add_argument(
        "--project",
        choices=("fleet", "bootstrap"),
        default="fleet",
        help="which program: the fleet, or what comes before it (fleet)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--stack",
        metavar="NAME",
        help="rehearse the project's Pulumi.NAME.yaml (fleet: staging, bootstrap: ci)",
    )
    which.add_argument("--config", type=Path, metavar="FILE", help="rehearse any stack file")
    which.add_argument(
        "--from", type=Path, dest="from_file", metavar="FILE", help="rehearse a change, from this"
    )
    parser.add_argument("--to", type=Path, dest="to_file", metavar="FILE", help="... to this")
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
        "--policy", type=Path, metavar="FOLDER", help="let a policy pack judge the last stack file"
    )
    options = parser.parse_args(arguments)
    if (options.from_file is None) != (options.to_file is None):
        parser.error("--from and --to go together (FROM= and TO= of make)")
    for text in options.stall:
        _, colon, seconds = text.partition(":")
        if colon and not seconds.isdigit():
            parser.error(f"--stall {text}: after the colon stand whole seconds")
    for text in options.fail:
        _, colon, step = text.partition(":")
        if colon and step not in STEPS:
            parser.error(f"--fail {text}: after the colon stands one of {', '.join(STEPS)}")
    return options


def _failure(text: str) -> Fault:
    name, _, step = text.partition(":")
    return Fault(name=name, steps=tuple(s for s in STEPS if step in ("", s)))


def _stall(text: str) -> Fault:
    name, _, seconds = text.partition(":")
    return Fault(name=name, seconds=float(seconds or STALL_S))


if __name__ == "__main__":
    interrupts.install()
    sys.exit(main())
