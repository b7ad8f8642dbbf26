"""Whether a lane's job fits an empty node of each of its pools, as the scheduler computes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fleet.checks.check import check
from fleet.checks.view import LaneView, View
from fleet.clusters.nodes import Node, Pool
from fleet.findings import Finding
from fleet.kubernetes.labels import GPU_RESOURCE
from fleet.kubernetes.resources import format_cpu, format_memory
from fleet.kubernetes.scheduling import CPU, DISK, MEMORY, PODS, lacking, offer

_KEYS: Final = {CPU: "cpu", MEMORY: "memory", DISK: "disk", GPU_RESOURCE: "gpus"}
"""Resource -> key of a lane that requests it."""

_SHORT_NAMES: Final = {DISK: "disk"}
"""Resource -> its name in messages if it is not Kubernetes' name."""

_LEAST_CPU_M: Final = 250
_LEAST_MEMORY_MIB: Final = 512
"""Below these sizes even a checkout and an `import` fail: the runner alone takes as much."""


@check("fits")
def job_fits(view: View) -> Iterator[Finding]:
    """Jobs that do not fit an empty node of one of their pools, with its DaemonSets running."""
    for lane in view.lanes:
        for pool in lane.pools:
            for node in pool.nodes:
                # A pool without GPUs is a finding of gpu-pool.
                if node.advertised or not lane.job.gpus:
                    yield from _maxima(lane, pool, node)
                    yield from _missing(lane, pool, node)


def _maxima(lane: LaneView, pool: Pool, node: Node) -> Iterator[Finding]:
    """Compare a node with the upper bounds of a job's overrides, where they exceed its request."""
    has, upper, own = offer(pool, node), lane.job.max_request, lane.job.request
    for key, resource, maximum, request in (
        ("max_cpu", CPU, upper.cpu_m, own.cpu_m),
        ("max_memory", MEMORY, upper.memory_mib, own.memory_mib),
    ):
        others = lane.requests[resource] - request
        if maximum > request and maximum + others > has[resource]:
            yield job_fits.finding(
                f"{lane.path}.{key}",
                message=_too_much(resource, maximum, others, pool, node),
                remedy=f"lower {key} or use larger nodes",
            )


def _missing(lane: LaneView, pool: Pool, node: Node) -> Iterator[Finding]:
    has, own = offer(pool, node), lane.job.request
    written = {CPU: lane.spec.cpu, MEMORY: lane.spec.memory, DISK: lane.spec.disk}
    requested = {CPU: own.cpu_m, MEMORY: own.memory_mib, DISK: own.disk_mib}
    no_share: list[str] = []
    for resource in lacking(lane.requests, has):
        if resource not in _KEYS and resource != PODS:
            continue  # a device that the pool lacks is a finding of the check `device`
        if lane.job.gpus and resource in written and written[resource] is None:
            no_share.append(_SHORT_NAMES.get(resource, resource))
            continue
        key = _KEYS.get(resource)
        job_part = requested.get(resource, lane.requests[resource])
        remedy = "use larger nodes"
        if resource in written:
            remedy = f"lower {key}, remove it for the fair share of the node, or use larger nodes"
        elif key:
            remedy = f"lower {key} or use larger nodes"
        yield job_fits.finding(
            f"{lane.path}.{key}" if key else lane.path,
            message=_too_much(resource, job_part, lane.requests[resource] - job_part, pool, node),
            remedy=remedy,
        )
    if no_share:
        yield job_fits.finding(
            lane.path,
            message=(
                f"an empty node of pool {pool.name} ({node.kind}) has no "
                f"{' and no '.join(no_share)} left for the job, after DaemonSets, reserve and side "
                "containers: the job would stay Pending"
            ),
            remedy="use larger nodes, fewer slices, or a lower reserve on the pool",
        )


def _too_much(resource: str, requested: int, others: int, pool: Pool, node: Node) -> str:
    more = f", and {_text(resource, others)} for its side containers" if others else ""
    available = max(0, offer(pool, node)[resource])
    return (
        f"a job requests {_text(resource, requested)} {_SHORT_NAMES.get(resource, resource)}{more},"
        f" but an empty node of pool {pool.name} ({node.kind}) has {_text(resource, available)} "
        "available: the job would stay Pending"
    )


def _text(resource: str, amount: int) -> str:
    if resource == CPU:
        return format_cpu(amount)
    return format_memory(amount) if resource in (MEMORY, DISK) else str(amount)


