"""Render a frozen dataclass of chart values or of a pod as the dict that is sent.

Keys become camelCase, which is Helm's convention. A field whose key differs declares it with `key`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_CHART_PATH = "chart_path"


def key(*path: str) -> Mapping[str, tuple[str, ...]]:
    """Return field metadata for a value whose place in the chart is not its camelCase name.

    One string is another spelling (`key("node-feature-discovery")`). Several strings are the path
    to the value (`key("driver", "enabled")`), so that no class is needed for each level.
    """
    return MappingProxyType({_CHART_PATH: path})


def chart_key(field_name: str) -> str:
    """Return the camelCase form of a snake_case name: `min_runners` becomes `minRunners`."""
    first, *rest = field_name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def to_values(values: DataclassInstance) -> dict[str, Any]:
    """Render `values` as plain dicts, lists and scalars.

    A field that is `None` is omitted, so that the chart's default applies. An empty tuple becomes
    an empty list, which replaces the chart's default. Keys of mappings (labels, resource names,
    config names) are not changed. An object with a method `rendered` is what that returns.
    """
    result: dict[str, Any] = {}
    for name, path in _places(type(values)):
        value = getattr(values, name)
        if value is not None:
            _put(result, path, _plain(value))
    return result


@cache
def _places(kind: type[DataclassInstance]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return each field with its path in the chart. Cached: a fleet renders a thousand objects."""
    return tuple(
        (each.name, each.metadata.get(_CHART_PATH) or (chart_key(each.name),))
        for each in fields(kind)
    )


def _put(result: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    *parents, leaf = path
    for parent in parents:
        result = result.setdefault(parent, {})
    result[leaf] = value


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | int | float):
        return value
    if (rendered := getattr(value, "rendered", None)) is not None:
        return rendered()
    if is_dataclass(value) and not isinstance(value, type):
        return to_values(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {name: _plain(item) for name, item in entries.items()}
    return value
