"""Whether a lane's job fits an empty node of each of its pools, by the scheduler's arithmetic.

What the lane's pods ask for is read out of its release's values (`fleet.runners.pods`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View
from fleet.clusters.nodes import Node, Pool
from fleet.kubernetes import labels as words
from fleet.kubernetes.resources import format_cpu, format_memory
from fleet.kubernetes.scheduling import CPU, DISK, MEMORY, PODS, Amounts, lacking, offer

_KEYS: Final = {CPU: "cpu", MEMORY: "memory", DISK: "disk", words.GPU_RESOURCE: "gpus"}
"""Resource -> key of a lane that asks for it."""

_LEAST_CPU_M: Final = 250
_LEAST_MEMORY_MIB: Final = 512
"""Below this not even a checkout and an `import` go well: what a runner alone takes."""

_NAMES: Final = {DISK: "disk"}
"""Resource -> its name in messages, where it is not Kubernetes'."""


@check("fits")
def job_fits(view: View) -> Iterator[Problem]:
    """Jobs that an empty node of a pool of their lane, DaemonSets running, has no room for."""
    for lane in view.lanes:
        asked = lane.asked
        for pool in lane.pools:
            for node in pool.nodes:
                # A pool without any GPU is told once, by what it lacks.
                if node.advertised or not lane.job.gpus:
                    yield from _maxima(lane, asked, pool, node)
                    yield from _lacking(lane, asked, pool, node)


def _maxima(lane: LaneView, asked: Amounts, pool: Pool, node: Node) -> Iterator[Problem]:
    """What a job may raise itself to, where that is more than what it asks for."""
    has, most, own = offer(pool, node), lane.job.most, lane.job.request
    for key, resource, asks, least in (
        ("max_cpu", CPU, most.cpu_m, own.cpu_m),
        ("max_memory", MEMORY, most.memory_mib, own.memory_mib),
    ):
        beside = asked[resource] - least
        if asks > least and asks + beside > has[resource]:
            yield Problem(
                path=f"{lane.path}.{key}",
                message=_too_much(resource, asks, beside, has[resource], _where(pool, node)),
                remedy=f"lower {key} or use larger nodes",
            )


def _lacking(lane: LaneView, asked: Amounts, pool: Pool, node: Node) -> Iterator[Problem]:
    has = offer(pool, node)
    own = lane.job.request
    stated = {CPU: lane.spec.cpu, MEMORY: lane.spec.memory, DISK: lane.spec.disk}
    given = {CPU: own.cpu_m, MEMORY: own.memory_mib, DISK: own.disk_mib}
    nothing_left: list[str] = []
    for resource in lacking(asked, has):
        if resource not in _KEYS and resource != PODS:
            continue  # a device that the pool lacks is told by the check of devices
        if lane.job.gpus and resource in stated and stated[resource] is None:
            nothing_left.append(_NAMES.get(resource, resource))
            continue
        key = _KEYS.get(resource)
        own_part = given.get(resource, asked[resource])
        remedy = f"lower {key}, leave it out for the fair share, or use larger nodes"
        if resource not in stated:
            remedy = f"lower {key} or use larger nodes" if key else "use larger nodes"
        yield Problem(
            path=f"{lane.path}.{key}" if key else lane.path,
            message=_too_much(
                resource,
                own_part,
                asked[resource] - own_part,
                has[resource],
                _where(pool, node),
            ),
            remedy=remedy,
        )
    if nothing_left:
        yield Problem(
            path=lane.path,
            message=(
                f"no {' and no '.join(nothing_left)} of an empty node of pool {pool.name} "
                f"({node.kind}) is left for the job, beside DaemonSets, reserve and side containers"
            ),
            remedy="use larger nodes, fewer slices, or a lower reserve on the pool",
        )


def _where(pool: Pool, node: Node) -> str:
    return f"pool {pool.name} ({node.kind})"


def _too_much(resource: str, asks: int, beside: int, available: int, where: str) -> str:
    more = f" and {_text(resource, beside)} for its side containers" if beside else ""
    return (
        f"a job asks for {_text(resource, asks)} {_NAMES.get(resource, resource)}{more}; an empty "
        f"node of {where} has {_text(resource, max(0, available))} available"
    )


@check("starved", "warning")
def starved(view: View) -> Iterator[Problem]:
    """GPU lanes whose fair share of a node is too little to work with."""
    for lane in view.lanes:
        if not lane.job.gpus or not any(pool.gpu for pool in lane.pools):
            continue
        own = lane.job.request
        little = [
            f"{text} {name}"
            for name, stated, has, least, text in (
                ("cpu", lane.spec.cpu, own.cpu_m, _LEAST_CPU_M, format_cpu(own.cpu_m)),
                (
                    *("memory", lane.spec.memory, own.memory_mib, _LEAST_MEMORY_MIB),
                    format_memory(own.memory_mib),
                ),
                ("disk", lane.spec.disk, own.disk_mib, 1, "no"),
            )
            if stated is None and has < least
        ]
        if little:
            yield Problem(
                path=lane.path,
                message=(
                    f"a job's fair share of a node of {', '.join(lane.job.pools)} is "
                    f"{', '.join(little)}, beside DaemonSets, reserve, images and side containers"
                ),
                remedy="use larger nodes, fewer slices, or a lower reserve on the pool",
            )


@check("gpu-pool")
def gpu_pools(view: View) -> Iterator[Problem]:
    """GPU lanes on pools without GPUs."""
    for lane in view.lanes:
        for pool in lane.pools:
            if lane.job.gpus and pool.gpu is None:
                yield Problem(
                    path=f"{lane.path}.pools",
                    message=f"the lane's jobs ask for GPUs, pool {pool.name} has none",
                    remedy=f"remove {pool.name} from the lane's pools",
                )


@check("wasted-gpus", "warning")
def wasted_gpus(view: View) -> Iterator[Problem]:
    """Lanes without GPUs on GPU pools, of a cluster that has CPU pools for them."""
    for lane in view.lanes:
        if lane.job.gpus or lane.job.device or all(pool.gpu for pool in lane.cluster.pools):
            continue
        for pool in lane.pools:
            if pool.gpu is not None:
                yield Problem(
                    path=f"{lane.path}.pools",
                    message=(
                        f"the lane's jobs ask for no GPU, and would start and keep GPU nodes of "
                        f"pool {pool.name}"
                    ),
                    remedy="add gpus: 1 to the lane, or use a CPU pool",
                )


@check("slices")
def slices(view: View) -> Iterator[Problem]:
    """Jobs that ask for several shares of a GPU, which give no more of it than one."""
    for lane in view.lanes:
        for pool in lane.pools:
            if lane.job.gpus > 1 and pool.mig_instances > 1:
                yield Problem(
                    path=f"{lane.path}.gpus",
                    message=(
                        f"asks for {lane.job.gpus} MIG instances of pool {pool.name}; a process "
                        "uses one of them"
                    ),
                    remedy="set gpus: 1, or use a pool of larger instances",
                    severity="warning",
                )
            if lane.job.gpus > 1 and pool.time_slices > 1:
                yield Problem(
                    path=f"{lane.path}.gpus",
                    message=(
                        f"asks for {lane.job.gpus} slices of pool {pool.name}, which shares its "
                        "GPUs by time slicing: the device plugin refuses more than one"
                    ),
                    remedy="set gpus: 1, or use a pool without sharing",
                )


def _text(resource: str, amount: int) -> str:
    if resource == CPU:
        return format_cpu(amount)
    return format_memory(amount) if resource in (MEMORY, DISK) else str(amount)
