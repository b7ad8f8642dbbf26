"""The engine's part of a diff: `up` of the base, then `preview` of the head against its state.

Each program runs in its own process and Python environment. Both use the stand-ins of the head, in
one simulated world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pulumi import automation
from pulumi_rehearsal import engine, messages, secrets, workspace
from pulumi_rehearsal.cli import Cli
from pulumi_rehearsal.driver import serving
from pulumi_rehearsal.engine import Complaint, Outcome
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.standin.faults import Faults
from pulumi_rehearsal.standin.packages import PACKAGES
from pulumi_rehearsal.standin.world import World
from pulumi_rehearsal.workspace import Workspace

from change import host
from change.steps import Step, steps
from rehearsal import checks
from rehearsal.stackfile import StackFile

_PROTECTED: Final = ("marked for protection", "because it is protected")
"""The engine's messages for a protected resource that would be replaced or deleted
(pulumi/pulumi pkg/resource/deploy/step_generator.go and step.go)."""


class BaseFailedError(Exception):
    """The base cannot be rehearsed; the message is one line. The head may still be valid."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One revision of the project: its folder, its Python and its stack file."""

    project: Path
    python: Path
    file: StackFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """The engine's preview: steps, output, and the reasons if it refuses."""

    steps: Sequence[Step]
    text: Sequence[str]
    refused: tuple[str, ...]
    placeholders: dict[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """Two receivers of lines of output: the user and the log file."""

    user: Callable[[str], None]
    file: Callable[[str], None]


def preview(head: Side, base: Side | None, cli: Cli, log: Log) -> Preview:
    """Preview the head's program against the state of the base, or against an empty state.

    Raises `BaseFailedError` if `up` of the base fails, `RehearsalError` if the head's program
    cannot be started.
    """
    revisions = [side for side in (base, head) if side is not None]
    placeholders = secrets.placeholders(key for side in revisions for key in side.file.secret_keys)
    world = World()
    with ExitStack() as scope:
        scope.enter_context(workspace.clean_environment())
        # Start both hosts at the same time: each takes half a second.
        hosts = [
            scope.enter_context(host.served(side.python, side.project, on_line=log.file))
            for side in revisions
        ]
        servers = scope.enter_context(serving(PACKAGES, world, Faults(), only_known_types=True))
        ports = {server.package.name: server.port for server in servers}
        scratch = scope.enter_context(
            workspace.opened(
                head.file.name, cli, ports, program=None, settings=head.project / "Pulumi.yaml"
            )
        )

        def configure(side: Side, address: str) -> None:
            for resource in checks.existing(side.file):
                world.replace(resource)
            keys = side.file.secret_keys
            scratch.configure(side.file, {key: placeholders[key] for key in keys})
            scratch.run_program_at(address)

        if base is not None:
            configure(base, _base_address(hosts[0]))
            _raise_base(scratch, log)
        configure(head, hosts[-1].address())
        found = _previewed(scratch, placeholders, log)
        defects = [defect for server in servers for defect in server.defects]
    if defects:
        raise RehearsalError(f"a stand-in has a defect: {defects[0].strip().splitlines()[-1]}")
    return found


def _base_address(served: host.Host) -> str:
    try:
        return served.address()
    except RehearsalError as refused:
        raise BaseFailedError(str(refused)) from None


def _raise_base(scratch: Workspace, log: Log) -> None:
    up = engine.run(scratch.stack, "up")
    _write(log, "up of the base", up)
    if not up.ok:
        lines = messages.reasons(up.complaints)[0].split("\n")
        raise BaseFailedError("; ".join(line.strip() for line in lines if line.strip()))
    log.user(f"  base is up: {len(up.changes)} resources ({up.seconds:.1f} s)")


def _previewed(scratch: Workspace, placeholders: dict[str, str], log: Log) -> Preview:
    events: list[automation.events.EngineEvent] = []
    outcome = engine.run(scratch.stack, "preview", as_diff=True, on_event=events.append)
    _write(log, "preview of the head", outcome)
    refused = () if outcome.ok else tuple(messages.reasons(outcome.complaints))
    protected: frozenset[str] = frozenset()
    if any(_is_protection(complaint) for complaint in outcome.complaints):
        refused = tuple(_with_protection(outcome))
        # The engine stops at a protected resource. A preview without protection shows the rest.
        protected = scratch.protected()
        scratch.unprotect()
        events.clear()
        outcome = engine.run(scratch.stack, "preview", as_diff=True, on_event=events.append)
        _write(log, "preview of the head, protection lifted", outcome)
    log.user(f"  preview of the head: {messages.verdict(outcome)} ({outcome.seconds:.1f} s)")
    return Preview(
        steps=steps(events, protected),
        text=tuple(outcome.text),
        refused=refused,
        placeholders=placeholders,
    )


def _is_protection(complaint: Complaint) -> bool:
    return any(message in complaint.message for message in _PROTECTED)


def _with_protection(outcome: Outcome) -> Iterator[str]:
    """Yield the engine's reasons, with one reason for all protected resources."""
    others = [one for one in outcome.complaints if not _is_protection(one)]
    # Without a count: the engine stops before it has seen all of them. The steps list them.
    yield (
        "protected resources would be replaced or deleted, which the engine refuses\n"
        "  keep these resources as they are; or set protect: false, deploy that, and then deploy "
        "this change"
    )
    if others:
        yield from (one for one in messages.reasons(others) if one not in messages.ECHOES)


def _write(log: Log, title: str, outcome: Outcome) -> None:
    log.file(f"== {title}: {messages.verdict(outcome)} ({outcome.seconds:.1f} s)")
    for line in outcome.text:
        log.file(line)
    for complaint in outcome.complaints:
        log.file(f"error: {complaint}")
