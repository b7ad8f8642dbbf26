"""pydantic's errors in the words of the stack file: what is wrong, and what to write instead."""

from __future__ import annotations

from difflib import get_close_matches
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from fleet.findings import Finding, Path, dotted

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_WHOLE_NUMBER = ("is not a whole number", "write digits without quotes")
_TYPES = {
    "string_type": (
        "is not text",
        'write it in quotes, like "1.35" (unquoted, 1.30 arrives as the number 1.3)',
    ),
    "int_type": _WHOLE_NUMBER,
    "int_from_float": _WHOLE_NUMBER,
    "int_parsing": _WHOLE_NUMBER,
    "bool_type": ("is not true or false", "write true or false, without quotes"),
    "dict_type": ("is not a map", "write key: value pairs under it"),
    "model_type": ("is not a map", "write key: value pairs under it, or {} for the defaults"),
    "model_attributes_type": ("is not a map", "write key: value pairs under it, or {}"),
    "tuple_type": ("is not a list", "write it in brackets, like [a, b]"),
}
_SECRET_IN_PLAIN = "private_key", "token", "api_token"


def explain(root: type[BaseModel], problem: ErrorDetails, location: Path) -> Finding:
    """One finding for one of pydantic's errors; never holds the value that was written."""
    message, remedy = _words(root, problem, location)
    return Finding(rule=problem["type"], path=dotted(location), message=message, remedy=remedy)


def _words(root: type[BaseModel], problem: ErrorDetails, location: Path) -> tuple[str, str]:
    kind, context = problem["type"], problem.get("ctx", {})
    last = location[-1] if location else ""
    if last in _SECRET_IN_PLAIN and kind.startswith("model"):
        return (
            "holds a value; a secret never stands in the stack file",
            f"write {last}: {{secret: name}} and run `pulumi config set --secret gpu-runners:name`",
        )
    match kind:
        case "extra_forbidden":
            return _unknown_key(fields_at(root, location[:-1]), str(last))
        case "missing":
            field = fields_at(root, location[:-1]).get(str(last))
            described = f": {field.description}" if field and field.description else ""
            words = "is missing", f"add {last}{described}"
        case "literal_error" | "enum":
            words = "is not one of the choices", f"use {context.get('expected', '')}"
        case "value_error":
            message, _, remedy = problem["msg"].removeprefix("Value error, ").partition("; ")
            words = message, remedy or "correct it"
        case "string_pattern_mismatch":
            words = "does not have the form that is wanted", f"match {context.get('pattern')}"
        case _:
            message = problem["msg"]
            words = _TYPES.get(kind, (message[0].lower() + message[1:], "correct it"))
    return words


def _unknown_key(fields: dict[str, Any], key: str) -> tuple[str, str]:
    near = get_close_matches(key, fields, n=1, cutoff=0.6)
    if near:
        return "is not a key here", f"did you mean {near[0]}?"
    return "is not a key here", f"remove it; the keys here are {', '.join(fields)}"


def fields_at(root: type[BaseModel], location: Path) -> dict[str, Any]:
    """The fields of the model that a path leads to; empty where it leads to no model."""
    found: Any = root
    for part in location:
        model = _model(found)
        if model is None:
            found = _item(found)
        elif part in model.model_fields:
            found = model.model_fields[str(part)].annotation
        else:
            return {}
    model = _model(found)
    return dict(model.model_fields) if model is not None else {}


def _arms(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Annotated:
        return _arms(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return get_args(annotation)
    return (annotation,)


def _model(annotation: Any) -> type[BaseModel] | None:
    for arm in _arms(annotation):
        if isinstance(arm, type) and issubclass(arm, BaseModel):
            return arm
    return None


def _item(annotation: Any) -> Any:
    """What a map or list holds."""
    for arm in _arms(annotation):
        arguments = get_args(arm)
        if arguments:
            return arguments[1] if get_origin(arm) is dict else arguments[0]
    return None
