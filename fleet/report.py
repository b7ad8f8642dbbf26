"""The plan as Markdown, for people: pools, lanes and what to write to get one, money, versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add

from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.gpus import GPU_MODELS
from fleet.cost import NOTHING, monthly_cost
from fleet.findings import Finding
from fleet.plan.build import ClusterPlan, Plan
from fleet.plan.nodes import Node, Pool
from fleet.plan.shares import Job
from fleet.units import format_cpu, format_memory


def markdown(plan: Plan, warnings: Iterable[Finding] = ()) -> str:
    """The report of a stack; no secret and no value of one is in it."""
    lines: list[str] = []
    for cluster in plan.clusters:
        lines += _cluster(cluster)
    found = [f"- `{warning.path}`: {warning.message}. {warning.remedy}" for warning in warnings]
    if found:
        lines += ["", "## Warnings", "", *found]
    return "\n".join(lines).strip() + "\n"


def fitting(job: Job, node: Node) -> int:
    """How many jobs of a lane an empty node takes."""
    total, free = job.total, node.free
    counts = [
        has // asks
        for asks, has in (
            (job.gpus, node.advertised),
            (total.cpu_m, free.cpu_m),
            (total.memory_mib, free.memory_mib),
            (total.disk_mib, free.disk_mib),
        )
        if asks > 0
    ]
    return max(0, min(counts, default=0))


def _cluster(cluster: ClusterPlan) -> Iterator[str]:
    eks = cluster.eks
    known = KUBERNETES_VERSIONS[eks.version]
    cost = reduce(add, map(monthly_cost, cluster.pools), NOTHING)
    yield from (
        "",
        f"## Cluster {cluster.name}",
        "",
        f"EKS {eks.version} in {eks.region} (standard support until {known.standard_support_end}). "
        f"Nodes cost {cost.floor:,.0f} USD a month when idle and {cost.ceiling:,.0f} USD when "
        "full, at on-demand prices of us-east-1.",
        "",
        "| Pool | Nodes | Instance types | GPUs a node | Free for jobs | Capacity |",
        "|---|---|---|---|---|---|",
    )
    yield from map(_pool_row, cluster.pools)
    yield from (
        "",
        "| Lane | Write | Pools | A job gets | Jobs a node |",
        "|---|---|---|---|---|",
    )
    yield from _lane_rows(cluster)


def _pool_row(pool: Pool) -> str:
    node = pool.nodes[0]
    gpus = "none"
    if pool.gpu is not None:
        shared = f", shared as {node.advertised}" if pool.time_slices > 1 else ""
        gpus = f"{node.gpus} x {pool.gpu} ({GPU_MODELS[pool.gpu].memory_gb} GB){shared}"
    free = pool.free()
    return (
        f"| {pool.name} | {pool.min_size} to {pool.max_size} | {', '.join(pool.instance_types)} "
        f"| {gpus} | {format_cpu(free.cpu_m)} CPU, {format_memory(free.memory_mib)} "
        f"| {pool.capacity_type} |"
    )


def _lane_rows(cluster: ClusterPlan) -> Iterator[str]:
    pools = {pool.name: pool for pool in cluster.pools}
    for lane in cluster.github.lanes if cluster.github is not None else ():
        yield _lane_row(lane.name, f"`runs-on: {lane.runs_on[0]}`", lane.job, pools)
    for lane in cluster.gitlab.lanes if cluster.gitlab is not None else ():
        yield _lane_row(lane.name, f"`tags: [{', '.join(lane.tags)}]`", lane.job, pools)


def _lane_row(name: str, write: str, job: Job, pools: dict[str, Pool]) -> str:
    request = job.request
    gpus = f"{job.gpus} GPU, " if job.gpus else ""
    fits = ", ".join(
        dict.fromkeys(str(fitting(job, node)) for pool in job.pools for node in pools[pool].nodes)
    )
    return (
        f"| {name} | {write} | {', '.join(job.pools)} | {gpus}{format_cpu(request.cpu_m)} CPU, "
        f"{format_memory(request.memory_mib)} memory, {format_memory(request.disk_mib)} disk "
        f"| {fits} |"
    )
