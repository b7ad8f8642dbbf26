"""What a job of a lane gets: its fair share of a node, or what the lane asks for.

Units: CPU in millicores, memory and disk in MiB. The fair share of a node is what is left for jobs,
divided by the GPUs that the node advertises, times the GPUs of the job, less what the lane's own
side containers ask for, rounded down. So a lane that says only `gpus: 1` always fits, and a node
full of its jobs strands nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from fleet.findings import Finding
from fleet.plan import words
from fleet.plan.nodes import Node, Pool, smallest
from fleet.spec.lanes import Lane
from fleet.units import Resources, format_cpu, format_memory

IMAGES_MIB = 40 * 1024
"""Kept out of the shares of disk: the images of a CUDA job lie on the same disk as its scratch
space (a framework image alone is 10 to 20 GiB). Inferred from the sizes of public images."""

NOTHING = Resources(cpu_m=0, memory_mib=0, disk_mib=0)

_CPU_STEP_M = 10
_MIB_STEP = 16
_DISK_STEP_MIB = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One job of a lane, as the scheduler will see it on the GPU (or CPU) pool."""

    pools: tuple[str, ...]
    """In order of preference."""
    gpus: int
    request: Resources
    """What the job's own container asks for."""
    sides: Resources
    """What the containers beside it ask for, on the same node."""
    shm_mib: int
    memory_limit_mib: int
    """Of the job's own container."""
    most: Resources
    """What the job may ask for itself, by variables; what it asks for where it may not."""
    device: str | None = None
    """Device of the host that the job gets."""

    @property
    def total(self) -> Resources:
        """What the job's pods take from a node."""
        return self.request + self.sides


def job(
    lane: Lane,
    pools: tuple[Pool, ...],
    sides: Resources,
    *,
    device: str | None = None,
    max_cpu_m: int | None = None,
    max_memory_mib: int | None = None,
) -> Job:
    """Size a lane's job; `pools` are those of the lane, in its order.

    The maxima are what a job may ask for itself.
    """
    share = fair_share(pools, lane.gpus, sides) if lane.gpus else None
    cpu_m = lane.cpu if lane.cpu is not None else (share.cpu_m if share else 0)
    memory_mib = lane.memory if lane.memory is not None else (share.memory_mib if share else 0)
    if lane.memory is None and lane.memory_limit is not None:
        memory_mib = min(memory_mib, lane.memory_limit)
    disk_mib = lane.disk if lane.disk is not None else (share.disk_mib if share else 0)
    return Job(
        pools=lane.pools,
        gpus=lane.gpus,
        request=Resources(cpu_m=cpu_m, memory_mib=memory_mib, disk_mib=disk_mib),
        sides=sides,
        shm_mib=lane.shm if lane.shm is not None else memory_mib // 2,
        memory_limit_mib=lane.memory_limit if lane.memory_limit is not None else memory_mib,
        most=Resources(
            cpu_m=cpu_m if max_cpu_m is None else max(cpu_m, max_cpu_m),
            memory_mib=memory_mib if max_memory_mib is None else max(memory_mib, max_memory_mib),
            disk_mib=disk_mib,
        ),
        device=device,
    )


def runtime_class(lane: Lane, pools: tuple[Pool, ...]) -> str | None:
    """RuntimeClass of a lane's jobs: the lane's own, else the one that a GPU needs on its pools."""
    if lane.runtime_class is not None or not lane.gpus:
        return lane.runtime_class
    return next((pool.runtime_class for pool in pools if pool.runtime_class is not None), None)


def fair_share(pools: tuple[Pool, ...], gpus: int, sides: Resources) -> Resources:
    """The fair share of the smallest GPU node among the pools; zero where nothing is left.

    Of a node with fewer GPUs it is the whole: `fits` then says only that the GPUs are too many.
    """
    shares = [
        Resources(
            cpu_m=node.free.cpu_m * part // node.advertised,
            memory_mib=node.free.memory_mib * part // node.advertised,
            disk_mib=(node.free.disk_mib - IMAGES_MIB) * part // node.advertised,
        )
        for pool in pools
        for node in pool.nodes
        if (part := min(gpus, node.advertised))
    ]
    if not shares:
        return NOTHING
    least = smallest(shares)
    return Resources(
        cpu_m=_down(least.cpu_m - sides.cpu_m, _CPU_STEP_M),
        memory_mib=_down(least.memory_mib - sides.memory_mib, _MIB_STEP),
        disk_mib=_down(least.disk_mib - sides.disk_mib, _DISK_STEP_MIB),
    )


