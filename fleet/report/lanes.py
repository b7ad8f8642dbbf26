"""Lanes of the report: how a job selects a lane, where it runs, how many fit, what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fleet.clusters.nodes import Node, Pool
from fleet.config.github import GitHubLane
from fleet.config.lanes import Lane
from fleet.config.stack import Cluster
from fleet.kubernetes.pods import GPU_RESOURCE
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
from fleet.runners.gitlab import GitLabLanePlan
from fleet.runners.lanes import Job, LanePlan


def lane_section(lane: LanePlan, cluster: Cluster) -> model.Lane:
    """Return one lane of the report; `cluster` is its cluster in the stack file."""
    github = lane if isinstance(lane, GitHubLanePlan) else None
    forge = cluster.gitlab if github is None else cluster.github
    if forge is None:
        raise ValueError(f"{lane.path}: is not in the stack file")
    spec = forge.lanes[lane.name]
    placements = _placements(lane)
    prices = [one.usd_per_job_hour for one in placements if one.usd_per_job_hour is not None]
    return model.Lane(
        path=lane.path,
        forge=lane.forge,
        name=lane.name,
        url=forge.url,
        owner=_owner(lane),
        generation=lane.generation,
        group=spec.group if isinstance(spec, GitHubLane) else None,
        write=list(lane.labels),
        pools=list(lane.pool_names),
        job=_job(lane.job, spec),
        placements=placements,
        least_jobs=lane.min_jobs,
        most_jobs=lane.max_jobs,
        drain_minutes=lane.drain_minutes,
        jobs_on_full_pools=_jobs_on_full_pools(placements, lane.pools),
        usd_per_job_hour=model.Range(floor=min(prices), ceiling=max(prices)) if prices else None,
        image=lane.image,
        runner_image=lane.job.image if github is not None else None,
        container_mode=github.container_mode if github is not None else None,
        chart_version=lane.release.version,
        paused=spec.paused,
    )


def waiting_nodes(lanes: Iterable[LanePlan]) -> dict[str, int]:
    """Return how many nodes of each pool idle runners keep running, on their first usable pool.

    Runners that wait on CPU nodes are not counted. The number is a lower bound: runners of several
    lanes are packed as if a runner could be split.
    """
    requested: dict[str, Amounts] = {}
    offers: dict[str, Amounts] = {}
    nodes: dict[str, int] = {}
    for lane in lanes:
        if not lane.min_jobs or lane.pods.launcher is not None:
            continue
        runner = requests(lane.pods.on_pool[0])
        for pool in lane.pools:
            has = offer(pool, pool.nodes[0])
            per_node, _ = copies(runner, has)
            if pool.paused or not per_node:
                continue
            total = requested.setdefault(pool.name, Counter())
            total.update({name: amount * lane.min_jobs for name, amount in runner.items()})
            offers[pool.name] = has
            nodes[pool.name] = max(nodes.get(pool.name, 0), -(-lane.min_jobs // per_node))
            break
    for pool, total in requested.items():
        packed = max(-(-n // offers[pool][name]) for name, n in total.items() if n > 0)
        nodes[pool] = max(nodes[pool], packed)
    return nodes


def _owner(lane: LanePlan) -> str | None:
    runner = lane.runner if isinstance(lane, GitLabLanePlan) else None
    if runner is None:
        return None
    ids = {"group": runner.group_id, "project": runner.project_id}
    return next((f"{kind} {one}" for kind, one in ids.items() if one is not None), "instance")


def _job(job: Job, spec: Lane) -> model.Job:
    sizes = ("cpu", "memory", "disk", "shm", "memory_limit")
    return model.Job(
        gpus=job.gpus,
        device=job.device,
        cpu_m=job.request.cpu_m,
        memory_mib=job.request.memory_mib,
        disk_mib=job.request.disk_mib,
        shm_mib=job.shm_mib,
        memory_limit_mib=job.memory_limit_mib,
        left_out=[size for size in sizes if getattr(spec, size) is None],
    )


def _placements(lane: LanePlan) -> list[model.Placement]:
    requested = together(lane.pods.on_pool)
    found: list[model.Placement] = []
    for pool in lane.pools:
        obstacle = _obstacle(lane, pool)
        for node in pool.nodes:
            jobs, limit = (0, obstacle) if obstacle else _copies(requested, pool, node)
            price = node.usd_per_hour
            found.append(
                model.Placement(
                    pool=pool.name,
                    kind=node.kind,
                    jobs_per_node=jobs,
                    limited_by=limit,
                    usd_per_job_hour=round(price / jobs, 6) if price and jobs else None,
                )
            )
    return found


def _obstacle(lane: LanePlan, pool: Pool) -> str | None:
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
    jobs, limit = copies(requested, has)
    gpus = requested[GPU_RESOURCE]
    return jobs, GPU_RESOURCE if gpus and has[GPU_RESOURCE] // gpus == jobs else limit


def _jobs_on_full_pools(placements: Iterable[model.Placement], pools: Iterable[Pool]) -> int:
    """Count jobs; a pool of several kinds counts with the kind that takes the fewest."""
    fewest: dict[str, int] = {}
    for one in placements:
        fewest[one.pool] = min(fewest.get(one.pool, one.jobs_per_node), one.jobs_per_node)
    return sum(pool.max_size * fewest[pool.name] for pool in pools)
