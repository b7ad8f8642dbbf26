"""Lanes of the report: how a job selects a lane, where it runs, how many fit, what they cost."""

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
from fleet.report import model
from fleet.runners.github import GitHubLanePlan

_LAUNCHES_ELSEWHERE = "kubernetes-novolume"
"""Container mode in which runners wait on CPU nodes."""


def lane_id(lane: LaneView) -> str:
    """Return the key of a lane in its cluster, like github/gpu-t4."""
    return f"{forge(lane)}/{lane.plan.name}"


def forge(lane: LaneView) -> Literal["github", "gitlab"]:
    """Return the forge whose jobs the lane runs."""
    return "github" if isinstance(lane.plan, GitHubLanePlan) else "gitlab"


def lane_section(lane: LaneView, spec: Cluster) -> model.Lane:
    """Return one lane; `spec` is its cluster in the stack file."""
    plan = lane.plan
    is_github = isinstance(plan, GitHubLanePlan)
    owner = spec.github if is_github else spec.gitlab
    placements = _placements(lane)
    prices = [one.usd_per_job_hour for one in placements if one.usd_per_job_hour is not None]
    return model.Lane(
        path=plan.path,
        forge=forge(lane),
        name=plan.name,
        url=owner.url if owner is not None else "",
        group=owner.lanes[plan.name].group if isinstance(owner, GitHub) else None,
        write=list(plan.labels),
        pools=list(plan.pool_names),
        job=_job(lane),
        placements=placements,
        least_jobs=plan.min_jobs,
        most_jobs=plan.max_jobs,
        jobs_on_full_pools=_jobs_on_full_pools(placements, lane.pools),
        usd_per_job_hour=(model.Range(floor=min(prices), ceiling=max(prices)) if prices else None),
        image=plan.image,
        runner_image=plan.job.image if is_github else None,
        container_mode=plan.container_mode if is_github else None,
        chart_version=plan.release.version,
        paused=lane.spec.paused,
    )


def waiting_nodes(lanes: Iterable[LaneView]) -> dict[str, int]:
    """Return how many nodes of each pool waiting runners keep up, each on its first usable pool.

    This is a lower bound: runners of several lanes are packed as if a runner could be split.
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


def _job(lane: LaneView) -> model.Job:
    job, spec = lane.job, lane.spec
    sizes = {
        "cpu": spec.cpu,
        "memory": spec.memory,
        "disk": spec.disk,
        "shm": spec.shm,
        "memory_limit": spec.memory_limit,
    }
    return model.Job(
        gpus=job.gpus,
        device=job.device,
        cpu_m=job.request.cpu_m,
        memory_mib=job.request.memory_mib,
        disk_mib=job.request.disk_mib,
        shm_mib=job.shm_mib,
        memory_limit_mib=job.memory_limit_mib,
        left_out=[name for name, size in sizes.items() if size is None],
    )


def _placements(lane: LaneView) -> list[model.Placement]:
    requested = together(lane.pods.on_pool)
    found: list[model.Placement] = []
    for pool in lane.pools:
        obstacle = _obstacle(lane, pool)
        for node in pool.nodes:
            count, limit = (0, obstacle) if obstacle else _copies(requested, pool, node)
            price = node.usd_per_hour
            found.append(
                model.Placement(
                    pool=pool.name,
                    kind=node.kind,
                    jobs_per_node=count,
                    limited_by=limit,
                    usd_per_job_hour=round(price / count, 6) if price and count else None,
                )
            )
    return found


def _obstacle(lane: LaneView, pool: Pool) -> str | None:
    """Return what keeps the lane's jobs off every node of the pool."""
    if pool.paused:
        return "paused"
    for pod in lane.pods.on_pool:
        if not selects(pod, pool.labels):
            return "labels"
        taints = untolerated(pod, pool.taints)
        if taints:
            return f"taint {taints[0].key}"
    return None


def _copies(requested: Amounts, pool: Pool, node: Node) -> tuple[int, str]:
    """Return how many jobs fit and which resource limits them.

    If GPUs run out together with another resource, no GPU is stranded and GPUs are the limit.
    """
    has = offer(pool, node)
    count, limit = copies(requested, has)
    gpus = requested[GPU_RESOURCE]
    return count, GPU_RESOURCE if gpus and has[GPU_RESOURCE] // gpus == count else limit


def _jobs_on_full_pools(placements: Iterable[model.Placement], pools: Iterable[Pool]) -> int:
    """Count jobs; a pool of several kinds counts with the kind that takes the fewest."""
    fewest: dict[str, int] = {}
    for one in placements:
        fewest[one.pool] = min(fewest.get(one.pool, one.jobs_per_node), one.jobs_per_node)
    return sum(pool.max_size * fewest[pool.name] for pool in pools)
