"""A stack in a scratch folder, for tests that run the engine's commands one by one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pulumi_rehearsal import cli, engine, stackfile, workspace
from pulumi_rehearsal.driver import serving
from pulumi_rehearsal.engine import Outcome
from pulumi_rehearsal.standin.faults import Faults
from pulumi_rehearsal.standin.packages import PACKAGES
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.world import World
from pulumi_rehearsal.workspace import Program, Workspace


@dataclass
class Scratch:
    """One stack and its clouds."""

    workspace: Workspace
    world: World

    def run(self, operation: engine.Operation, program: Program | None = None) -> Outcome:
        """Run one command, from now on with that program."""
        if program is not None:
            self.workspace.run_program(program)
        self.world.jobs.next_command()
        return engine.run(self.workspace.stack, operation)


@contextmanager
def opened(
    project: Path,
    program: Program,
    *,
    stack: str = "dev",
    config: str = "",
    world: World | None = None,
    packages: Sequence[Package] = PACKAGES,
) -> Generator[Scratch]:
    """Open an empty stack of the project; the engine saves its state after each step."""
    world, faults = world or World(), Faults()
    with (
        workspace.clean_environment(),
        serving(packages, world, faults, only_known_types=True) as servers,
        workspace.opened(
            stack,
            cli.find(print),
            {server.package.name: server.port for server in servers},
            program,
            settings=project / "Pulumi.yaml",
        ) as scratch,
    ):
        scratch.stack.workspace.env_vars["PULUMI_SKIP_CHECKPOINTS"] = "false"
        scratch.configure(stackfile.parse(config, project / f"Pulumi.{stack}.yaml"), {})
        yield Scratch(scratch, world)
        assert [defect for server in servers for defect in server.defects] == []
