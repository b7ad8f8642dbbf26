"""Read the data of a stack file as its model, and report every error of form at once.

An error of form concerns a key, a type, a single value, or several fields of one model that do not
agree. `fleet.load` runs the checks only on a file without an error of form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sized
from contextlib import suppress
from difflib import get_close_matches
from types import UnionType
from typing import Any, Generic, NamedTuple, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from fleet.config.base import Form, Model, Rule, Secret, flow
from fleet.config.eks import Eks, EksNetwork
from fleet.config.existing import Existing, ExistingPool
from fleet.config.github import GitHubLane
from fleet.config.gitlab import GitLabLane
from fleet.config.oke import Oke, OkeNetwork
from fleet.config.oke_pools import OkePool
from fleet.config.pools import EksPool
from fleet.config.stack import Stack
from fleet.findings import Finding, Path, dotted

Root = TypeVar("Root", bound=Model)
Fields = Mapping[str, FieldInfo]

_ALTERNATIVES: tuple[Mapping[str, type[Model]], ...] = (
    {"GitHub lanes": GitHubLane, "GitLab lanes": GitLabLane},
    {"EKS pools": EksPool, "OKE pools": OkePool, "pools of existing clusters": ExistingPool},
    {"EKS networks": EksNetwork, "OKE networks": OkeNetwork},
    {"EKS clusters": Eks, "OKE clusters": Oke, "existing clusters": Existing},
)
"""Models that users confuse. A key of one model that is written in another gets its own message."""

_NO_VALUE = 0.5
"""Replaces null for pydantic. No field accepts a fraction, so a null is an error also if the key is
optional."""


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
    """Yield findings for pydantic's errors: one for a path, apart from the rules of a model."""
    problems = error.errors(include_url=False)
    misspelt = {
        (*problem["loc"][:-1], _similar(problem["loc"], fields_at(root, problem["loc"][:-1])))
        for problem in problems
        if problem["type"] == "extra_forbidden"
    }
    seen = set(nulls)
    for problem in problems:
        location = problem["loc"]
        if problem["type"] == "rule":
            yield from _rules(problem.get("ctx", {})["rules"], location)
            continue
        if location[-1:] == ("[key]",):
            location = location[:-1]
        # Do not report a misspelt key also as missing, or a list of invalid items also as empty.
        follows = (problem["type"] == "missing" and location in misspelt) or (
            problem["type"] == "too_short" and any(one[:-1] == location for one in seen)
        )
        if follows or location in seen:
            continue
        seen.add(location)
        message, remedy = _texts(root, problem, location)
        yield Finding(rule=problem["type"], path=dotted(location), message=message, remedy=remedy)


def _no_value(path: Path) -> Finding:
    """Return the finding of a key without a value, like one whose body is commented out."""
    return Finding(
        rule="null",
        path=dotted(path),
        message="has no value",
        remedy="write a value, write {} for the defaults of a map, or remove the key",
    )


def _rules(rules: tuple[Rule, ...], location: Path) -> Iterator[Finding]:
    for rule in rules:
        place = (*location, *rule.field.split(".")) if rule.field else location
        yield Finding(rule="rule", path=dotted(place), message=rule.message, remedy=rule.remedy)


def _similar(location: Path, fields: Fields) -> str | None:
    near = get_close_matches(str(location[-1]), fields, n=1, cutoff=0.6)
    return near[0] if near else None


_TEXTS = {
    "dict_type": ("is {noun}, not a map", "write names with values under it{like}"),
    "tuple_type": ("is {noun}, not a list", "write it in brackets{like}"),
    "int_type": ("is {noun}, not a whole number", "write digits without quotes{like}"),
    "bool_type": ("is {noun}, not true or false", "write true or false without quotes"),
    "literal_error": ("is not one of the allowed values", "use {expected}"),
    "greater_than_equal": ("is {value}, below the minimum of {ge}", "use {ge} or more"),
    "less_than_equal": ("is {value}, above the maximum of {le}", "use {le} or less"),
    "too_short": ("is empty", "add at least one entry{like}"),
    "too_long": ("has {length} entries", "keep at most {max_length} entries"),
    "empty_text": ("is empty", "write a value{like}, or remove the key"),
    "string_too_short": ("has {length} characters", "write at least {min_length} characters"),
    "string_too_long": ("has {length} characters", "shorten it to at most {max_length} characters"),
    "string_pattern_mismatch": ("does not have the required form", "write it like {example}"),
    "json_invalid": ("is nested too deeply", "use only the keys of stack.schema.json"),
}
"""Message and remedy by pydantic's error type; the names in braces are those of `_texts`."""

