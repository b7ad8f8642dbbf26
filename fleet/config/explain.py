"""pydantic's errors in the words of the stack file: what is wrong, and what to write instead."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fleet.findings import Finding, Path, dotted

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_WORDS = {
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


def explain(
    root: type[BaseModel], problem: ErrorDetails, location: Path, present: Collection[str] = ()
) -> Finding:
    """One finding for one of pydantic's errors; never holds the value that was written.

    `present` are the keys that stand beside the one in question.
    """
    kind, path = problem["type"], dotted(location)
    fields = fields_at(root, location[:-1])
    key = str(location[-1]) if location else ""
    if kind == "extra_forbidden":
        meant = get_close_matches(key, fields, n=1, cutoff=0.6)
        return Finding(
            rule=kind,
            path=path,
            message="is not a key here",
            remedy=(
                f"did you mean {meant[0]}?"
                if meant
                else f"remove it; the keys here are {', '.join(fields)}"
            ),
            # A key that is missing only because it was misspelt is not told as missing.
            reads=(
                path,
                *(dotted((*location[:-1], name)) for name in meant if name not in present),
            ),
        )
    message, remedy = _words(problem, key, fields)
    return Finding(rule=kind, path=path, message=message, remedy=remedy)


def _words(problem: ErrorDetails, key: str, fields: dict[str, FieldInfo]) -> tuple[str, str]:
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
    message, remedy = _WORDS.get(kind, ("cannot be used", "correct it"))
    if kind == "string_too_short" and context.get("min_length", 1) > 1:
        message, remedy = "has fewer than {min_length} characters", "write {min_length} or more"
    return message.format_map(context), remedy.format_map(context)


def _example(field: FieldInfo | None) -> object:
    return field.examples[0] if field is not None and field.examples else None


def fields_at(root: type[BaseModel], location: Path) -> dict[str, FieldInfo]:
    """The fields of the model that a path leads to; empty where it leads to no model."""
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
    """What a map or list holds."""
    container = next(arm for arm in _arms(annotation) if get_args(arm))
    return get_args(container)[1 if get_origin(container) is dict else 0]
