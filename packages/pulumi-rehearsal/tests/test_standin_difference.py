"""Changed paths, their notation, and whether they replace the resource."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from pulumi.runtime.proto import provider_pb2
from pulumi_rehearsal.standin import difference
from pulumi_rehearsal.standin.kind import Kind
from pulumi_rehearsal.standin.values import UNKNOWN

DIFF = provider_pb2.DiffResponse


class Pool(Kind):
    token: ClassVar[str] = "aws:eks/nodeGroup:NodeGroup"
    replaced_on: ClassVar[frozenset[str]] = frozenset({"vpcConfig.subnetIds", "name"})
    updated_on: ClassVar[frozenset[str]] = frozenset({"tags"})
    autonamed: ClassVar[str | None] = "name"


def answer(old: dict[str, Any], new: dict[str, Any]) -> Any:
    return difference.answer(Pool(), "pool", old, new, difference.changes(old, new))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": "update"}),
        ({}, {"a": {"b": [1]}}, {"a.b": "add"}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a.c": "delete"}),
        ({"a": {"b": 1}}, {}, {"a.b": "delete"}),
        ({"a": None}, {}, {}),
        ({"a": {}}, {}, {"a": "delete"}),
        ({"a": [1, 2]}, {"a": [1, 3, 4]}, {"a[1]": "update", "a[2]": "add"}),
        ({"a": 1}, {"a": UNKNOWN}, {"a": "update"}),
        ({"tags": {"x.io/y": "1"}}, {"tags": {"x.io/y": "2"}}, {'tags["x.io/y"]': "update"}),
        ({"a": [1]}, {"a": {"b": 1}}, {"a": "update"}),
    ],
)
def test_changes_are_leaves(old: Any, new: Any, expected: dict[str, str]) -> None:
    found = difference.changes(old, new)
    assert {difference.text(path): change for path, change in found.items()} == expected


def test_equal_properties_have_no_difference() -> None:
    assert answer({"tags": {"a": "b"}}, {"tags": {"a": "b"}}).changes == DIFF.DIFF_NONE


def test_a_change_below_a_listed_path_replaces() -> None:
    found = answer({"vpcConfig": {"subnetIds": ["a"]}}, {"vpcConfig": {"subnetIds": ["b"]}})
    assert list(found.replaces) == ["vpcConfig"]
    kind = found.detailedDiff["vpcConfig.subnetIds[0]"].kind
    assert kind == provider_pb2.PropertyDiff.UPDATE_REPLACE


def test_a_change_beside_a_listed_path_does_not_replace() -> None:
    found = answer({"vpcConfig": {"public": True}}, {"vpcConfig": {"public": False}})
    assert list(found.replaces) == []
    assert list(found.diffs) == ["vpcConfig"]


def test_a_block_that_comes_or_goes_replaces_by_what_is_in_it() -> None:
    assert list(answer({}, {"vpcConfig": {"subnetIds": ["a"]}}).replaces) == ["vpcConfig"]


@pytest.mark.parametrize(
    ("name", "first"),
    [("pool-0123abc", False), ("by-hand", True)],
)
def test_a_given_name_would_collide_with_itself(name: str, first: bool) -> None:
    old = {"name": name, "vpcConfig": {"subnetIds": ["a"]}}
    new = {"name": name, "vpcConfig": {"subnetIds": ["b"]}}
    assert answer(old, new).deleteBeforeReplace is first


def test_a_changed_name_collides_with_nothing() -> None:
    assert answer({"name": "a"}, {"name": "b"}).deleteBeforeReplace is False


def test_a_property_in_no_table_is_listed() -> None:
    changed = difference.changes({"tags": {"a": "b"}}, {"diskSize": 3, "name": "x"})
    assert difference.unsourced(Pool(), changed) == ["diskSize"]
