"""From the data of a stack file to a `Stack`, with every problem found in one go.

pydantic stops at the first level that fails. So that one typo hides nothing, what is wrong is
noted, cut out, and the rest is read again; rules are then asked of what is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

from pydantic import ValidationError

from fleet.findings import Finding, Path, dotted
from fleet.spec.base import Model
from fleet.spec.explain import explain
from fleet.spec.stack import Stack
from fleet.spec.tree import Json, cut, cut_nulls, existing

_ROUNDS = 50
"""Each round cuts at least one entry; a file with more problems than this is not a stack file."""


def parse(data: object) -> tuple[Stack | None, tuple[Finding, ...]]:
    """Read the value of `gpu-runners:stack` (JSON-like data).

    Returns the stack, less the entries that cannot be used (None when nothing can be), and every
    finding. The stack may only be deployed when there is no finding of severity error.
    """
    if not isinstance(data, dict):
        shape = Finding(
            rule="shape",
            path="",
            message="is not a map",
            remedy="write gpu-runners:stack: with clusters: under it",
        )
        return None, (shape,)
    rest: dict[str, Json] = json.loads(json.dumps(data))
    findings = [_no_value(path) for path in cut_nulls(rest)]
    for _ in range(_ROUNDS):
        try:
            stack = Stack.model_validate_json(json.dumps(rest))
        except ValidationError as error:
            for problem in error.errors(include_url=False, include_input=False):
                location = existing(problem["loc"], rest)
                finding = explain(Stack, problem, location)
                if not _told(finding, findings):
                    findings.append(finding)
                cut(rest, location)
        else:
            return stack, (*findings, *_broken_rules(stack, ()))
        if not rest:
            break
    return None, tuple(findings)


def _no_value(path: Path) -> Finding:
    """A key without a value is a slip (a commented-out body), never the same as no key."""
    return Finding(
        rule="null",
        path=dotted(path),
        message="is present, but has no value",
        remedy="write {} for its defaults, give it a value, or remove the key",
    )


def _told(finding: Finding, findings: list[Finding]) -> bool:
    """A key that is missing only because its bad value was cut has been told about already."""
    if finding.rule != "missing":
        return False
    within = (f"{finding.path}.", f"{finding.path}[")
    return any(told.path == finding.path or told.path.startswith(within) for told in findings)


def _broken_rules(model: Model, path: Path) -> Iterator[Finding]:
    for field, message, remedy in model.rules():
        where = ".".join(filter(None, (dotted(path), field)))
        yield Finding(rule="rule", path=where, message=message, remedy=remedy)
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, Model):
            yield from _broken_rules(value, (*path, name))
        elif isinstance(value, Mapping):
            for key, item in cast("Mapping[str, object]", value).items():
                if isinstance(item, Model):
                    yield from _broken_rules(item, (*path, name, key))
