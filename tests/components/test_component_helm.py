"""Releases, the charts of lanes, and namespaces."""

from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest

from components.helm import install, install_lane, namespace
from fleet.kubernetes.releases import Release
from fleet.kubernetes.resources import Resources
from tests.engine import Registration, deploy_both, remembered

PLAIN = Release(
    name="thing",
    namespace="things",
    chart="chart",
    repository="https://charts.example.org",
    version="1.2.3",
    typed_values=Resources(),
    values={"gpuCount": 1, "someFlag": False, "nothing": {}},
)


@remembered
def installed(release: Release[Any]) -> Registration:
    def program() -> None:
        first = kubernetes.core.v1.Namespace("first")
        install("thing-release", release, pulumi.ResourceOptions(protect=True), depends_on=[first])

    return deploy_both(program).one(kubernetes.helm.v3.Release)


def test_values_arrive_as_they_are() -> None:
    values = installed(PLAIN).inputs["values"]
    assert values == PLAIN.values
    assert type(values["gpuCount"]) is int
    assert not installed(PLAIN).values.secret_paths, "one secret hides every diff"


def test_values_of_other_resources_are_added_to_those_of_the_plan() -> None:
    def program() -> None:
        space = kubernetes.core.v1.Namespace("first")
        wiring = {"madeBy": {"id": space.id}}
        install_lane("thing", PLAIN, pulumi.ResourceOptions(), depends_on=[], wiring=wiring)

    release = deploy_both(program).one(kubernetes.helm.v4.Chart)
    made_by = {"madeBy": {"id": "first-id"}}
    assert release.inputs["values"] == {**PLAIN.values, **made_by}


def test_the_callers_options_and_the_order_are_both_kept() -> None:
    release = installed(PLAIN)
    assert release.protect
    assert [urn.rpartition("::")[2] for urn in release.depends_on] == ["first"]


def test_a_plain_release_is_changed_in_place() -> None:
    release = installed(PLAIN)
    assert release.replace_on_changes == ()


@pytest.mark.parametrize("repository", [None, "https://mirror.example.org"])
def test_a_chart_of_a_registry_has_no_repository(repository: str | None) -> None:
    sent = installed(replace(PLAIN, repository=repository)).inputs
    assert sent.get("repositoryOpts") == ({"repo": repository} if repository else None)


def test_crds_are_skipped_where_they_are_resources_of_their_own() -> None:
    assert installed(replace(PLAIN, skip_crds=True)).inputs["skipCrds"] is True
    assert not installed(PLAIN).inputs.get("skipCrds")


@pytest.mark.parametrize("privileged", [True, False])
def test_only_a_privileged_namespace_lets_pods_through(privileged: bool) -> None:
    def program() -> None:
        namespace("space", "things", pulumi.ResourceOptions(), depends_on=[], privileged=privileged)

    sent = deploy_both(program).one(kubernetes.core.v1.Namespace).inputs["metadata"]
    assert sent["name"] == "things"
    assert ("pod-security.kubernetes.io/enforce" in sent["labels"]) == privileged
