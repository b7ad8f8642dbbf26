"""GitLab's side of a cluster: one runner manager for each lane."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from fleet.catalog.images import CUDA_BASE
from fleet.clusters.nodes import Pool
from fleet.config.gitlab import GPU_TAGS, GitLab, GitLabLane
from fleet.config.stack import Charts
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.placement import Placement, job_affinity, job_tolerations
from fleet.kubernetes.pods import Size, resources
from fleet.kubernetes.releases import Release, release
from fleet.kubernetes.resources import Resources
from fleet.runners.access import JobAccess, job_access
from fleet.runners.gitlab_config import GitLabJob, config_data, config_toml
from fleet.runners.gitlab_runner import GitLabRunnerValues, ManagerAutoscaler
from fleet.runners.job import Job, job, runtime_class
from fleet.runners.secrets import GITLAB_TOKEN_KEYS, ExternalSecret

_HELPER = Size(cpu_m=100, memory_mib=256)
"""Clones the project and moves caches and artifacts; init containers use the same size."""

_SERVICE = Size(cpu_m=100, memory_mib=256)

_POLL_TIMEOUT_S = 1800
"""A cold GPU node takes minutes to start, and a CUDA image minutes more to pull."""

_UBUNTU = "docker.io/library/ubuntu:24.04"


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
    access: JobAccess | None
    """Account of the jobs, where they may deploy into the cluster."""
    most_jobs: int
    """Jobs at once, of all managers; none while the lane is paused."""
    services: int
    """Service containers of a job that there is room for."""
    config: dict[str, Any] = field(repr=False)
    """What the release's config.toml says."""

    @property
    def job_image(self) -> str:
        """Image of a job that names none."""
        return self.config["runners"][0]["kubernetes"]["image"]


def gitlab_lane_plan(
    name: str,
    lane: GitLabLane,
    *,
    cluster: str,
    path: str,
    pools: tuple[Pool, ...],
    system: Placement,
    gitlab: GitLab,
    charts: Charts,
) -> GitLabLanePlan:
    """Derive one lane; `pools` are its pools, in its order, `system` the CPU pools."""
    sides = Resources(cpu_m=_HELPER.cpu_m, memory_mib=_HELPER.memory_mib, disk_mib=0) + Resources(
        cpu_m=_SERVICE.cpu_m, memory_mib=_SERVICE.memory_mib, disk_mib=0
    ).scaled(lane.services)
    sized = job(lane, pools, sides, max_cpu_m=lane.max_cpu, max_memory_mib=lane.max_memory)
    tags = _tags(name, lane, pools)
    access = job_access(lane.kubernetes_access, f"gitlab-{name}-jobs", Namespaces.gitlab)
    config = _config(lane, sized, pools, access)
    managers = lane.hpa.max_replicas if lane.hpa is not None else 1
    release_name = f"gitlab-{name}"
    secret_name = lane.existing_secret or f"{name}-runner-token"
    return GitLabLanePlan(
        name=name,
        path=path,
        job=sized,
        tags=tags,
        access=access,
        most_jobs=0 if lane.paused else lane.concurrent * managers,
        services=lane.services,
        config=config,
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
                config=config_toml(config),
                service_account=release_name,
                fullname_override=release_name,
                replicas=0 if lane.paused else 1,
                hpa=(
                    ManagerAutoscaler(
                        min_replicas=lane.hpa.min_replicas, max_replicas=lane.hpa.max_replicas
                    )
                    if lane.hpa is not None and not lane.paused
                    else None
                ),
                affinity=system.affinity,
                tolerations=system.tolerations or None,
                resources=resources(Size(cpu_m=100, memory_mib=128)),
            ),
        ),
    )


def _tags(name: str, lane: GitLabLane, pools: tuple[Pool, ...]) -> tuple[str, ...]:
    """The user's tags, then those of every GPU runner, each once.

    The model's stands there where all pools have one: a100 for both sizes of an A100.
    """
    more: list[str] = []
    if lane.default_tags:
        models = {pool.gpu.partition("-")[0] for pool in pools if pool.gpu is not None}
        more = [*GPU_TAGS, *(models if len(models) == 1 else ())]
    tags = (*(lane.tags or (name,)), *(tag.lower().replace(" ", "-") for tag in more))
    return tuple(dict.fromkeys(tags))


def _config(
    lane: GitLabLane, sized: Job, pools: tuple[Pool, ...], access: JobAccess | None
) -> dict[str, Any]:
    nvidia = {"NVIDIA_DRIVER_CAPABILITIES": ",".join(lane.driver_capabilities)}
    environment = {**(nvidia if sized.gpus else {}), **lane.env}
    most = sized.most
    return config_data(
        GitLabJob(
            namespace=Namespaces.gitlab,
            image=lane.image or (CUDA_BASE if sized.gpus else _UBUNTU),
            gpus=sized.gpus,
            cpu_m=sized.request.cpu_m,
            memory_mib=sized.request.memory_mib,
            disk_mib=sized.request.disk_mib,
            shm_mib=sized.shm_mib,
            helper=_HELPER,
            service=_SERVICE,
            affinity=job_affinity(pools),
            tolerations=job_tolerations(pools),
            memory_limit_mib=sized.memory_limit_mib,
            max_size=(
                Size(cpu_m=most.cpu_m, memory_mib=most.memory_mib, disk_mib=most.disk_mib)
                if lane.max_cpu is not None or lane.max_memory is not None
                else None
            ),
            pull_policy=lane.pull_policy,
            runtime_class_name=runtime_class(lane, pools),
            service_account=access.account if access is not None else None,
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
