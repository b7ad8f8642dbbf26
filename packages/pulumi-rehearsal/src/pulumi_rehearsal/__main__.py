"""The command line: `python -m pulumi_rehearsal PROJECT --stack dev`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pulumi_rehearsal import command, interrupts


def main(arguments: Sequence[str] | None = None) -> int:
    """Rehearse a project; see `command.run` for the exit status, 2 is a wrong option."""
    parser = argparse.ArgumentParser(
        prog="python -m pulumi_rehearsal",
        description="Run a Pulumi program through the real engine against stand-in clouds.",
    )
    parser.add_argument("project", type=Path, nargs="?", default=Path(), help="folder (.)")
    parser.add_argument("--stack", metavar="NAME", help="stack whose Pulumi.NAME.yaml is used")
    parser.add_argument("--config", type=Path, metavar="FILE", help="another stack file")
    parser.add_argument("--to", type=Path, metavar="FILE", help="rehearse a change to this file")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="set a config value"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER", help="folder for the files (.rehearsal/<stack>)"
    )
    parser.add_argument(
        "--only-known-types", action="store_true", help="refuse types without a stand-in"
    )
    command.add_options(parser)
    options = parser.parse_args(arguments)
    faults = command.faults(parser, options)
    busy = command.busy(parser, options)
    for text in options.set:
        if "=" not in text:
            parser.error(f"--set {text}: write KEY=VALUE")
    # Imported late: the SDK takes a fifth of a second, and --help does not need it.
    from pulumi_rehearsal import driver  # noqa: PLC0415

    return command.run(
        lambda console: driver.rehearse(
            options.project,
            stack=options.stack,
            stack_file=options.config,
            to=options.to,
            config=dict(text.split("=", 1) for text in options.set),
            faults=faults,
            busy=busy,
            policy=options.policy,
            only_known_types=options.only_known_types,
            folder=options.output,
            console=console,
        )
    )


if __name__ == "__main__":
    interrupts.install()
    sys.exit(main())
