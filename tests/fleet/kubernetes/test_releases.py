"""Where charts come from: pins, mirrors, and the one version that a stack may set."""

from __future__ import annotations

from typing import get_args

from fleet.catalog.charts import CHARTS
from fleet.config.stack import ChartName, Charts
from fleet.kubernetes.releases import source
from tests.cases import for_each
from tests.fleet.samples import every_key, loaded


@for_each("name", get_args(ChartName))
def test_a_chart_comes_from_its_pin(name: ChartName) -> None:
    found, pin = source(name, Charts()), CHARTS[name]
    assert (found.chart, found.repository, found.version) == (
        pin.chart,
        pin.repository,
        pin.version,
    )


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
