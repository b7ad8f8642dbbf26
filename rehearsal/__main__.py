"""The command line: `python -m rehearsal --stack staging`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pulumi_rehearsal import command, interrupts


def main(arguments: Sequence[str] | None = None) -> int:
    """Rehearse a stack file; see `command.run` for the exit status, 2 is a wrong option."""
    parser = argparse.ArgumentParser(
        prog="python -m rehearsal",
        description="Run a stack file through the real Pulumi engine against stand-in clouds.",
    )
    parser.add_argument(
        "--project",
        choices=("fleet", "bootstrap"),
        default="fleet",
        help="the program: the fleet, or the bootstrap that precedes it (fleet)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--stack",
        metavar="NAME",
        help="rehearse the project's Pulumi.NAME.yaml (fleet: staging, bootstrap: ci)",
    )
    which.add_argument("--config", type=Path, metavar="FILE", help="rehearse any stack file")
    which.add_argument(
        "--from", type=Path, dest="from_file", metavar="FILE", help="rehearse a change: old file"
    )
    parser.add_argument("--to", type=Path, dest="to_file", metavar="FILE", help="new file")
    command.add_options(parser)
    options = parser.parse_args(arguments)
    if (options.from_file is None) != (options.to_file is None):
        parser.error("--from and --to go together (FROM= and TO= of make)")
    faults = command.faults(parser, options)
    busy = command.busy(parser, options)
    # Imported late: the SDKs take half a second, and --help does not need them.
    from rehearsal import run  # noqa: PLC0415
    from rehearsal.project import PROJECTS  # noqa: PLC0415

    project = PROJECTS[options.project]
    chosen = options.config or project.stack_file(options.stack or project.default_stack)
    return command.run(
        lambda console: run.rehearse(
            options.from_file or chosen,
            to=options.to_file or (),
            project=project,
            policy=options.policy,
            faults=faults,
            busy=busy,
            console=console,
        )
    )


if __name__ == "__main__":
    interrupts.install()
    sys.exit(main())
