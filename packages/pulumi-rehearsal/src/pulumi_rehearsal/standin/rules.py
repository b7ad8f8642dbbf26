"""Rules that the stand-in clouds share: enumerations, bounds, exclusions, what must exist."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from pulumi_rehearsal.standin.kind import Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import given, lookup, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

Problem = tuple[str, str]
"""An input path and what is wrong there."""


def choice(properties: Properties, path: str, allowed: Collection[str]) -> Iterator[Problem]:
    """A problem where the string at `path` is none of `allowed`."""
    value = text(properties, path)
    if value is not None and value not in allowed:
        yield path, f"{value!r} is none of {', '.join(sorted(allowed))}"


def between(properties: Properties, path: str, low: int, high: int) -> Iterator[Problem]:
    """A problem where the number at `path` lies outside `low` to `high`."""
    value = lookup(properties, path)
    if isinstance(value, int) and not isinstance(value, bool) and not low <= value <= high:
        yield path, f"{value} is not between {low} and {high}"


def spelled(
    properties: Properties, path: str, pattern: str, limit: int, words: str
) -> Iterator[Problem]:
    """A problem where the string at `path` is too long or spelled otherwise than `pattern`."""
    value = text(properties, path)
    if value is None:
        return
    if len(value) > limit:
        yield path, f"{value!r} has {len(value)} characters, the limit is {limit}: shorten it"
    elif not re.fullmatch(pattern, value):
        yield path, f"{value!r} must consist of {words}"


def exactly_one(properties: Properties, paths: Collection[str]) -> Iterator[Problem]:
    """A problem unless one and only one of `paths` is set."""
    found = [path for path in paths if given(properties, path)]
    if len(found) != 1:
        which = ", ".join(found) if found else "none"
        yield (found or list(paths))[0], f"give exactly one of {', '.join(paths)}; given: {which}"


def conflict(properties: Properties, first: str, second: str) -> Iterator[Problem]:
    """A problem where both paths are set."""
    if given(properties, first) and given(properties, second):
        yield second, f"conflicts with {first!r}: give one of the two"


def must_exist(
    world: World, token: str, wanted: str | None, scope: str | None, error: str
) -> Resource | None:
    """The thing with that id, None where the id is not known yet.

    Raises `Refusal` where nothing of the type has it: it was deleted, or is made too late.
    """
    if wanted is None:
        return None
    found = world.get(wanted, token, scope)
    if found is None:
        noun = token.rpartition(":")[2]
        raise Refusal(
            f"{error}: {noun} {wanted!r} does not exist; refer to the resource's output, or make "
            "this one depend on it"
        )
    return found
