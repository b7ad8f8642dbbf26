"""The one door from a stack file's data to a plan that may be deployed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from fleet.checks.judge import judge
from fleet.checks.preference import preference_conflicts
from fleet.checks.references import unknown_pools
from fleet.findings import Finding, StackFileError, errors
from fleet.plan.build import Plan, build
from fleet.plan.secrets import missing_secrets
from fleet.spec.load import parse
from fleet.spec.stack import KINDS, Stack


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """A stack that may be deployed: what was written, what it means, and warnings."""

    stack: Stack
    plan: Plan
    warnings: tuple[Finding, ...]


def load(data: object, *, source: str, has_secret: Callable[[str], bool]) -> Fleet:
    """Read, derive and judge the value of `gpu-runners:stack`.

    `source` names the file in messages; `has_secret` says whether a flat secret is configured.
    Raises StackFileError with every error at once.
    """
    parsed = parse(data)
    if parsed.stack is None:
        raise StackFileError(source, parsed.findings)
    stack = parsed.stack
    plan = build(stack)
    found = (
        *unknown_pools(stack, _declared_pools(data)),
        *missing_secrets(stack, has_secret),
        *preference_conflicts(stack),
        *judge(stack, plan),
    )
    findings = (*parsed.findings, *(one for one in found if not parsed.echoes(one)))
    if errors(findings):
        raise StackFileError(source, errors(findings))
    return Fleet(stack=stack, plan=plan, warnings=findings)


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
