"""Typed reading of wire properties: a dotted path in, a plain value out.

An absent, null or unknown value reads as nothing (`None`, an empty tuple or mapping), so that a
rule never judges what the engine does not know yet.
"""

from __future__ import annotations

from typing import Any, cast

from pulumi_rehearsal.standin.values import UNKNOWN, Properties


def lookup(properties: Properties, path: str) -> object:
    """The value at `path` (`vpcConfig.subnetIds`), which may be `UNKNOWN`; None where absent."""
    value: Any = properties
    for name in path.split("."):
        if not isinstance(value, dict):
            return UNKNOWN if value is UNKNOWN else None
        value = cast("Properties", value).get(name)
    return value


def given(properties: Properties, path: str) -> bool:
    """Whether anything, known or not, is set at `path`."""
    value = lookup(properties, path)
    return value is UNKNOWN or (value is not None and value not in ("", [], {}))


def text(properties: Properties, path: str) -> str | None:
    """The string at `path`."""
    value = lookup(properties, path)
    return value if isinstance(value, str) else None


def number(properties: Properties, path: str) -> int | None:
    """The whole number at `path`."""
    value = lookup(properties, path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value)


def flag(properties: Properties, path: str) -> bool | None:
    """The boolean at `path`."""
    value = lookup(properties, path)
    return value if isinstance(value, bool) else None


def mapping(properties: Properties, path: str) -> Properties:
    """The mapping at `path`, empty where there is none."""
    value = lookup(properties, path)
    return cast("Properties", value) if isinstance(value, dict) else {}


def items(properties: Properties, path: str) -> tuple[Any, ...]:
    """The list at `path`, unknown members left out."""
    value = lookup(properties, path)
    if not isinstance(value, list):
        return ()
    return tuple(item for item in cast("list[Any]", value) if item is not UNKNOWN)


def texts(properties: Properties, path: str) -> tuple[str, ...]:
    """The strings of the list at `path`."""
    return tuple(item for item in items(properties, path) if isinstance(item, str))


def objects(properties: Properties, path: str) -> tuple[Properties, ...]:
    """The mappings of the list at `path`."""
    return tuple(
        cast("Properties", item) for item in items(properties, path) if isinstance(item, dict)
    )


def strings(properties: Properties, path: str) -> dict[str, str]:
    """The mapping at `path`, only its known strings."""
    found = mapping(properties, path)
    return {key: value for key, value in found.items() if isinstance(value, str)}
