"""Surgery on JSON-like data: find what is null, find where an error is, cut it out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from fleet.findings import Path

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


def cut_nulls(data: Json, path: Path = ()) -> Iterator[Path]:
    """Remove each key whose value is null; yield its place, and the places of nulls in lists."""
    if isinstance(data, dict):
        for key in list(data):
            if data[key] is None:
                del data[key]
                yield (*path, key)
            else:
                yield from cut_nulls(data[key], (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            if value is None:
                yield (*path, index)
            else:
                yield from cut_nulls(value, (*path, index))


def existing(location: Path, data: Json) -> Path:
    """The part of pydantic's location that is in the data, plus the key that is missing there."""
    found: list[str | int] = []
    for part in location:
        if part == "[key]":
            break
        found.append(part)
        inner = child(data, part)
        if inner is None:
            break
        data = inner
    return tuple(found)


def child(data: Json, part: str | int) -> Json:
    """What a key or index leads to; None where it leads nowhere."""
    if isinstance(data, dict) and isinstance(part, str):
        return data.get(part)
    if isinstance(data, list) and isinstance(part, int) and part < len(data):
        return data[part]
    return None


def cut(data: dict[str, Json], location: Path) -> None:
    """Remove what is wrong: the key, or the entry around a required key or a bad list item."""
    if not location:
        data.clear()
        return
    holder: Json = data
    for part in location[:-1]:
        holder = child(holder, part)
        if holder is None:
            return  # an earlier problem of this round has cut it already
    last = location[-1]
    if isinstance(holder, dict) and isinstance(last, str) and last in holder:
        del holder[last]
    else:
        cut(data, location[:-1])
