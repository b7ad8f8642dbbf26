"""Rules that the stand-in clouds share: enumerations, bounds, conflicts, existence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from pulumi_rehearsal.standin.kind import Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import given, lookup, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

Problem = tuple[str, str]
"""An input path, and what is wrong with the value there."""


def choice(properties: Properties, path: str, allowed: Collection[str]) -> Iterator[Problem]:
    """Yield a problem if the string at `path` is none of `allowed`."""
    value = text(properties, path)
    if value is not None and value not in allowed:
        yield path, f"{value!r} is none of {', '.join(sorted(allowed))}"


def between(properties: Properties, path: str, low: int, high: int) -> Iterator[Problem]:
    """Yield a problem if the number at `path` is not from `low` to `high`."""
    value = lookup(properties, path)
    if isinstance(value, int) and not isinstance(value, bool) and not low <= value <= high:
        yield path, f"{value} is not between {low} and {high}"


def spelled(
    properties: Properties, path: str, pattern: str, limit: int, allowed: str
) -> Iterator[Problem]:
    """Yield a problem if the string at `path` exceeds `limit` or does not match `pattern`."""
    value = text(properties, path)
    if value is None:
        return
    if len(value) > limit:
        yield path, f"{value!r} has {len(value)} characters, the limit is {limit}: shorten it"
    elif not re.fullmatch(pattern, value):
        yield path, f"{value!r} must consist of {allowed}"


def exactly_one(properties: Properties, paths: Collection[str]) -> Iterator[Problem]:
    """Yield a problem unless exactly one of `paths` is set."""
    found = [path for path in paths if given(properties, path)]
    if len(found) != 1:
        which = ", ".join(found) if found else "none"
        yield (found or list(paths))[0], f"give exactly one of {', '.join(paths)}; given: {which}"


def conflict(properties: Properties, first: str, second: str) -> Iterator[Problem]:
    """Yield a problem if both paths are set."""
    if given(properties, first) and given(properties, second):
        yield second, f"conflicts with {first!r}: give one of the two"


def must_exist(
    world: World, token: str, wanted: str | None, scope: str | None, error: str
) -> Resource | None:
    """Return the resource with that id, or `None` while the id is not known.

    Raises `Refusal` if there is no such resource: it was deleted, or is created too late.
    """
    if wanted is None:
        return None
    found = world.get(wanted, token, scope)
    if found is None:
        noun = token.rpartition(":")[2]
        raise Refusal(
            f"{error}: {noun} {wanted!r} does not exist; refer to the resource's output, or make "
            "this one depend on it; if it exists before the program runs, pass existing=[...]"
        )
    return found
