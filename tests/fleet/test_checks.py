"""What crosses models: each check broken once, with path, message and remedy."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.findings import Finding
from tests.fleet.samples import every_key, loaded, refused, told

CI = "clusters.ci"
LANES = f"{CI}.github.lanes"
OTHER = "clusters.existing.github"


def gpu_lane(*pools: str, **more: Any) -> dict[str, Any]:
    return {"pools": list(pools), "gpus": 1, "max_runners": 1, **more}


def test_a_pool_that_a_lane_names_must_be_there() -> None:
    (finding,) = refused(every_key({f"{LANES}.gpu.pools": ["gpu-pool"]}))
    assert (finding.rule, finding.path) == ("unknown-pool", f"{LANES}.gpu.pools")
    assert finding.message == "contains gpu-pool, but cluster ci has no such pool"
    assert finding.remedy == "the pools of ci are a100, system, t4"


def test_a_misspelt_pool_is_told_with_the_one_that_is_meant() -> None:
    ((path, _, remedy),) = told(every_key({f"{CI}.gitlab.lanes.gl.pools": ["a10"]}))
    assert path == f"{CI}.gitlab.lanes.gl.pools"
    assert remedy == "did you mean a100? the pools of ci are a100, system, t4"


def test_each_unknown_pool_of_a_lane_is_told() -> None:
    findings = refused(every_key({f"{LANES}.gpu.pools": ["t4", "x", "y"]}))
    assert [one.message.split(",")[0] for one in findings] == ["contains x", "contains y"]


def test_pools_of_another_cluster_are_unknown() -> None:
    pools = {"system": {"instance_types": ["m5.large"], "min_size": 1, "max_size": 2}}
    pools["h100"] = {"instance_types": ["p5.4xlarge"], "max_size": 1}
    data = every_key({"clusters.existing.eks.pools": pools, f"{LANES}.gpu.pools": ["h100"]})
    assert (f"{LANES}.gpu.pools", "contains h100, but cluster ci has no such pool") in [
        each[:2] for each in told(data)
    ]


def preference(data: dict[str, Any]) -> list[Finding]:
    return [finding for finding in loaded(data).warnings if finding.rule == "preference"]


def test_lanes_that_list_pools_in_opposite_orders_are_told_at_their_cluster() -> None:
    (finding,) = preference(
        every_key(
            {
                f"{LANES}.one": gpu_lane("t4", "a100"),
                f"{CI}.gitlab.lanes.two": {
                    "pools": ["a100", "t4"],
                    "gpus": 1,
                    "runner": {"group_id": 1},
                },
            }
        )
    )
    assert (finding.rule, finding.path) == ("preference", CI)
    assert finding.severity == "warning", "jobs run all the same"
    assert "lanes list the pools" in finding.message
    assert "t4" in finding.message
    assert "a100" in finding.message
    assert finding.remedy == "list these pools in the same order in every lane"


def test_lanes_that_disagree_over_three_pools_are_told_too() -> None:
    pool = {"instance_types": ["g5.xlarge"], "max_size": 1}
    (finding,) = preference(
        every_key(
            {
                f"{CI}.eks.pools.a10": pool,
                f"{LANES}.one": gpu_lane("t4", "a10"),
                f"{LANES}.two": gpu_lane("a10", "a100"),
                f"{LANES}.three": gpu_lane("a100", "t4"),
            }
        )
    )
    assert finding.rule == "preference"


def test_lanes_of_two_clusters_may_prefer_as_they_like() -> None:
    pool = {"instance_types": ["p4d.24xlarge"], "max_size": 1}
    assert not preference(
        every_key(
            {
                "clusters.existing.eks.pools.a100": pool,
                f"{LANES}.one": gpu_lane("t4", "a100"),
                f"{OTHER}.lanes.two": gpu_lane("a100", "t4"),
            }
        )
    )


@pytest.mark.parametrize(
    ("changes", "rule", "path", "message"),
    [
        ({f"{LANES}.gpu.gpus": 3}, "fits", f"{LANES}.gpu.gpus", "requests 3 nvidia.com/gpu"),
        ({f"{LANES}.gpu.cpu": 9}, "fits", f"{LANES}.gpu.cpu", "requests 9 cpu"),
        ({f"{LANES}.gpu.memory": "64Gi"}, "fits", f"{LANES}.gpu.memory", "requests 64Gi memory"),
        ({f"{LANES}.gpu.disk": "1Ti"}, "fits", f"{LANES}.gpu.disk", "requests 1024Gi disk"),
        (
            {f"{LANES}.gpu.pools": ["system"]},
            "gpu-pool",
            f"{LANES}.gpu.pools",
            "pool system has no GPUs",
        ),
        (
            {f"{CI}.gitlab.lanes.project.gpus": 2},
            "slices",
            f"{CI}.gitlab.lanes.project.gpus",
            "requests 2 slices of pool t4",
        ),
        (
            {f"{CI}.eks.pools.a100.reserve": {"cpu": 100}},
            "fits",
            f"{LANES}.big",
            "an empty node of pool a100 (p4d.24xlarge) has no cpu left",
        ),
    ],
    ids=lambda part: part if isinstance(part, str) else None,
)
def test_a_lane_that_would_wait_for_ever_is_told(
    changes: dict[str, Any], rule: str, path: str, message: str
) -> None:
    findings = refused(every_key(changes))
    (finding,) = [one for one in findings if one.rule == rule]
    assert finding.path == path
    assert message in finding.message
    assert finding.remedy
