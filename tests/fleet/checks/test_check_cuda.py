"""CUDA versions of lanes against drivers and GPUs of their pools."""

from datetime import date
from typing import Any

import pytest

from tests.fleet.checks.planted import cards, existing_of, found, stack_of

GPU = "clusters.site.github.lanes.gpu"
RULES = ("cuda-driver", "cuda-gpu", "cuda-features", "cuda-architecture", "driver-gpu")


def on(model: str, driver: str, **lane: Any) -> dict[str, Any]:
    """Return a stack with one lane on nodes of that card and driver."""
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1, **lane}}
    return existing_of({"gpu": cards(model, driver=driver), "cpu": {}}, lanes)


def said(data: dict[str, Any]) -> list[str]:
    return [rule for rule in RULES if found(rule, data)]


def image(tag: str) -> str:
    return f"ghcr.io/example/runner:2.338.0-cuda{tag}"


@pytest.mark.parametrize(
    ("model", "driver", "cuda", "rules"),
    [
        ("T4", "535.54.03", "13.0.1", ["cuda-driver"]),
        ("T4", "580.95.05", "13.0.1", []),
        ("T4", "470.223.02", "12.1.0", ["cuda-driver"]),
        ("T4", "525.60.13", "12.0.1", []),
        ("T4", "535.54.03", "12.8.1", ["cuda-features"]),
        ("T4", "580", "13.0.1", []),
        ("T4", "580.95.05", "13.1.0", ["cuda-features"]),
        ("A100-40GB", "470.223.02", "11.4.3", []),
        ("V100", "580.95.05", "13.0.1", ["cuda-gpu"]),
        ("V100", "580.95.05", "12.9.1", []),
        ("H100", "580.95.05", "11.4.3", ["cuda-gpu"]),
        ("H100", "580.95.05", "11.8.0", []),
        ("B200", "580.95.05", "12.4.1", ["cuda-gpu"]),
        ("B200", "580.95.05", "12.8.1", []),
        # An L4 runs what was compiled for other cards of capability 8.
        ("L4", "580.95.05", "11.4.3", ["cuda-architecture"]),
        ("L4", "580.95.05", "10.2.1", ["cuda-gpu"]),
        ("V100", "595.91.07", "12.4.1", ["driver-gpu"]),
        ("H100", "470.223.02", "11.8.0", ["cuda-features", "driver-gpu"]),
        ("B200", "535.54.03", "12.8.1", ["cuda-features", "driver-gpu"]),
    ],
)
def test_image_driver_and_gpu_have_to_suit_each_other(
    model: str, driver: str, cuda: str, rules: list[str]
) -> None:
    assert said(on(model, driver, image=image(cuda))) == rules


def test_a_driver_too_old_is_an_error_with_both_versions() -> None:
    (finding,) = found("cuda-driver", on("T4", "535.54.03", image=image("13.0.1")))
    assert (finding.severity, finding.path) == ("error", f"{GPU}.image")
    assert finding.message == (
        "has CUDA 13.0, which needs driver 580 or newer, but the nodes of pool gpu have "
        "535.54.03: CUDA calls fail with insufficient driver"
    )
    assert "CUDA 12 or older" in finding.remedy


def test_what_a_lane_declares_counts_before_its_image() -> None:
    data = on("T4", "535.54.03", cuda="13.0", image="registry.example.com/team/train:7")
    (finding,) = found("cuda-driver", data)
    assert finding.path == f"{GPU}.cuda"
    assert not said(on("T4", "535.54.03", image="registry.example.com/team/train:7"))
    assert not said(on("T4", "535.54.03", cuda="12.2", image=image("13.0.1")))


def test_an_image_of_the_workflow_is_checked_by_the_declared_cuda() -> None:
    mode = {"container_mode": "kubernetes-novolume"}
    assert not said(on("T4", "535.54.03", image=image("13.0.1"), **mode))
    assert said(on("T4", "535.54.03", cuda="13.0", **mode)) == ["cuda-driver"]


def test_the_amis_driver_is_known_by_its_release() -> None:
    pool = {"instance_types": ["g4dn.xlarge"], "max_size": 1}
    lanes = {"gpu": {"pools": ["t4"], "gpus": 1, "cuda": "13.0"}}
    assert not found("cuda-driver", stack_of({"t4": pool}, lanes))
    old = {**pool, "release_version": "1.35.1-20250901"}
    (finding,) = found("cuda-driver", stack_of({"t4": old}, lanes))
    assert "have 570" in finding.message


