"""Capacity of CPU nodes for controllers and listeners, and GPU nodes kept free for jobs."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from fleet.checks.check import check
from fleet.checks.view import View
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePlan
from fleet.findings import Finding
from fleet.kubernetes.resources import format_cpu, format_memory
from fleet.kubernetes.scheduling import (
    CPU,
    MEMORY,
    Amounts,
    Scheduled,
    lacking,
    offer,
    requests,
    selects,
    untolerated,
)
from fleet.workloads import Workload, system_workloads


@check("paused-pool", "warning")
def paused_pools(view: View) -> Iterator[Finding]:
    """Lanes that accept jobs although all their pools are paused."""
    for lane in view.lanes:
        if lane.max_jobs and lane.pools and all(pool.paused for pool in lane.pools):
            yield paused_pools.finding(
                f"{lane.path}.pools",
                message=(
                    f"are all paused ({', '.join(lane.plan.pool_names)}), but the lane is not: it "
                    "takes jobs, and they wait in Pending"
                ),
                remedy="set paused: true on the lane too, or resume a pool",
            )


@check("system-places")
def system_places(view: View) -> Iterator[Finding]:
    """CPU pools that cannot run a controller, listener or runner manager of the cluster."""
    for cluster in view.plan.clusters:
        cpu_pools = [pool for pool in cluster.pools if pool.gpu is None]
        for workload in view.placements(cluster) if cpu_pools else ():
            reasons = [(pool.name, _reason(workload, pool)) for pool in cpu_pools]
            if all(reason is not None for _, reason in reasons):
                yield system_places.finding(
                    workload.path,
                    message=(
                        f"{workload.name} would stay Pending, because no CPU pool of cluster "
                        f"{cluster.name} can run it: "
                        + "; ".join(f"{name}: {reason}" for name, reason in reasons)
                    ),
                    remedy="add a CPU pool with min_size 1 or more, and larger nodes if needed",
                )


def _reason(workload: Workload, pool: Pool) -> str | None:
    """Return why no always-running node of the pool can run the workload; `None` if one can."""
    why = why_not(workload.pod, pool)
    if why is not None:
        return why
    if not pool.min_size:
        return "it may have no node"
    needed = requests(workload.pod)
    missing = [lacking(needed, offer(pool, node)) for node in pool.nodes]
    return f"its nodes have too little {' and '.join(missing[0])}" if all(missing) else None


def why_not(pod: Scheduled, pool: Pool, *, ignore_taint: str | None = None) -> str | None:
    """Return why the scheduler puts a pod on no node of a pool, `None` if labels and taints allow.

    `ignore_taint` is the key of a taint that does not count.
    """
    if not selects(pod, pool.labels):
        return "its node selector or affinity requires labels that the nodes lack"
    taints = [taint for taint in untolerated(pod, pool.taints) if taint.key != ignore_taint]
    if taints:
        listed = ", ".join(f"{taint.key}={taint.value}:{taint.effect}" for taint in taints)
        return f"it does not tolerate {listed}"
    return None


@check("shared-node", "warning")
def shared_nodes(view: View) -> Iterator[Finding]:
    """Clusters without a CPU pool, whose controllers and listeners run on the nodes of jobs."""
    for cluster in view.plan.clusters:
        if cluster.pools and all(pool.gpu is not None for pool in cluster.pools):
            yield shared_nodes.finding(
                f"clusters.{cluster.name}",
                message=(
                    "has no CPU pool: controllers, listeners and runner managers run on GPU nodes "
                    "and take CPU and memory from the jobs"
                ),
                remedy="declare a CPU pool, or lower cpu and memory of the pool by what they need",
            )


@check("untainted-gpu-pool", "warning")
def untainted_gpu_pools(view: View) -> Iterator[Finding]:
    """GPU pools without a taint, where pods without GPUs take the room of jobs."""
    for cluster in view.plan.clusters:
        if not any(pool.gpu is None for pool in cluster.pools):
            continue  # without CPU nodes, a taint would leave other pods nowhere to run
        for pool in cluster.pools:
            if pool.gpu is None or any(taint.effect != "PreferNoSchedule" for taint in pool.taints):
                continue
            yield untainted_gpu_pools.finding(
                f"{pool.path}.taints",
                message=(
                    "has no taint that keeps other pods off: any pod of the cluster can take the "
                    "CPU and memory of these GPU nodes"
                ),
                remedy=(
                    "taint the nodes nvidia.com/gpu=true:NoSchedule and declare the taint here; "
                    "jobs of the pool's lanes tolerate it automatically"
                ),
            )


@check("system-room", "warning")
def system_room(view: View) -> Iterator[Finding]:
    """CPU pools that are too small at their maximum for the pods that must run there."""
    for cluster in view.plan.clusters:
        pools = [pool for pool in cluster.pools if pool.gpu is None and not pool.paused]
        if not pools:
            continue
        needed: Amounts = Amounts()
        for workload in system_workloads(cluster):
            _add(needed, requests(workload.pod), workload.replicas)
        shortage = _shortage(needed, pools)
        if shortage is not None:
            yield system_room.finding(
                f"clusters.{cluster.name}",
                message=(
                    f"its CPU pools cannot hold the pods that always run: {shortage}; some would "
                    "stay Pending"
                ),
                remedy="raise max_size of a CPU pool, or use larger nodes",
                severity="error",
            )
            continue
        launchers = [lane for lane in view.lanes_of(cluster) if lane.pods.launcher is not None]
        for lane in launchers:
            if lane.pods.launcher is not None:
                _add(needed, requests(lane.pods.launcher), lane.max_jobs)
        shortage = _shortage(needed, pools)
        if shortage is not None:
            names = ", ".join(lane.plan.name for lane in launchers)
            yield system_room.finding(
                f"clusters.{cluster.name}",
                message=(
                    f"its CPU pools cannot hold all runners of {names} at once: {shortage}; the "
                    "other runners would stay Pending"
                ),
                remedy="raise max_size of a CPU pool, or lower max_runners",
            )


def _add(total: Amounts, more: Amounts, times: int) -> None:
    for name, amount in more.items():
        total[name] += amount * times


def _shortage(needed: Amounts, pools: list[Pool]) -> str | None:
    """Return what the pools lack at their maximum, `None` if nothing.

    Pods are counted as if one could be split over nodes, so the real shortage may be larger.
    """
    has: Amounts = Amounts()
    for pool in pools:
        largest = max(pool.nodes, key=lambda node: node.free.cpu_m)
        _add(has, offer(pool, largest), pool.max_size)
    for name in lacking(needed, has):
        text = {CPU: format_cpu, MEMORY: format_memory}.get(name, str)
        more = min(
            ceil((needed[name] - has[name]) / max(1, offer(pool, pool.nodes[0])[name]))
            for pool in pools
        )
        nodes = f"{more} more node{'s' if more > 1 else ''}"
        return (
            f"they need {text(needed[name])} {name}, the pools have {text(has[name])} ({nodes} "
            "would be enough)"
        )
    return None


@check("oke-autoscaler-node", "warning")
def oke_autoscaler_node(view: View) -> Iterator[Finding]:
    """OKE clusters whose autoscaler scales the pool that it runs on."""
    for cluster in view.plan.clusters:
        oke = cluster.platform
        if isinstance(oke, OkePlan) and oke.pools == oke.scaled_pools:
            yield oke_autoscaler_node.finding(
                f"clusters.{oke.name}.oke.pools",
                message=(
                    "are all scaled by the autoscaler, also the one that it runs on: it can remove "
                    "its own node"
                ),
                remedy="give one CPU pool equal min_size and max_size, as Oracle advises",
            )
