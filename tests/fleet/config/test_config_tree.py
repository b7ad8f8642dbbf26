"""Surgery on JSON-like data: what is null, where an error is, and what goes with it."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.config.tree import child, cut, cut_nulls, existing
from fleet.findings import Path


def data() -> dict[str, Any]:
    return {"map": {"key": 1, "list": [{"inner": 2}, 3]}, "text": "four"}


def test_nulls_are_found_everywhere_and_cut_from_maps() -> None:
    tree: Any = {"a": None, "b": {"c": None, "d": [None, {"e": None, "f": 1}, 2]}}
    assert list(cut_nulls(tree)) == [
        ("a",),
        ("b", "c"),
        ("b", "d", 0),
        ("b", "d", 1, "e"),
    ]
    assert tree == {"b": {"d": [None, {"f": 1}, 2]}}, "a list keeps its places"


@pytest.mark.parametrize(
    ("location", "found"),
    [
        (("map", "key"), ("map", "key")),
        (("map", "gone"), ("map", "gone")),
        (("map", "gone", "deeper"), ("map", "gone")),
        (("map", "key", "[key]"), ("map", "key")),
        (("map", "list", 0, "inner"), ("map", "list", 0, "inner")),
        (("map", "list", 5, "inner"), ("map", "list", 5)),
        (("text", "function-after[check()]"), ("text", "function-after[check()]")),
        ((), ()),
    ],
)
def test_a_location_ends_at_what_is_there_or_is_missing(location: Path, found: Path) -> None:
    assert existing(location, data()) == found


@pytest.mark.parametrize(
    ("holder", "part", "found"),
    [
        ({"a": 1}, "a", 1),
        ({"a": 1}, "b", None),
        ({"a": 1}, 0, None),
        ([1, 2], 1, 2),
        ([1, 2], 2, None),
        ([1, 2], "a", None),
        ("text", 0, None),
        (3, "a", None),
        (None, "a", None),
    ],
)
def test_a_part_leads_somewhere_or_nowhere(holder: Any, part: str | int, found: Any) -> None:
    assert child(holder, part) == found


@pytest.mark.parametrize(
    ("location", "left"),
    [
        (("text",), {"map": data()["map"]}),
        (("map", "key"), {"map": {"list": [{"inner": 2}, 3]}, "text": "four"}),
        (("map", "gone"), {"text": "four"}),
        (("map", "list", 0, "inner"), {"map": {"key": 1, "list": [{}, 3]}, "text": "four"}),
        (("map", "list", 1), {"map": {"key": 1}, "text": "four"}),
        (("map", "list", 0, "gone"), {"map": {"key": 1}, "text": "four"}),
        (("gone",), {}),
        (("gone", "deeper"), data()),
        ((), {}),
    ],
)
def test_what_is_wrong_is_cut_or_what_lacks_it(location: Path, left: Any) -> None:
    tree = data()
    cut(tree, location)
    assert tree == left