def test_the_driver_of_the_gpu_operator_is_too_new_for_a_v100() -> None:
    bare = cards("V100")
    del bare["driver"]
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1}}
    operator: dict[str, Any] = {"driver": True, "toolkit": True}
    stack = {"gpu_stack": {"advertiser": "operator", "operator": operator}}
    (finding,) = found("driver-gpu", existing_of({"gpu": bare, "cpu": {}}, lanes, **stack))
    assert "driver 580 is the last that supports Volta" in finding.message
    assert "gpu_stack.operator.driver_version" in finding.remedy
    operator["driver_version"] = "580.173.02"
    assert not found("driver-gpu", existing_of({"gpu": bare, "cpu": {}}, lanes, **stack))


def test_a_driver_branch_is_reported_from_the_month_after_its_end_of_life() -> None:
    data = on("T4", "570.26")
    assert not found("driver-end-of-life", data, date(2026, 2, 28))
    (finding,) = found("driver-end-of-life", data, date(2026, 3, 1))
    assert (finding.severity, finding.path) == ("warning", "clusters.site.existing.pools.gpu")
    assert "ended in 2026-02" in finding.message
    assert "use driver 580" in finding.remedy


def test_a_driver_version_has_two_digits_in_the_third_place() -> None:
    (finding,) = found("cuda-features", on("T4", "595.45.04", cuda="13.3"))
    assert "needs driver 610.43.02 for all features" in finding.message


def test_a_cuda_tag_of_two_numbers_is_a_warning() -> None:
    data = on("T4", "580.95", image="docker.io/nvidia/cuda:12.4-devel-ubuntu22.04")
    (finding,) = found("image-tag", data)
    assert (finding.severity, finding.path) == ("warning", f"{GPU}.image")
    whole = "docker.io/nvidia/cuda:12.4.1-devel-ubuntu22.04"
    assert not found("image-tag", on("T4", "580.95", image=whole))


def test_a_default_image_with_too_new_a_cuda_is_a_warning() -> None:
    gitlab: dict[str, Any] = {
        "api_token": {"secret": "gitlabApiToken"},
        "lanes": {"gl": {"pools": ["gpu"], "gpus": 1, "runner": {"group_id": 1}}},
    }
    old = {"gpu": cards("T4", driver="470.223.02"), "cpu": {}}
    lanes = {"gpu": {"pools": ["gpu"], "gpus": 1}}
    (finding,) = found("cuda-driver", existing_of(old, lanes, gitlab=gitlab))
    assert (finding.severity, finding.path) == ("warning", "clusters.site.gitlab.lanes.gl.cuda")
    gitlab["lanes"]["gl"]["image"] = image("12.4.1")
    (finding,) = found("cuda-driver", existing_of(old, lanes, gitlab=gitlab))
    assert finding.severity == "error"


@pytest.mark.parametrize(
    ("lane", "reported"),
    [
        ({"image": image("12.9"), "cuda": "12.8"}, True),
        ({"image": image("12.9"), "cuda": "12.9"}, False),
        ({"image": image("12.9")}, False),
        ({"image": "ghcr.io/example/runner:2.338.0", "cuda": "12.8"}, False),
        # There the image is the runner's alone.
        ({"image": image("12.9"), "cuda": "12.8", "container_mode": "kubernetes-novolume"}, False),
    ],
)
def test_cuda_that_differs_from_the_image_is_a_warning(
    lane: dict[str, Any], reported: bool
) -> None:
    findings = found("cuda-tag", on("T4", "580.95.05", **lane))
    assert [(one.severity, one.path) for one in findings] == (
        [("warning", f"{GPU}.cuda")] if reported else []
    )
    assert all("is 12.8, but the name of image" in one.message for one in findings)


@pytest.mark.parametrize(
    ("cuda", "reported"),
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
def test_an_unreleased_cuda_version_is_a_warning_unless_it_may_be_the_next(
    cuda: str, reported: bool
) -> None:
    findings = found("version-unknown", on("T4", "580.95.05", cuda=cuda))
    assert [(one.severity, one.path) for one in findings] == (
        [("warning", f"{GPU}.cuda")] if reported else []
    )


def test_the_remedy_for_cuda_12_7_is_a_neighbouring_version() -> None:
    (finding,) = found("version-unknown", on("T4", "580.95.05", cuda="12.7"))
    assert 'like "12.6"' in finding.remedy or 'like "12.8"' in finding.remedy


@pytest.mark.parametrize(
    ("driver", "reported"),
    [("999.0", True), ("299.1", True), ("545.23.08", False), ("620.10", False), ("470", False)],
)
def test_a_driver_of_an_unknown_branch_is_a_warning(driver: str, reported: bool) -> None:
    findings = found("version-unknown", on("T4", driver))
    assert [(one.severity, one.path) for one in findings] == (
        [("warning", "clusters.site.existing.pools.gpu")] if reported else []
    )
