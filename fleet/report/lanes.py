"""Lanes as data: what to write, where a job lands, how many fit, what an hour of it costs.

Units: see `fleet.report.shape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from fleet.checks.view import LaneView
from fleet.clusters.nodes import Node, Pool
from fleet.config.github import GitHub
from fleet.config.stack import Cluster
from fleet.kubernetes.labels import GPU_RESOURCE
from fleet.kubernetes.scheduling import (
    Amounts,
    copies,
    offer,
    requests,
    selects,
    together,
    untolerated,
)
from fleet.report import shape
from fleet.runners.github import GitHubLanePlan

_LAUNCHES_ELSEWHERE = "kubernetes-novolume"
"""Container mode whose waiting runners stand on CPU nodes."""


def lane_id(lane: LaneView) -> str:
    """The lane's key among those of its cluster: github/gpu-t4."""
    return f"{forge(lane)}/{lane.plan.name}"


def forge(lane: LaneView) -> Literal["github", "gitlab"]:
    """Whose jobs it runs."""
    return "github" if isinstance(lane.plan, GitHubLanePlan) else "gitlab"


def lane_data(lane: LaneView, spec: Cluster) -> shape.Lane:
    """One lane; `spec` is what the stack file says of its cluster."""
    plan = lane.plan
    is_github = isinstance(plan, GitHubLanePlan)
    owner = spec.github if is_github else spec.gitlab
    placements = _placements(lane)
    prices = [one["usd_per_job_hour"] for one in placements if one["usd_per_job_hour"] is not None]
    return {
        "path": plan.path,
        "forge": forge(lane),
        "name": plan.name,
        "url": owner.url if owner is not None else "",
        "group": owner.lanes[plan.name].group if isinstance(owner, GitHub) else None,
        "write": list(plan.labels),
        "pools": list(plan.pool_names),
        "job": _job(lane),
        "placements": placements,
        "least_jobs": plan.min_jobs,
        "most_jobs": plan.max_jobs,
        "jobs_on_full_pools": _on_full_pools(placements, lane.pools),
        "usd_per_job_hour": ({"floor": min(prices), "ceiling": max(prices)} if prices else None),
        "image": plan.image,
        "runner_image": plan.job.image if is_github else None,
        "container_mode": plan.container_mode if is_github else None,
        "chart_version": plan.release.version,
        "paused": lane.spec.paused,
    }


def waiting_nodes(lanes: Iterable[LaneView]) -> dict[str, int]:
    """Nodes by pool that waiting runners hold at least, each on the first pool that takes it.

    It is a floor: runners of several lanes are packed as if they could be cut.
    """
    asked: dict[str, Amounts] = {}
    offers: dict[str, Amounts] = {}
    nodes: dict[str, int] = {}
    for lane in lanes:
        plan = lane.plan
        if not isinstance(plan, GitHubLanePlan) or not plan.min_jobs:
            continue
        if plan.container_mode == _LAUNCHES_ELSEWHERE:
            continue
        runner = requests(lane.pods.on_pool[0])
        for pool in lane.pools:
            has = offer(pool, pool.nodes[0])
            each, _ = copies(runner, has)
            if pool.paused or not each:
                continue
            total = asked.setdefault(pool.name, Amounts())
            total.update({name: amount * plan.min_jobs for name, amount in runner.items()})
            offers[pool.name] = has
            nodes[pool.name] = max(nodes.get(pool.name, 0), -(-plan.min_jobs // each))
            break
    return {
        name: max(least, _whole_nodes(asked[name], offers[name])) for name, least in nodes.items()
    }


def _whole_nodes(asked: Amounts, has: Mapping[str, int]) -> int:
    return max((-(-amount // has[name]) for name, amount in asked.items() if amount > 0), default=0)


def _job(lane: LaneView) -> shape.Job:
    job, spec = lane.job, lane.spec
    sizes = {
        "cpu": spec.cpu,
        "memory": spec.memory,
        "disk": spec.disk,
        "shm": spec.shm,
        "memory_limit": spec.memory_limit,
    }
    return {
        "gpus": job.gpus,
        "device": job.device,
        "cpu_m": job.request.cpu_m,
        "memory_mib": job.request.memory_mib,
        "disk_mib": job.request.disk_mib,
        "shm_mib": job.shm_mib,
        "memory_limit_mib": job.memory_limit_mib,
        "left_out": [name for name, stated in sizes.items() if stated is None],
    }


def _placements(lane: LaneView) -> list[shape.Placement]:
    asked = together(lane.pods.on_pool)
    found: list[shape.Placement] = []
    for pool in lane.pools:
        barrier = _barrier(lane, pool)
        for node in pool.nodes:
            count, limit = (0, barrier) if barrier else _copies(asked, pool, node)
            price = node.usd_per_hour
            found.append(
                {
                    "pool": pool.name,
                    "kind": node.kind,
                    "jobs_per_node": count,
                    "limited_by": limit,
                    "usd_per_job_hour": round(price / count, 6) if price and count else None,
                }
            )
    return found


def _barrier(lane: LaneView, pool: Pool) -> str | None:
    """What keeps the lane's jobs off every node of the pool."""
    if pool.paused:
        return "paused"
    for pod in lane.pods.on_pool:
        if not selects(pod, pool.labels):
            return "labels"
        taints = untolerated(pod, pool.taints)
        if taints:
            return f"taint {taints[0].key}"
    return None


def _copies(asked: Amounts, pool: Pool, node: Node) -> tuple[int, str]:
    """Where GPUs run out at the same time as something else, no GPU is stranded: they are named."""
    has = offer(pool, node)
    count, limit = copies(asked, has)
    gpus = asked[GPU_RESOURCE]
    return count, GPU_RESOURCE if gpus and has[GPU_RESOURCE] // gpus == count else limit


def _on_full_pools(placements: Iterable[shape.Placement], pools: Iterable[Pool]) -> int:
    """Of a pool of several kinds the one that takes the fewest jobs counts."""
    each: dict[str, int] = {}
    for one in placements:
        count = one["jobs_per_node"]
        each[one["pool"]] = min(each.get(one["pool"], count), count)
    return sum(pool.max_size * each[pool.name] for pool in pools)
