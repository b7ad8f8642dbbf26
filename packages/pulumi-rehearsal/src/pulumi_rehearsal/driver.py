"""A rehearsal: preview, up, preview again, destroy while protected, destroy.

`rehearse` runs all of it. What it finds wrong is in `Result.problems`; what makes a rehearsal
impossible (a bad stack file, no CLI) raises `RehearsalError`.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from rich.console import Console

from pulumi_rehearsal import cli, engine, messages, policies, secrets, stackfile, workspace
from pulumi_rehearsal import project as projects
from pulumi_rehearsal.artifacts import Artifacts, Phase
from pulumi_rehearsal.engine import Outcome
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.result import Result
from pulumi_rehearsal.stackfile import StackFile
from pulumi_rehearsal.standin import generic
from pulumi_rehearsal.standin.faults import Fault, Faults
from pulumi_rehearsal.standin.jobs import Busy, Wait
from pulumi_rehearsal.standin.kind import Kind, Lookup, Resource
from pulumi_rehearsal.standin.packages import PACKAGES
from pulumi_rehearsal.standin.server import Package, Server
from pulumi_rehearsal.standin.world import World
from pulumi_rehearsal.workspace import Program, Workspace

MAX_ATTEMPTS: Final = 500
"""Limit of repeated `up` commands while injected failures still happen."""

SEARCHED_LENGTH: Final = 8
"""Shortest secret value that is searched for; a shorter one would be found by chance."""


Next = str | Path | StackFile | Program
"""A later revision of a stack: another stack file, or another program."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """One revision of the stack: its configuration and its program."""

    label: str
    file: StackFile
    plain: Mapping[str, str]
    secret: Mapping[str, str]
    program: Program


def rehearse(
    project: str | Path = ".",
    *,
    stack: str | None = None,
    stack_file: str | Path | StackFile | None = None,
    config: Mapping[str, Any] = MappingProxyType({}),
    secret_config: Iterable[str] | Mapping[str, str] = (),
    program: Program | None = None,
    to: Next | Sequence[Next] | None = None,
    between: Callable[[World], None] | None = None,
    existing: Iterable[Resource] = (),
    faults: Sequence[Fault] = (),
    busy: Sequence[Busy] = (),
    continue_on_error: bool = False,
    policy: str | Path | None = None,
    kinds: Sequence[Kind] = (),
    lookups: Sequence[Lookup] = (),
    packages: Sequence[Package] = PACKAGES,
    only_known_types: bool = False,
    preload: Sequence[str] = (),
    folder: str | Path | None = None,
    notes: str = "",
    console: Console | None = None,
) -> Result:
    """Rehearse a Pulumi project, or a change from one revision of a stack to another.

    Args:
        project: Folder with `Pulumi.yaml` and the program.
        stack: Name of the stack; reads `Pulumi.<stack>.yaml`. May be left out if there is only one.
        stack_file: Another stack file to use instead.
        config: Values to set on top of the stack file, such as `{"aws:region": "us-west-2"}`. A key
            without a colon belongs to the project. A value that is no string is set as JSON.
        secret_config: Secret keys to set, with placeholders, or with the values of a mapping. The
            encrypted values of the stack file get placeholders without being named here.
        program: A function to run instead of the project's `__main__.py`.
        to: Rehearse a change: this stack file or program follows once the first one is up. Of
            several, each follows the one before; `Result.phase("up NAME")` has the outcome of an
            earlier stack file.
        between: Changes the clouds before each later revision, as an autoscaler or a person would.
        existing: Resources that exist before; see `pulumi_rehearsal.existing`.
        faults: Failures and stalls to inject.
        busy: CI jobs that run on ARC's scale sets and GitLab runner managers during a change, or
            during `destroy` if there is no change. A command that fails meanwhile is repeated once.
        continue_on_error: Let one `up` meet many failures instead of the first. The engine then
            sends dependents of a failed resource with inputs missing.
        policy: Folder of a policy pack that the last revision must pass.
        kinds: Stand-ins for further resource types.
        lookups: Stand-ins for further data sources.
        packages: Stand-ins by provider.
        only_known_types: Refuse a resource type without a stand-in. By default it is checked
            against the SDK only, its outputs are made up, and the report has a warning.
        preload: Modules to import while the CLI creates the stack, to save time.
        folder: Folder for the files of the rehearsal, by default `.rehearsal/<stack>/` in the
            project. It is emptied first.
        notes: Markdown to append to the report.
        console: Console for one line per phase.

    Raises:
        RehearsalError: The rehearsal cannot start, for example because of a bad stack file.
    """
    started = time.monotonic()
    out = console or Console(quiet=True)
    found = projects.read(Path(project))
    revisions = _revisions(
        found,
        stack_file or found.stack_file(stack),
        to,
        program or found.run,
        config=config,
        secret_config=secret_config,
    )
    name = revisions[-1].file.name
    _print(out, f"rehearsing {' -> '.join(revision.label for revision in revisions)}")
    pack = policies.pack_of(Path(policy), name) if policy is not None else None
    chosen = cli.find(lambda line: _print(out, f"  {line}"))
    _print(out, f"  pulumi {chosen.version}: {chosen.why}")
    injected = Faults(*faults)
    world = World()
    for resource in existing:
        world.replace(resource)
    for plan in busy:
        world.jobs.plan(plan)
    imported = threading.Thread(target=_import, args=(preload,), daemon=True)
    served = _extended(packages, kinds, lookups)
    with (
        workspace.clean_environment(),
        serving(served, world, injected, only_known_types=only_known_types) as servers,
    ):
        imported.start()
        with workspace.opened(
            name,
            chosen,
            {server.package.name: server.port for server in servers},
            revisions[0].program,
            settings=found.settings,
            pack=pack,
        ) as scratch:
            rehearsal = _Rehearsal(
                scratch=scratch,
                world=world,
                packages=served,
                faults=injected,
                artifacts=Artifacts(Path(folder or found.folder / ".rehearsal" / name)),
                console=out,
                continue_on_error=continue_on_error,
                policies=pack.options if pack is not None else {},
                busy=bool(busy),
            )
            # The program would see a module that the other thread has loaded only in part.
            imported.join()
            rehearsal.run(revisions, between)
            rehearsal.note_defects(defect for server in servers for defect in server.defects)
            rehearsal.search_for_leaks()
            title = " to ".join(revision.file.path.name for revision in revisions)
            rehearsal.report(title, chosen, notes)
    return rehearsal.result(name, time.monotonic() - started)


@contextmanager
def serving(
    packages: Sequence[Package], world: World, faults: Faults, *, only_known_types: bool = False
) -> Generator[list[Server]]:
    """Serve a stand-in for each package, all with the same world; stop them at the end."""
    if not only_known_types:
        packages = [*packages, *generic.packages(frozenset(one.name for one in packages))]
    servers = [
        Server(package, world, faults)
        if only_known_types
        else Server(package, world, faults, generic.kind_of, generic.lookup_of)
        for package in packages
    ]
    try:
        for server in servers:
            server.start()
        yield servers
    finally:
        for server in servers:
            server.stop()


def _revisions(
    project: projects.Project,
    first: str | Path | StackFile,
    to: Next | Sequence[Next] | None,
    program: Program,
    *,
    config: Mapping[str, Any],
    secret_config: Iterable[str] | Mapping[str, str],
) -> list[Revision]:
    plain = {
        _full_key(key, project): value if isinstance(value, str) else json.dumps(value)
        for key, value in config.items()
    }
    known: Mapping[str, str] = {}
    if isinstance(secret_config, Mapping):
        known = cast("Mapping[str, str]", secret_config)
    given = {_full_key(key, project): value for key, value in known.items()}
    wanted = [_full_key(key, project) for key in secret_config]
    has_config = bool(plain or wanted)
    states: list[tuple[StackFile, Program, str]] = []
    file = _stack_file(first, project, may_be_missing=has_config)
    states.append((file, program, ""))
    several = isinstance(to, Sequence) and not isinstance(to, str)
    later = cast("Sequence[Next | None]", to if several else [to])
    for one in later:
        if callable(one):
            states.append((file, one, ", second program"))
        elif one is not None:
            states.append((_stack_file(one, project, may_be_missing=False), program, ""))
    keys = [key for state, _, _ in states for key in state.secret_keys]
    made = {**secrets.placeholders([*keys, *wanted]), **given}
    return [
        Revision(
            label=messages.short(state.path) + suffix,
            file=state,
            plain=plain,
            secret={key: made[key] for key in [*state.secret_keys, *wanted]},
            program=run,
        )
        for state, run, suffix in states
    ]


def _stack_file(
    file: str | Path | StackFile, project: projects.Project, *, may_be_missing: bool
) -> StackFile:
    if isinstance(file, StackFile):
        return file
    path = Path(file)
    others = sorted(one.name for one in project.folder.glob("Pulumi.*.yaml"))
    if path.exists() or (others and not may_be_missing):
        try:
            return stackfile.read(path)
        except RehearsalError as error:
            if path.exists() or path.parent != project.folder:
                raise
            raise RehearsalError(
                f"{error}; the project has {', '.join(others)}, or pass config={{...}}"
            ) from None
    return stackfile.parse("", path)


def _full_key(key: str, project: projects.Project) -> str:
    return key if ":" in key else f"{project.name}:{key}"


def _extended(
    packages: Sequence[Package], kinds: Sequence[Kind], lookups: Sequence[Lookup]
) -> list[Package]:
    """Return the packages with further stand-ins, each in the package of its token."""
    more: dict[str, tuple[list[Kind], list[Lookup]]] = {}
    for kind in kinds:
        more.setdefault(kind.token.partition(":")[0], ([], []))[0].append(kind)
    for lookup in lookups:
        more.setdefault(lookup.token.partition(":")[0], ([], []))[1].append(lookup)
    extended: list[Package] = []
    for package in packages:
        own_kinds, own_lookups = more.pop(package.name, ([], []))
        extended.append(
            dataclasses.replace(
                package,
                kinds=(*package.kinds, *own_kinds),
                lookups=(*package.lookups, *own_lookups),
            )
        )
    for name, (own_kinds, own_lookups) in more.items():
        extended.append(
            Package(
                name=name,
                kinds=tuple(own_kinds),
                lookups=tuple(own_lookups),
                scope=lambda _, name=name: name,
            )
        )
    return extended


def _import(modules: Iterable[str]) -> None:
    for module in modules:
        importlib.import_module(module)


class _Rehearsal:
    """One rehearsal in progress: the phases that ran, and the problems found."""

    def __init__(
        self,
        *,
        scratch: Workspace,
        world: World,
        packages: Sequence[Package],
        faults: Faults,
        artifacts: Artifacts,
        console: Console,
        continue_on_error: bool,
        policies: Mapping[str, Any],
        busy: bool,
    ) -> None:
        self._scratch = scratch
        self._world = world
        self._existing = set(_keys(world))
        self._packages = packages
        self._faults = faults
        self._artifacts = artifacts
        self._console = console
        self._continue_on_error = continue_on_error
        self._policies = policies
        self._policies_apply = False
        self._busy = busy
        self._waits: list[str] = []
        self._phases: list[Phase] = []
        self._problems: list[str] = []
        self._secrets: dict[str, str] = {}
        self._state: dict[str, Any] | None = None

    def run(self, revisions: Sequence[Revision], between: Callable[[World], None] | None) -> None:
        """Run the phases; stop at the first failure that makes the later ones meaningless."""
        for revision in revisions:
            self._secrets.update(revision.secret)
        for number, earlier in enumerate(revisions[:-1]):
            name = earlier.file.path.name
            self._configure(earlier)
            if not self._succeeds(self._while_busy(f"up {name}", "up")):
                return
            if number:
                self._check_function()
                self._check_no_changes(f"preview {name} again")
            self._start_jobs()
            if between is not None:
                before = set(_keys(self._world))
                between(self._world)
                self._existing |= set(_keys(self._world)) - before
        self._configure(revisions[-1])
        self._policies_apply = True
        preview = self._phase("preview", "preview", as_json=True)
        self._artifacts.preview(preview)
        if not self._succeeds(preview):
            return
        up = self._succeeds(self._while_busy("up", "up"))
        self._state = self._scratch.exported()
        self._artifacts.state(self._state)
        if up:
            self._check_function()
            self._check_no_changes()
            self._check_refresh()
            if self._busy and len(revisions) == 1:
                self._scratch.unprotect()
                self._start_jobs()
            else:
                self._check_protection()
            if self._succeeds(self._while_busy("destroy", "destroy")):
                self._check_nothing_left()
        self._check_faults_happened()
        for killed in self._world.jobs.killed:
            self._problem(killed)
        for wait in self._waits:
            _print(self._console, f"  {wait}")

    def note_defects(self, defects: Iterator[str]) -> None:
        """Report a stand-in that failed itself: the rehearsal then proves nothing."""
        for defect in defects:
            self._artifacts.note([defect])
            self._problem(f"a stand-in has a defect: {defect.strip().splitlines()[-1]}")

    def search_for_leaks(self) -> None:
        """Search every written file for secrets in plain text."""
        self._note_leaks(self._artifacts.files)
        self._note_leaks(self._scratch.state_files(), "the engine's own state")

    def report(self, title: str, chosen: cli.Cli, notes: str) -> None:
        """Write `report.md`."""
        resources = _resources(self._state)
        self._artifacts.report(
            title=title,
            cli=f"{chosen.version}, {chosen.why}",
            phases=self._phases,
            problems=self._problems,
            warnings=self._warnings(),
            waits=self._waits,
            resources=sorted(Counter(resource["type"] for resource in resources).items()),
            notes=notes,
        )
        self._note_leaks([self._artifacts.folder / "report.md"])

    def result(self, name: str, seconds: float) -> Result:
        """Print the last line and return the result."""
        where = messages.short(self._artifacts.folder / "report.md")
        for warning in self._warnings():
            _print(self._console, f"  warning: {warning}")
        verdict = "failed" if self._problems else "passed: nothing is left"
        _print(self._console, f"rehearsal of {name} {verdict} ({seconds:.1f} s); see {where}")
        return Result(
            name=name,
            folder=self._artifacts.folder,
            phases=tuple(self._phases),
            problems=tuple(self._problems),
            warnings=self._warnings(),
            placeholders=self._secrets,
            world=self._world,
            state=self._state,
            seconds=seconds,
        )

    def _configure(self, revision: Revision) -> None:
        self._scratch.run_program(revision.program)
        self._scratch.configure(revision.file, revision.secret, revision.plain)

    def _phase(
        self,
        title: str,
        operation: engine.Operation,
        *,
        as_json: bool = False,
        protected: int = 0,
    ) -> Outcome:
        jobs = self._world.jobs
        jobs.next_command()
        waited = len(jobs.waits)
        with self._console.status(f"{title} ..."):
            outcome = engine.run(
                self._scratch.stack,
                operation,
                as_json=as_json,
                continue_on_error=self._continue_on_error,
                policies=self._policies if self._policies_apply else {},
            )
        verdict = messages.verdict(outcome, protected)
        phase = Phase(title=title, verdict=verdict, outcome=outcome)
        self._phases.append(phase)
        self._waits += [f"{title} {_described(wait)}" for wait in jobs.waits[waited:]]
        self._artifacts.log(phase, with_text=not as_json)
        _print(self._console, f"  {title:<36}{verdict:<32}{outcome.seconds:6.1f} s")
        return outcome

    def _repeated(self, title: str, operation: engine.Operation, protected: int = 0) -> Outcome:
        """Run an operation, and repeat it as long as injected failures stop it."""
        outcome = Outcome()
        for attempt in range(1, MAX_ATTEMPTS):
            count = self._faults.struck
            label = title if attempt == 1 else f"{title}, attempt {attempt}"
            outcome = self._phase(label, operation, protected=protected)
            if outcome.ok or self._faults.struck == count:
                break
        return outcome

    def _start_jobs(self) -> None:
        def watch(resource: Resource) -> Callable[[], str]:
            watches = [package.watch(resource, self._world) for package in self._packages]
            return lambda: next(filter(None, (interruption() for interruption in watches)), "")

        self._world.jobs.start(watch)

    def _while_busy(self, title: str, operation: engine.Operation) -> Outcome:
        """Run an operation while jobs run, at most twice; the jobs end after it."""
        jobs = self._world.jobs
        waited = len(jobs.waits)
        outcome = self._repeated(title, operation)
        if not outcome.ok and self._busy:
            for message in messages.reasons(outcome.complaints):
                _print(self._console, f"  failed while jobs run: {message}")
            outcome = self._repeated(f"{title}, once more", operation)
        jobs.finish()
        for wait in jobs.waits[waited:]:
            if outcome.ok and not wait.served and jobs.serves(wait.runners):
                self._problem(
                    f"no runners of {wait.runners} took jobs for {wait.seconds / 60:g} min: create "
                    "the new ones before the old ones are deleted"
                )
        return outcome

    def _succeeds(self, outcome: Outcome) -> bool:
        """Return whether a command succeeded; record the reasons if it did not."""
        if not outcome.ok:
            for message in messages.reasons(outcome.complaints):
                self._problem(f"refused: {message}")
        return outcome.ok

    def _check_function(self) -> None:
        """Record what does not work although the engine created it without an error."""
        for package in self._packages:
            for fault in package.check_up(self._world):
                self._problem(f"deployed, but does not work: {fault}")

    def _check_no_changes(self, title: str = "preview again") -> None:
        outcome = self._phase(title, "preview")
        if self._succeeds(outcome):
            for change in outcome.differences:
                self._problem(f"not at rest: after up, preview still wants to {change}")

    def _check_refresh(self) -> None:
        """Record what differs between the state and the clouds, though nobody changed them."""
        outcome = self._phase("refresh", "refresh")
        if self._succeeds(outcome):
            for change in outcome.differences:
                self._problem(f"not at rest: after up, refresh finds {change}")

    def _check_protection(self) -> None:
        """Check that the engine refuses to destroy protected resources, then unprotect them."""
        resources = _resources(self._state)
        protected = [resource["urn"] for resource in resources if resource.get("protect")]
        if not protected:
            return
        outcome = self._repeated("destroy while protected", "destroy", len(protected))
        refused = [c for c in outcome.complaints if "it is protected" in c.message]
        if not refused:
            self._succeeds(outcome)
            self._problem(
                f"{len(protected)} resources are protected, but the engine did not refuse to "
                "destroy them; set protect on the resources themselves"
            )
        left = {resource.urn for resource in self._world.all()}
        for urn in protected:
            if urn not in left and not _is_component(urn, resources):
                self._problem(f"destroyed though protected: {urn.rpartition('::')[2]}")
        self._scratch.unprotect()

    def _check_nothing_left(self) -> None:
        """Check that destroy left what the program did not create or gave up, and nothing else."""
        # A program gives up what it created by only reading it.
        known = [r for r in _resources(self._state) if r.get("custom")]
        owned = {(r["type"], r.get("id")) for r in known if not r.get("external")}
        given_up = {(r["type"], r.get("id")) for r in known if r.get("external")} - owned
        for one in self._world.all():
            others = (one.scope, one.type, one.id) in self._existing or self._world.is_kept(one)
            if not others and (one.type, one.id) not in given_up:
                self._problem(f"left after destroy: {one.type} {one.name} ({one.id})")
        left = set(_keys(self._world))
        for _, type, id in sorted(self._existing - left):
            self._problem(f"deleted, though the program did not create it: {type} {id}")
        for type, id in sorted(given_up - {(type, id) for _, type, id in left}):
            self._problem(f"deleted, though the program only reads it: {type} {id}")
        for resource in _resources(self._scratch.exported()):
            name = resource["urn"].rpartition("::")[2]
            self._problem(f"left in the state after destroy: {resource['type']} {name}")

    def _check_faults_happened(self) -> None:
        for fault in self._faults.idle:
            self._problem(
                f"no {' or '.join(fault.steps)} of a resource named {fault.name!r} came up, so the "
                "injected failure did not happen; take a logical name from preview.json"
            )
        for plan in self._world.jobs.idle:
            self._problem(
                f"no job ran on {plan.runners!r}: no scale set of ARC and no GitLab runner manager "
                "has that name or label"
            )

    def _note_leaks(self, files: Sequence[Path], where: str = "") -> None:
        values = {k: v for k, v in self._secrets.items() if len(v) >= SEARCHED_LENGTH}
        found = secrets.leaks(values, files)
        for name, place in dict.fromkeys((name, where or file.name) for name, file in found):
            self._problem(
                f"the secret {name} is in plain text in {place}: mark the value as secret where "
                "the program passes it on"
            )

    def _warnings(self) -> tuple[str, ...]:
        found = (e for e in self._world.journal if e.action == "warned")
        lines = (f"{f'{e.type} {e.name}'.strip()}: {e.detail}" for e in found)
        return tuple(dict.fromkeys(lines))

    def _problem(self, text: str) -> None:
        self._problems.append(text)
        _print(self._console, f"  {text}", style="bold red")


def _described(wait: Wait) -> str:
    """Return a wait in words, after the name of a phase."""
    end = "" if wait.ended else ", and the job still ran"
    return f"waited {wait.seconds / 60:g} min for the job on {wait.runners}{end}"


def _print(console: Console, text: str, style: str = "") -> None:
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def _resources(exported: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the resources of a stack's export; a stack without resources has no list."""
    deployment: dict[str, Any] = (exported or {}).get("deployment") or {}
    return deployment.get("resources") or []


def _keys(world: World) -> Iterator[tuple[str, str, str]]:
    return ((one.scope, one.type, one.id) for one in world.all())


def _is_component(urn: str, resources: Sequence[Mapping[str, Any]]) -> bool:
    return not any(r["urn"] == urn and r.get("custom") for r in resources)
