"""Read the data of a stack file, plan it and check it. Only a checked plan is deployed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from fleet.checks.judge import IDENTIFIERS, judge, unknown_silences
from fleet.checks.view import View
from fleet.config.load import parse
from fleet.config.references import missing_secrets, secret_uses, silenced_rules, unknown_pools
from fleet.config.stack import Stack
from fleet.findings import Finding, Silenced, StackFileError, errors
from fleet.plan import Plan, build


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """A stack without errors, with its plan and findings."""

    stack: Stack
    plan: Plan
    secret_names: frozenset[str]
    """Names of the Pulumi secrets that the stack file uses."""
    findings: tuple[Finding, ...]
    """Warnings and notes."""
    silenced: tuple[Silenced, ...]
    today: date
    """Date for which end-of-life dates were checked."""

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that a preview logs."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")


def load(
    data: object,
    *,
    source: str,
    has_secret: Callable[[str], bool],
    today: date | None = None,
) -> Fleet:
    """Read, plan and check the value of `gpu-runners:stack`.

    `source` names the file in messages. `has_secret` returns whether a Pulumi secret is configured.
    `today` (default: the current date in UTC) decides which versions have reached their end of
    life.

    Raises StackFileError in two phases: with all errors of form, unknown references included; or,
    if there are none, with all errors of the checks.
    """
    parsed = parse(data)
    references = (
        *unknown_pools(data),
        *missing_secrets(data, has_secret),
        *unknown_silences(silenced_rules(data)),
    )
    # A value that does not have the form of a name is reported once.
    malformed = {finding.path.partition("[")[0] for finding in parsed.findings}
    wrong = (*parsed.findings, *(one for one in references if one.path not in malformed))
    if parsed.stack is None or wrong:
        raise StackFileError(source, wrong)
    stack = parsed.stack
    view = View(stack=stack, plan=build(stack), today=today or _today())
    findings, silenced = _without_silenced(stack, judge(view))
    if errors(findings):
        raise StackFileError(source, errors(findings))
    return Fleet(
        stack=stack,
        plan=view.plan,
        secret_names=frozenset(name for _, name in secret_uses(data)),
        findings=findings,
        silenced=silenced,
        today=view.today,
    )


def _today() -> date:
    return datetime.now(UTC).date()


def _without_silenced(
    stack: Stack, findings: Iterable[Finding]
) -> tuple[tuple[Finding, ...], tuple[Silenced, ...]]:
    """Return the findings that remain and those that the stack file silences.

    An entry of `silence` without effect is reported as a finding.
    """
    remaining: list[Finding] = []
    silenced: list[Silenced] = []
    unused = set(stack.silence)
    for finding in findings:
        key = next((key for key in stack.silence if _silences(key, finding)), None)
        if key is None:
            remaining.append(finding)
        else:
            silenced.append(Silenced(finding=finding, reason=stack.silence[key]))
            unused.discard(key)
    remaining += [
        Finding(
            rule="silence",
            path=f"silence.{key}",
            message="has no effect, because the check finds nothing here",
            remedy="remove the entry",
            severity="warning",
        )
        for key in stack.silence
        if key in unused and key.partition("@")[0] in IDENTIFIERS
    ]
    return tuple(remaining), tuple(silenced)


def _silences(key: str, finding: Finding) -> bool:
    rule, _, place = key.partition("@")
    inside = finding.path == place or finding.path.startswith((f"{place}.", f"{place}["))
    return rule == finding.rule and (not place or inside)
