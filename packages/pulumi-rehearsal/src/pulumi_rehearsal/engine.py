"""One command of the real engine: run it, keep its output and its events for each resource."""

from __future__ import annotations

import functools
import logging
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from pulumi import automation, log
from pulumi.runtime import _grpc_settings
from semver import VersionInfo

from pulumi_rehearsal import children
from pulumi_rehearsal.cli import Cli
from pulumi_rehearsal.errors import RehearsalError

Operation = Literal["preview", "up", "refresh", "destroy"]

OnEvent = Callable[[automation.events.EngineEvent], None]

LIMIT_S: Final = 900.0
"""Time limit of one command, which usually takes seconds: longer means that it hangs."""

UNCHANGED: Final = frozenset({"same", "read", "read-replacement", "refresh"})

_STACK_TYPE = "pulumi:pulumi:Stack"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """An operation on one resource, planned or done, and the property paths that changed."""

    operation: str
    type: str
    name: str
    paths: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f": {', '.join(self.paths)}" if self.paths else ""
        return f"{self.operation} {self.type} {self.name}{where}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Complaint:
    """An error or warning about a resource, or about the program (then `name` is empty)."""

    type: str
    name: str
    message: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}: {self.message}" if self.name else self.message


@dataclass(kw_only=True, slots=True)
class Outcome:
    """The outcome of one command; `text` is what it printed."""

    ok: bool = False
    seconds: float = 0
    changes: list[Change] = field(default_factory=list[Change])
    complaints: list[Complaint] = field(default_factory=list[Complaint])
    warnings: list[Complaint] = field(default_factory=list[Complaint])
    text: list[str] = field(default_factory=list[str])

    @property
    def counts(self) -> dict[str, int]:
        """Number of resources for each operation."""
        return dict(Counter(change.operation for change in self.changes))

    @property
    def differences(self) -> list[Change]:
        """The changes that are not `UNCHANGED`."""
        return [change for change in self.changes if change.operation not in UNCHANGED]

    def take(self, event: automation.events.EngineEvent, *, results: bool = False) -> None:
        """Record one event of the engine; `results` are recorded of a refresh, no plans."""
        resource_event = event.res_outputs_event if results else event.resource_pre_event
        if resource_event is not None:
            metadata = resource_event.metadata
            operation = str(metadata.op.value)
            # A replacement has several steps; only the one named "replace" is recorded.
            if metadata.type != _STACK_TYPE and operation not in _PARTS_OF_REPLACEMENT:
                self.changes.append(
                    Change(
                        operation=operation,
                        type=metadata.type,
                        name=_name(metadata.urn),
                        paths=tuple(sorted(metadata.detailed_diff or metadata.diffs or ())),
                    )
                )
        policy = event.policy_event
        if policy is not None:
            violation = Complaint(
                type=_type(policy.resource_urn or ""),
                name=_name(policy.resource_urn or ""),
                # The first line is the policy's description, the last one describes the violation.
                message=f"policy {policy.policy_name}: {policy.message.strip().splitlines()[-1]}",
            )
            mandatory = policy.enforcement_level == "mandatory"
            (self.complaints if mandatory else self.warnings).append(violation)
        diagnostic = event.diagnostic_event
        if diagnostic is not None and diagnostic.severity in {"error", "warning"}:
            complaint = Complaint(
                type=_type(diagnostic.urn or ""),
                name="" if _is_stack(diagnostic.urn or "") else _name(diagnostic.urn or ""),
                message=diagnostic.message.strip(),
            )
            is_error = diagnostic.severity == "error"
            (self.complaints if is_error else self.warnings).append(complaint)


_PARTS_OF_REPLACEMENT = frozenset(
    {"create-replacement", "delete-replaced", "discard-replaced", "remove-pending-replace"}
)


