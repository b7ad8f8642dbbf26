"""The one door from a stack file's data to a plan that may be deployed."""

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
    """A stack that may be deployed: what was written, what it means, what is to be said of it."""

    stack: Stack
    plan: Plan
    secret_names: frozenset[str]
    """Names of the Pulumi secrets that the stack file uses."""
    findings: tuple[Finding, ...]
    """Warnings and notes; a fleet has no error."""
    silenced: tuple[Silenced, ...]
    today: date
    """Day for which it was judged."""

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What a preview says aloud."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")


def load(
    data: object,
    *,
    source: str,
    has_secret: Callable[[str], bool],
    today: date | None = None,
) -> Fleet:
    """Read, derive and judge the value of `gpu-runners:stack`.

    `source` names the file in messages; `has_secret` says whether a flat secret is configured;
    `today`, by default this day (UTC), decides what is at its end of life.
    Raises StackFileError with every error at once.
    """
    parsed = parse(data)
    references = (
        *unknown_pools(data),
        *missing_secrets(data, has_secret),
        *unknown_silences(silenced_rules(data)),
    )
    # A value that has not the form of a name is reported once.
    malformed = {finding.path.partition("[")[0] for finding in parsed.findings}
    wrong = (*parsed.findings, *(one for one in references if one.path not in malformed))
    if parsed.stack is None or wrong:
        raise StackFileError(source, wrong)
    stack = parsed.stack
    view = View(stack=stack, plan=build(stack), today=today or _today())
    findings, silenced = _heard(stack, judge(view))
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


def _heard(
    stack: Stack, findings: Iterable[Finding]
) -> tuple[tuple[Finding, ...], tuple[Silenced, ...]]:
    """What is said, and what the stack file silences; to silence nothing is a finding too."""
    said: list[Finding] = []
    silenced: list[Silenced] = []
    idle = set(stack.silence)
    for finding in findings:
        key = next((key for key in stack.silence if _silences(key, finding)), None)
        if key is None:
            said.append(finding)
        else:
            silenced.append(Silenced(finding=finding, reason=stack.silence[key]))
            idle.discard(key)
    said += [
        Finding(
            rule="silence",
            path=f"silence.{key}",
            message="silences nothing: the rule finds nothing here",
            remedy="remove it",
            severity="warning",
        )
        for key in stack.silence
        if key in idle and key.partition("@")[0] in IDENTIFIERS
    ]
    return tuple(said), tuple(silenced)


def _silences(key: str, finding: Finding) -> bool:
    rule, _, place = key.partition("@")
    inside = finding.path == place or finding.path.startswith((f"{place}.", f"{place}["))
    return rule == finding.rule and (not place or inside)
