"""Lanes in the report: what to write, where a job lands, how many fit, what an hour costs."""

from collections.abc import Mapping
from typing import Any

import pytest

from fleet.catalog.ec2 import instance_type
from tests.fleet.report.reports import report_json
from tests.fleet.samples import GONE, every_key, loaded, pool_of

CI = "clusters.ci"
T4 = f"{CI}.eks.pools.t4"
GPU = f"{CI}.github.lanes.gpu"


def lane(
    changes: Mapping[str, Any] | None = None, name: str = "github/gpu", cluster: str = "ci"
) -> dict[str, Any]:
    return report_json(loaded(every_key(changes)))["clusters"][cluster]["lanes"][name]


def placed(changes: Mapping[str, Any], name: str = "github/gpu") -> list[tuple[str, int, str]]:
    found = lane(changes, name)["placements"]
    return [(one["pool"], one["jobs_per_node"], one["limited_by"]) for one in found]


SIZES = {f"{GPU}.{name}": GONE for name in ("cpu", "memory", "disk", "shm")}
NO_RESERVE = {f"{T4}.reserve": {}}


@pytest.mark.parametrize(
    ("asked", "count", "limit"),
    [
        ({"gpus": 1}, 2, "nvidia.com/gpu"),
        ({"gpus": 1, "cpu": 5}, 1, "cpu"),
        ({"gpus": 1, "memory": "20Gi"}, 1, "memory"),
        ({"gpus": 1, "cpu": "1m", "memory": "1Mi", "disk": "150Gi"}, 1, "ephemeral-storage"),
        ({"gpus": 2}, 1, "nvidia.com/gpu"),
    ],
)
def test_the_scarcest_resource_limits_jobs_per_node(
    asked: dict[str, Any], count: int, limit: str
) -> None:
    changes = {**NO_RESERVE, **SIZES, **{f"{GPU}.{key}": value for key, value in asked.items()}}
    if asked["gpus"] == 2:
        changes |= {T4: {"instance_types": ["g4dn.12xlarge"], "max_size": 1}}
        count = 2
        changes |= {f"{CI}.gitlab": GONE}
    assert placed(changes) == [("t4", count, limit)]