@check("starved", "warning")
def starved(view: View) -> Iterator[Finding]:
    """GPU lanes whose fair share of a node is too small to run a job."""
    for lane in view.lanes:
        if not lane.job.gpus or not any(pool.gpu for pool in lane.pools):
            continue
        spec, own = lane.spec, lane.job.request
        cpu, memory = format_cpu(own.cpu_m), format_memory(own.memory_mib)
        small = [
            f"{text} {name}"
            for name, written, has, least, text in (
                ("cpu", spec.cpu, own.cpu_m, _LEAST_CPU_M, cpu),
                ("memory", spec.memory, own.memory_mib, _LEAST_MEMORY_MIB, memory),
                ("disk", spec.disk, own.disk_mib, 1, "no"),
            )
            if written is None and has < least
        ]
        if small:
            yield starved.finding(
                lane.path,
                message=(
                    f"a job's fair share of a node of {', '.join(lane.plan.pool_names)} is "
                    f"{', '.join(small)}, after DaemonSets, reserve, images and side containers: "
                    "a checkout alone needs more"
                ),
                remedy="use larger nodes, fewer slices, or a lower reserve on the pool",
            )


@check("shared-memory", "warning")
def shared_memory(view: View) -> Iterator[Finding]:
    """Lanes whose /dev/shm is larger than the job's memory limit, against which it counts."""
    for lane in view.lanes:
        limit = lane.job.memory_limit_mib
        if lane.spec.shm is not None and lane.job.shm_mib > limit:
            yield shared_memory.finding(
                f"{lane.path}.shm",
                message=(
                    f"is {format_memory(lane.job.shm_mib)}, above the job's memory limit of "
                    f"{format_memory(limit)}: files in /dev/shm count against the limit, so a job "
                    "that fills it is OOMKilled"
                ),
                remedy="lower shm, or raise memory or memory_limit",
            )


@check("memory-limit", "warning")
def memory_limits(view: View) -> Iterator[Finding]:
    """Lanes whose memory limit is more than a node of their pools has."""
    for lane in view.lanes:
        limit = lane.job.memory_limit_mib
        small = [
            (pool, node)
            for pool in lane.pools
            for node in pool.nodes
            if limit > node.allocatable.memory_mib
        ]
        if lane.spec.memory_limit is not None and small:
            pool, node = small[0]
            yield memory_limits.finding(
                f"{lane.path}.memory_limit",
                message=(
                    f"is {format_memory(limit)}, but a node of pool {pool.name} ({node.kind}) has "
                    f"{format_memory(node.allocatable.memory_mib)}: a job below its limit can use "
                    "up the node's memory, and other jobs are killed with it"
                ),
                remedy=(
                    f"use {format_memory(node.allocatable.memory_mib)} or less, or larger nodes"
                ),
            )


@check("gpu-pool")
def gpu_pools(view: View) -> Iterator[Finding]:
    """GPU lanes on pools without GPUs."""
    for lane in view.lanes:
        for pool in lane.pools:
            if lane.job.gpus and pool.gpu is None:
                yield gpu_pools.finding(
                    f"{lane.path}.pools",
                    message=(
                        f"the lane's jobs request {GPU_RESOURCE}, but pool {pool.name} has no "
                        "GPUs: no job can run there"
                    ),
                    remedy=f"remove {pool.name} from the lane's pools",
                )


@check("wasted-gpus", "warning")
def wasted_gpus(view: View) -> Iterator[Finding]:
    """Lanes without GPUs on GPU pools, in a cluster that has CPU pools."""
    for lane in view.lanes:
        if lane.job.gpus or lane.job.device or all(pool.gpu for pool in lane.cluster.pools):
            continue
        for pool in lane.pools:
            if pool.gpu is not None:
                yield wasted_gpus.finding(
                    f"{lane.path}.pools",
                    message=(
                        f"the lane's jobs request no GPU, but pool {pool.name} has {pool.gpu}: "
                        "jobs would start GPU nodes and not see a GPU"
                    ),
                    remedy="add gpus: 1 to the lane, or use a CPU pool",
                )


@check("slices")
def slices(view: View) -> Iterator[Finding]:
    """Jobs that request several slices of one GPU, but can only use one slice."""
    for lane in view.lanes:
        for pool in lane.pools:
            if lane.job.gpus > 1 and pool.mig_instances > 1:
                yield slices.finding(
                    f"{lane.path}.gpus",
                    message=(
                        f"requests {lane.job.gpus} MIG instances of pool {pool.name}, but a CUDA "
                        "process uses only one of them"
                    ),
                    remedy="set gpus: 1, or use a pool of larger instances",
                    severity="warning",
                )
            if lane.job.gpus > 1 and pool.time_slices > 1:
                yield slices.finding(
                    f"{lane.path}.gpus",
                    message=(
                        f"requests {lane.job.gpus} slices of pool {pool.name}, which shares its "
                        "GPUs by time slicing: the device plugin refuses more than one"
                    ),
                    remedy="set gpus: 1, or use a pool without sharing",
                )
