"""Where pods go: selectors, tolerations, labels and taints agree, and GPUs are kept for jobs."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.nodes import Pool
from fleet.kubernetes.resources import format_cpu, format_memory
from fleet.kubernetes.scheduling import (
    CPU,
    MEMORY,
    Amounts,
    PodSpec,
    lacking,
    offer,
    requests,
    selects,
    untolerated,
)
from fleet.plan import ClusterPlan
from fleet.workloads import Workload, system_workloads


@check("paused-pool", "warning")
def paused_pools(view: View) -> Iterator[Problem]:
    """Lanes whose jobs would wait because every pool of theirs is paused."""
    for lane in view.lanes:
        if lane.most_jobs and lane.pools and all(pool.paused for pool in lane.pools):
            yield Problem(
                path=f"{lane.path}.pools",
                message=(
                    f"are all paused ({', '.join(lane.job.pools)}): the lane takes jobs, and they "
                    "wait"
                ),
                remedy="pause the lane too, so that jobs are not taken, or unpause a pool",
            )


@check("system-places")
def system_places(view: View) -> Iterator[Problem]:
    """Controllers, listeners and runner managers that have no CPU node to live on."""
    for cluster in view.plan.clusters:
        if not any(pool.gpu is None for pool in cluster.pools):
            continue
        for workload in view.placements(cluster):
            if not any(_lives_on(workload, pool) for pool in cluster.pools if pool.gpu is None):
                yield Problem(
                    path=workload.path,
                    message=(
                        f"{workload.name} has no CPU pool of cluster {cluster.name} to run on: "
                        f"{_reasons(workload, cluster)}"
                    ),
                    remedy="add a CPU pool with min_size 1 or more, of larger nodes if need be",
                )


@check("shared-node", "warning")
def shared_nodes(view: View) -> Iterator[Problem]:
    """Clusters without a CPU pool, whose controllers and listeners run beside the jobs."""
    for cluster in view.plan.clusters:
        if cluster.pools and all(pool.gpu is not None for pool in cluster.pools):
            yield Problem(
                path=f"clusters.{cluster.name}",
                message=(
                    "has no CPU pool: controllers, listeners and runner managers take room of the "
                    "GPU nodes"
                ),
                remedy="declare a CPU pool, or take what they need off cpu and memory of the pool",
            )


@check("untainted-gpu-pool", "warning")
def untainted_gpu_pools(view: View) -> Iterator[Problem]:
    """GPU pools without a taint, where pods of any kind take the room of jobs."""
    for cluster in view.plan.clusters:
        if not any(pool.gpu is None for pool in cluster.pools):
            continue  # whatever runs there has nowhere else to go
        for pool in cluster.pools:
            if pool.gpu is None or any(taint.effect != "PreferNoSchedule" for taint in pool.taints):
                continue
            yield Problem(
                path=f"{pool.path}.taints",
                message="are none: any pod of the cluster may land on its GPU nodes",
                remedy=(
                    "taint the nodes nvidia.com/gpu=true:NoSchedule and say so here; jobs of its "
                    "lanes tolerate it by themselves"
                ),
            )


@check("system-room", "warning")
def system_room(view: View) -> Iterator[Problem]:
    """CPU pools too small, at their maximum, for what must run there."""
    for cluster in view.plan.clusters:
        pools = [pool for pool in cluster.pools if pool.gpu is None and not pool.paused]
        if not pools:
            continue
        always: Amounts = Amounts()
        for workload in system_workloads(cluster):
            _add(always, requests(workload.pod), workload.replicas)
        short = _short(always, pools)
        if short is not None:
            yield Problem(
                path=f"clusters.{cluster.name}",
                message=f"its CPU pools cannot hold what always runs there: {short}",
                remedy="raise max_size of a CPU pool, or use larger nodes",
                severity="error",
            )
            continue
        launchers = [lane for lane in view.lanes_of(cluster) if lane.pods.launcher is not None]
        for lane in launchers:
            _add(always, requests(lane.pods.launcher or {}), lane.most_jobs)
        short = _short(always, pools)
        if short is not None:
            names = ", ".join(lane.plan.name for lane in launchers)
            yield Problem(
                path=f"clusters.{cluster.name}",
                message=f"its CPU pools cannot hold every runner of {names} at once: {short}",
                remedy="raise max_size of a CPU pool, or lower max_runners",
            )


def _add(total: Amounts, more: Amounts, times: int) -> None:
    for name, amount in more.items():
        total[name] += amount * times


def _short(asked: Amounts, pools: list[Pool]) -> str | None:
    """What the pools lack at their maximum, as if pods could be cut: never more than they do."""
    has: Amounts = Amounts()
    for pool in pools:
        largest = max(pool.nodes, key=lambda node: node.free.cpu_m)
        _add(has, offer(pool, largest), pool.max_size)
    for name in lacking(asked, has):
        text = {CPU: format_cpu, MEMORY: format_memory}.get(name, str)
        more = min(
            ceil((asked[name] - has[name]) / max(1, offer(pool, pool.nodes[0])[name]))
            for pool in pools
        )
        nodes = f"{more} more node{'s' if more > 1 else ''}"
        return f"{text(asked[name])} {name} asked, {text(has[name])} there ({nodes} would do)"
    return None


def _lives_on(workload: Workload, pool: Pool) -> bool:
    """Whether a node of the pool is always there and has room."""
    return (
        why_not(workload.pod, pool) is None
        and pool.min_size > 0
        and any(not lacking(requests(workload.pod), offer(pool, node)) for node in pool.nodes)
    )


def _reasons(workload: Workload, cluster: ClusterPlan) -> str:
    told: list[str] = []
    for pool in cluster.pools:
        if pool.gpu is not None:
            continue
        why = why_not(workload.pod, pool)
        if why is None and not pool.min_size:
            why = "it may have no node"
        if why is None:
            short = lacking(requests(workload.pod), offer(pool, pool.nodes[0]))
            why = f"its nodes have too little {' and '.join(short)}"
        told.append(f"{pool.name}: {why}")
    return "; ".join(told)


def why_not(pod: PodSpec, pool: Pool, *, but: str | None = None) -> str | None:
    """What keeps a pod off every node of a pool; `but` is the key of a taint that is no matter."""
    if not selects(pod, pool.labels):
        return "its node selector or affinity asks for labels that the nodes lack"
    taints = [taint for taint in untolerated(pod, pool.taints) if taint.key != but]
    if taints:
        listed = ", ".join(f"{taint.key}={taint.value}:{taint.effect}" for taint in taints)
        return f"it does not tolerate {listed}"
    return None
