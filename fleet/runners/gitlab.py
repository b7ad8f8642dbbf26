"""GitLab lanes: one runner manager for each lane, and its `config.toml`.

Units: `*_s` seconds.
GitLab Runner has no key for a GPU. A strategic patch of the container `build` requests it, behind
a feature flag; the patch merges `requests` and `limits` key by key (Kubernetes' own strategic merge
over PodSpec, containers by name), so CPU and memory stay those of the TOML.
Sources: gitlab-runner chart 0.86.0 (runner 18.9) as vendored in DoD-Platform-One/gitlab-runner
(values.yaml, templates); gitlabhq/gitlab-runner:common/config.go (types Kubernetes*,
GetNodeTolerations), executors/kubernetes/kubernetes.go (setupBuildPod, doPodSpecMerge),
docs/executors/kubernetes/_index.md (configuration, API permissions)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import tomli_w

from fleet.catalog.images import CUDA_BASE
from fleet.catalog.limits import HELM_RELEASE
from fleet.clusters.nodes import ANYWHERE, Placement, Pool
from fleet.config.access import AccessRule
from fleet.config.gitlab import GPU_TAGS, GitLabLane
from fleet.config.stack import Charts
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.pods import (
    GPU_RESOURCE,
    JOB_POD,
    NOT_EVICTABLE,
    SHARED_MEMORY_PATH,
    SHARED_MEMORY_VOLUME,
    Affinity,
    Container,
    PodSpec,
    ResourceRequirements,
    Toleration,
)
from fleet.kubernetes.releases import Release, key, release, to_values
from fleet.kubernetes.resources import Resources, mebibytes, millicores
from fleet.runners.lanes import (
    ExternalSecret,
    Forge,
    Job,
    JobAccess,
    LanePlan,
    LanePods,
    generation,
    generation_name,
    job,
    job_access,
)

BUILD_CONTAINER = "build"

GITLAB_TOKEN_KEYS = ("runner-token", "runner-registration-token")
"""Keys that the runner chart projects; the second one must exist but may be empty."""

_HELPER = Resources(cpu_m=100, memory_mib=256)
"""Clones the project and moves caches and artifacts; init containers have the same size."""

_SERVICE = Resources(cpu_m=100, memory_mib=256)

_POLL_TIMEOUT_S = 1800
"""A cold GPU node takes minutes to start, and a CUDA image minutes more to pull. The runner's
default is 180 s."""

_UBUNTU = "docker.io/library/ubuntu:24.04"


EXECUTOR_RULES: tuple[AccessRule, ...] = (
    AccessRule(resources=("events",), verbs=("list", "watch")),
    AccessRule(resources=("pods",), verbs=("create", "delete", "get", "list", "watch")),
    AccessRule(resources=("pods/attach", "pods/exec"), verbs=("create", "delete", "get", "patch")),
    AccessRule(resources=("pods/log",), verbs=("get", "list")),
    AccessRule(resources=("secrets",), verbs=("create", "delete", "get", "update")),
    AccessRule(resources=("serviceaccounts",), verbs=("get",)),
    AccessRule(resources=("services",), verbs=("create", "get")),
)
"""Permissions that the executor needs, without those of features that this program does not use (a
namespace per job, suspended environments). The chart's default is every verb on every core
resource. `events` belongs to FF_PRINT_POD_EVENTS."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricTarget:
    """Average CPU utilisation of the managers, in percent of their request."""

    average_utilization: int
    type: Literal["Utilization"] = "Utilization"


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """A metric as `autoscaling/v2` spells it; the chart's sample has an older spelling."""

    name: Literal["cpu"] = field(metadata=key("resource", "name"))
    target: MetricTarget = field(metadata=key("resource", "target"))
    type: Literal["Resource"] = "Resource"


@dataclass(frozen=True, kw_only=True, slots=True)
class ManagerAutoscaler:
    """The HorizontalPodAutoscaler of a lane's managers, each of which runs `concurrent` jobs.

    It scales by the managers' CPU, which depends little on the number of queued jobs.
    """

    min_replicas: int
    max_replicas: int
    metrics: tuple[Metric, ...] = (Metric(name="cpu", target=MetricTarget(average_utilization=70)),)


