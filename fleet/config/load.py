"""From the data of a stack file to its model, with every problem found in one go.

pydantic stops at the first level that fails. So that one slip hides nothing, what is wrong is noted
and mended, and the rest is read again; rules are then asked of what is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from copy import deepcopy
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from pydantic import ValidationError

from fleet.config.base import Model
from fleet.config.explain import explain, fields_at
from fleet.config.stack import Stack
from fleet.config.tree import Json, child, cut, cut_nulls, existing
from fleet.findings import Finding, Path, dotted

_ROUNDS = 50
"""Each round mends at least one entry; a file with more problems than this is not a stack file."""


Root = TypeVar("Root", bound=Model)


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed(Generic[Root]):
    """What could be read. It may only be deployed when there is no finding of severity error."""

    stack: Root | None
    """The model, with stand-ins for what is wrong with it; None when nothing is left."""
    findings: tuple[Finding, ...]
    cut: frozenset[str]
    """Paths of values that are wrong: they were cut out, or something stands in for them."""

    def echoes(self, finding: Finding) -> bool:
        """Whether a finding judges a value that was cut, or one that holds it or lies in it."""
        return _judges(finding, self.cut)


def parse(data: object) -> Parsed[Stack]:
    """Read the value of `gpu-runners:stack` (JSON-like data) with all that is wrong in it."""
    return parse_as(Stack, data, "write gpu-runners:stack: with clusters: under it")


def parse_as(root: type[Root], data: object, shape_remedy: str) -> Parsed[Root]:
    """Read JSON-like data as `root`; `shape_remedy` is what to do where it is no map at all."""
    if not isinstance(data, dict):
        shape = Finding(rule="shape", path="", message="is not a map", remedy=shape_remedy)
        return Parsed(stack=None, findings=(shape,), cut=frozenset())
    rest: dict[str, Json] = json.loads(json.dumps(data))
    nulls = tuple(cut_nulls(rest))
    findings = [_no_value(path) for path in nulls]
    spoilt = {place for finding in findings for place in finding.places}
    stack = None
    for _ in range(_ROUNDS):
        try:
            stack = root.model_validate_json(json.dumps(rest))
            break
        except ValidationError as error:
            for finding, place in _explained(root, error, rest):
                if not _told(finding, findings, spoilt):
                    findings.append(finding)
                spoilt.update(finding.places)
                _mend(root, rest, place)
        if not rest:
            break
    if stack is None:
        return Parsed(stack=None, findings=tuple(findings), cut=frozenset(spoilt))
    broken = [rule for rule in _broken_rules(stack, ()) if not _judges(rule[0], spoilt)]
    for finding, place in broken:
        findings.append(finding)
        spoilt.update(finding.places)
        # A map is left as it is: its entries stand on their own.
        if not isinstance(_value(rest, place), dict | None):
            _mend(root, rest, place)
    return Parsed(
        stack=root.model_validate_json(json.dumps(rest)) if broken else stack,
        findings=tuple(findings),
        cut=frozenset(spoilt),
    )


def _explained(root: type[Model], error: ValidationError, data: Json) -> list[tuple[Finding, Path]]:
    """Pydantic's errors as findings with their places in the data, misspelt keys first.

    They explain the keys that are missing.
    """
    problems = error.errors(include_url=False, include_input=False)
    problems.sort(key=lambda problem: problem["type"] != "extra_forbidden")
    places = [existing(problem["loc"], data) for problem in problems]
    return [
        (explain(root, problem, place, _keys(_value(data, place[:-1]))), place)
        for problem, place in zip(problems, places, strict=True)
    ]


def _keys(holder: Json) -> Set[str]:
    return holder.keys() if isinstance(holder, dict) else frozenset()


def _mend(root: type[Model], data: dict[str, Json], place: Path) -> None:
    """Put the field's example in the place of what is wrong, so that its neighbours can be judged.

    Where the field has none, the value is cut.
    """
    if place and isinstance(place[-1], int):
        place = place[:-1]  # one wrong item spoils its list
    holder = _value(data, place[:-1])
    key = place[-1] if place else None
    if isinstance(holder, dict) and isinstance(key, str):
        field = fields_at(root, place[:-1]).get(key)
        if field is not None and field.examples:
            holder[key] = deepcopy(field.examples[0])
            return
    cut(data, place)


def _value(data: Json, place: Path) -> Json:
    for part in place:
        data = child(data, part)
    return data


def _no_value(path: Path) -> Finding:
    """A key without a value is a slip (a commented-out body), never the same as no key."""
    return Finding(
        rule="null",
        path=dotted(path),
        message="is present, but has no value",
        remedy="write {} for its defaults, give it a value, or remove the key",
    )


def _told(finding: Finding, findings: list[Finding], spoilt: set[str]) -> bool:
    """What was cut, or misspelt, leaves a key missing and a map or a list empty."""
    if finding.rule in ("missing", "too_short"):
        return _judges(finding, spoilt)
    return any(told.path == finding.path for told in findings)


def _judges(finding: Finding, spoilt: Set[str]) -> bool:
    return any(
        place == other or _within(place, other) or _within(other, place)
        for place in finding.places
        for other in spoilt
    )


def _within(path: str, around: str) -> bool:
    return path.startswith((f"{around}.", f"{around}["))


def _broken_rules(model: Model, path: Path) -> Iterator[tuple[Finding, Path]]:
    for rule in model.rules():
        place = (*path, *rule.field.split(".")) if rule.field else path
        fields = (*((rule.field,) if rule.field else ()), *rule.reads)
        finding = Finding(
            rule="rule",
            path=dotted(place),
            message=rule.message,
            remedy=rule.remedy,
            reads=tuple(dotted((*path, field)) for field in fields),
        )
        yield finding, place
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, Model):
            yield from _broken_rules(value, (*path, name))
        elif isinstance(value, Mapping):
            for key, item in cast("Mapping[str, object]", value).items():
                if isinstance(item, Model):
                    yield from _broken_rules(item, (*path, name, key))
        elif isinstance(value, tuple):
            for index, item in enumerate(cast("tuple[object, ...]", value)):
                if isinstance(item, Model):
                    yield from _broken_rules(item, (*path, name, index))
