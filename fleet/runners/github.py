"""GitHub's side of a cluster: the ARC controller, and one scale set for each lane."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fleet.catalog.charts import arc_crd_urls
from fleet.catalog.images import DOCKER_IN_DOCKER, GITHUB_RUNNER
from fleet.clusters.nodes import Pool
from fleet.config.github import ContainerMode, GitHub, GitHubApp, GitHubLane
from fleet.config.stack import Charts
from fleet.gpu_stack.host_device_pods import device_path, device_resource
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.placement import Placement, job_affinity, job_tolerations
from fleet.kubernetes.pods import PodTemplate, Size, resources, work_claim
from fleet.kubernetes.releases import Release, release
from fleet.kubernetes.resources import Resources
from fleet.runners.access import JobAccess, job_access
from fleet.runners.arc_controller import ArcControllerValues
from fleet.runners.arc_job import JobShape
from fleet.runners.arc_pods import (
    HOOK_TEMPLATE_FILE,
    dind_pod,
    job_pod_template,
    kubernetes_runner_pod,
    novolume_runner_pod,
    runner_pod,
)
from fleet.runners.arc_scale_set import ArcScaleSetValues, listener_template
from fleet.runners.job import NOTHING, Job, job, runtime_class
from fleet.runners.secrets import GITHUB_APP_KEYS, GITHUB_TOKEN_KEYS, ExternalSecret

CONTROLLER_ACCOUNT = "arc-controller"
_CREDENTIALS = "github-app"

_LAUNCHER = Size(cpu_m=250, memory_mib=512)
"""A runner that only starts job pods (the .NET process and the hooks)."""

_DOCKER = Size(cpu_m=500, memory_mib=1024, disk_mib=20 * 1024)
"""The dind side container; without requests of its own about a quarter of jobs died
(https://github.com/JiRaska/open-bank-oss/pull/1222)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArcControllerPlan:
    """What every scale set of a cluster shares."""

    release: Release
    crd_files: tuple[str, ...]
    runner_namespace: str
    privileged_runners: bool
    credentials: str
    """Name of the Secret that holds the App's keys."""
    app: GitHubApp | None
    """None where somebody else puts the Secret there."""
    external_secret: ExternalSecret | None


@dataclass(frozen=True, kw_only=True, slots=True)
class HookTemplate:
    """The ConfigMap from which ARC's hooks build job pods."""

    name: str
    file: str
    content: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class GitHubLanePlan:
    """One scale set."""

    name: str
    path: str
    job: Job
    release: Release
    hook_template: HookTemplate | None
    access: JobAccess | None
    """Account of the jobs, where they may deploy into the cluster."""
    runs_on: tuple[str, ...]
    """What a workflow may write, the lane's own name first."""
    container_mode: ContainerMode
    runner_image: str
    least_jobs: int
    """Runners that always wait, each on a node."""
    most_jobs: int
    """Jobs at once; none while the lane is paused."""

    @property
    def job_image(self) -> str | None:
        """Image in which jobs run; None where the workflow names it."""
        return self.runner_image if self.hook_template is None else None


def arc_controller_plan(github: GitHub, system: Placement, charts: Charts) -> ArcControllerPlan:
    """Derive the controller of a cluster; `system` are its CPU pools."""
    controller = release(
        "gha-runner-scale-set-controller",
        charts,
        name="arc-controller",
        namespace=Namespaces.arc_controller,
        skip_crds=True,
        values=ArcControllerValues(
            service_account=CONTROLLER_ACCOUNT,
            runner_max_concurrent_reconciles=10,
            affinity=system.affinity,
            tolerations=system.tolerations or None,
            resources=resources(Size(cpu_m=100, memory_mib=256)),
        ),
    )
    name = github.existing_secret or _CREDENTIALS
    return ArcControllerPlan(
        release=controller,
        crd_files=arc_crd_urls(controller.version, charts.arc_crds),
        runner_namespace=Namespaces.arc_runners,
        privileged_runners=any(
            lane.container_mode == "dind" or lane.device_access == "privileged"
            for lane in github.lanes.values()
        ),
        credentials=name,
        app=github.app,
        external_secret=(
            None
            if github.existing_secret is None
            else ExternalSecret(
                name=name,
                namespace=Namespaces.arc_runners,
                keys=GITHUB_TOKEN_KEYS if github.is_enterprise else GITHUB_APP_KEYS,
            )
        ),
    )


def github_lane_plan(
    name: str,
    lane: GitHubLane,
    *,
    path: str,
    pools: tuple[Pool, ...],
    system: Placement,
    github: GitHub,
    charts: Charts,
) -> GitHubLanePlan:
    """Derive one lane; `pools` are its pools, in its order, `system` the CPU pools."""
    sized = job(lane, pools, _sides(lane), device=lane.device)
    access = job_access(lane.kubernetes_access, f"github-{name}-jobs", Namespaces.arc_runners)
    plugged = lane.device is not None and lane.device_access == "plugin"
    shape = JobShape(
        image=lane.image or GITHUB_RUNNER,
        gpus=sized.gpus,
        cpu_m=sized.request.cpu_m,
        memory_mib=sized.request.memory_mib,
        disk_mib=sized.request.disk_mib,
        shm_mib=sized.shm_mib,
        affinity=job_affinity(pools),
        tolerations=job_tolerations(pools),
        memory_limit_mib=sized.memory_limit_mib,
        env=lane.env,
        devices=(device_resource(lane.device),) if lane.device and plugged else (),
        host_devices=(device_path(lane.device),) if lane.device and not plugged else (),
        run_as_root=lane.run_as_root,
        supplemental_groups=lane.supplemental_groups,
        pull_policy=lane.pull_policy,
        runtime_class_name=runtime_class(lane, pools),
        service_account_name=access.account if access is not None else None,
    )
    hook = (
        HookTemplate(
            name=f"{name}-job-pod",
            file=HOOK_TEMPLATE_FILE,
            content=job_pod_template(shape, mode=lane.container_mode),
        )
        if lane.container_mode in ("kubernetes", "kubernetes-novolume")
        else None
    )
    labels = tuple(dict.fromkeys((name, *lane.labels)))
    return GitHubLanePlan(
        name=name,
        path=path,
        job=sized,
        hook_template=hook,
        access=access,
        runs_on=labels,
        container_mode=lane.container_mode,
        runner_image=shape.image,
        least_jobs=0 if lane.paused else lane.min_runners,
        most_jobs=0 if lane.paused else lane.max_runners,
        release=release(
            "gha-runner-scale-set",
            charts,
            name=name,
            namespace=Namespaces.arc_runners,
            # A new controller deletes sets of another minor version, and GitHub learns labels and
            # owner of a set only when it is made.
            replaced_on=("version", "values.scaleSetLabels", "values.githubConfigUrl"),
            values=ArcScaleSetValues(
                github_config_url=github.url,
                github_config_secret=github.existing_secret or _CREDENTIALS,
                runner_scale_set_name=name,
                scale_set_labels=labels if lane.labels else None,
                runner_group=lane.group,
                min_runners=0 if lane.paused else lane.min_runners,
                max_runners=0 if lane.paused else lane.max_runners,
                controller_namespace=Namespaces.arc_controller,
                controller_service_account=CONTROLLER_ACCOUNT,
                container_mode=(
                    lane.container_mode
                    if lane.container_mode in ("kubernetes", "kubernetes-novolume")
                    else None
                ),
                work_volume_claim=(
                    work_claim(sized.request.disk_mib)
                    if lane.container_mode == "kubernetes"
                    else None
                ),
                template=_runner_template(lane, shape, hook, system),
                listener_template=listener_template(
                    Size(cpu_m=50, memory_mib=128),
                    affinity=system.affinity,
                    tolerations=system.tolerations or None,
                ),
            ),
        ),
    )


def _sides(lane: GitHubLane) -> Resources:
    """What stands beside the job's container on the node of the job."""
    match lane.container_mode:
        case "dind":
            return _resources(_DOCKER)
        case "kubernetes":
            return _resources(_LAUNCHER)
        case _:
            return NOTHING


def _resources(size: Size) -> Resources:
    return Resources(cpu_m=size.cpu_m, memory_mib=size.memory_mib, disk_mib=size.disk_mib or 0)


def _runner_template(
    lane: GitHubLane, shape: JobShape, hook: HookTemplate | None, system: Placement
) -> PodTemplate:
    if lane.container_mode == "dind":
        return dind_pod(shape, docker_image=DOCKER_IN_DOCKER, docker=_DOCKER)
    if hook is None:
        return runner_pod(shape)
    if lane.container_mode == "kubernetes":
        return kubernetes_runner_pod(shape, runner=_LAUNCHER, hook_template=hook.name)
    return novolume_runner_pod(
        shape,
        runner=_LAUNCHER,
        hook_template=hook.name,
        affinity=system.affinity,
        tolerations=system.tolerations or None,
    )
