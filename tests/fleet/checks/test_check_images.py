"""Images of lanes: their runner, their pull policy and the disk for them."""

from typing import Any

import pytest

from tests.fleet.checks.planted import cards, existing_of, found
from tests.planted_faults import on_eks, on_gitlab, on_oke

LANE = "clusters.ci.github.lanes.gpu"
CUDA = "docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04"


@pytest.mark.parametrize("mode", ["none", "kubernetes", "kubernetes-novolume"])
def test_an_image_without_a_runner_is_an_error_in_every_container_mode(mode: str) -> None:
    (finding,) = found("runner-image", on_eks(image=CUDA, container_mode=mode))
    assert (finding.severity, finding.path) == ("error", f"{LANE}.image")
    assert "has no GitHub runner: its pod would exit at once" in finding.message
    assert "ghcr.io/actions/actions-runner" in finding.remedy
    assert ("container:" in finding.remedy) == (mode != "none"), "there the workflow names it"


@pytest.mark.parametrize(
    ("image", "severity"),
    [
        ("nvcr.io/nvidia/pytorch:26.10-py3", "error"),
        ("pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime", "error"),
        ("ubuntu:24.04", "error"),
        ("registry.example.com/mirror/nvidia/cuda:12.9.1-base-ubuntu24.04", "warning"),
        ("ghcr.io/example/runner:2.338.0-cuda12.9", None),
        ("registry.example.com/ci/ubuntu:24.04-runner", None),
    ],
)
def test_only_a_public_image_certainly_has_no_runner(image: str, severity: str | None) -> None:
    findings = found("runner-image", on_eks(image=image))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])


def test_a_gitlab_lane_may_have_any_image_and_the_default_has_a_runner() -> None:
    assert not found("runner-image", on_gitlab(image=CUDA))
    assert not found("runner-image", on_eks())


def test_an_image_that_is_never_pulled_is_an_error_on_new_nodes() -> None:
    (finding,) = found("pull-policy", on_eks(pull_policy="Never"))
    assert (finding.severity, finding.path) == ("error", f"{LANE}.pull_policy")
    assert not found("pull-policy", on_eks(pull_policy="IfNotPresent"))
    assert not found("pull-policy", on_eks({"min_size": 1}, pull_policy="Never"))


def test_one_pull_policy_of_gitlab_that_pulls_is_enough() -> None:
    assert found("pull-policy", on_gitlab(pull_policy=["never"]))
    assert not found("pull-policy", on_gitlab(pull_policy=["never", "always"]))


def test_a_node_image_of_the_user_may_contain_the_image() -> None:
    own = {"image_id": "ocid1.image.oc1.iad.aaaaaaaagpu", "driver": "580.95.05"}
    (finding,) = found("pull-policy", on_oke(own, pull_policy="Never"))
    assert finding.severity == "warning"
    (finding,) = found("pull-policy", on_oke(pull_policy="Never"))
    assert finding.severity == "error"


def test_the_nodes_of_an_existing_cluster_may_have_the_image() -> None:
    lane = {"pools": ["gpu"], "gpus": 1, "pull_policy": "Never"}
    assert not found("pull-policy", existing_of({"gpu": cards(), "cpu": {}}, {"gpu": lane}))


@pytest.mark.parametrize(
    ("pool", "told"),
    [
        ({"disk_gib": 199, "instance_store": "unused"}, True),
        ({"disk_gib": 200, "instance_store": "unused"}, False),
        ({"disk_gib": 100}, False),
        ({"disk_gib": 100, "instance_types": ["p3.2xlarge"]}, True),
    ],
)
def test_a_small_root_volume_is_a_warning_where_images_lie_on_it(
    pool: dict[str, Any], told: bool
) -> None:
    findings = found("image-disk", on_eks(pool))
    assert [(one.severity, one.path) for one in findings] == (
        [("warning", "clusters.ci.eks.pools.gpu.disk_gib")] if told else []
    )


@pytest.mark.parametrize(("size", "told"), [(200, True), (399, True), (400, False)])
def test_a_small_boot_volume_is_a_warning(size: int, told: bool) -> None:
    findings = found("image-disk", on_oke({"boot_volume_gb": size}))
    assert [(one.severity, one.path) for one in findings] == (
        [("warning", "clusters.oci.oke.pools.gpu.boot_volume_gb")] if told else []
    )