@dataclass(frozen=True, kw_only=True, slots=True)
class GitLabRunnerValues:
    """Values of the `gitlab-runner` chart, 0.86.0.

    Placement and resources are the *manager's*; those of jobs are in `config`. `secret` names a
    Secret with the keys `runner-token` and `runner-registration-token`, both of which the chart
    mounts. `concurrent` counts jobs per replica. The chart ignores `replicas` if there is an `hpa`.
    The grace period lets running jobs end when the manager is replaced or removed; it is never
    shorter than the longest job, which Kubernetes would else end with the manager. The manager's
    account is not the chart's, because the manager needs it until its last job has ended.
    `unregister_runners` deletes the runner itself at every rollout of its manager, unless its token
    begins with `glrt-`, as that of a created runner does (gitlab-org/gitlab-runner!4053).
    """

    gitlab_url: str
    concurrent: int
    secret: str = field(metadata=key("runners", "secret"))
    config: str = field(metadata=key("runners", "config"))
    service_account: str = field(metadata=key("serviceAccount", "name"))
    create_service_account: bool = field(default=False, metadata=key("serviceAccount", "create"))
    create_rbac: bool = field(default=False, metadata=key("rbac", "create"))
    executor: str = field(default="kubernetes", metadata=key("runners", "executor"))
    check_interval: int = 3
    termination_grace_period_seconds: int
    unregister_runners: bool
    metrics: bool = field(default=False, metadata=key("metrics", "enabled"))
    replicas: int
    hpa: ManagerAutoscaler | None
    fullname_override: str
    affinity: Affinity | None
    tolerations: tuple[Toleration, ...] | None
    resources: ResourceRequirements


@dataclass(frozen=True, kw_only=True, slots=True)
class RunnerPlan:
    """A runner to create at GitLab. Its properties are GitLab's, not the chart's."""

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
class GitLabLanePlan(LanePlan):
    """One runner manager."""

    forge: ClassVar[Forge] = "gitlab"
    release: Release[GitLabRunnerValues]
    runner: RunnerPlan | None
    """`None` if the runner exists at GitLab already."""
    token_secret: str | None
    """Pulumi secret with the token of an existing runner."""
    secret_name: str
    """Kubernetes Secret that the manager reads."""
    manager: JobAccess
    """Rights of the manager, which starts the pods of jobs."""
    config: dict[str, Any] = field(repr=False)
    """Content of the release's config.toml."""


def gitlab_lane_plan(
    name: str,
    lane: GitLabLane,
    *,
    cluster: str,
    pools: tuple[Pool, ...],
    url: str = "https://gitlab.com",
    system: Placement = ANYWHERE,
    charts: Charts = Charts(),  # noqa: B008 -- frozen
) -> GitLabLanePlan:
    """Return the plan of one lane.

    `pools` are the lane's pools in order of preference, `system` is where the manager runs, and
    `url` is the GitLab server.
    """
    access = job_access(lane.kubernetes_access, f"gitlab-{name}-jobs", Namespaces.gitlab)
    nvidia = {"NVIDIA_DRIVER_CAPABILITIES": ",".join(lane.driver_capabilities)}
    one_job = job(
        lane,
        pools,
        image=lane.image or (CUDA_BASE if lane.gpus else _UBUNTU),
        env={**(nvidia if lane.gpus else {}), **lane.env},
        side_containers=_HELPER + _SERVICE.scaled(lane.services),
        access=access,
        privileged=lane.privileged,
        max_cpu_m=lane.max_cpu,
        max_memory_mib=lane.max_memory,
    )
    config = config_data(lane, one_job)
    tags = _tags(name, lane, pools)
    managers = lane.hpa.max_replicas if lane.hpa is not None else 1
    runner = _runner(cluster, name, lane, tags)
    # What replaces the runner at GitLab, and so its token.
    owner = (runner.runner_type, runner.group_id, runner.project_id) if runner else None
    digits = generation(cluster, name, url, owner)
    release_name = generation_name(f"gitlab-{name}", digits, HELM_RELEASE.max_length)
    secret_name = lane.existing_secret or f"{release_name}-token"
    return GitLabLanePlan(
        cluster=cluster,
        name=name,
        generation=digits,
        drain_minutes=lane.drain_minutes,
        pools=pools,
        job=one_job,
        labels=tags,
        min_jobs=0,
        max_jobs=0 if lane.paused else lane.concurrent * managers,
        access=access,
        pods=LanePods(on_pool=(_build_pod(lane, one_job),)),
        config=config,
        runner=runner,
        token_secret=lane.token.secret if lane.token is not None else None,
        secret_name=secret_name,
        manager=JobAccess(
            account=release_name,
            account_namespace=Namespaces.gitlab,
            namespaces=(Namespaces.gitlab,),
            made_namespaces=(),
            role=release_name,
            permissions=EXECUTOR_RULES,
        ),
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
            drain_s=lane.drain_minutes * 60,
            values=GitLabRunnerValues(
                gitlab_url=url,
                concurrent=lane.concurrent,
                secret=secret_name,
                # The chart renders this text with Helm's `tpl`, in which double braces are an
                # action. `fleet.config.gitlab` refuses them in `env`.
                config=tomli_w.dumps(config, multiline_strings=True),
                service_account=release_name,
                termination_grace_period_seconds=max(lane.drain_minutes * 60, lane.maximum_timeout),
                unregister_runners=runner is not None,
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
                tolerations=system.tolerations,
                resources=ResourceRequirements(requests=Resources(cpu_m=100, memory_mib=128)),
            ),
        ),
    )


