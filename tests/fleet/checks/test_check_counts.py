"""Jobs against nodes, and GPUs that stay idle."""

from typing import Any

import pytest

from fleet.catalog.ec2 import instance_type
from fleet.cost import HOURS_PER_MONTH
from tests.fleet.checks.planted import found, stack_of

LANE = "clusters.ci.github.lanes.gpu"


def pool(kind: str, **more: Any) -> dict[str, Any]:
    return {"p": {"instance_types": [kind], "max_size": 2, **more}}


def lane(**more: Any) -> dict[str, Any]:
    return {"gpu": {"pools": ["p"], "gpus": 1, **more}}


@pytest.mark.parametrize(("most", "queue"), [(2, None), (3, 1), (10, 8)])
def test_jobs_beyond_the_pools_maximum_are_counted(most: int, queue: int | None) -> None:
    findings = found("over-commitment", stack_of(pool("g4dn.xlarge"), lane(max_runners=most)))
    assert len(findings) == (queue is not None)
    if findings:
        assert (findings[0].severity, findings[0].path) == ("warning", LANE)
        assert findings[0].message.endswith(
            f"hold 2 at their maximum (nvidia.com/gpu limits p): {queue} would wait in Pending"
        )


def test_every_pool_of_a_lane_and_every_slice_adds_room() -> None:
    pools = {
        **pool("g4dn.xlarge", sharing={"time_slicing": 2}),
        "more": {"instance_types": ["g4dn.xlarge"], "max_size": 3},
    }
    both = {"gpu": {"pools": ["p", "more"], "gpus": 1, "max_runners": 7}}
    assert not found("over-commitment", stack_of(pools, both))
    both["gpu"]["max_runners"] = 8
    assert found("over-commitment", stack_of(pools, both))
    pools["more"]["paused"] = True
    (finding,) = found("over-commitment", stack_of(pools, both))
    assert "hold 4 at their maximum" in finding.message


def test_managers_of_gitlab_multiply_jobs() -> None:
    gitlab = {
        "api_token": {"secret": "gitlabApiToken"},
        "lanes": {
            "gl": {
                "pools": ["p"],
                "gpus": 1,
                "concurrent": 2,
                "hpa": {"max_replicas": 3},
                "runner": {"group_id": 1},
            }
        },
    }
    (finding,) = found("over-commitment", stack_of(pool("g4dn.xlarge"), lane(), gitlab=gitlab))
    assert "starts up to 6 jobs" in finding.message


def test_lanes_that_share_pools_are_added_up() -> None:
    lanes = {**lane(max_runners=2), "other": {"pools": ["p"], "gpus": 1, "max_runners": 1}}
    (finding,) = found("shared-pools", stack_of(pool("g4dn.xlarge"), lanes))
    assert (finding.severity, finding.path) == ("note", "clusters.ci.eks.pools.p")
    assert "lanes gpu, other together request up to 3" in finding.message
    assert "jobs for 1 would wait in Pending" in finding.message
    lanes["gpu"]["max_runners"] = 1
    assert not found("shared-pools", stack_of(pool("g4dn.xlarge"), lanes))


def test_lanes_are_joined_by_any_pool_that_they_share() -> None:
    pools = {name: {"instance_types": ["g4dn.xlarge"], "max_size": 1} for name in "abcd"}
    lanes = {
        "one": {"pools": ["a", "b"], "gpus": 1, "max_runners": 2},
        "two": {"pools": ["c"], "gpus": 1, "max_runners": 1},
        "three": {"pools": ["b", "c"], "gpus": 1, "max_runners": 1},
        "alone": {"pools": ["d"], "gpus": 1, "max_runners": 1},
    }
    (finding,) = found("shared-pools", stack_of(pools, lanes))
    assert "lanes one, two, three together request up to 4" in finding.message
    assert "but a, b, c have 3" in finding.message


def test_gpus_left_idle_by_cpu_or_memory_are_counted() -> None:
    (finding,) = found("stranded", stack_of(pool("g4dn.12xlarge"), lane(cpu=20)))
    assert (finding.severity, finding.path) == ("warning", LANE)
    assert finding.message == (
        "2 of its jobs fill a node of pool p (g4dn.12xlarge) and leave 2 of 4 nvidia.com/gpu idle: "
        "the node's cpu runs out first"
    )
    (finding,) = found("stranded", stack_of(pool("g4dn.12xlarge"), lane(memory="100Gi")))
    assert "3 of 4" in finding.message
    assert "memory runs out first" in finding.message
    assert not found("stranded", stack_of(pool("g4dn.12xlarge"), lane()))


def test_gpus_that_do_not_divide_are_idle_unless_a_smaller_lane_uses_them() -> None:
    (finding,) = found("stranded", stack_of(pool("p4d.24xlarge"), lane(gpus=3)))
    assert "2 of 8" in finding.message
    assert "8 is not a multiple of 3" in finding.message
    lanes = {**lane(gpus=3), "small": {"pools": ["p"], "gpus": 2}}
    assert not found("stranded", stack_of(pool("p4d.24xlarge"), lanes))


def test_gpu_nodes_that_always_run_are_a_warning_with_their_price() -> None:
    (finding,) = found("idle-gpus", stack_of(pool("p4d.24xlarge", min_size=1), lane(gpus=8)))
    price = instance_type("p4d.24xlarge").usd_per_hour * HOURS_PER_MONTH
    assert finding.path == "clusters.ci.eks.pools.p.min_size"
    assert f"{price:,.0f} USD a month" in finding.message
    assert not found("idle-gpus", stack_of(pool("p4d.24xlarge"), lane(gpus=8)))


def test_runners_that_wait_on_gpu_nodes_are_a_warning() -> None:
    waiting = lane(min_runners=3, max_runners=4)
    (finding,) = found("idle-gpus", stack_of(pool("g4dn.xlarge", max_size=4), waiting))
    assert finding.path == f"{LANE}.min_runners"
    assert "keeps 3 runners and so 3 GPU nodes of pool p" in finding.message
    waiting["gpu"]["container_mode"] = "kubernetes-novolume"
    assert not found("idle-gpus", stack_of(pool("g4dn.xlarge", max_size=4), waiting))
