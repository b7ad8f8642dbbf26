"""Numbers: GPUs of a job against GPUs of a node, jobs against nodes, and growing from zero."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View
from fleet.clusters.eks_pools import EksPool
from fleet.clusters.nodes import Node, Pool
from fleet.cost import HOURS_PER_MONTH, monthly_cost
from fleet.kubernetes import labels as words
from fleet.kubernetes.scheduling import copies, offer


@check("over-commitment", "warning")
def over_commitment(view: View) -> Iterator[Problem]:
    """Lanes that start more jobs than their pools have room for at their maximum."""
    for lane in view.lanes:
        room = jobs_at_once(lane)
        if 0 < room < lane.most_jobs:
            yield Problem(
                path=lane.path,
                message=(
                    f"starts up to {lane.most_jobs} jobs, its pools ({', '.join(lane.job.pools)}) "
                    f"have room for {room} at their maximum: {lane.most_jobs - room} would queue "
                    f"({_limits(lane)})"
                ),
                remedy="raise max_size of a pool, or lower the lane's maximum to what there is",
            )


@check("shared-pools", "note")
def shared_pools(view: View) -> Iterator[Problem]:
    """GPU pools of which several lanes together may ask for more than there is."""
    for cluster in view.plan.clusters:
        pools = {pool.name: pool for pool in cluster.pools if pool.gpu is not None}
        for lanes in _that_share(view.lanes_of(cluster)):
            names = list(dict.fromkeys(name for lane in lanes for name in lane.job.pools))
            asked = sum(lane.most_jobs * lane.job.gpus for lane in lanes)
            there = sum(
                pools[name].max_size * pools[name].advertised
                for name in names
                if name in pools and not pools[name].paused
            )
            if len(lanes) > 1 and 0 < there < asked:
                yield Problem(
                    path=next(pools[name].path for name in names if name in pools),
                    message=(
                        f"lanes {', '.join(lane.plan.name for lane in lanes)} together ask for up "
                        f"to {asked} {words.GPU_RESOURCE} of {', '.join(names)}, which have "
                        f"{there}: jobs for {asked - there} would queue"
                    ),
                    remedy="nothing, if the lanes are seldom busy together; else raise max_size",
                )


@check("stranded", "warning")
def stranded(view: View) -> Iterator[Problem]:
    """GPUs that stay idle because something else of the node runs out first, or do not divide."""
    smallest = _smallest_jobs(view)
    for lane in view.lanes:
        if not lane.job.gpus:
            continue
        asked = lane.asked
        for pool in lane.pools:
            for node in pool.nodes:
                jobs, limit = copies(asked, offer(pool, node))
                idle = node.advertised - jobs * lane.job.gpus
                others = smallest[lane.cluster.name, pool.name]
                if (
                    not jobs
                    or idle <= 0
                    or any(gpus <= idle and path != lane.path for gpus, path in others)
                ):
                    continue
                divided = node.advertised // lane.job.gpus == jobs
                why = (
                    f"{lane.job.gpus} for each job do not divide them"
                    if divided
                    else f"the node's {limit} runs out first"
                )
                yield Problem(
                    path=lane.path,
                    message=(
                        f"{idle} of the {node.advertised} {words.GPU_RESOURCE} of a node of pool "
                        f"{pool.name} ({node.kind}) stay idle beside {jobs} of its jobs: {why}"
                    ),
                    remedy=(
                        "use another number of gpus"
                        if divided
                        else "ask for less, leave it out for the fair share, or use another size"
                    ),
                )


@check("idle-gpus", "warning")
def idle_gpus(view: View) -> Iterator[Problem]:
    """GPU nodes that run, and are paid for, while there is no job."""
    for cluster in view.plan.clusters:
        for pool in cluster.pools:
            cost = monthly_cost(pool).floor
            prepaid = isinstance(pool, EksPool) and pool.capacity_type == "CAPACITY_BLOCK"
            if pool.gpu is not None and pool.min_size and cost and not prepaid:
                yield Problem(
                    path=f"{pool.path}.min_size",
                    message=(
                        f"keeps {pool.min_size} node{'s' if pool.min_size > 1 else ''} of "
                        f"{pool.kinds[0]} running without jobs: {cost:,.0f} USD a month"
                    ),
                    remedy="use 0: the autoscaler adds a node in minutes, or say why by silence",
                )
    for lane in view.lanes:
        yield from _idle_runners(lane)


def _idle_runners(lane: LaneView) -> Iterator[Problem]:
    """Runners that wait for jobs hold their GPUs; a launcher on a CPU node holds none."""
    least = getattr(lane.plan, "least_jobs", 0)
    if not least or not lane.job.gpus or lane.pods.launcher is not None or not lane.pools:
        return
    pool = lane.pools[0]
    jobs = max(1, jobs_on(lane, pool, pool.nodes[0]))
    nodes = ceil(least / jobs)
    price = pool.nodes[0].usd_per_hour
    money = f": {nodes * price * HOURS_PER_MONTH:,.0f} USD a month" if price else ""
    yield Problem(
        path=f"{lane.path}.min_runners",
        message=(
            f"keeps {least} runner{'s' if least > 1 else ''} waiting, and so {nodes} GPU "
            f"node{'s' if nodes > 1 else ''} of pool {pool.name} running without jobs{money}"
        ),
        remedy="use 0, or container_mode: kubernetes-novolume, whose runners wait on CPU nodes",
    )


def _limits(lane: LaneView) -> str:
    """What fills the nodes of each pool first."""
    each = {
        pool.name: copies(lane.asked, offer(pool, pool.nodes[0]))[1]
        for pool in lane.pools
        if not pool.paused
    }
    return ", ".join(f"{limit} fills {name}" for name, limit in each.items())


def jobs_at_once(lane: LaneView) -> int:
    """Jobs of a lane that its pools hold at their maximum when nothing else runs there."""
    return sum(
        pool.max_size * min(jobs_on(lane, pool, node) for node in pool.nodes)
        for pool in lane.pools
        if not pool.paused
    )


def jobs_on(lane: LaneView, pool: Pool, node: Node) -> int:
    """Jobs of a lane on one empty node."""
    return copies(lane.asked, offer(pool, node))[0]


def _smallest_jobs(view: View) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """GPUs of the two smallest jobs that may use a pool, by cluster and pool, and their lanes."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for lane in view.lanes:
        for name in lane.job.pools if lane.job.gpus else ():
            jobs = found.setdefault((lane.cluster.name, name), [])
            jobs.append((lane.job.gpus, lane.path))
            jobs.sort()
            del jobs[2:]
    return found


def _that_share(lanes: tuple[LaneView, ...]) -> list[list[LaneView]]:
    """GPU lanes in groups: those of one group share a pool with another of it."""
    above: dict[str, str] = {}

    def root(name: str) -> str:
        while (parent := above.setdefault(name, name)) != name:
            above[name] = name = above[parent]
        return name

    with_gpus = [lane for lane in lanes if lane.job.gpus]
    for lane in with_gpus:
        first = root(lane.job.pools[0])
        for name in lane.job.pools[1:]:
            above[root(name)] = first
    groups: dict[str, list[LaneView]] = {}
    for lane in with_gpus:
        groups.setdefault(root(lane.job.pools[0]), []).append(lane)
    return list(groups.values())