def _tags(name: str, lane: GitLabLane, pools: tuple[Pool, ...]) -> tuple[str, ...]:
    """Return the user's tags and, with `default_tags`, those of every GPU runner, each once.

    The GPU model is a default tag if all pools have the same one: `a100` for both sizes of an A100.
    """
    more: list[str] = []
    if lane.default_tags:
        models = {pool.gpu.partition("-")[0] for pool in pools if pool.gpu is not None}
        more = [*GPU_TAGS, *(models if len(models) == 1 else ())]
    tags = (*(lane.tags or (name,)), *(tag.lower().replace(" ", "-") for tag in more))
    return tuple(dict.fromkeys(tags))


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


def _build_pod(lane: GitLabLane, job: Job) -> PodSpec:
    """Return the pod that GitLab Runner makes of `config_data` for one job (setupBuildPod)."""
    helper = ResourceRequirements(requests=_HELPER)
    services = tuple(
        Container(name=f"svc-{index}", resources=ResourceRequirements(requests=_SERVICE))
        for index in range(lane.services)
    )
    return PodSpec(
        containers=(
            Container(name=BUILD_CONTAINER, resources=job.resources),
            Container(name="helper", resources=helper),
            *services,
        ),
        init_containers=(Container(name="init-permissions", resources=helper),),
        affinity=job.affinity,
        tolerations=job.tolerations,
    )


