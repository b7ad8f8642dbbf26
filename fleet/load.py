"""The one door from a stack file's data to a plan that may be deployed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, cast

from fleet.checks.judge import IDENTIFIERS, judge, unknown_pools, unknown_silences
from fleet.checks.view import View
from fleet.config.load import parse
from fleet.config.stack import KINDS, Stack
from fleet.findings import Finding, Silenced, StackFileError, errors
from fleet.plan import Plan, build
from fleet.runners.secrets import missing_secrets


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """A stack that may be deployed: what was written, what it means, what is to be said of it."""

    stack: Stack
    plan: Plan
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
    if parsed.stack is None:
        raise StackFileError(source, parsed.findings)
    stack = parsed.stack
    view = View(stack=stack, plan=build(stack), today=today or _today())
    said, silenced = _heard(stack, judge(view))
    found = (
        *unknown_pools(stack, _declared_pools(data)),
        *missing_secrets(stack, has_secret),
        *unknown_silences(view),
        *said,
    )
    findings = (*parsed.findings, *(one for one in found if not parsed.echoes(one)))
    if errors(findings):
        raise StackFileError(source, errors(findings))
    return Fleet(
        stack=stack, plan=view.plan, findings=findings, silenced=silenced, today=view.today
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


def _declared_pools(data: object) -> dict[str, set[str]]:
    """Names of pools as the file has them, whatever is wrong with their bodies.

    A cluster that names no pools is absent: that is told where they should be.
    """
    return {
        str(cluster): pools
        for cluster, body in _map(_map(data).get("clusters")).items()
        if (pools := {str(name) for kind in KINDS for name in _pools(body, kind)})
    }


def _pools(cluster: object, kind: str) -> Mapping[str, Any]:
    return _map(_map(_map(cluster).get(kind)).get("pools"))


def _map(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
