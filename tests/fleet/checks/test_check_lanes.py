"""GPU model, GPU memory, host device and RuntimeClass of lanes against their pools."""

from typing import Any

import pytest

from tests.fleet.checks.planted import cards, existing_of, found, stack_of

LANE = "clusters.site.github.lanes.gpu"


def on(pool: dict[str, Any], **lane: Any) -> dict[str, Any]:
    return existing_of({"gpu": pool, "cpu": {}}, {"gpu": {"pools": ["gpu"], "gpus": 1, **lane}})


@pytest.mark.parametrize(
    ("pool", "need", "severity"),
    [
        (cards("A100-40GB"), "40Gi", None),
        (cards("A100-40GB"), "41Gi", "error"),
        (cards("A100-40GB", sharing={"time_slicing": 2}), "20Gi", None),
        (cards("A100-40GB", sharing={"time_slicing": 2}), "21Gi", "warning"),
        (cards("A100-40GB", sharing={"time_slicing": 2}), "41Gi", "error"),
        (cards("A100-40GB", sharing={"mig": "1g.5gb"}), "4800Mi", None),
        (cards("A100-40GB", sharing={"mig": "1g.5gb"}), "5000Mi", "warning"),
        (cards("A100-40GB", sharing={"mig": "1g.5gb"}), "5Gi", "error"),
        (cards("T4"), "15Gi", None),
        (cards("T4"), "16Gi", "error"),
        # Whoever owns the node may have switched ECC off.
        (cards("A10"), "22Gi", None),
        (cards("A10"), "23Gi", "warning"),
        (cards("A10"), "24Gi", "error"),
        (cards("RTX A6000"), "47Gi", None),
        (cards("A100-40GB", sharing={"mig": "1g.5gb"}), "6Gi", "error"),
    ],
)
def test_gpu_memory_is_compared_with_each_gpu(
    pool: dict[str, Any], need: str, severity: str | None
) -> None:
    findings = found("gpu-memory", on(pool, gpu_memory=need))
    assert [finding.severity for finding in findings] == ([severity] if severity else [])
    assert all(finding.path == f"{LANE}.gpu_memory" for finding in findings)


def test_a_gpu_too_small_is_reported_as_cuda_out_of_memory() -> None:
    (finding,) = found("gpu-memory", on(cards("T4"), gpu_memory="20Gi"))
    assert finding.message == (
        "is 20Gi, but a GPU of pool gpu (gpu) has 15Gi for jobs: jobs would fail with CUDA out of "
        "memory"
    )


def test_a_fraction_of_a_card_has_a_fraction_of_its_memory() -> None:
    pools = {"p": {"instance_types": ["g6f.xlarge"], "max_size": 1}}
    lanes = {"gpu": {"pools": ["p"], "gpus": 1, "gpu_memory": "4Gi"}}
    (finding,) = found("gpu-memory", stack_of(pools, lanes))
    assert "(g6f.xlarge) has 2879Mi for jobs" in finding.message
    assert "more GPUs" not in finding.remedy, "the key is what a job needs on each"


@pytest.mark.parametrize(("need", "told"), [("22Gi", False), ("23Gi", True)])
def test_a_cloud_node_has_less_of_a_card_than_the_vendor_says(need: str, told: bool) -> None:
    pools = {"p": {"instance_types": ["g5.xlarge"], "max_size": 1}}
    lanes = {"gpu": {"pools": ["p"], "gpus": 1, "gpu_memory": need}}
    findings = found("gpu-memory", stack_of(pools, lanes))
    assert [finding.severity for finding in findings] == (["error"] if told else [])


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://github.com/example-org", False),
        ("https://github.com/example-org/", False),
        ("https://github.com/example-org/project", True),
        ("https://github.com/enterprises/example", False),
    ],
)
def test_a_repository_has_no_runner_groups(url: str, told: bool) -> None:
    data = on(cards("T4"), group="GPUs")
    data["clusters"]["site"]["github"]["url"] = url
    findings = found("runner-group", data)
    assert [finding.path for finding in findings] == ([f"{LANE}.group"] if told else [])
    del data["clusters"]["site"]["github"]["lanes"]["gpu"]["group"]
    assert not found("runner-group", data)


@pytest.mark.parametrize(
    ("lane", "told"),
    [
        ({"memory": "8Gi", "shm": "8Gi"}, False),
        ({"memory": "8Gi", "shm": "9Gi"}, True),
        ({"memory": "8Gi", "memory_limit": "16Gi", "shm": "9Gi"}, False),
        ({"memory": "8Gi"}, False),
    ],
)
def test_shared_memory_counts_against_the_limit(lane: dict[str, Any], told: bool) -> None:
    findings = found("shared-memory", on(cards("T4"), **lane))
    assert [finding.path for finding in findings] == ([f"{LANE}.shm"] if told else [])


@pytest.mark.parametrize(("limit", "told"), [("64Gi", False), ("65Gi", True)])
def test_a_memory_limit_above_the_node_is_a_warning(limit: str, told: bool) -> None:
    findings = found("memory-limit", on(cards("T4"), memory="8Gi", memory_limit=limit))
    assert [finding.path for finding in findings] == ([f"{LANE}.memory_limit"] if told else [])
    assert all("(gpu) has 64Gi" in finding.message for finding in findings)
