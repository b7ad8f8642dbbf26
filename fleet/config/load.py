"""Read the data of a stack file as its model, and report every error of form at once.

The first phase of the errors of a stack file. It reports what is wrong with the form of the data:
keys, types, single values, and what several fields of one model must agree on. `fleet.load` runs
the checks, which are the second phase, only on a file without an error of form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from types import UnionType
from typing import Any, Generic, NamedTuple, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from fleet.config.base import Model, Rule
from fleet.config.stack import Stack
from fleet.findings import Finding, Path, dotted

Root = TypeVar("Root", bound=Model)

_NO_VALUE = 0.5
"""Stands for null while pydantic validates: no field of a stack file takes a fraction, so a null is
an error also where the key is optional."""


class Parsed(NamedTuple, Generic[Root]):
    """The model of a stack file, or the errors of its form."""

    stack: Root | None
    """`None` if there are findings."""
    findings: tuple[Finding, ...]


def parse(data: object) -> Parsed[Stack]:
    """Read the value of `gpu-runners:stack` (JSON-like data)."""
    return parse_as(Stack, data, "write gpu-runners:stack: with clusters: under it")


def parse_as(root: type[Root], data: object, shape_remedy: str) -> Parsed[Root]:
    """Read JSON-like data as `root`; `shape_remedy` is the remedy if the data is not a map."""
    if not isinstance(data, dict):
        shape = Finding(rule="shape", path="", message="is not a map", remedy=shape_remedy)
        return Parsed(None, (shape,))
    nulls: list[Path] = []
    text = json.dumps(_without_nulls(cast("object", data), (), nulls))
    try:
        return Parsed(root.model_validate_json(text), ())
    except ValidationError as error:
        findings = [_no_value(path) for path in nulls]
        findings += _explained(root, error, set(nulls))
        return Parsed(None, tuple(findings))


def _without_nulls(data: object, path: Path, nulls: list[Path]) -> object:
    """Return a copy with `_NO_VALUE` in place of each null; add the paths of nulls to `nulls`."""
    if isinstance(data, dict):
        return {
            str(key): _without_nulls(value, (*path, str(key)), nulls)
            for key, value in cast("dict[object, object]", data).items()
        }
    if isinstance(data, list):
        return [
            _without_nulls(value, (*path, index), nulls)
            for index, value in enumerate(cast("list[object]", data))
        ]
    if data is None:
        nulls.append(path)
        return _NO_VALUE
    return data


def _explained(root: type[Model], error: ValidationError, nulls: set[Path]) -> Iterator[Finding]:
    """Yield findings for pydantic's errors, at most one for a path but for rules of a model."""
    problems = error.errors(include_url=False, include_input=False)
    misspelt = {
        (*location[:-1], meant)
        for problem in problems
        if problem["type"] == "extra_forbidden"
        and (meant := _meant(str((location := problem["loc"])[-1]), fields_at(root, location[:-1])))
    }
    seen = set(nulls)
    for problem in problems:
        location = problem["loc"]
        if problem["type"] == "rule":
            yield from _rules(problem.get("ctx", {})["rules"], location)
            continue
        if location[-1:] == ("[key]",):
            location = location[:-1]
        # A required key that is misspelt is not missing too, a list of bad items is not empty too.
        follows = (problem["type"] == "missing" and location in misspelt) or (
            problem["type"] == "too_short" and any(one[:-1] == location for one in seen)
        )
        if follows or location in seen:
            continue
        seen.add(location)
        yield _explain(problem, location, fields_at(root, location[:-1]))


def _no_value(path: Path) -> Finding:
    """A key without a value is a slip (a commented-out body), never the same as no key."""
    return Finding(
        rule="null",
        path=dotted(path),
        message="is present, but has no value",
        remedy="write {} for its defaults, give it a value, or remove the key",
    )


def _rules(rules: tuple[Rule, ...], location: Path) -> Iterator[Finding]:
    for rule in rules:
        place = (*location, *rule.field.split(".")) if rule.field else location
        yield Finding(rule="rule", path=dotted(place), message=rule.message, remedy=rule.remedy)


def _meant(key: str, fields: dict[str, FieldInfo]) -> str | None:
    near = get_close_matches(key, fields, n=1, cutoff=0.6)
    return near[0] if near else None


