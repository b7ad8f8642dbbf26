"""Typed access to wire properties by dotted path.

An absent, null or unknown value is returned as `None` or an empty collection, so that no rule
applies to a value that the engine does not know yet.
"""

from __future__ import annotations

from typing import Any, cast

from pulumi_rehearsal.standin.values import UNKNOWN, Properties


def lookup(properties: Properties, path: str) -> object:
    """Return the value at `path` (`vpcConfig.subnetIds`), which may be `UNKNOWN` or `None`."""
    value: Any = properties
    for name in path.split("."):
        if not isinstance(value, dict):
            return UNKNOWN if value is UNKNOWN else None
        value = cast("Properties", value).get(name)
    return value


def given(properties: Properties, path: str) -> bool:
    """Whether a value, known or unknown, is set at `path`."""
    value = lookup(properties, path)
    return value is UNKNOWN or (value is not None and value not in ("", [], {}))


def text(properties: Properties, path: str) -> str | None:
    """Return the string at `path`."""
    value = lookup(properties, path)
    return value if isinstance(value, str) else None


def number(properties: Properties, path: str) -> int | None:
    """Return the whole number at `path`."""
    value = lookup(properties, path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value)


def flag(properties: Properties, path: str) -> bool | None:
    """Return the boolean at `path`."""
    value = lookup(properties, path)
    return value if isinstance(value, bool) else None


def mapping(properties: Properties, path: str) -> Properties:
    """Return the mapping at `path`."""
    value = lookup(properties, path)
    return cast("Properties", value) if isinstance(value, dict) else {}


def items(properties: Properties, path: str) -> tuple[Any, ...]:
    """Return the list at `path` without unknown members."""
    value = lookup(properties, path)
    if not isinstance(value, list):
        return ()
    return tuple(item for item in cast("list[Any]", value) if item is not UNKNOWN)


def texts(properties: Properties, path: str) -> tuple[str, ...]:
    """Return the strings of the list at `path`."""
    return tuple(item for item in items(properties, path) if isinstance(item, str))


def objects(properties: Properties, path: str) -> tuple[Properties, ...]:
    """Return the mappings of the list at `path`."""
    return tuple(
        cast("Properties", item) for item in items(properties, path) if isinstance(item, dict)
    )


def strings(properties: Properties, path: str) -> dict[str, str]:
    """Return the entries of the mapping at `path` whose values are known strings."""
    found = mapping(properties, path)
    return {key: value for key, value in found.items() if isinstance(value, str)}
