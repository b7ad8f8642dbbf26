"""Where charts come from: pins, mirrors, and the one version that a stack may set."""

from dataclasses import dataclass, field
from typing import Any, get_args

import pytest

from fleet.catalog.charts import CHARTS
from fleet.config.stack import ChartName, Charts
from fleet.kubernetes.pods import ResourceRequirements
from fleet.kubernetes.releases import chart_key, key, source, to_values
from fleet.kubernetes.resources import Resources
from tests.cases import for_each
from tests.fleet.samples import every_key, loaded


@for_each("name", get_args(ChartName))
def test_a_chart_comes_from_its_pin(name: ChartName) -> None:
    found, pin = source(name, Charts()), CHARTS[name]
    assert found.version == pin.version
    assert (found.chart, found.repository) == (pin.chart, pin.repository)


def test_every_pinned_chart_can_be_mirrored() -> None:
    assert set(get_args(ChartName)) == set(CHARTS)


@for_each("name", get_args(ChartName))
def test_a_mirror_over_http_is_a_repository(name: ChartName) -> None:
    found = source(name, Charts(repositories={name: "https://mirror.example.com/charts"}))
    assert (found.chart, found.repository) == (name, "https://mirror.example.com/charts")
    assert found.version == CHARTS[name].version, "a mirror never moves a version"


@for_each("mirror", ["oci://mirror.example.com/charts", "oci://mirror.example.com/charts/"])
@for_each("name", get_args(ChartName))
def test_a_mirror_of_kind_oci_is_part_of_the_reference(name: ChartName, mirror: str) -> None:
    found = source(name, Charts(repositories={name: mirror}))
    assert (found.chart, found.repository) == (f"oci://mirror.example.com/charts/{name}", None)


def test_a_mirror_of_one_chart_leaves_the_others_alone() -> None:
    charts = Charts(repositories={"gitlab-runner": "https://mirror.example.com"})
    assert source("gpu-operator", charts) == source("gpu-operator", Charts())


def test_the_version_of_arc_is_set_for_controller_and_sets_together() -> None:
    charts = Charts(arc_version="0.15.0")
    assert source("gha-runner-scale-set", charts).version == "0.15.0"
    assert source("gha-runner-scale-set-controller", charts).version == "0.15.0"
    assert source("gitlab-runner", charts).version == CHARTS["gitlab-runner"].version


def test_definitions_of_arc_follow_its_version() -> None:
    plan = loaded(every_key({"charts": {"arc_version": "0.15.0"}})).plan
    github = plan.clusters[0].github
    assert github is not None
    assert all("gha-runner-scale-set-0.15.0/" in one for one in github.controller.crd_files)
    assert {lane.release.version for lane in github.lanes} == {"0.15.0"}
    assert github.controller.release.version == "0.15.0" != CHARTS["gha-runner-scale-set"].version


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


def test_an_object_with_a_rendering_of_its_own_is_what_it_renders() -> None:
    requests = Resources(cpu_m=500, memory_mib=64)
    assert to_values(Outer(anything=ResourceRequirements(requests=requests))) == {
        "anything": {"requests": {"cpu": "500m", "memory": "64Mi"}, "limits": {"memory": "64Mi"}}
    }
