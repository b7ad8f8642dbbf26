"""The plan as Markdown, for people: pools, lanes and what to write to get one, money, versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add

from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.oke import OKE_VERSIONS
from fleet.cost import NOTHING, monthly_cost
from fleet.findings import Finding
from fleet.plan.build import ClusterPlan, Plan
from fleet.plan.eks import EksPlan
from fleet.plan.existing import ExistingPlan
from fleet.plan.nodes import Node, Pool
from fleet.plan.oke import OkePlan
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


def fitting(job: Job, pool: Pool, node: Node) -> int:
    """How many jobs of a lane an empty node of the pool takes."""
    total, free = job.total, node.free
    counts = [
        has // asks
        for asks, has in (
            (job.gpus, node.advertised),
            (1 if job.device else 0, pool.devices.get(job.device or "", 0)),
            (total.cpu_m, free.cpu_m),
            (total.memory_mib, free.memory_mib),
            (total.disk_mib, free.disk_mib),
        )
        if asks > 0
    ]
    return max(0, min(counts, default=0))


def _cluster(cluster: ClusterPlan) -> Iterator[str]:
    yield from (
        "",
        f"## Cluster {cluster.name}",
        "",
        f"{_kind(cluster)} {_money(cluster)}",
        "",
        "| Pool | Nodes | Kind | GPUs a node | Free for jobs | Capacity |",
        "|---|---|---|---|---|---|",
    )
    yield from map(_pool_row, cluster.pools)
    yield from _moving_images(cluster)
    yield from (
        "",
        "| Lane | Write | Pools | A job gets | Jobs a node |",
        "|---|---|---|---|---|",
    )
    yield from _lane_rows(cluster)


def _kind(cluster: ClusterPlan) -> str:
    match cluster.platform:
        case EksPlan(version=version, region=region):
            end = KUBERNETES_VERSIONS[version].standard_support_end
            return f"EKS {version} in {region} (standard support until {end})."
        case OkePlan(version=version, region=region):
            return f"OKE {version} in {region} ({_support(version)})."
        case ExistingPlan(context=context):
            return f"Somebody else's cluster, reached by the kubeconfig context {context}."


def _money(cluster: ClusterPlan) -> str:
    if isinstance(cluster.platform, ExistingPlan):
        return "Its nodes cost this stack nothing."
    cost = reduce(add, map(monthly_cost, cluster.pools), NOTHING)
    return (
        f"Nodes cost {cost.floor:,.0f} USD a month when idle and {cost.ceiling:,.0f} USD when "
        f"full, at on-demand prices{_prices(cluster.platform)}."
    )


def _support(version: str) -> str:
    known = OKE_VERSIONS[version]
    end = known.support_end or known.support_end_rule
    return f"supported until {end}"


def _prices(platform: EksPlan | OkePlan) -> str:
    """OCI has one price for every region."""
    match platform:
        case EksPlan():
            return " of us-east-1"
        case OkePlan():
            return ""


def _moving_images(cluster: ClusterPlan) -> Iterator[str]:
    """Images that nobody pinned: what a pool runs then depends on the day."""
    if not isinstance(cluster.platform, OkePlan):
        return
    moving = [pool.name for pool in cluster.platform.pools if pool.image_id is None]
    if moving:
        yield from (
            "",
            f"Pools {', '.join(moving)} take the newest node image of the day; pin image_id for "
            "production.",
        )


def _pool_row(pool: Pool) -> str:
    node = pool.nodes[0]
    gpus = "none"
    if pool.gpu is not None:
        shared = f", shared as {node.advertised}" if node.advertised > node.gpus else ""
        gpus = f"{node.gpus} x {pool.gpu} ({GPU_MODELS[pool.gpu].memory_gb} GB){shared}"
    free = pool.free()
    return (
        f"| {pool.name} | {pool.min_size} to {pool.max_size} | {', '.join(pool.kinds)} "
        f"| {gpus} | {format_cpu(free.cpu_m)} CPU, {format_memory(free.memory_mib)} "
        f"| {pool.capacity} |"
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
    device = f"/dev/{job.device}, " if job.device else ""
    fits = ", ".join(
        dict.fromkeys(
            str(fitting(job, pools[pool], node)) for pool in job.pools for node in pools[pool].nodes
        )
    )
    return (
        f"| {name} | {write} | {', '.join(job.pools)} "
        f"| {gpus}{device}{format_cpu(request.cpu_m)} CPU, "
        f"{format_memory(request.memory_mib)} memory, {format_memory(request.disk_mib)} disk "
        f"| {fits} |"
    )