def config_data(lane: GitLabLane, job: Job) -> dict[str, Any]:
    """Return the content of `config.toml`: exactly one runner, as the chart requires.

    The chart's registration adds URL, token and name. GitLab holds a request for a job for up to 50
    seconds. With one request at a time, other jobs wait for it, of which the runner warns
    (gitlab-runner commands/multi.go, checkConfigConcurrency). GitLab's examples have 5 requests for
    20 jobs and 20 for 150 (docs.gitlab.com, "Optimize GitLab Runner manager pod performance").
    """
    runner = {
        "executor": "kubernetes",
        "request_concurrency": min(max(2, lane.concurrent // 4), 20),
        "environment": [f"{name}={value}" for name, value in job.env.items()],
        "feature_flags": {
            "FF_USE_ADVANCED_POD_SPEC_CONFIGURATION": True,
            # Prints in the job's log why a pod is pending, and that a node is being added.
            "FF_PRINT_POD_EVENTS": True,
        },
        "kubernetes": _kubernetes(lane, job),
    }
    return {"runners": [runner]}


def _kubernetes(lane: GitLabLane, job: Job) -> dict[str, Any]:
    optional = {
        "service_account": job.service_account,
        "runtime_class_name": job.runtime_class,
        "pod_annotations": dict(NOT_EVICTABLE),
        "pod_labels": dict(JOB_POD),
        "pod_spec": [_gpu_patch(job)] if job.gpus else None,
    }
    return {
        "namespace": Namespaces.gitlab,
        "image": job.image,
        "pull_policy": list(lane.pull_policy),
        "privileged": job.privileged,
        "automount_service_account_token": job.service_account is not None,
        "poll_timeout": _POLL_TIMEOUT_S,
        **_size("", job.request),
        "memory_limit": mebibytes(job.memory_limit_mib),
        **_size("helper_", _HELPER),
        **_size("service_", _SERVICE),
        **_overwrites(lane, job),
        **_node_placement(job.affinity),
        "node_tolerations": _node_tolerations(job.tolerations),
        "volumes": {
            "empty_dir": [
                {
                    "name": SHARED_MEMORY_VOLUME,
                    "mount_path": SHARED_MEMORY_PATH,
                    "medium": "Memory",
                    "size_limit": mebibytes(job.shm_mib),
                }
            ]
        },
        **{name: value for name, value in optional.items() if value is not None},
    }


def _size(prefix: str, size: Resources) -> dict[str, str]:
    keys = {
        f"{prefix}cpu_request": millicores(size.cpu_m),
        f"{prefix}memory_request": mebibytes(size.memory_mib),
        f"{prefix}memory_limit": mebibytes(size.memory_mib),
    }
    if size.disk_mib:
        keys[f"{prefix}ephemeral_storage_request"] = mebibytes(size.disk_mib)
    return keys


def _overwrites(lane: GitLabLane, job: Job) -> dict[str, str]:
    """Return the upper bounds of a job's `KUBERNETES_*` variables, if the lane has any."""
    if lane.max_cpu is None and lane.max_memory is None:
        return {}
    largest = job.max_request
    limit = max(largest.memory_mib, job.memory_limit_mib)
    keys = {
        "cpu_request_overwrite_max_allowed": millicores(largest.cpu_m),
        "memory_request_overwrite_max_allowed": mebibytes(largest.memory_mib),
        "memory_limit_overwrite_max_allowed": mebibytes(limit),
    }
    if largest.disk_mib:
        keys["ephemeral_storage_request_overwrite_max_allowed"] = mebibytes(largest.disk_mib)
    return keys


def _node_placement(affinity: Affinity) -> dict[str, Any]:
    """Return a node selector, if it expresses the whole affinity, or else the affinity."""
    (first, *others) = affinity.required
    single = all(len(one.values) == 1 for one in first.match_expressions)
    if single and not others and not affinity.preferred:
        return {"node_selector": {one.key: one.values[0] for one in first.match_expressions}}
    return {"affinity": {"node_affinity": _node_affinity(affinity)}}


def _node_affinity(affinity: Affinity) -> dict[str, Any]:
    """Return Kubernetes' node affinity in the runner's spelling, which is snake_case."""
    return {
        "required_during_scheduling_ignored_during_execution": {
            "node_selector_terms": [_snake_case(to_values(term)) for term in affinity.required]
        },
        "preferred_during_scheduling_ignored_during_execution": [
            {"weight": term.weight, "preference": _snake_case(to_values(term.preference))}
            for term in affinity.preferred or ()
        ],
    }


def _snake_case(term: Mapping[str, Any]) -> dict[str, Any]:
    return {"match_expressions": term["matchExpressions"]}


def _node_tolerations(tolerations: tuple[Toleration, ...]) -> dict[str, str]:
    """Return tolerations as the runner's map of key to effect.

    The map has one effect per key. Two effects of one key become the empty effect, which tolerates
    every effect.
    """
    result: dict[str, str] = {}
    for one in tolerations:
        result[one.key] = one.effect if result.get(one.key, one.effect) == one.effect else ""
    return result


def _gpu_patch(job: Job) -> dict[str, str]:
    gpus = {GPU_RESOURCE: str(job.gpus)}
    build = {"name": BUILD_CONTAINER, "resources": {"requests": gpus, "limits": gpus}}
    return {
        "name": "gpu",
        "patch_type": "strategic",
        # One brace a line: the chart would read double braces of a compact text as a template.
        "patch": json.dumps({"containers": [build]}, indent=2),
    }
