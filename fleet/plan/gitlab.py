"""GitLab's side of a cluster: one runner manager for each lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fleet.catalog.images import CUDA_BASE
from fleet.charts.gitlab_config import GitLabJob, config_toml
from fleet.charts.gitlab_runner import GitLabRunnerValues
from fleet.charts.pods import Size, resources
from fleet.plan import words
from fleet.plan.nodes import Pool, job_tolerations
from fleet.plan.releases import Release, release
from fleet.plan.secrets import GITLAB_TOKEN_KEYS, ExternalSecret
from fleet.plan.shares import Job, job
from fleet.plan.words import Namespaces
from fleet.spec.lanes import GitLab, GitLabLane
from fleet.spec.stack import Charts
from fleet.units import Resources

_HELPER = Size(cpu_m=100, memory_mib=256)
"""Clones the project and moves caches and artifacts; init containers use the same size."""

_SERVICE = Size(cpu_m=100, memory_mib=256)

_POLL_TIMEOUT_S = 1800
"""A cold GPU node takes minutes to start, and a CUDA image minutes more to pull."""

_UBUNTU = "docker.io/library/ubuntu:24.04"

_NVIDIA_ENVIRONMENT = {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}


@dataclass(frozen=True, kw_only=True, slots=True)
class RunnerPlan:
    """A runner to create at GitLab; these are its properties there, not the chart's."""

    runner_type: Literal["instance_type", "group_type", "project_type"]
    group_id: int | None
    project_id: int | None
    description: str
    tags: tuple[str, ...]
    run_untagged: bool
    protected: bool
    locked: bool
    maximum_timeout_s: int
    paused: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class GitLabLanePlan:
    """One runner manager."""

    name: str
    path: str
    job: Job
    release: Release
    runner: RunnerPlan | None
    token_secret: str | None
    """Pulumi secret that holds the token of a runner that exists."""
    secret_name: str
    """Kubernetes Secret that the manager reads."""
    external_secret: ExternalSecret | None
    tags: tuple[str, ...]


def gitlab_lane_plan(
    name: str,
    lane: GitLabLane,
    *,
    cluster: str,
    path: str,
    pools: tuple[Pool, ...],
    gitlab: GitLab,
    charts: Charts,
) -> GitLabLanePlan:
    """Derive one lane; `pools` are its pools, in its order."""
    sides = Resources(cpu_m=_HELPER.cpu_m, memory_mib=_HELPER.memory_mib, disk_mib=0) + Resources(
        cpu_m=_SERVICE.cpu_m, memory_mib=_SERVICE.memory_mib, disk_mib=0
    ).scaled(lane.services)
    sized = job(lane, pools, sides)
    tags = tuple(dict.fromkeys(lane.tags or (name,)))
    release_name = f"gitlab-{name}"
    secret_name = lane.existing_secret or f"{name}-runner-token"
    return GitLabLanePlan(
        name=name,
        path=path,
        job=sized,
        tags=tags,
        runner=_runner(cluster, name, lane, tags),
        token_secret=lane.token.secret if lane.token is not None else None,
        secret_name=secret_name,
        external_secret=(
            ExternalSecret(name=secret_name, namespace=Namespaces.gitlab, keys=GITLAB_TOKEN_KEYS)
            if lane.existing_secret is not None
            else None
        ),
        release=release(
            "gitlab-runner",
            charts,
            name=release_name,
            namespace=Namespaces.gitlab,
            values=GitLabRunnerValues(
                gitlab_url=gitlab.url,
                concurrent=lane.concurrent,
                secret=secret_name,
                config=_config(lane, sized, pools),
                service_account=release_name,
                fullname_override=release_name,
                replicas=0 if lane.paused else 1,
                node_selector=words.SYSTEM_SELECTOR,
                resources=resources(Size(cpu_m=100, memory_mib=128)),
            ),
        ),
    )


def _config(lane: GitLabLane, sized: Job, pools: tuple[Pool, ...]) -> str:
    environment = {**(_NVIDIA_ENVIRONMENT if sized.gpus else {}), **lane.env}
    return config_toml(
        GitLabJob(
            namespace=Namespaces.gitlab,
            image=lane.image or (CUDA_BASE.reference if sized.gpus else _UBUNTU),
            gpus=sized.gpus,
            cpu_m=sized.request.cpu_m,
            memory_mib=sized.request.memory_mib,
            disk_mib=sized.request.disk_mib,
            shm_mib=sized.shm_mib,
            helper=_HELPER,
            service=_SERVICE,
            pool_label=words.POOL_LABEL,
            pools=lane.pools,
            tolerations=job_tolerations(pools),
            poll_timeout_s=_POLL_TIMEOUT_S,
            environment=environment,
            privileged=lane.privileged,
        )
    )


def _runner(cluster: str, name: str, lane: GitLabLane, tags: tuple[str, ...]) -> RunnerPlan | None:
    owner = lane.runner
    if owner is None:
        return None
    if owner.group_id is not None:
        kind = "group_type"
    elif owner.project_id is not None:
        kind = "project_type"
    else:
        kind = "instance_type"
    return RunnerPlan(
        runner_type=kind,
        group_id=owner.group_id,
        project_id=owner.project_id,
        description=f"{name} on {cluster}",
        tags=tags,
        run_untagged=lane.run_untagged,
        protected=lane.protected,
        locked=lane.locked,
        maximum_timeout_s=lane.maximum_timeout,
        paused=lane.paused,
    )
