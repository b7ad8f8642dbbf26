"""CUDA by what is written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fleet.checks.planted import cards, existing_of, found

GPU = "clusters.site.github.lanes.gpu"
RUNNER = "ghcr.io/example/runner:2.338.0-cuda12.9"


def on(driver: str = "580.95.05", **lane: Any) -> dict[str, Any]:
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1, **lane}}
    return existing_of({"gpu": cards("T4", driver=driver), "cpu": {}}, lanes)


@pytest.mark.parametrize(
    ("lane", "told"),
    [
        ({"image": RUNNER, "cuda": "12.8"}, True),
        ({"image": RUNNER, "cuda": "12.9"}, False),
        ({"image": RUNNER}, False),
        ({"image": "ghcr.io/example/runner:2.338.0", "cuda": "12.8"}, False),
        # There the image is the runner's alone.
        ({"image": RUNNER, "cuda": "12.8", "container_mode": "kubernetes-novolume"}, False),
    ],
)
def test_cuda_and_the_image_should_say_the_same(lane: dict[str, Any], told: bool) -> None:
    findings = found("cuda-tag", on(**lane))
    assert [(one.severity, one.path) for one in findings] == (
        [("warning", f"{GPU}.cuda")] if told else []
    )
    assert all("is 12.8, but the name of image" in one.message for one in findings)


@pytest.mark.parametrize(
    ("cuda", "told"),
    [
        ("12.7", True),
        ("12.8", False),
        ("12.6", False),
        ("10.2", False),
        ("10.3", True),
        ("13.5", False),
        ("14.0", False),
        ("15.0", True),
    ],
)
def test_a_cuda_version_that_never_was_is_a_warning_and_one_that_may_come_is_none(
    cuda: str, told: bool
) -> None:
    findings = found("version-unknown", on(cuda=cuda))
    assert [(one.severity, one.path) for one in findings] == (
        [("warning", f"{GPU}.cuda")] if told else []
    )


def test_what_to_write_instead_of_cuda_12_7_is_a_neighbour_of_it() -> None:
    (finding,) = found("version-unknown", on(cuda="12.7"))
    assert 'like "12.6"' in finding.remedy or 'like "12.8"' in finding.remedy


@pytest.mark.parametrize(
    ("driver", "told"),
    [("999.0", True), ("299.1", True), ("545.23.08", False), ("620.10", False), ("470", False)],
)
def test_a_driver_of_a_far_branch_is_a_warning(driver: str, told: bool) -> None:
    findings = found("version-unknown", on(driver))
    assert [(one.severity, one.path) for one in findings] == (
        [("warning", "clusters.site.existing.pools.gpu")] if told else []
    )
