"""The serialiser: spelling, what is left out, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from fleet.kubernetes.values import chart_key, key, to_values


@dataclass(frozen=True, kw_only=True, slots=True)
class Inner:
    node_selector: dict[str, str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Outer:
    min_runners: int | None = None
    tolerations: tuple[Any, ...] | None = None
    inner: Inner | None = None
    anything: Any = None
    shutdown_timeout: int | None = field(default=None, metadata=key("shutdown_timeout"))
    nfd: Inner | None = field(default=None, metadata=key("node-feature-discovery"))
    plugin: bool | None = field(default=None, metadata=key("devicePlugin", "enabled"))
    plugin_config: str | None = field(default=None, metadata=key("devicePlugin", "config", "name"))


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("template", "template"),
        ("min_runners", "minRunners"),
        ("runner_max_concurrent_reconciles", "runnerMaxConcurrentReconciles"),
        ("github_config_url", "githubConfigUrl"),
    ],
)
def test_a_field_name_becomes_camel_case(name: str, spelling: str) -> None:
    assert chart_key(name) == spelling


def test_what_is_none_is_left_to_the_chart() -> None:
    assert to_values(Outer()) == {}


def test_zero_and_false_and_empty_are_written() -> None:
    values = to_values(Outer(min_runners=0, plugin=False, tolerations=()))
    assert values == {"minRunners": 0, "devicePlugin": {"enabled": False}, "tolerations": []}


def test_an_exact_spelling_wins_over_the_rule() -> None:
    values = to_values(Outer(shutdown_timeout=30, nfd=Inner(node_selector={})))
    assert values == {"shutdown_timeout": 30, "node-feature-discovery": {"nodeSelector": {}}}


def test_fields_with_a_common_way_down_meet_in_one_map() -> None:
    values = to_values(Outer(plugin=True, plugin_config="shared"))
    assert values == {"devicePlugin": {"enabled": True, "config": {"name": "shared"}}}


def test_keys_of_the_user_are_never_respelt() -> None:
    labels = {"gpu-runners/pool_name": "t4_spot", "snake_case": "kept"}
    assert to_values(Outer(inner=Inner(node_selector=labels)))["inner"]["nodeSelector"] == labels


def test_tuples_become_lists_at_every_depth() -> None:
    values = to_values(Outer(anything={"a": ({"b": (1, 2)}, Inner(node_selector={"c": "d"}))}))
    assert values == {"anything": {"a": [{"b": [1, 2]}, {"nodeSelector": {"c": "d"}}]}}


def test_a_null_inside_a_mapping_is_kept_because_charts_give_it_meaning() -> None:
    assert to_values(Outer(anything={"leader-elect": None})) == {"anything": {"leader-elect": None}}


def test_a_value_that_helm_cannot_hold_is_refused_with_its_path() -> None:
    with pytest.raises(TypeError, match=r"Outer\.anything\['a'\]\[1\] is a set"):
        to_values(Outer(anything={"a": ["fine", {1}]}))


def test_a_key_that_is_no_string_is_refused_with_its_path() -> None:
    with pytest.raises(TypeError, match=r"Outer\.anything has the key 10, a int"):
        to_values(Outer(anything={10: "x"}))


def test_a_misspelt_field_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="minRunner"):
        Outer(minRunner=1)  # type: ignore[call-arg]
