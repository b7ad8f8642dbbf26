"""What a job of a lane gets: its fair share of a node, or what the lane asks for.

Units: CPU in millicores, memory and disk in MiB. The fair share of a node is what is left for jobs,
divided by the GPUs that the node advertises, times the GPUs of the job, less what the lane's own
side containers ask for, rounded down. So a lane that says only `gpus: 1` always fits, and a node
full of its jobs strands nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.clusters.nodes import Pool, smallest
from fleet.config.lanes import Lane
from fleet.kubernetes.resources import Resources

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
    """The fair share of the smallest GPU node among the pools.

    Where nothing is left it is one step of CPU and memory, so that the scheduler and
    `fleet.checks.fits` refuse the job alike, and no disk. Of a node with fewer GPUs it is the
    whole: the check then says only that the GPUs are too many.
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
        cpu_m=max(_CPU_STEP_M, _down(least.cpu_m - sides.cpu_m, _CPU_STEP_M)),
        memory_mib=max(_MIB_STEP, _down(least.memory_mib - sides.memory_mib, _MIB_STEP)),
        disk_mib=_down(least.disk_mib - sides.disk_mib, _DISK_STEP_MIB),
    )


def _down(amount: int, step: int) -> int:
    return max(0, amount // step * step)
