"""Fair shares: jobs with fair shares fill a node, and all of them fit."""

import json
from typing import Any, TypeVar

from hypothesis import assume, given
from hypothesis import strategies as st

from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.clusters.eks import EksPool, eks_pool
from fleet.config.base import Model
from fleet.config.github import GitHubLane
from fleet.config.pools import EksPool as EksPoolConfig
from fleet.gpu_stack.ownership import Ownership
from fleet.kubernetes.resources import Resources
from fleet.runners.lanes import IMAGES_MIB, Job, fair_share
from fleet.runners.lanes import job as job_of
from tests.fleet.samples import cluster_of, every_key, reported

GPU_TYPES = [name for name, kind in INSTANCE_TYPES.items() if kind.gpus]
CPU_STEP_M, MIB_STEP, DISK_STEP_MIB = 10, 16, 1024
PATH = "clusters.ci.github.lanes.gpu"
OWNERS = Ownership(operator=True)
ModelT = TypeVar("ModelT", bound=Model)


SYSTEM = {"instance_types": ["m6i.large"], "min_size": 1, "max_size": 1}


def pool(name: str = "gpu", **config: Any) -> EksPool:
    return eks_pool(
        "ci",
        name,
        config_of(EksPoolConfig, {"max_size": 1, **config}),
        version="1.35",
        zones=("us-west-2a", "us-west-2b"),
        owners=OWNERS,
    )


def config_of(model: type[ModelT], given: dict[str, Any]) -> ModelT:
    return model.model_validate_json(json.dumps(given))


def job(lane: GitHubLane, pools: tuple[EksPool, ...], side_containers: Resources) -> Job:
    return job_of(lane, pools, image="image", env={}, side_containers=side_containers)


def lane(**spec: Any) -> GitHubLane:
    return config_of(GitHubLane, {"pools": ["gpu"], "max_runners": 1, **spec})


def of_gpu_type(kind: str = "g4dn.xlarge", **spec: Any) -> EksPool:
    return pool(instance_types=[kind], **spec)


amounts = st.builds(
    Resources,
    cpu_m=st.integers(0, 500),
    memory_mib=st.integers(0, 1024),
    disk_mib=st.integers(0, 2048),
)


@st.composite
def nodes_and_gpus(draw: st.DrawFn) -> tuple[EksPool, int]:
    """Draw a GPU pool, and a number of GPUs that its nodes have."""
    slices = draw(st.integers(1, 6))
    reserve = draw(amounts)
    made = of_gpu_type(
        draw(st.sampled_from(GPU_TYPES)),
        disk_gib=draw(st.integers(200, 2000)),
        instance_store=draw(st.sampled_from(["raid0", "unused"])),
        reserve={
            "cpu": f"{reserve.cpu_m}m" if reserve.cpu_m else 0,
            "memory": f"{reserve.memory_mib}Mi" if reserve.memory_mib else 0,
            "disk": f"{reserve.disk_mib}Mi" if reserve.disk_mib else 0,
        },
        **({"sharing": {"time_slicing": slices}} if slices > 1 else {}),
    )
    return made, draw(st.integers(1, made.advertised))


@given(case=nodes_and_gpus(), side_containers=amounts)
def test_a_node_full_of_fair_shares_fits(
    case: tuple[EksPool, int], side_containers: Resources
) -> None:
    made, gpus = case
    share = fair_share((made,), gpus, side_containers)
    assume(share.cpu_m and share.memory_mib and share.disk_mib)
    jobs = made.advertised // gpus
    taken = (share + side_containers).scaled(jobs)
    free = made.free()
    assert taken.fits_in(free)
    assert taken.disk_mib <= free.disk_mib - IMAGES_MIB * jobs * gpus // made.advertised


@given(case=nodes_and_gpus(), side_containers=amounts)
def test_a_fair_share_strands_less_than_one_step_of_rounding(
    case: tuple[EksPool, int], side_containers: Resources
) -> None:
    made, gpus = case
    share = fair_share((made,), gpus, side_containers)
    assume(share.cpu_m and share.memory_mib and share.disk_mib)
    taken, free = share + side_containers, made.free()
    part = gpus / made.advertised
    assert 0 <= free.cpu_m * part - taken.cpu_m < CPU_STEP_M + 1
    assert 0 <= free.memory_mib * part - taken.memory_mib < MIB_STEP + 1
    assert 0 <= (free.disk_mib - IMAGES_MIB) * part - taken.disk_mib < DISK_STEP_MIB + 1


