"""Memory that a job may use beyond what it asks for: /dev/shm, and a limit above the request."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.kubernetes.resources import format_memory


@check("shared-memory", "warning")
def shared_memory(view: View) -> Iterator[Problem]:
    """Lanes whose /dev/shm is larger than a job's memory limit, against which it counts."""
    for lane in view.lanes:
        limit = lane.job.memory_limit_mib
        if lane.spec.shm is not None and lane.job.shm_mib > limit:
            yield Problem(
                path=f"{lane.path}.shm",
                message=(
                    f"is {format_memory(lane.job.shm_mib)}, above the job's memory limit of "
                    f"{format_memory(limit)}: pages of /dev/shm count against it, so a job that "
                    "fills it is killed"
                ),
                remedy="lower shm, or raise memory or memory_limit",
            )


@check("memory-limit", "warning")
def memory_limits(view: View) -> Iterator[Problem]:
    """Lanes that limit a job to more memory than a node of their pools has."""
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
            yield Problem(
                path=f"{lane.path}.memory_limit",
                message=(
                    f"is {format_memory(limit)}, but a node of pool {pool.name} ({node.kind}) has "
                    f"{format_memory(node.allocatable.memory_mib)}: the node runs out before the "
                    "job does, and other jobs die with it"
                ),
                remedy="lower memory_limit to what a node has, or use larger nodes",
            )