class Command(automation.PulumiCommand):
    """The CLI at a known path, whose version is not queried again; it ends with the rehearsal."""

    def __init__(self, cli: Cli) -> None:  # pyright: ignore[reportMissingSuperCall]
        self.command = str(cli.path)
        self.version = VersionInfo.parse(cli.version)

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: Callable[[str], Any] | None = None,
        on_error: Callable[[str], Any] | None = None,
    ) -> automation.CommandResult:
        """Run a command. Raises `automation.CommandError` for an exit status other than 0."""
        output: list[str] = []
        errors: list[str] = []
        environment = {**os.environ, **additional_env, "PULUMI_AUTOMATION_API": "true"}
        try:
            code = children.run(
                [self.command, "--non-interactive", *args],
                folder=Path(cwd),
                environment=environment,
                on_output=_both(output, on_output),
                on_error=_both(errors, on_error),
                timeout_s=LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            raise RehearsalError(
                f"pulumi {args[0]} did not end within {LIMIT_S:.0f} s; the last line of engine.log "
                "shows what it waits for"
            ) from None
        result = automation.CommandResult("\n".join(output), "\n".join(errors), code)
        if code != 0:
            raise automation.errors.create_command_error(result)
        return result


class Stack(automation.Stack):
    """A stack without the queries that the Automation API makes after each update.

    It would start the CLI three more times after `up` and once after `destroy`.
    """

    def __init__(self, name: str, workspace: automation.Workspace) -> None:  # pyright: ignore[reportMissingSuperCall]
        # The base class takes "create" from an enumeration that it does not export.
        workspace.create_stack(name)
        self.name = name
        self.workspace = workspace

    def outputs(self) -> automation.OutputMap:
        """Return nothing: the export has the outputs."""
        return {}

    def info(self, show_secrets: bool | None = None) -> automation.UpdateSummary:
        """Return a summary that only states that the update succeeded."""
        return automation.UpdateSummary(
            kind="update",
            start_time=datetime.now(UTC),
            message="",
            environment={},
            config={},
            result="succeeded",
        )


def run(
    stack: automation.Stack,
    operation: Operation,
    *,
    as_json: bool = False,
    as_diff: bool = False,
    continue_on_error: bool = False,
    on_event: OnEvent | None = None,
    policies: Mapping[str, Any] = MappingProxyType({}),
) -> Outcome:
    """Run one operation; a failure is in the outcome. Raises `RehearsalError` if it is locked."""
    outcome = Outcome()
    started = time.monotonic()

    def take(event: automation.events.EngineEvent) -> None:
        # Every step of a refresh is planned as one; its result is the difference.
        outcome.take(event, results=operation == "refresh")
        if on_event is not None:
            on_event(event)

    common: dict[str, Any] = {
        "on_event": take,
        "on_output": outcome.text.append,
        "on_error": outcome.text.append,
        "color": "never",
    }
    quiet: dict[str, Any] = {"suppress_outputs": True, "show_secrets": False}
    _silence_sdk()
    _drop_debug_messages()
    _separate_connections()
    try:
        if operation == "preview":
            stack.preview(**common, **policies, json=as_json, diff=as_diff)
        elif operation == "up":
            stack.up(**common, **quiet, **policies, continue_on_error=continue_on_error)
        elif operation == "refresh":
            stack.refresh(**common, **quiet)
        else:
            stack.destroy(**common, **quiet, continue_on_error=continue_on_error)
        outcome.ok = True
    except automation.ConcurrentUpdateError:
        raise RehearsalError(
            "the scratch stack is locked by another update; run once more"
        ) from None
    except (automation.CommandError, RuntimeError) as error:
        if not outcome.complaints:
            outcome.complaints.append(_complaint(error))
    outcome.seconds = time.monotonic() - started
    return outcome


def _complaint(error: Exception) -> Complaint:
    """Return the error lines of a command that failed without an event."""
    lines = re.findall(r"^(?: stderr: )?error: (.*)$", str(error), re.MULTILINE)
    return Complaint(type="", name="", message="; ".join(lines) or str(error).strip())


@functools.cache
def _separate_connections() -> None:
    """Give each command of the engine its own gRPC connections.

    gRPC shares connections by address within a process, and waits before it connects again to an
    address where a connection broke. If an engine listens on the port of an earlier one, the
    program's first call would fail: "Resource monitor has terminated". The SDK has no public way to
    set the options of its channels.
    """
    own = ("grpc.use_local_subchannel_pool", 1)
    options: list[tuple[str, int]] = getattr(_grpc_settings, "_GRPC_CHANNEL_OPTIONS", [])
    if own not in options:
        options.append(own)


@functools.cache
def _drop_debug_messages() -> None:
    """Send no debug messages, until the process ends: the engine drops them without `--debug`.

    The SDK waits for an answer to each of several messages per resource (pulumi/pulumi
    sdk/python/lib/pulumi/log.py), a tenth of the time of a program.
    """

    def drop(*_arguments: object, **_options: object) -> None:
        pass

    log.debug = drop


@functools.cache
def _silence_sdk() -> None:
    """Suppress two known error messages of the SDK, until the process ends.

    When a run fails, the SDK drops its own coroutine, whose clean-up needs an event loop that is
    closed, and its language server logs to an engine that has ended (pulumi/pulumi
    sdk/python/lib/pulumi/runtime/stack.py, run_in_stack; automation/_server.py, Run). The
    stand-ins' own servers raise no exceptions.
    """
    logging.getLogger("grpc._server").setLevel(logging.CRITICAL)
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if not re.search(r"\b(run_in_stack|run_pulumi_func)\b", repr(unraisable.object)):
            before(unraisable)

    sys.unraisablehook = hook


def _both(lines: list[str], on_line: Callable[[str], Any] | None) -> children.OnLine:
    def take(line: str) -> None:
        lines.append(line)
        if on_line is not None:
            on_line(line)

    return take


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _type(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2] if urn.count("::") > 2 else ""


def _is_stack(urn: str) -> bool:
    return _type(urn) == _STACK_TYPE
