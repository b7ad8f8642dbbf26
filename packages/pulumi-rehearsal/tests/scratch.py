"""A stack in a scratch folder, for tests that run the engine's commands one by one or kill them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from pulumi_rehearsal import cli, engine, stackfile, workspace
from pulumi_rehearsal.driver import serving
from pulumi_rehearsal.engine import Outcome
from pulumi_rehearsal.stackfile import StackFile
from pulumi_rehearsal.standin.faults import Faults, Step
from pulumi_rehearsal.standin.jobs import Jobs
from pulumi_rehearsal.standin.kind import Refusal, Resource
from pulumi_rehearsal.standin.packages import PACKAGES
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.world import Event, World
from pulumi_rehearsal.workspace import Program, Workspace

Moment = Literal["before", "after", "waiting"]
"""Before a step arrives at the cloud, after the cloud did it, or while it waits for a job."""


class Killer(Faults):
    """Kills the engine with SIGKILL at one moment: the first, second, ... of its kind.

    A request that did not arrive changes nothing. The answer to one that did is lost.
    """

    def __init__(self) -> None:
        super().__init__()
        self.world = _World(self)
        self._process: subprocess.Popen[str] | None = None
        self._moment: Moment | None = None
        self._left = 0
        self.passed: dict[Moment, int] = {}
        """How many moments of each kind there were since `aim`."""
        self.happened = ""

    def aim(self, moment: Moment | None, number: int = 0) -> None:
        """Kill the engine at moment `number`, from 0; `None` only counts."""
        self._moment, self._left = moment, number
        self.passed, self.happened = {"before": 0, "after": 0, "waiting": 0}, ""

    def strike(self, step: Step, urn: str, name: str) -> None:
        with self.world.lock:
            if self.happened:
                raise Refusal("the engine is dead")
            self.reach("before", f"{step} of {name}")
            if self.happened:
                raise Refusal("the request did not arrive")

    def reach(self, moment: Moment, what: str) -> None:
        """Kill the engine if it is its time."""
        self.passed[moment] = self.passed.get(moment, 0) + 1
        if self._process is None or moment != self._moment or self.happened:
            return
        if self._left == 0:
            self.happened = f"{moment} {what}"
            os.killpg(self._process.pid, signal.SIGKILL)
        self._left -= 1

    @contextmanager
    def watching(self) -> Generator[None]:
        """Take the program that is started meanwhile for the engine."""
        killer = self

        class Recorded(subprocess.Popen[str]):
            def __init__(self, *arguments: Any, **options: Any) -> None:
                super().__init__(*arguments, **options)
                killer._process = self

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subprocess, "Popen", Recorded)
            yield
        self._process = None


class _World(World):
    def __init__(self, killer: Killer) -> None:
        super().__init__()
        self._killer = killer
        self.jobs = _Jobs(self, killer)

    def note(self, event: Event) -> None:
        super().note(event)
        if event.urn and event.action in ("created", "updated", "deleted"):
            self._killer.reach("after", f"{event.action} {event.type} {event.name}")


class _Jobs(Jobs):
    def __init__(self, world: World, killer: Killer) -> None:
        super().__init__(world)
        self._killer = killer

    def wait(self, resource: Resource, limit_s: float) -> int:
        if self.running(resource):
            self._killer.reach("waiting", f"for the job on {resource.id}")
        if self._killer.happened:
            raise Refusal("nobody waits any more")
        return super().wait(resource, limit_s)


@dataclass
class Scratch:
    """One stack and its clouds."""

    workspace: Workspace
    killer: Killer

    @property
    def world(self) -> World:
        """The clouds."""
        return self.killer.world

    def configure(self, file: StackFile, secrets: Mapping[str, str]) -> None:
        """Replace the configuration."""
        self.workspace.configure(file, secrets)

    def run(self, operation: engine.Operation, program: Program | None = None) -> Outcome:
        """Run one command, from now on with that program; a killed one leaves no lock."""
        if program is not None:
            self.workspace.run_program(program)
        self.world.jobs.next_command()
        with self.killer.watching():
            outcome = engine.run(self.workspace.stack, operation)
        if self.killer.happened:
            # The backend of files leaves this one empty, and cannot read it then.
            for path in self.workspace.state_files():
                if path.suffix == ".attrs" and not path.stat().st_size:
                    path.unlink()
            self.workspace.stack.cancel()
        return outcome


@contextmanager
def opened(
    settings: Path,
    program: Program,
    *,
    stack: str = "dev",
    existing: Iterable[Resource] = (),
    packages: Sequence[Package] = PACKAGES,
) -> Generator[Scratch]:
    """Open an empty stack of a project; the engine saves its state after each step."""
    killer = Killer()
    for resource in existing:
        killer.world.replace(resource)
    with (
        workspace.clean_environment(),
        serving(packages, killer.world, killer, only_known_types=True) as servers,
        workspace.opened(
            stack,
            cli.find(print),
            {server.package.name: server.port for server in servers},
            program,
            settings=settings,
        ) as scratch,
    ):
        scratch.stack.workspace.env_vars["PULUMI_SKIP_CHECKPOINTS"] = "false"
        opened = Scratch(scratch, killer)
        opened.configure(stackfile.parse("", settings.parent / f"Pulumi.{stack}.yaml"), {})
        yield opened
        assert [defect for server in servers for defect in server.defects] == []
