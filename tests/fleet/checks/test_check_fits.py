"""What the pods of a job request against what an empty node of its pools has."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.findings import Finding
from fleet.kubernetes.scheduling import CPU, DISK, MEMORY, together
from tests.fleet.checks.planted import cards, existing_of, stack_of
from tests.fleet.samples import SHIPPED, every_key, judged, loaded, shipped_stack

GPU_TYPES = [name for name, kind in INSTANCE_TYPES.items() if kind.gpus]
LANE = "clusters.ci.github.lanes.gpu"


def fleet(pools: dict[str, Any], **lane: Any) -> dict[str, Any]:
    """Return a stack with one GitHub lane on `pools`, and a CPU pool."""
    return stack_of(pools, {"gpu": {"pools": list(pools), **lane}})


def gpu(kind: str = "g4dn.xlarge", **more: Any) -> dict[str, Any]:
    return {"instance_types": [kind], "max_size": 1, **more}


def of(rule: str, data: dict[str, Any]) -> list[Finding]:
    return [finding for finding in judged(data) if finding.rule == rule]


@pytest.mark.parametrize(
    ("asked", "key", "words", "available"),
    [
        ({"gpus": 2}, "gpus", "2 nvidia.com/gpu", "1 available"),
        ({"cpu": 4}, "cpu", "4 cpu", "m available"),
        ({"memory": "16Gi"}, "memory", "16Gi memory", "Mi available"),
        ({"disk": "125Gi"}, "disk", "125Gi disk", "Mi available"),
    ],
)
def test_a_job_that_does_not_fit_has_pool_resource_request_and_available(
    asked: dict[str, Any], key: str, words: str, available: str
) -> None:
    (finding,) = of("fits", fleet({"t4": gpu()}, **{"gpus": 1, **asked}))
    assert (finding.severity, finding.path) == ("error", f"{LANE}.{key}")
    assert finding.message.startswith(f"a job requests {words}, ")
    assert "an empty node of pool t4 (g4dn.xlarge) has" in finding.message
    assert finding.message.endswith(f"{available}: the job would stay Pending")
    assert f"lower {key}" in finding.remedy
    assert ("remove it for the fair share" in finding.remedy) is (key != "gpus")


@pytest.mark.parametrize(
    ("more", "beside"),
    [({"container_mode": "dind"}, "500m"), ({"container_mode": "kubernetes"}, "250m")],
)
def test_side_containers_are_counted_and_named(more: dict[str, Any], beside: str) -> None:
    alone = {"gpus": 1, "cpu": "3600m", "memory": "1Gi", "disk": "1Gi"}
    assert not of("fits", fleet({"t4": gpu()}, **{**alone, "cpu": "3"}, **more))
    (finding,) = of("fits", fleet({"t4": gpu()}, **alone, **more))
    assert f"requests 3600m cpu, and {beside} for its side containers" in finding.message


def test_a_launcher_on_a_cpu_node_takes_nothing_of_the_gpu_node() -> None:
    lane = {"gpus": 1, "cpu": "3600m", "memory": "1Gi"}
    assert not of("fits", fleet({"t4": gpu()}, **lane, container_mode="kubernetes-novolume"))


def test_each_pool_and_each_instance_type_that_is_too_small_is_named() -> None:
    pools = {"small": gpu("g4dn.xlarge"), "large": gpu("g4dn.4xlarge")}
    (finding,) = of("fits", fleet(pools, gpus=1, memory="30Gi"))
    assert "(g4dn.xlarge)" in finding.message
    assert len(of("fits", fleet(pools, gpus=1, memory="300Gi"))) == 2
    mixed = {"both": gpu(instance_types=["g4dn.xlarge", "g4dn.2xlarge"])}
    (finding,) = of("fits", fleet(mixed, gpus=1, memory="20Gi"))
    assert "pool both (g4dn.xlarge)" in finding.message


@pytest.mark.parametrize(("resource", "reserve"), [("memory", "1Ti"), ("cpu", "100")])
def test_a_node_with_nothing_left_is_reported_at_the_lane(resource: str, reserve: str) -> None:
    (finding,) = of("fits", fleet({"t4": gpu(reserve={resource: reserve})}, gpus=1))
    assert finding.path == LANE
    assert finding.message.startswith(
        f"an empty node of pool t4 (g4dn.xlarge) has no {resource} left for the job"
    )
    assert "a lower reserve on the pool" in finding.remedy


def test_a_fair_share_too_small_for_a_job_is_a_warning() -> None:
    (finding,) = of("starved", fleet({"t4": gpu(sharing={"time_slicing": 30})}, gpus=1))
    assert (finding.severity, finding.path) == ("warning", LANE)
    assert "cpu" in finding.message
    assert "fewer slices" in finding.remedy
    assert not of("starved", fleet({"t4": gpu(sharing={"time_slicing": 2})}, gpus=1))


def test_disk_that_images_and_reserve_use_up_is_a_warning() -> None:
    (finding,) = of("starved", fleet({"t4": gpu(reserve={"disk": "80Gi"})}, gpus=1))
    assert "is no disk, after" in finding.message
    assert not of("fits", fleet({"t4": gpu(reserve={"disk": "80Gi"})}, gpus=1))


def test_a_lane_with_gpus_needs_gpu_pools() -> None:
    (finding,) = of("gpu-pool", fleet({"cpu": gpu("m6i.large")}, gpus=1))
    assert finding.path == f"{LANE}.pools"
    assert finding.remedy == "remove cpu from the lane's pools"


def test_a_lane_without_gpus_on_gpu_nodes_is_a_warning() -> None:
    (finding,) = of("wasted-gpus", fleet({"t4": gpu()}, cpu=1, memory="1Gi"))
    assert (finding.severity, finding.path) == ("warning", f"{LANE}.pools")
    assert "add gpus: 1" in finding.remedy


def test_any_job_may_run_on_gpu_nodes_if_there_are_no_others() -> None:
    lanes = {"cpu": {"pools": ["station"], "cpu": 1, "memory": "1Gi"}}
    alone = existing_of({"station": cards()}, lanes)
    assert not of("wasted-gpus", alone)
    assert of("wasted-gpus", existing_of({"station": cards(), "cpu": {}}, lanes))


def test_several_slices_of_one_gpu_are_refused() -> None:
    (finding,) = of("slices", fleet({"t4": gpu(sharing={"time_slicing": 4})}, gpus=2))
    assert finding.path == f"{LANE}.gpus"
    assert "requests 2 slices of pool t4" in finding.message


@given(
    kind=st.sampled_from(GPU_TYPES),
    slices=st.integers(1, 3),
    mode=st.sampled_from(["none", "dind"]),
)
def test_a_lane_with_only_gpus_fits(kind: str, slices: int, mode: str) -> None:
    sharing = {"sharing": {"time_slicing": slices}} if slices > 1 else {}
    data = fleet({"pool": gpu(kind, **sharing)}, gpus=1, container_mode=mode)
    starved = {finding.rule for finding in judged(data)} & {"starved", "fits"}
    # The smallest types have no room for a Docker daemon, or for three jobs.
    assert "fits" not in starved or mode == "dind"


@pytest.mark.parametrize("name", ["every key", *SHIPPED])
def test_the_pods_request_what_the_plan_computes(name: str) -> None:
    data = every_key() if name == "every key" else shipped_stack(name)
    for cluster in loaded(data).plan.clusters:
        forges = [forge for forge in (cluster.github, cluster.gitlab) if forge is not None]
        for lane in [lane for forge in forges for lane in forge.lanes]:
            asked = together(lane.pods.on_pool)
            total = lane.job.total
            assert (asked[CPU], asked[MEMORY], asked[DISK], asked["nvidia.com/gpu"]) == (
                *(total.cpu_m, total.memory_mib, total.disk_mib),
                lane.job.gpus,
            ), lane.path