@given(case=nodes_and_gpus(), side_containers=amounts)
def test_a_fair_share_is_a_round_amount(
    case: tuple[EksPool, int], side_containers: Resources
) -> None:
    share = fair_share((case[0],), case[1], side_containers)
    assert share.cpu_m % CPU_STEP_M == 0
    assert share.memory_mib % MIB_STEP == 0
    assert share.disk_mib % DISK_STEP_MIB == 0


@given(kinds=st.lists(st.sampled_from(GPU_TYPES), min_size=2, max_size=4))
def test_a_share_of_several_pools_is_that_of_the_smallest(kinds: list[str]) -> None:
    pools = tuple(of_gpu_type(kind) for kind in kinds)
    share = fair_share(pools, 1, Resources())
    each = [fair_share((one,), 1, Resources()) for one in pools]
    assert share == Resources(
        cpu_m=min(one.cpu_m for one in each),
        memory_mib=min(one.memory_mib for one in each),
        disk_mib=min(one.disk_mib for one in each),
    )


def test_time_slices_divide_a_node_further() -> None:
    whole = fair_share((of_gpu_type(),), 1, Resources())
    half = fair_share((of_gpu_type(sharing={"time_slicing": 2}),), 1, Resources())
    assert 0 <= whole.cpu_m - 2 * half.cpu_m < 2 * CPU_STEP_M
    assert 0 <= whole.memory_mib - 2 * half.memory_mib < 2 * MIB_STEP


def test_a_share_of_a_full_node_is_one_step_so_that_the_scheduler_refuses_it() -> None:
    share = fair_share((of_gpu_type(),), 1, Resources(cpu_m=10**6, memory_mib=10**6))
    assert (share.cpu_m, share.memory_mib) == (CPU_STEP_M, MIB_STEP)


def test_there_is_no_share_of_a_node_without_gpus() -> None:
    assert fair_share((pool(instance_types=["m6i.large"]),), 1, Resources()) == Resources()


def test_a_lane_gets_its_share_unless_it_sets_a_size() -> None:
    made = of_gpu_type()
    share = fair_share((made,), 1, Resources())
    sized = job(lane(gpus=1, memory="2Gi"), (made,), Resources())
    assert sized.request == Resources(cpu_m=share.cpu_m, memory_mib=2048, disk_mib=share.disk_mib)
    assert sized.shm_mib == 1024, "half of its memory"
    assert job(lane(gpus=1, shm="3Gi"), (made,), Resources()).shm_mib == 3072
    asked = job(lane(gpus=1, cpu=1, disk="1Gi"), (made,), Resources())
    assert (asked.request.cpu_m, asked.request.disk_mib) == (1000, 1024)


def test_a_lane_without_gpus_gets_what_it_requests() -> None:
    system = pool(instance_types=["m6i.large"])
    sized = job(lane(cpu="500m", memory="1Gi"), (system,), Resources())
    assert sized.request == Resources(cpu_m=500, memory_mib=1024, disk_mib=0)


def test_the_total_of_a_job_includes_its_side_containers() -> None:
    side_containers = Resources(cpu_m=100, memory_mib=200, disk_mib=300)
    sized = job(lane(gpus=1, cpu=1, memory="1Gi", disk="1Gi"), (of_gpu_type(),), side_containers)
    assert sized.total == Resources(cpu_m=1100, memory_mib=1224, disk_mib=1324)


def test_a_lane_that_cannot_fit_stops_the_whole_stack() -> None:
    lanes = "clusters.ci.github.lanes"
    ((path, message, _),) = reported(every_key({f"{lanes}.gpu.memory": "64Gi"}))
    assert path == f"{lanes}.gpu.memory"
    assert message.startswith(
        "a job requests 64Gi memory, but an empty node of pool t4 (g4dn.2xlarge)"
    )


def test_the_lanes_of_a_cluster_are_those_of_github_then_those_of_gitlab() -> None:
    paths = [lane.path for lane in cluster_of().lanes]
    assert paths == [
        *(f"clusters.ci.github.lanes.{name}" for name in ("gpu", "big")),
        *(f"clusters.ci.gitlab.lanes.{name}" for name in ("gl", "project", "instance", "token")),
    ]
