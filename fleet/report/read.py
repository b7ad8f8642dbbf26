"""Reading a report that another revision may have written: what is missing reads as empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

Data = Mapping[str, Any]


def part(data: Data, *keys: str) -> Data:
    """The map at that path; an empty one where there is none."""
    found: Any = data
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
    return cast("Data", found) if isinstance(found, Mapping) else {}


def parts(data: Data, key: str) -> Iterator[tuple[str, Data]]:
    """The maps in a map, with their keys."""
    for name, value in part(data, key).items():
        if isinstance(value, Mapping):
            yield str(name), cast("Data", value)


def rows(data: Data, key: str) -> list[Data]:
    """The maps in a list."""
    found = data.get(key)
    if not isinstance(found, list):
        return []
    return [cast("Data", one) for one in cast("list[object]", found) if isinstance(one, Mapping)]


def words(data: Data, key: str) -> list[str]:
    """The entries of a list, as text."""
    found = data.get(key)
    return [str(one) for one in cast("list[object]", found)] if isinstance(found, list) else []


def text(data: Data, key: str) -> str:
    """A value as text; nothing where there is none."""
    found = data.get(key)
    return "" if found is None else str(found)


def count(data: Data, key: str) -> int:
    """A whole number; 0 where there is none."""
    found = data.get(key)
    return found if isinstance(found, int) else 0


def usd(data: Data, key: str) -> float:
    """An amount of money; 0 where there is none."""
    found = data.get(key)
    return float(found) if isinstance(found, int | float) else 0.0


_FIXED = ("job", "made_of", "network")
"""Keys of maps whose own keys are fixed."""


def filled(data: Data, other: Data) -> Data:
    """The body of a cluster, pool or lane with what only `other` has, and so says nothing of it.

    A key that one revision does not know yet is no difference between two fleets.
    """
    both = {**{key: value for key, value in other.items() if key not in data}, **data}
    for key in _FIXED:
        if isinstance(both.get(key), Mapping) and isinstance(other.get(key), Mapping):
            both[key] = {**part(other, key), **part(both, key)}
    return both


def lanes(report: Data) -> Iterator[tuple[str, str, Data]]:
    """Every lane, with its cluster and its key there."""
    for cluster, body in parts(report, "clusters"):
        for name, lane in parts(body, "lanes"):
            yield cluster, name, lane


def pools(report: Data) -> Iterator[tuple[str, str, Data]]:
    """Every pool, with its cluster and its name."""
    for cluster, body in parts(report, "clusters"):
        for name, pool in parts(body, "pools"):
            yield cluster, name, pool
