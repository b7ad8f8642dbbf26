"""The life of a stack, taken through the real engine: preview, up, rest, protection, destroy.

`rehearse` is the whole of it. What it finds wrong is in `Result.problems`; what makes a rehearsal
impossible (a bad stack file, no CLI) raises `RehearsalError`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from pulumi_rehearsal import cli, engine, messages, policies, secrets, stackfile, workspace
from pulumi_rehearsal.artifacts import Artifacts, Phase
from pulumi_rehearsal.engine import Outcome
from pulumi_rehearsal.result import Result
from pulumi_rehearsal.stackfile import StackFile
from pulumi_rehearsal.standin.faults import Fault, Faults
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.cluster import (
    NAMESPACE,
    OUTSIDE,
    assume_named,
    assume_secret,
)
from pulumi_rehearsal.standin.kubernetes.pods import RUNTIME_CLASS
from pulumi_rehearsal.standin.packages import PACKAGES
from pulumi_rehearsal.standin.server import Package, Server
from pulumi_rehearsal.standin.world import World
from pulumi_rehearsal.workspace import Program, Workspace
from rehearsal import checks
from rehearsal.project import FLEET, Project

MOST_ATTEMPTS: Final = 500
"""Bound on `up` after `up` while injected failures still come due."""


def rehearse(
    config: Path,
    *,
    to: Path | None = None,
    between: Callable[[World], None] | None = None,
    faults: Sequence[Fault] = (),
    continue_on_error: bool = False,
    folder: Path | None = None,
    console: Console | None = None,
    project: Project = FLEET,
    check: Callable[[StackFile], str] | None = None,
    program: Program | None = None,
    packages: Sequence[Package] = PACKAGES,
    policy: Path | None = None,
) -> Result:
    """Rehearses a stack file, or the change from `config` to the stack file `to`.

    `between` acts on the clouds once `config` is up, as an autoscaler or a person would.
    Leaves its files in `folder` (default `.rehearsal/<stack>/`). With `continue_on_error` one `up`
    meets many failures instead of the first; the engine then asks for dependents of what failed
    with inputs missing. `policy` is the folder of a pack that judges the last file. `check` and
    `program` are those of `project` unless a test of the rehearsal brings others, and `packages`
    too. May run several times in one process, one after another. Raises `RehearsalError`.
    """
    started = time.monotonic()
    out = console or Console(quiet=True)
    files = [stackfile.read(path) for path in (config, to) if path is not None]
    findings = [(check or project.check)(file) for file in files]
    name = files[-1].name
    where = folder or project.artifacts(name)
    _say(out, f"rehearsing {' -> '.join(messages.short(file.path) for file in files)}")
    pack = policies.pack_of(policy, name) if policy is not None else None
    taken = cli.find(lambda line: _say(out, f"  {line}"))
    _say(out, f"  pulumi {taken.version}: {taken.why}")
    injected = Faults(*faults)
    world = World()
    for file in files:
        assume_external(world, file)
    with (
        workspace.clean_surroundings(),
        serving(packages, world, injected) as servers,
        workspace.opened(
            name,
            taken,
            {s.package.name: s.port for s in servers},
            program or project.program,
            settings=project.settings,
            pack=pack,
        ) as scratch,
    ):
        life = _Life(
            scratch=scratch,
            world=world,
            faults=injected,
            artifacts=Artifacts(where),
            console=out,
            continue_on_error=continue_on_error,
            policies=pack.options if pack is not None else {},
        )
        life.run(files, between)
        life.note_defects(defect for server in servers for defect in server.defects)
        life.search_for_leaks()
        life.report(" to ".join(f.path.name for f in files), taken, "\n\n".join(findings))
    return life.result(name, time.monotonic() - started)


def assume_external(world: World, file: StackFile) -> None:
    """Puts into the clouds what the stack names and somebody else makes."""
    there = checks.external(file)
    for secret in there.secrets:
        assume_secret(world, secret.namespace, secret.name, secret.keys)
    for space in there.namespaces:
        assume_named(world, NAMESPACE, space)
    for runtime_class in there.runtime_classes:
        assume_named(world, RUNTIME_CLASS, runtime_class)


@contextmanager
def serving(packages: Sequence[Package], world: World, faults: Faults) -> Generator[list[Server]]:
    """A stand-in for each package, all of them for one world of clouds; stopped at the end."""
    servers = [Server(package, world, faults) for package in packages]
    try:
        for server in servers:
            server.start()
        yield servers
    finally:
        for server in servers:
            server.stop()


class _Life:
    """One rehearsal as it goes on: what was run, what was found."""

    def __init__(
        self,
        *,
        scratch: Workspace,
        world: World,
        faults: Faults,
        artifacts: Artifacts,
        console: Console,
        continue_on_error: bool,
        policies: Mapping[str, Any],
    ) -> None:
        self._scratch = scratch
        self._world = world
        self._faults = faults
        self._artifacts = artifacts
        self._console = console
        self._continue_on_error = continue_on_error
        self._policies = policies
        self._judged = False
        self._phases: list[Phase] = []
        self._problems: list[str] = []
        self._placeholders: dict[str, str] = {}
        self._state: dict[str, Any] | None = None

    def run(self, files: Sequence[StackFile], between: Callable[[World], None] | None) -> None:
        """Stops at the first phase after which nothing later would mean anything."""
        self._placeholders = secrets.placeholders(key for file in files for key in file.secret_keys)
        for earlier in files[:-1]:
            self._configure(earlier)
            if not self._persevere(f"up {earlier.path.name}", "up"):
                return
            if between is not None:
                between(self._world)
        self._configure(files[-1])
        self._judged = True
        preview = self._phase("preview", "preview", as_json=True)
        self._artifacts.preview(preview)
        if not self._must_succeed(preview):
            return
        settled = self._persevere("up", "up")
        self._state = self._scratch.exported()
        self._artifacts.state(self._state)
        if settled:
            self._expect_work()
            self._expect_rest()
            self._expect_protection()
            if self._persevere("destroy", "destroy"):
                self._expect_nothing_left()
        self._expect_faults_struck()

    def note_defects(self, defects: Iterator[str]) -> None:
        """A stand-in that failed by itself makes the rehearsal worthless."""
        for defect in defects:
            self._artifacts.note([defect])
            self._problem(f"a stand-in has a defect: {defect.strip().splitlines()[-1]}")

    def search_for_leaks(self) -> None:
        """No placeholder may stand in plain text in anything that was written."""
        self._note_leaks(self._artifacts.files)
        self._note_leaks(self._scratch.state_files(), "the engine's own state")

    def report(self, title: str, taken: cli.Cli, findings: str) -> None:
        """Writes `report.md`."""
        resources = _resources(self._state)
        self._artifacts.report(
            title=title,
            cli=f"{taken.version}, {taken.why}",
            phases=self._phases,
            problems=self._problems,
            warnings=self._warnings(),
            resources=sorted(Counter(resource["type"] for resource in resources).items()),
            findings=findings,
        )
        self._note_leaks([self._artifacts.folder / "report.md"])

    def result(self, name: str, seconds: float) -> Result:
        """What came of it, said in the last line too."""
        where = messages.short(self._artifacts.folder / "report.md")
        for warning in self._warnings():
            _say(self._console, f"  warning: {warning}")
        verdict = "failed" if self._problems else "passed: nothing is left"
        _say(self._console, f"rehearsal of {name} {verdict} ({seconds:.1f} s); see {where}")
        return Result(
            name=name,
            folder=self._artifacts.folder,
            phases=tuple(self._phases),
            problems=tuple(self._problems),
            warnings=self._warnings(),
            placeholders=self._placeholders,
            world=self._world,
            state=self._state,
            seconds=seconds,
        )

    def _configure(self, file: StackFile) -> None:
        keys = file.secret_keys
        self._scratch.configure(file, {key: self._placeholders[key] for key in keys})

    def _phase(
        self,
        title: str,
        operation: engine.Operation,
        *,
        as_json: bool = False,
        protected: int = 0,
    ) -> Outcome:
        with self._console.status(f"{title} ..."):
            outcome = engine.run(
                self._scratch.stack,
                operation,
                as_json=as_json,
                continue_on_error=self._continue_on_error,
                policies=self._policies if self._judged else {},
            )
        verdict = messages.verdict(outcome, protected)
        phase = Phase(title=title, verdict=verdict, outcome=outcome)
        self._phases.append(phase)
        self._artifacts.log(phase, with_text=not as_json)
        _say(self._console, f"  {title:<36}{verdict:<32}{outcome.seconds:6.1f} s")
        return outcome

    def _persevere(self, title: str, operation: engine.Operation) -> bool:
        return self._must_succeed(self._persistent(title, operation))

    def _persistent(self, title: str, operation: engine.Operation, protected: int = 0) -> Outcome:
        """Runs an operation again for as long as injected failures stop it."""
        outcome = Outcome()
        for attempt in range(1, MOST_ATTEMPTS):
            struck = self._faults.struck
            label = title if attempt == 1 else f"{title}, attempt {attempt}"
            outcome = self._phase(label, operation, protected=protected)
            if outcome.ok or self._faults.struck == struck:
                break
        return outcome

    def _must_succeed(self, outcome: Outcome) -> bool:
        if not outcome.ok:
            for message in messages.reasons(outcome.complaints):
                self._problem(f"refused: {message}")
        return outcome.ok

    def _expect_work(self) -> None:
        """What went well by the engine's lights may still not do its work."""
        for fault in world_faults(self._world):
            self._problem(f"deployed, but does not work: {fault}")

    def _expect_rest(self) -> None:
        outcome = self._phase("preview again", "preview")
        if self._must_succeed(outcome):
            for change in outcome.differences:
                self._problem(f"not at rest: after up, preview still wants to {change}")

    def _expect_protection(self) -> None:
        """The engine must refuse to destroy what is protected; then the protection is lifted."""
        resources = _resources(self._state)
        protected = [resource["urn"] for resource in resources if resource.get("protect")]
        if not protected:
            return
        outcome = self._persistent("destroy while protected", "destroy", len(protected))
        refused = [c for c in outcome.complaints if "it is protected" in c.message]
        if not refused:
            self._must_succeed(outcome)
            self._problem(
                f"{len(protected)} resources are protected, but the engine did not refuse to "
                "destroy them; set protect on the resources themselves"
            )
        alive = {thing.urn for thing in self._world.all()}
        for urn in protected:
            if urn not in alive and not _is_component(urn, resources):
                self._problem(f"destroyed though protected: {urn.rpartition('::')[2]}")
        self._scratch.unprotect()

    def _expect_nothing_left(self) -> None:
        for thing in (thing for thing in self._world.all() if thing.scope != OUTSIDE):
            self._problem(f"left after destroy: {thing.type} {thing.name} ({thing.id})")
        for resource in _resources(self._scratch.exported()):
            name = resource["urn"].rpartition("::")[2]
            self._problem(f"left in the state after destroy: {resource['type']} {name}")

    def _expect_faults_struck(self) -> None:
        for fault in self._faults.idle:
            self._problem(
                f"no {' or '.join(fault.steps)} of a resource named {fault.name!r} came up: "
                "the failure asked for never happened; take a logical name from preview.json"
            )

    def _note_leaks(self, files: Sequence[Path], where: str = "") -> None:
        found = secrets.leaks(self._placeholders, files)
        for name, place in dict.fromkeys((name, where or file.name) for name, file in found):
            self._problem(
                f"the secret {name} stands in plain text in {place}: mark the value as secret "
                "where the program passes it on"
            )

    def _warnings(self) -> tuple[str, ...]:
        found = (e for e in self._world.journal if e.action == "warned")
        return tuple(dict.fromkeys(f"{e.type} {e.name}: {e.detail}" for e in found))

    def _problem(self, text: str) -> None:
        self._problems.append(text)
        _say(self._console, f"  {text}", style="bold red")


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def _resources(exported: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The resources of a stack's export; none of a stack that holds nothing."""
    deployment: dict[str, Any] = (exported or {}).get("deployment") or {}
    return deployment.get("resources") or []


def _is_component(urn: str, resources: Sequence[Mapping[str, Any]]) -> bool:
    return not any(r["urn"] == urn and r.get("custom") for r in resources)