def test_side_containers_count_for_jobs_per_node() -> None:
    """Four jobs of 1500m would fit 7 CPUs, three with 350m of helper and service beside each."""
    free = pool_of(NO_RESERVE).free().cpu_m
    shared = {**NO_RESERVE, f"{T4}.sharing": {"time_slicing": 8}}
    sizes = {"cpu": "1500m", "memory": "1Gi", "disk": "1Gi"}
    both = {
        **shared,
        **{f"{GPU}.{key}": value for key, value in sizes.items()},
        **{f"{CI}.gitlab.lanes.gl.{key}": value for key, value in sizes.items()},
        f"{CI}.gitlab.lanes.gl.services": 4,
    }
    assert placed(both) == [("t4", free // 1500, "cpu")]
    beside = 100 + 4 * 100
    assert placed(both, "gitlab/gl") == [("t4", free // (1500 + beside), "cpu")]
    assert free // 1500 != free // (1500 + beside), "otherwise the test proves nothing"


def test_each_kind_of_node_of_a_pool_has_its_own_number_of_jobs() -> None:
    kinds = {f"{T4}.instance_types": ["g4dn.2xlarge", "g4dn.xlarge"], f"{GPU}.cpu": "3"}
    assert placed({**kinds, **NO_RESERVE}) == [("t4", 2, "nvidia.com/gpu"), ("t4", 1, "cpu")]
    found = lane({**kinds, **NO_RESERVE})
    assert found["jobs_on_full_pools"] == 10, "the kind that takes the fewest counts"
    first, second = (instance_type(one).usd_per_hour for one in ("g4dn.2xlarge", "g4dn.xlarge"))
    expected = sorted((first / 2, second / 1))
    assert [*found["usd_per_job_hour"].values()] == pytest.approx(expected)


def test_a_job_hour_is_the_price_of_the_node_shared_by_the_jobs_that_fill_it() -> None:
    (one,) = lane()["placements"]
    assert one["usd_per_job_hour"] == pytest.approx(instance_type("g4dn.2xlarge").usd_per_hour / 2)


def test_a_paused_pool_takes_no_job_and_has_no_price_of_one() -> None:
    found = lane({f"{T4}.paused": True, f"{GPU}.min_runners": 0})
    assert [(one["jobs_per_node"], one["limited_by"]) for one in found["placements"]] == [
        (0, "paused")
    ]
    assert found["usd_per_job_hour"] is None
    assert found["jobs_on_full_pools"] == 0


def test_a_paused_lane_starts_no_job() -> None:
    found = lane({f"{GPU}.paused": True})
    assert (found["paused"], found["most_jobs"], found["least_jobs"]) == (True, 0, 0)


def test_nodes_of_an_existing_cluster_have_no_price() -> None:
    found = lane(name="github/mig", cluster="honey")
    assert found["usd_per_job_hour"] is None
    (placement,) = found["placements"]
    assert placement["jobs_per_node"] == 8 * 7, "seven instances of each of eight cards"


def test_the_pool_decides_how_many_jobs_share_a_device() -> None:
    (placement,) = lane(name="github/vulkan", cluster="honey")["placements"]
    assert placement["jobs_per_node"] == 4


def test_a_lane_has_its_labels_and_the_resources_of_a_job() -> None:
    found = lane()
    assert found["write"] == ["gpu", "cuda"]
    assert lane(name="gitlab/gl")["write"] == ["gpu"]
    job = found["job"]
    assert (job["gpus"], job["cpu_m"], job["memory_mib"], job["disk_mib"], job["shm_mib"]) == (
        *(1, 1500, 4096),
        *(20480, 1024),
    )
    assert job["left_out"] == ["memory_limit"]
    assert lane(name="github/big")["job"]["left_out"] == [
        *("cpu", "memory", "disk", "shm", "memory_limit")
    ]


def test_a_lane_says_how_long_a_change_waits_for_its_jobs() -> None:
    assert lane()["drain_minutes"] == 60
    assert lane({f"{GPU}.drain_minutes": 240})["drain_minutes"] == 240


def test_a_runner_of_gitlab_has_an_owner() -> None:
    names = ("gl", "project", "instance", "token")
    owners = [lane(name=f"gitlab/{name}")["owner"] for name in names]
    assert owners == ["group 42", "project 7", "instance", None]
    assert lane()["owner"] is None


def test_a_lane_without_a_disk_request_has_zero_disk() -> None:
    assert lane(name="github/cpu-only", cluster="existing")["job"]["disk_mib"] == 0


def idle(changes: Mapping[str, Any], pool: str = "t4") -> int:
    return report_json(loaded(every_key(changes)))["clusters"]["ci"]["pools"][pool]["idle"]


def test_waiting_runners_keep_up_a_lower_bound_of_nodes() -> None:
    waiting = {f"{GPU}.max_runners": 20}
    assert idle({**waiting, f"{GPU}.min_runners": 3}) == 2, "two share a card in turn"
    assert idle({**waiting, f"{GPU}.min_runners": 20}) == 10
    assert idle({**waiting, f"{GPU}.paused": True, f"{GPU}.min_runners": 3}) == 0


def test_waiting_runners_of_two_lanes_share_nodes() -> None:
    small = {"pools": ["t4"], "gpus": 1, "cpu": "1", "memory": "1Gi", "disk": "1Gi"}
    second = {**small, "min_runners": 1, "max_runners": 4}
    assert idle({f"{CI}.github.lanes.more": second, f"{GPU}.min_runners": 1}) == 1
    assert idle({f"{CI}.github.lanes.more": second, f"{GPU}.min_runners": 2}) == 2


def test_runners_that_wait_on_cpu_nodes_hold_no_gpu_node() -> None:
    assert idle({f"{GPU}.container_mode": "kubernetes-novolume"}) == 0
    assert idle({f"{GPU}.container_mode": "kubernetes"}) == 1, "there the runner is on the pool"


def test_a_lane_has_its_image_unless_the_workflow_names_it() -> None:
    found = lane({f"{GPU}.image": "ghcr.io/example/runner:1"})
    assert (found["image"], found["runner_image"]) == (("ghcr.io/example/runner:1",) * 2)
    container = lane({f"{GPU}.container_mode": "kubernetes-novolume"})
    assert container["image"] is None
    assert container["runner_image"]
    assert lane(name="gitlab/gl")["runner_image"] is None
