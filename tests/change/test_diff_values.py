"""Leaves that differ, by the engine's paths."""

import json
from typing import Any

import pytest

from change.document import MAX_TEXT, scalar
from change.steps import UNKNOWN, differences
from change.values import ABSENT, SECRET, at, steps


def found(old: Any, new: Any, path: str = "p") -> list[tuple[str, str, Any, Any]]:
    return [(one.path, one.change, one.old, one.new) for one in differences(old, new, path)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("scalingConfig.minSize", ["scalingConfig", "minSize"]),
        ("taints[0].key", ["taints", 0, "key"]),
        ('tags["a.b"].c', ["tags", "a.b", "c"]),
        ('data["a\\"b"]', ["data", 'a"b']),
        ("[1][2]", [1, 2]),
    ],
)
def test_property_paths_are_parsed(path: str, expected: list[object]) -> None:
    assert steps(path) == expected


def test_the_value_at_a_path() -> None:
    value = {"taints": [{"key": "gpu"}], "tags": {"a.b": 1}}
    assert at(value, "taints[0].key") == "gpu"
    assert at(value, 'tags["a.b"]') == 1
    assert at(value, "taints[1].key") is ABSENT
    assert at(value, "taints[0].key.more") is ABSENT


def test_only_leaves_that_differ_are_named() -> None:
    old = {"a": 1, "b": {"c": [1, 2], "d": True}}
    new = {"a": 1, "b": {"c": [1, 3], "d": True}}
    assert found(old, new, "") == [("b.c[1]", "update", 2, 3)]


def test_added_and_removed_maps_are_compared_leaf_by_leaf() -> None:
    assert found(ABSENT, {"a": {"b": 1}}) == [("p.a.b", "add", None, 1)]
    assert found([1], [1, {"x.y": 2}]) == [('p[1]["x.y"]', "add", None, 2)]
    assert found({"a": 1}, None) == [("p.a", "delete", 1, None)]


def test_equal_numbers_are_equal_and_true_is_no_number() -> None:
    assert found(1, 1.0) == []
    assert found(1, True) == [("p", "update", 1, True)]


def test_a_text_of_json_is_compared_by_content() -> None:
    old = json.dumps({"cpu": "1", "gpu": 1}, indent=2)
    assert found(old, '{"gpu":1,"cpu":"1"}') == [], "spelling is no change"
    assert found(old, '{"gpu":1,"cpu":"2"}') == [("p.cpu", "update", "1", "2")]
    assert found("{not json", "{neither") == [("p", "update", "{not json", "{neither")]


def test_a_secret_has_no_values() -> None:
    (one,) = differences({"token": SECRET}, {"token": SECRET}, "")
    assert (one.path, one.secret, one.old, one.new) == ("token", True, None, None)
    (one,) = differences("was plain", SECRET, "p")
    assert (one.secret, one.old) == (True, None), "the old value may be the same secret"


@pytest.mark.parametrize("unknown", [UNKNOWN, "output<string>"])
def test_an_unknown_value_is_marked(unknown: str) -> None:
    (one,) = differences("asg-1", unknown, "p")
    assert (one.known, one.old, one.new) == (False, "asg-1", None)


def test_a_long_value_is_cut_and_marked() -> None:
    text = scalar("x" * (MAX_TEXT + 1))
    assert isinstance(text, str)
    assert len(text) == MAX_TEXT
    assert text.endswith("…")
    assert scalar(["a", 1]) == '["a", 1]'