_TEXTS = {
    "int_type": ("is not a whole number", "write digits without quotes"),
    "bool_type": ("is not true or false", "write true or false, without quotes"),
    "dict_type": ("is not a map", "write key: value pairs under it"),
    "model_type": ("is not a map", "write key: value pairs under it, or {{}} for the defaults"),
    "tuple_type": ("is not a list", "write it in brackets, like [a, b]"),
    "greater_than_equal": ("is below {ge}", "use {ge} or more"),
    "less_than_equal": ("is above {le}", "use {le} or less"),
    "too_short": ("is empty", "write at least one"),
    "too_long": ("has more than {max_length} entries", "remove some"),
    "string_too_short": ("is empty", "give it a value or remove the key"),
    "string_too_long": ("has more than {max_length} characters", "shorten it"),
    "string_pattern_mismatch": (
        "does not have the form that is wanted",
        "write something that matches {pattern}",
    ),
    "literal_error": ("is not one of the choices", "use {expected}"),
    "json_invalid": ("is nested too deeply", "the keys of a stack file are at most ten deep"),
    "string_type": (
        "is not text",
        'write it in quotes, like "1.35" (unquoted, 1.30 arrives as the number 1.3)',
    ),
}
_SECRET_IN_PLAIN = "private_key", "token", "api_token"


def _explain(problem: ErrorDetails, location: Path, fields: dict[str, FieldInfo]) -> Finding:
    """Return the finding of one error; it never holds the value that was written."""
    kind, key = problem["type"], str(location[-1]) if location else ""
    if kind == "extra_forbidden":
        meant = _meant(key, fields)
        message = "is not a key here"
        remedy = (
            f"did you mean {meant}?"
            if meant
            else f"remove it; the keys here are {', '.join(fields)}"
        )
    else:
        message, remedy = _texts(problem, key, fields)
    return Finding(rule=kind, path=dotted(location), message=message, remedy=remedy)


def _texts(problem: ErrorDetails, key: str, fields: dict[str, FieldInfo]) -> tuple[str, str]:
    kind = problem["type"]
    if kind == "missing":
        return "is missing", f"add {key}: {fields[key].description}"
    if key in _SECRET_IN_PLAIN and kind.startswith("model"):
        return (
            "holds a value; a secret never stands in the stack file",
            f"write {key}: {{secret: name}} and run `pulumi config set --secret gpu-runners:name`",
        )
    if kind == "value_error":
        message, _, remedy = problem["msg"].removeprefix("Value error, ").partition("; ")
        return message, remedy
    example = _example(fields.get(key))
    if kind == "string_pattern_mismatch" and example is not None:
        return "does not have the form that is wanted", f"write it like {example}"
    if kind == "string_type" and isinstance(example, str) and key != "version":
        return "is not text", f'write it in quotes, like "{example}"'
    context = problem.get("ctx", {})
    message, remedy = _TEXTS.get(kind, ("cannot be used", "correct it"))
    if kind == "string_too_short" and context.get("min_length", 1) > 1:
        message, remedy = "has fewer than {min_length} characters", "write {min_length} or more"
    return message.format_map(context), remedy.format_map(context)


def _example(field: FieldInfo | None) -> object:
    return field.examples[0] if field is not None and field.examples else None


def fields_at(root: type[BaseModel], location: Path) -> dict[str, FieldInfo]:
    """Return the fields of the model at a path; empty if the path leads to no model."""
    found: Any = root
    for part in location:
        model = _model(found)
        found = _item(found) if model is None else model.model_fields[str(part)].annotation
    model = _model(found)
    return dict(model.model_fields) if model is not None else {}


def _arms(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) in (Union, UnionType):
        return get_args(annotation)
    return (annotation,)


def _model(annotation: Any) -> type[BaseModel] | None:
    for arm in _arms(annotation):
        if isinstance(arm, type) and issubclass(arm, BaseModel):
            return arm
    return None


def _item(annotation: Any) -> Any:
    """Return the annotation of a map's values or of a list's items."""
    container = next(arm for arm in _arms(annotation) if get_args(arm))
    return get_args(container)[1 if get_origin(container) is dict else 0]