_OTHER = ("is not valid", "write a value as stack.schema.json describes it")


def _texts(root: type[Model], problem: ErrorDetails, location: Path) -> tuple[str, str]:
    """Return message and remedy of one error. They show no text of the file, only numbers."""
    kind, value, context = problem["type"], problem["input"], problem.get("ctx", {})
    if "remedy" in context:
        return context["message"], context["remedy"]
    key, fields = str(location[-1]) if location else "", fields_at(root, location[:-1])
    if kind == "extra_forbidden":
        return _unknown_key(root, location, fields)
    field = fields.get(key)
    example = _example(field) if field is not None else None
    like = f", like {key}: {flow(example)}" if example is not None else ""
    if kind == "missing":
        return "is missing", f"add {'it' if like else key}{like} ({fields[key].description})"
    if kind == "model_type":
        return _not_a_model(root, location, value)
    if kind == "string_type":
        like = f', like {key}: "{example}"' if isinstance(example, str) else ""
        return f"is {_noun(value)}, not text", _quoted(value, like)
    if kind == "string_too_short" and not value:
        kind = "empty_text"
    length = len(value) if isinstance(value, Sized) else 0
    values = {
        "noun": _noun(value),
        "like": like,
        "example": flow(example),
        "value": value,
        "length": length,
        **context,
    }
    message, remedy = _TEXTS.get(kind, _OTHER)
    return message.format_map(values), remedy.format_map(values).replace("True", "true")


def _example(field: FieldInfo) -> object:
    """Return the field's first example, or the example of its `Form`."""
    metadata = [*field.metadata]
    for arm in _arms(field.annotation):
        metadata += getattr(arm, "__metadata__", ())
    forms = [one.example for one in metadata if isinstance(one, Form)]
    return (field.examples or forms or [None])[0]


def _not_a_model(root: type[Model], location: Path, value: object) -> tuple[str, str]:
    model = _model_at(root, location)
    if model is Secret:
        return (
            f"is {_noun(value)}, but a stack file never contains the value of a secret",
            f"write {location[-1]}: {{secret: name}} and run `pulumi config set --secret "
            "gpu-runners:name`",
        )
    empty = ""
    with suppress(ValidationError):
        empty = ", or {} for the defaults" if model is not None and model() else ""
    keys = ", ".join(fields_at(root, location))
    return f"is {_noun(value)}, not a map", f"write its keys under it: {keys}{empty}"


def _unknown_key(root: type[Model], location: Path, fields: Fields) -> tuple[str, str]:
    model, key = _model_at(root, location[:-1]), str(location[-1])
    for group in _ALTERNATIVES:
        owners = [what for what, one in group.items() if key in one.model_fields]
        if owners and model in group.values():
            return f"is a key of {' and '.join(owners)} only", _known_keys(fields)
    if (similar := _similar(location, fields)) is not None:
        return "is not a known key", f"did you mean {similar}?"
    return "is not a known key", _known_keys(fields)


def _known_keys(fields: Fields) -> str:
    return f"remove it; the keys here are {', '.join(fields)}"


def _noun(value: object) -> str:
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return "a whole number" if isinstance(value, int) else "a decimal number"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "a map"


def _quoted(value: object, like: str) -> str:
    if isinstance(value, bool):
        return f'write it in quotes: "{str(value).lower()}"'
    if isinstance(value, float):
        like = like or ', like "1.35"'
        return f"write it in quotes{like} (YAML reads 1.30 without quotes as the number 1.3)"
    if isinstance(value, int):
        like = like or ', like "8"'
        return f"write it in quotes{like}"
    return f"write a single text{like}"


def fields_at(root: type[BaseModel], location: Path) -> Fields:
    """Return the fields of the model at a path; empty if there is no model."""
    model = _model_at(root, location)
    return model.model_fields if model is not None else {}


def _model_at(root: type[BaseModel], location: Path) -> type[BaseModel] | None:
    found: Any = root
    for part in location:
        model = _model(found)
        found = _item(found) if model is None else model.model_fields[str(part)].annotation
    return _model(found)


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
