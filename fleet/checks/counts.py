"""Numbers of jobs and GPUs against the nodes of the pools, and GPU nodes that run without jobs."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from fleet.checks.check import check
from fleet.checks.view import LaneView, View
from fleet.clusters.eks import EksPool
from fleet.clusters.nodes import Node, Pool
from fleet.cost import HOURS_PER_MONTH, monthly_cost
from fleet.findings import Finding
from fleet.kubernetes.labels import GPU_RESOURCE
from fleet.kubernetes.scheduling import copies, offer


@check("over-commitment", "warning")
def over_commitment(view: View) -> Iterator[Finding]:
    """Lanes that start more jobs than their pools hold at their maximum."""
    for lane in view.lanes:
        room = _jobs_at_once(lane)
        if 0 < room < lane.max_jobs:
            yield over_commitment.finding(
                lane.path,
                message=(
                    f"starts up to {lane.max_jobs} jobs, but its pools "
                    f"({', '.join(lane.plan.pool_names)}) hold {room} at their maximum "
                    f"({_limits(lane)}): {lane.max_jobs - room} would wait in Pending"
                ),
                remedy=f"raise max_size of a pool, or lower the lane's maximum to {room}",
            )


def _limits(lane: LaneView) -> str:
    """Return which resource limits the jobs on a node of each pool."""
    return ", ".join(
        f"{copies(lane.requests, offer(pool, pool.nodes[0]))[1]} limits {pool.name}"
        for pool in lane.pools
        if not pool.paused
    )


def _jobs_at_once(lane: LaneView) -> int:
    """Return how many jobs of a lane its pools hold at their maximum if nothing else runs there."""
    return sum(
        pool.max_size * min(_jobs_on(lane, pool, node) for node in pool.nodes)
        for pool in lane.pools
        if not pool.paused
    )


def _jobs_on(lane: LaneView, pool: Pool, node: Node) -> int:
    return copies(lane.requests, offer(pool, node))[0]


@check("shared-pools", "note")
def shared_pools(view: View) -> Iterator[Finding]:
    """GPU pools whose lanes may together start jobs for more GPUs than the pools have."""
    for cluster in view.plan.clusters:
        pools = {pool.name: pool for pool in cluster.pools if pool.gpu is not None}
        for lanes in _groups_that_share(view.lanes_of(cluster)):
            names = list(dict.fromkeys(name for lane in lanes for name in lane.plan.pool_names))
            wanted = sum(lane.max_jobs * lane.job.gpus for lane in lanes)
            available = sum(
                pools[name].max_size * pools[name].advertised
                for name in names
                if name in pools and not pools[name].paused
            )
            if len(lanes) > 1 and 0 < available < wanted:
                yield shared_pools.finding(
                    next(pools[name].path for name in names if name in pools),
                    message=(
                        f"lanes {', '.join(lane.plan.name for lane in lanes)} together request up "
                        f"to {wanted} {GPU_RESOURCE}, but {', '.join(names)} have {available} at "
                        f"their maximum: jobs for {wanted - available} would wait in Pending"
                    ),
                    remedy=(
                        "no change needed if these lanes are rarely busy at the same time. "
                        "Otherwise raise max_size"
                    ),
                )


def _groups_that_share(lanes: tuple[LaneView, ...]) -> list[list[LaneView]]:
    """Group GPU lanes by common pools, directly or through other lanes."""
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while (parent := parents.setdefault(name, name)) != name:
            parents[name] = name = parents[parent]
        return name

    with_gpus = [lane for lane in lanes if lane.job.gpus]
    for lane in with_gpus:
        first = root(lane.plan.pool_names[0])
        for name in lane.plan.pool_names[1:]:
            parents[root(name)] = first
    groups: dict[str, list[LaneView]] = {}
    for lane in with_gpus:
        groups.setdefault(root(lane.plan.pool_names[0]), []).append(lane)
    return list(groups.values())


@check("stranded", "warning")
def stranded(view: View) -> Iterator[Finding]:
    """GPUs that no job can use: another resource runs out first, or the number does not divide."""
    smallest = _smallest_jobs(view)
    for lane in view.lanes:
        if not lane.job.gpus:
            continue
        for pool in lane.pools:
            others = smallest[lane.cluster.name, pool.name]
            for node in pool.nodes:
                jobs, limit = copies(lane.requests, offer(pool, node))
                idle = node.advertised - jobs * lane.job.gpus
                usable = any(gpus <= idle and path != lane.path for gpus, path in others)
                if not jobs or idle <= 0 or usable:
                    continue
                divides = node.advertised // lane.job.gpus != jobs
                yield stranded.finding(
                    lane.path,
                    message=(
                        f"{jobs} of its jobs fill a node of pool {pool.name} ({node.kind}) and "
                        f"leave {idle} of {node.advertised} {GPU_RESOURCE} idle: "
                        + (
                            f"the node's {limit} runs out first"
                            if divides
                            else f"{node.advertised} is not a multiple of {lane.job.gpus}"
                        )
                    ),
                    remedy=(
                        f"request less {limit}, or remove the key for the fair share of the node"
                        if divides
                        else f"use a number of gpus that divides {node.advertised}"
                    ),
                )


def _smallest_jobs(view: View) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """Return GPUs and lane path of the two smallest jobs of each pool, by cluster and pool."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for lane in view.lanes:
        for name in lane.plan.pool_names if lane.job.gpus else ():
            jobs = found.setdefault((lane.cluster.name, name), [])
            jobs.append((lane.job.gpus, lane.path))
            jobs.sort()
            del jobs[2:]
    return found


@check("idle-gpus", "warning")
def idle_gpus(view: View) -> Iterator[Finding]:
    """GPU nodes that run, and cost money, while there is no job."""
    for cluster in view.plan.clusters:
        for pool in cluster.pools:
            cost = monthly_cost(pool).floor
            prepaid = isinstance(pool, EksPool) and pool.capacity_type == "CAPACITY_BLOCK"
            if pool.gpu is not None and pool.min_size and cost and not prepaid:
                yield idle_gpus.finding(
                    f"{pool.path}.min_size",
                    message=(
                        f"keeps {_count(pool.min_size, 'node')} of {pool.kinds[0]} running "
                        f"without jobs: they cost {cost:,.0f} USD a month"
                    ),
                    remedy=(
                        "use 0, the autoscaler adds a node in minutes; or silence idle-gpus with a "
                        "reason"
                    ),
                )
    for lane in view.lanes:
        yield from _idle_runners(lane)


def _idle_runners(lane: LaneView) -> Iterator[Finding]:
    """Yield a finding if idle runners hold GPUs, which they do unless they run on CPU nodes."""
    idle = lane.plan.min_jobs
    if not idle or not lane.job.gpus or lane.pods.launcher is not None or not lane.pools:
        return
    pool = lane.pools[0]
    nodes = ceil(idle / max(1, _jobs_on(lane, pool, pool.nodes[0])))
    price = pool.nodes[0].usd_per_hour
    cost = f": {nodes * price * HOURS_PER_MONTH:,.0f} USD a month" if price else ""
    yield idle_gpus.finding(
        f"{lane.path}.min_runners",
        message=(
            f"keeps {_count(idle, 'runner')} and so {_count(nodes, 'GPU node')} of pool "
            f"{pool.name} running without jobs{cost}"
        ),
        remedy="use 0, or container_mode: kubernetes-novolume, whose runners wait on CPU nodes",
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
