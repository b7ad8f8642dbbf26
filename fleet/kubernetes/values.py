"""Turns a frozen dataclass of chart values into the dict a Helm release takes.

No units of its own. The only source is Helm's convention of camelCase keys; every departure from
it stands beside the field that departs.
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
    """Field metadata for a value whose place in the chart is not the field's camelCase name.

    One word is another spelling (`key("node-feature-discovery")`); several are the way down to
    the value (`key("driver", "enabled")`), so that a class need not exist for each level.
    """
    return MappingProxyType({_CHART_PATH: path})


def chart_key(field_name: str) -> str:
    """The chart's spelling of a snake_case field name: `min_runners` becomes `minRunners`."""
    first, *rest = field_name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def to_values(values: DataclassInstance) -> dict[str, Any]:
    """The chart values that `values` stands for, as plain dicts, lists and scalars.

    A field that is None is left out, so that the chart's own default holds; an empty tuple is
    written as an empty list, which replaces the chart's default. Keys of mappings belong to the
    user (labels, resource names, config names) and are never respelt.

    Raises TypeError, naming the path, for a value that has no place in Helm values.
    """
    return _object(values, type(values).__name__)


def _object(values: DataclassInstance, path: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, place in _places(type(values)):
        value = getattr(values, name)
        if value is not None:
            _put(result, place, _plain(value, f"{path}.{name}"))
    return result


@cache
def _places(kind: type[DataclassInstance]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The fields of a class and the place of each in the chart; a fleet asks a thousand times."""
    return tuple(
        (each.name, each.metadata.get(_CHART_PATH) or (chart_key(each.name),))
        for each in fields(kind)
    )


def _put(result: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    *parents, leaf = path
    for parent in parents:
        result = result.setdefault(parent, {})
    result[leaf] = value


def _plain(value: object, path: str) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _object(value, path)
    if isinstance(value, tuple | list):
        items = cast("tuple[object, ...] | list[object]", value)
        return [_plain(item, f"{path}[{index}]") for index, item in enumerate(items)]
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value)
        return {
            _mapping_key(name, path): _plain(item, f"{path}[{name!r}]")
            for name, item in entries.items()
        }
    raise TypeError(
        f"{path} is a {type(value).__name__}, which Helm values cannot hold: "
        "give a string, number, bool, tuple, mapping or one of the classes of fleet.charts"
    )


def _mapping_key(name: object, path: str) -> str:
    if isinstance(name, str):
        return name
    raise TypeError(
        f"{path} has the key {name!r}, a {type(name).__name__}: "
        "keys of Helm values are strings, so write it as one"
    )
