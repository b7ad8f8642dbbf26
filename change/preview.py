"""The engine's part of a diff: `up` of the base, then `preview` of the head against its state.

Each program runs in a process and an environment of its own; the clouds, one world for both, are
the head's stand-ins.
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
"""What the engine says where it will not replace, and where it will not delete
(pulumi/pulumi pkg/resource/deploy/step_generator.go and step.go)."""


class BaseRefused(Exception):  # noqa: N818 - what a user reads: the base was refused
    """Why the base cannot be rehearsed, in one line; that is no fault of the head's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One revision of the project: its folder, the Python to run it with, its stack file."""

    project: Path
    python: Path
    file: StackFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """What the engine would do; `text` is how it says so, `refused` why it would not."""

    steps: Sequence[Step]
    text: Sequence[str]
    refused: tuple[str, ...]
    placeholders: dict[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """Who is told what goes on: `say` the user, `log` the log file."""

    say: Callable[[str], None]
    log: Callable[[str], None]


def preview(head: Side, base: Side | None, cli: Cli, told: Told) -> Preview:
    """The head's program previewed against the state of the base, or against nothing.

    Raises `BaseRefused` where the base does not come up, `RehearsalError` where the head's program cannot
    even be started.
    """
    sides = [side for side in (base, head) if side is not None]
    placeholders = secrets.placeholders(key for side in sides for key in side.file.secret_keys)
    world = World()
    for side in sides:
        for resource in checks.existing(side.file):
            world.replace(resource)
    with ExitStack() as scope:
        scope.enter_context(workspace.clean_environment())
        # Both at once: each takes half a second to start.
        hosts = [
            scope.enter_context(host.served(side.python, side.project, on_line=told.log))
            for side in sides
        ]
        servers = scope.enter_context(serving(PACKAGES, world, Faults(), only_known_types=True))
        ports = {server.package.name: server.port for server in servers}
        scratch = scope.enter_context(
            workspace.opened(
                head.file.name, cli, ports, program=None, settings=head.project / "Pulumi.yaml"
            )
        )

        def configure(side: Side, address: str) -> None:
            keys = side.file.secret_keys
            scratch.configure(side.file, {key: placeholders[key] for key in keys})
            scratch.run_program_at(address)

        if base is not None:
            configure(base, _base_address(hosts[0]))
            _raise_base(scratch, told)
        configure(head, hosts[-1].address())
        found = _previewed(scratch, placeholders, told)
        defects = [defect for server in servers for defect in server.defects]
    if defects:
        raise RehearsalError(f"a stand-in has a defect: {defects[0].strip().splitlines()[-1]}")
    return found


def _base_address(served: host.Host) -> str:
    try:
        return served.address()
    except RehearsalError as refused:
        raise BaseRefused(str(refused)) from None


def _raise_base(scratch: Workspace, told: Told) -> None:
    up = engine.run(scratch.stack, "up")
    _log(told, "up of the base", up)
    if not up.ok:
        lines = messages.reasons(up.complaints)[0].split("\n")
        raise BaseRefused("; ".join(line.strip() for line in lines if line.strip()))
    told.say(f"  base is up: {len(up.changes)} resources ({up.seconds:.1f} s)")


def _previewed(scratch: Workspace, placeholders: dict[str, str], told: Told) -> Preview:
    events: list[automation.events.EngineEvent] = []
    outcome = engine.run(scratch.stack, "preview", as_diff=True, on_event=events.append)
    _log(told, "preview of the head", outcome)
    refused = () if outcome.ok else tuple(messages.reasons(outcome.complaints))
    protected: frozenset[str] = frozenset()
    if any(_is_protection(complaint) for complaint in outcome.complaints):
        refused = tuple(_with_protection(outcome))
        # The engine stops at what is protected; what would follow is shown without protection.
        protected = scratch.protected()
        scratch.unprotect()
        events.clear()
        outcome = engine.run(scratch.stack, "preview", as_diff=True, on_event=events.append)
        _log(told, "preview of the head, protection lifted", outcome)
    told.say(f"  preview of the head: {messages.verdict(outcome)} ({outcome.seconds:.1f} s)")
    return Preview(
        steps=steps(events, protected),
        text=tuple(outcome.text),
        refused=refused,
        placeholders=placeholders,
    )


def _is_protection(complaint: Complaint) -> bool:
    return any(words in complaint.message for words in _PROTECTED)


def _with_protection(outcome: Outcome) -> Iterator[str]:
    """The engine's reasons, those for what is protected as one, with this project's remedy."""
    others = [one for one in outcome.complaints if not _is_protection(one)]
    # No count: the engine stops before it has met all of them; the steps know every one.
    yield (
        "protected resources would be replaced or deleted, which the engine refuses\n"
        "  keep what is protected as it is, or set protect: false, deploy that first, and change "
        "it then"
    )
    if others:
        yield from (one for one in messages.reasons(others) if one not in messages.ECHOES)


def _log(told: Told, title: str, outcome: Outcome) -> None:
    told.log(f"== {title}: {messages.verdict(outcome)} ({outcome.seconds:.1f} s)")
    for line in outcome.text:
        told.log(line)
    for complaint in outcome.complaints:
        told.log(f"error: {complaint}")
