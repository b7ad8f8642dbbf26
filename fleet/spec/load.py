"""From the data of a stack file to a `Stack`, with every problem found in one go.

pydantic stops at the first level that fails. So that one typo hides nothing, what is wrong is
noted, cut out, and the rest is read again; rules are then asked of what is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from pydantic import ValidationError

from fleet.findings import Finding, Path, dotted
from fleet.spec.base import Model
from fleet.spec.explain import explain, fields_at
from fleet.spec.stack import Stack
from fleet.spec.tree import Json, child, cut, cut_nulls, existing

_ROUNDS = 50
"""Each round cuts at least one entry; a file with more problems than this is not a stack file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """What could be read. It may only be deployed when there is no finding of severity error."""

    stack: Stack | None
    """The stack less what is wrong with it; None when nothing is left."""
    findings: tuple[Finding, ...]
    cut: frozenset[str]
    """Where something was cut out or stands in for what was wrong."""

    def echoes(self, finding: Finding) -> bool:
        """Whether a finding only repeats that something was cut at, around or just below it."""
        return any(
            finding.path == path
            or finding.path.startswith((f"{path}.", f"{path}["))
            or finding.path == path.rpartition(".")[0]
            for path in self.cut
        )


def parse(data: object) -> Parsed:
    """Read the value of `gpu-runners:stack` (JSON-like data) with all that is wrong in it."""
    if not isinstance(data, dict):
        shape = Finding(
            rule="shape",
            path="",
            message="is not a map",
            remedy="write gpu-runners:stack: with clusters: under it",
        )
        return Parsed(stack=None, findings=(shape,), cut=frozenset())
    rest: dict[str, Json] = json.loads(json.dumps(data))
    nulls = tuple(cut_nulls(rest))
    findings = [_no_value(path) for path in nulls]
    cuts = {dotted(path) for path in nulls}
    stack = None
    for _ in range(_ROUNDS):
        try:
            stack = Stack.model_validate_json(json.dumps(rest))
            break
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False)
        places = [existing(problem["loc"], rest) for problem in problems]
        for problem, place in zip(problems, places, strict=True):
            finding = explain(Stack, problem, place)
            if not _told(finding, findings):
                findings.append(finding)
            cuts.add(dotted(place))
            _mend(rest, place)
        if not rest:
            break
    parsed = Parsed(stack=stack, findings=tuple(findings), cut=frozenset(cuts))
    if stack is None:
        return parsed
    rules = tuple(rule for rule in _broken_rules(stack, ()) if not parsed.echoes(rule))
    return replace(parsed, findings=(*findings, *rules))


def _mend(data: dict[str, Json], place: Path) -> None:
    """Put the field's example where a required value is wrong, so that its neighbours are read."""
    if place and isinstance(place[-1], str):
        field = fields_at(Stack, place[:-1]).get(place[-1])
        holder: Json = data
        for part in place[:-1]:
            holder = child(holder, part)
        if field is not None and field.is_required() and field.examples:
            if isinstance(holder, dict):
                holder[place[-1]] = field.examples[0]
            return
    cut(data, place)


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
    if finding.rule not in ("missing", "too_short"):
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