def _down(amount: int, step: int) -> int:
    return max(0, amount // step * step)


def fits(job: Job, pools: tuple[Pool, ...], path: str) -> Iterator[Finding]:
    """Find what keeps the job off an empty node of its pools, resource by resource."""
    for pool in pools:
        yield from _suits(job, pool, path)
    nodes = [
        (pool, node) for pool in pools for node in pool.nodes if node.advertised or not job.gpus
    ]
    used_up = [
        resource
        for resource, amount in (
            ("cpu", job.request.cpu_m),
            ("memory", job.request.memory_mib),
            ("disk", job.request.disk_mib),
        )
        if job.gpus and not amount
    ]
    if nodes and used_up:
        yield Finding(
            rule="fits",
            path=path,
            message=(
                f"no {' and no '.join(used_up)} of a node of its pools ({', '.join(job.pools)}) is "
                "left for the job, beside DaemonSets, reserve, images and side containers"
            ),
            remedy="use larger nodes, fewer slices, or a lower reserve on the pool",
            reads=tuple(place for pool in pools for place in _reads(path, pool, *_AMOUNTS)),
        )
        return
    for pool, node in nodes:
        yield from _fits_node(job, node, pool, path)


_AMOUNTS = ("cpu", "memory", "disk")


def _reads(path: str, pool: Pool, *keys: str) -> tuple[str, ...]:
    """Places that decide whether a job fits a pool, as far as those keys of the lane go."""
    of_lane = ("pools", "gpus", "container_mode", "services", *keys)
    of_disk = ("disk_gib", "boot_volume_gb", "instance_store") if "disk" in keys else ()
    of_pool = (
        *("instance_types", "shape", "ocpus", "memory_gb"),
        *("cpu", "memory", "disk", "gpu", "gpus"),
        *("sharing", "reserve"),
        *of_disk,
    )
    return (
        *(f"{path}.{field}" for field in of_lane),
        *(f"{pool.path}.{field}" for field in of_pool),
    )


_Amount: TypeAlias = "tuple[str, str, int, int, int, Callable[[int], str]]"


def _fits_node(job: Job, node: Node, pool: Pool, path: str) -> Iterator[Finding]:
    request, sides, free = job.request, job.sides, node.free
    for key, resource, asked, beside, available, text in (
        *_maxima(job, free),
        ("gpus", words.GPU_RESOURCE, job.gpus, 0, node.advertised, str),
        ("cpu", "cpu", request.cpu_m, sides.cpu_m, free.cpu_m, format_cpu),
        ("memory", "memory", request.memory_mib, sides.memory_mib, free.memory_mib, format_memory),
        ("disk", "disk", request.disk_mib, sides.disk_mib, free.disk_mib, format_memory),
    ):
        if asked + beside > available:
            more = f" and {text(beside)} for its side containers" if beside else ""
            yield Finding(
                rule="fits",
                path=f"{path}.{key}",
                message=(
                    f"a job asks for {text(asked)} {resource}{more}; an empty node of pool "
                    f"{pool.name} ({node.kind}) has {text(max(0, available))} available"
                ),
                remedy=(
                    f"lower {key} or use larger nodes"
                    if key in ("gpus", "max_cpu", "max_memory")
                    else f"lower {key}, leave it out for the fair share, or use larger nodes"
                ),
                reads=_reads(path, pool, key),
            )


def _maxima(job: Job, free: Resources) -> Iterator[_Amount]:
    """What a job may raise itself to, where that is more than what it asks for."""
    request, sides, most = job.request, job.sides, job.most
    if most.cpu_m > request.cpu_m:
        yield "max_cpu", "cpu", most.cpu_m, sides.cpu_m, free.cpu_m, format_cpu
    if most.memory_mib > request.memory_mib:
        beside = sides.memory_mib
        yield "max_memory", "memory", most.memory_mib, beside, free.memory_mib, format_memory


def _suits(job: Job, pool: Pool, path: str) -> Iterator[Finding]:
    reads = _reads(path, pool)
    if job.gpus and pool.gpu is None:
        yield Finding(
            rule="places",
            path=f"{path}.pools",
            message=f"the lane's jobs ask for GPUs, pool {pool.name} has none",
            remedy=f"remove {pool.name} from the lane's pools",
            reads=reads,
        )
    if not (job.gpus or job.device) and pool.gpu is not None:
        yield Finding(
            rule="places",
            path=f"{path}.pools",
            message=f"the lane's jobs ask for no GPU, pool {pool.name} is kept for jobs that do",
            remedy="add gpus: 1 to the lane, or use a CPU pool",
            reads=reads,
        )
    if job.gpus > 1 and pool.mig_instances > 1:
        yield Finding(
            rule="sharing",
            path=f"{path}.gpus",
            message=(
                f"asks for {job.gpus} MIG instances of pool {pool.name}; a process uses one of them"
            ),
            remedy="set gpus: 1, or use a pool of larger instances",
            reads=reads,
        )
    if job.gpus > 1 and pool.time_slices > 1:
        yield Finding(
            rule="sharing",
            path=f"{path}.gpus",
            message=(
                f"asks for {job.gpus} slices of pool {pool.name}, which shares its GPUs by time "
                "slicing; several slices give no more of a GPU than one"
            ),
            remedy="set gpus: 1, or use a pool without sharing",
            reads=reads,
        )
