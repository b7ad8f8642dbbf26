"""GitHub lanes: the ARC controller of a cluster, and one runner scale set for each lane.

Units: `*_s` seconds. The four container modes of a lane make these pods:

| container mode | where the job runs | container that requests the GPU |
|---|---|---|
| `none` | in the runner container | `runner` |
| `kubernetes-novolume` | in a pod on the GPU pool, started by a runner on a CPU node | `$job` |
| `kubernetes` | in a pod on the runner's node, started by the runner | `$job` |
| `dind` | in the runner container; a sidecar runs the Docker daemon | `runner` |

Sources: actions/actions-runner-controller@gha-runner-scale-set-0.14.2:charts/
gha-runner-scale-set-controller (values.yaml) and gha-runner-scale-set (values.yaml,
templates/_helpers.tpl, templates/autoscalingrunnerset.yaml);
actions/runner-container-hooks:packages/k8s/src/k8s/{index,utils}.ts
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from fleet.catalog.charts import arc_crd_urls
from fleet.catalog.images import DOCKER_IN_DOCKER, GITHUB_RUNNER
from fleet.catalog.limits import SCALE_SET
from fleet.clusters.nodes import ANYWHERE, Placement, Pool
from fleet.config.access import AccessRule
from fleet.config.github import ContainerMode, GitHubAccess, GitHubApp, GitHubLane
from fleet.config.stack import Charts
from fleet.gpu_stack.host_devices import device_path
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.pods import (
    JOB_POD,
    NOT_EVICTABLE,
    Affinity,
    Container,
    EmptyDir,
    EnvVar,
    HostPath,
    LocalObjectReference,
    PersistentVolumeClaimSpec,
    PodSpec,
    PodTemplate,
    Probe,
    ResourceRequirements,
    SecurityContext,
    Toleration,
    Volume,
    VolumeMount,
    shared_memory,
)
from fleet.kubernetes.releases import Release, key, minor, release, source, to_values
from fleet.kubernetes.resources import Resources, mebibytes
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

CONTROLLER_ACCOUNT = "arc-controller"
CREDENTIALS = "github-app"
"""Name of the Secret with the App's keys, where this program creates it."""

GITHUB_APP_KEYS = ("github_app_id", "github_app_installation_id", "github_app_private_key")
"""Keys that the scale-set chart reads from its Secret, unless it has `GITHUB_TOKEN_KEYS`."""

GITHUB_TOKEN_KEYS = ("github_token",)
"""Key of a classic token, which GitHub requires for the runners of an enterprise."""

RUNNER_CONTAINER = "runner"
LISTENER_CONTAINER = "listener"
JOB_CONTAINER = "$job"
"""The hooks apply the container of this name to the job's container (mergeContainerWithOptions)."""

HOOK_TEMPLATE_FILE = "job-pod.yaml"

PREPARE_JOB_TIMEOUT_S = 1800
"""The hooks' default is 600 s, which a cold GPU node with a CUDA image exceeds."""

HOOK_RULES = (
    AccessRule(resources=("pods",), verbs=("create", "delete", "get", "list", "patch", "update")),
    AccessRule(resources=("pods/exec",), verbs=("create", "get")),
    AccessRule(resources=("pods/log",), verbs=("get", "list", "watch")),
    AccessRule(resources=("secrets",), verbs=("create", "delete", "get", "list")),
    AccessRule(
        api_groups=("batch",), resources=("jobs",), verbs=("create", "delete", "get", "list")
    ),
)
"""What the hooks need to start the pod of a job: the chart's own rules of its kubernetes modes."""

_LAUNCHER = Resources(cpu_m=250, memory_mib=512)
"""A runner that only starts job pods (the .NET process and the hooks)."""

_DOCKER = Resources(cpu_m=500, memory_mib=1024, disk_mib=20 * 1024)
"""The dind side container; without its own requests, about a quarter of jobs died
(https://github.com/JiRaska/open-bank-oss/pull/1222)."""

# The image's entry point is a shell; this script starts the runner.
_RUN = ("/home/runner/run.sh",)

_HAS_A_JOB = Probe(
    command=("sh", "-c", "grep -qs 'Runner[.]Worker' /proc/[0-9]*/cmdline"),
    timeout_seconds=10,
    failure_threshold=1_000_000,
)
"""A runner is ready once it runs a job: it then has a worker process. It stays ready until its pod
ends, also if a busy job lets the probe time out. Evictions wait for pods that are ready, so that an
idle runner leaves a node that drains. ARC only displays readiness
(actions/actions-runner-controller controllers/actions.github.com/ephemeralrunner_controller.go)."""
_RUNNER_UID = 1001  # user and group `runner` of ghcr.io/actions/actions-runner
_ROOT = 0

_WORK = VolumeMount(name="work", mount_path="/home/runner/_work")
_HOOK_TEMPLATE = VolumeMount(
    name="job-pod-template", mount_path="/home/runner/job-pod-template", read_only=True
)
_DOCKER_SOCKET = VolumeMount(name="dind-sock", mount_path="/var/run")
_DOCKER_EXTERNALS = "dind-externals"
_DOCKER_GROUP = 123  # group `docker` of ghcr.io/actions/actions-runner
_DOCKER_WAIT_S = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class ArcControllerValues:
    """Values of ARC's `gha-runner-scale-set-controller` chart, 0.14.2.

    `update_strategy` `immediate`: a changed set gets its new listener at once, and runners of the
    old kind finish their jobs beside the new ones. With `eventual`, ARC removes the listener at
    every change, also of `max_runners`, and starts it again only when no runner is left: the lane
    takes no jobs for as long as the longest one runs, and never again if an idle runner waits.
    Source: autoscalingrunnerset_controller.go, drainingJobs.
    """

    service_account: str = field(metadata=key("serviceAccount", "name"))
    replica_count: int = 1
    log_level: Literal["info"] = field(default="info", metadata=key("flags", "logLevel"))
    update_strategy: Literal["immediate"] = field(
        default="immediate", metadata=key("flags", "updateStrategy")
    )
    runner_max_concurrent_reconciles: int = field(
        metadata=key("flags", "runnerMaxConcurrentReconciles")
    )
    resources: ResourceRequirements
    affinity: Affinity | None
    tolerations: tuple[Toleration, ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ArcScaleSetValues:
    """Values of ARC's `gha-runner-scale-set` chart, 0.14.2.

    `scale_set_labels` reach GitHub only when the scale set is created there. They contain the
    lane's name, so that jobs find every generation of the lane by it. The controller's
    account is always given: without it the chart looks the controller up in the live cluster and
    aborts when it is missing, which breaks every preview and first deployment. `container_mode`
    never is the chart's `dind`, whose Docker container accepts no resources; `_dind_pod` builds
    that pod instead.
    """

    github_config_url: str
    github_config_secret: str
    """Name of the Secret, never its content."""
    runner_scale_set_name: str
    min_runners: int
    max_runners: int
    template: PodTemplate
    controller_namespace: str = field(metadata=key("controllerServiceAccount", "namespace"))
    controller_service_account: str = field(metadata=key("controllerServiceAccount", "name"))
    scale_set_labels: tuple[str, ...]
    runner_group: str | None
    container_mode: ContainerMode | None = field(metadata=key("containerMode", "type"))
    work_volume_claim: PersistentVolumeClaimSpec | None = field(
        metadata=key("containerMode", "kubernetesModeWorkVolumeClaim")
    )
    listener_template: PodTemplate


@dataclass(frozen=True, kw_only=True, slots=True)
class ArcControllerPlan:
    """The controller of a cluster, its CRDs and the Secret that all scale sets use."""

    url: str
    """Repository, organisation or enterprise of the runners."""
    system: Placement
    """Where the controller and the listeners run."""
    release: Release[ArcControllerValues]
    crd_files: tuple[str, ...]
    runner_namespace: str
    existing_namespace: bool
    """Whether `runner_namespace` exists, so that this program neither makes nor deletes it."""
    privileged_runners: bool
    credentials: str
    """Name of the Secret with the App's keys."""
    app: GitHubApp | None
    """`None` if this program does not create the Secret."""
    external_secret: ExternalSecret | None
    """The Secret if this program does not create it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HookTemplate:
    """The ConfigMap from which ARC's hooks build job pods."""

    name: str
    file: str
    content: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class GitHubLanePlan(LanePlan):
    """One runner scale set."""

    forge: ClassVar[Forge] = "github"
    release: Release[ArcScaleSetValues]
    hook_template: HookTemplate | None
    hooks: JobAccess | None
    """Rights of the runner, whose hooks start the pods of jobs, in the `kubernetes` modes."""
    container_mode: ContainerMode

    @property
    def image(self) -> str | None:
        """Image in which a job runs; `None` if the workflow names it."""
        return self.job.image if self.hook_template is None else None


def arc_controller_plan(
    github: GitHubAccess,
    system: Placement = ANYWHERE,
    charts: Charts = Charts(),  # noqa: B008 -- frozen
    *,
    privileged: bool = False,
) -> ArcControllerPlan:
    """Return the controller of a cluster; it runs on `system`.

    `privileged` lets the namespace of the runners admit privileged pods.
    """
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
            tolerations=system.tolerations,
            resources=ResourceRequirements(requests=Resources(cpu_m=100, memory_mib=256)),
        ),
    )
    return ArcControllerPlan(
        url=github.url,
        system=system,
        release=controller,
        crd_files=arc_crd_urls(controller.version, charts.arc_crds),
        runner_namespace=Namespaces.arc_runners,
        existing_namespace=github.uses_existing_namespace,
        privileged_runners=privileged,
        credentials=github.existing_secret or CREDENTIALS,
        app=github.app,
        external_secret=(
            ExternalSecret(
                name=github.existing_secret,
                namespace=Namespaces.arc_runners,
                keys=GITHUB_TOKEN_KEYS if github.is_enterprise else GITHUB_APP_KEYS,
            )
            if github.existing_secret is not None
            else None
        ),
    )


def github_lane_plan(
    name: str,
    lane: GitHubLane,
    *,
    cluster: str,
    pools: tuple[Pool, ...],
    controller: ArcControllerPlan,
    charts: Charts = Charts(),  # noqa: B008 -- frozen
) -> GitHubLanePlan:
    """Return the plan of one lane; `pools` are its pools in order of preference."""
    system = controller.system
    access = job_access(lane.kubernetes_access, f"github-{name}-jobs", Namespaces.arc_runners)
    one_job = job(
        lane,
        pools,
        image=lane.image or GITHUB_RUNNER,
        env=lane.env,
        side_containers={"dind": _DOCKER, "kubernetes": _LAUNCHER}.get(
            lane.container_mode, Resources()
        ),
        access=access,
        device=lane.device,
        privileged=lane.device is not None and lane.device_access == "privileged",
    )
    on_hooks = lane.container_mode.startswith("kubernetes")
    labels = tuple(dict.fromkeys((name, *lane.labels)))
    chart = source("gha-runner-scale-set", charts)
    # The chart's account of the runners goes only with the set, whose finalizer protects it.
    account = (on_hooks, access is not None)
    digits = generation(cluster, name, controller.url, labels, minor(chart.version), account)
    set_name = generation_name(name, digits, SCALE_SET.max_length)
    hooks = _hooks(set_name) if on_hooks else None
    runner, job_pod = _pods(lane, one_job, f"{name}-job-pod", system, hooks)
    min_runners = 0 if lane.paused else lane.min_runners
    max_runners = 0 if lane.paused else lane.max_runners
    return GitHubLanePlan(
        cluster=cluster,
        name=name,
        generation=digits,
        drain_minutes=lane.drain_minutes,
        pools=pools,
        job=one_job,
        labels=labels,
        min_jobs=min_runners,
        max_jobs=max_runners,
        access=access,
        external_secret=controller.external_secret,
        container_mode=lane.container_mode,
        hooks=hooks,
        pods=_lane_pods(lane, runner.spec, job_pod.spec if job_pod is not None else None),
        hook_template=(
            HookTemplate(
                name=f"{name}-job-pod", file=HOOK_TEMPLATE_FILE, content=to_values(job_pod)
            )
            if job_pod is not None
            else None
        ),
        release=release(
            "gha-runner-scale-set",
            charts,
            name=set_name,
            namespace=Namespaces.arc_runners,
            drain_s=lane.drain_minutes * 60,
            values=ArcScaleSetValues(
                github_config_url=controller.url,
                github_config_secret=controller.credentials,
                runner_scale_set_name=set_name,
                scale_set_labels=labels,
                runner_group=lane.group,
                min_runners=min_runners,
                max_runners=max_runners,
                controller_namespace=Namespaces.arc_controller,
                controller_service_account=CONTROLLER_ACCOUNT,
                container_mode=lane.container_mode if on_hooks else None,
                work_volume_claim=(
                    PersistentVolumeClaimSpec(storage=mebibytes(one_job.request.disk_mib))
                    if lane.container_mode == "kubernetes"
                    else None
                ),
                template=runner,
                listener_template=_listener(system),
            ),
        ),
    )


def _listener(system: Placement) -> PodTemplate:
    """Return the pod that polls GitHub for one scale set; it always runs, so on CPU nodes."""
    container = Container(
        name=LISTENER_CONTAINER,
        resources=ResourceRequirements(requests=Resources(cpu_m=50, memory_mib=128)),
    )
    return PodTemplate(
        spec=PodSpec(
            containers=(container,), affinity=system.affinity, tolerations=system.tolerations
        )
    )


def _lane_pods(lane: GitHubLane, runner: PodSpec, job_pod: PodSpec | None) -> LanePods:
    if job_pod is None:
        return LanePods(on_pool=(runner,))
    if lane.container_mode == "kubernetes-novolume":
        return LanePods(on_pool=(job_pod,), launcher=runner)
    return LanePods(on_pool=(runner, job_pod))


def _hooks(set_name: str) -> JobAccess:
    """Return the rights of the runners of one generation.

    The chart would make the same. But its account is deleted together with the set, and 60 seconds
    later the API refuses its tokens: the hooks of a job that still runs would lose the job's pod.
    Source: charts/gha-runner-scale-set/templates/kube_mode_role.yaml; kubernetes
    pkg/serviceaccount/claims.go.
    """
    return JobAccess(
        account=f"{set_name}-hooks",
        account_namespace=Namespaces.arc_runners,
        namespaces=(Namespaces.arc_runners,),
        made_namespaces=(),
        role=f"{set_name}-hooks",
        permissions=HOOK_RULES,
    )


def _pods(
    lane: GitHubLane, job: Job, hook_template: str, system: Placement, hooks: JobAccess | None
) -> tuple[PodTemplate, PodTemplate | None]:
    """Return the runner pod, and the pod of a job that does not run in the runner."""
    match lane.container_mode:
        case "none":
            return _runner_pod(lane, job), None
        case "dind":
            return _dind_pod(lane, job), None
        case "kubernetes-novolume":
            return (
                _launcher(job, hook_template, hooks, system.affinity, system.tolerations),
                _job_pod(lane, job),
            )
        case "kubernetes":
            # Both pods mount the work volume, so the runner is on the job's pool. The scheduler
            # places the job pod (by required affinity to the runner's node): the hooks'
            # alternative, a fixed node name, bypasses the scheduler, and a second job on a full
            # node would fail instead of wait. A job pod waits at most `PREPARE_JOB_TIMEOUT_S`.
            runner = _launcher(
                job,
                hook_template,
                hooks,
                job.affinity,
                job.tolerations,
                env=(EnvVar(name="ACTIONS_RUNNER_USE_KUBE_SCHEDULER", value="true"),),
                fs_group=_RUNNER_UID,
            )
            return runner, _job_pod(lane, job)


def _runner_pod(lane: GitHubLane, job: Job) -> PodTemplate:
    volumes, mounts = _volumes(job)
    runner = Container(
        name=RUNNER_CONTAINER,
        image=job.image,
        image_pull_policy=lane.pull_policy,
        command=_RUN,
        readiness_probe=_HAS_A_JOB,
        env=_runner_environment(lane, job) or None,
        resources=job.resources,
        security_context=_security_context(lane, job),
        volume_mounts=mounts,
    )
    return _template(lane, job, containers=(runner,), volumes=volumes)


def _dind_pod(lane: GitHubLane, job: Job) -> PodTemplate:
    """Return a pod whose `docker` commands talk to a daemon in a sidecar.

    Only the sidecar is privileged, and only it stores images and layers, so their disk is part of
    its request and not of the job's. The GPU belongs to the runner container and *is not visible to
    the inner Docker*: steps can use CUDA directly, containers started by docker cannot.
    Apart from the sidecar's resources this is the chart's mode `dind`.
    """
    volumes, mounts = _volumes(job)
    externals = Container(
        name="init-dind-externals",
        image=job.image,
        image_pull_policy=lane.pull_policy,
        command=("cp", "-r", "/home/runner/externals/.", "/home/runner/tmpDir/"),
        volume_mounts=(VolumeMount(name=_DOCKER_EXTERNALS, mount_path="/home/runner/tmpDir"),),
    )
    daemon = Container(
        name="dind",
        image=DOCKER_IN_DOCKER,
        args=("dockerd", "--host=unix:///var/run/docker.sock", f"--group={_DOCKER_GROUP}"),
        resources=ResourceRequirements(requests=_DOCKER),
        security_context=SecurityContext(privileged=True),
        restart_policy="Always",
        startup_probe=Probe(command=("docker", "info"), failure_threshold=24, period_seconds=5),
        volume_mounts=(
            _WORK,
            _DOCKER_SOCKET,
            VolumeMount(name=_DOCKER_EXTERNALS, mount_path="/home/runner/externals"),
        ),
    )
    runner = Container(
        name=RUNNER_CONTAINER,
        image=job.image,
        image_pull_policy=lane.pull_policy,
        command=_RUN,
        readiness_probe=_HAS_A_JOB,
        env=(
            EnvVar(name="DOCKER_HOST", value="unix:///var/run/docker.sock"),
            EnvVar(name="RUNNER_WAIT_FOR_DOCKER_IN_SECONDS", value=str(_DOCKER_WAIT_S)),
            *_runner_environment(lane, job),
        ),
        resources=job.resources,
        security_context=_security_context(lane, job),
        volume_mounts=(_WORK, _DOCKER_SOCKET, *mounts),
    )
    scratch = tuple(
        Volume(name=name, empty_dir=EmptyDir())
        for name in (_WORK.name, _DOCKER_SOCKET.name, _DOCKER_EXTERNALS)
    )
    return _template(
        lane,
        job,
        containers=(runner,),
        init_containers=(externals, daemon),
        volumes=(*scratch, *volumes),
    )


def _launcher(
    job: Job,
    hook_template: str,
    hooks: JobAccess | None,
    affinity: Affinity | None,
    tolerations: tuple[Toleration, ...] | None,
    *,
    env: tuple[EnvVar, ...] = (),
    fs_group: int | None = None,
) -> PodTemplate:
    """Return a runner pod that only starts job pods.

    `hook_template` names the ConfigMap with the job pod's template. The chart adds the path of the
    hooks, the pod's name and the runner image.
    """
    runner = Container(
        name=RUNNER_CONTAINER,
        image=job.image,
        command=_RUN,
        readiness_probe=_HAS_A_JOB,
        env=(
            EnvVar(
                name="ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE",
                value=f"{_HOOK_TEMPLATE.mount_path}/{HOOK_TEMPLATE_FILE}",
            ),
            # A job without `container:` would run here, on a node without a GPU: refuse it.
            EnvVar(name="ACTIONS_RUNNER_REQUIRE_JOB_CONTAINER", value="true"),
            EnvVar(
                name="ACTIONS_RUNNER_PREPARE_JOB_TIMEOUT_SECONDS", value=str(PREPARE_JOB_TIMEOUT_S)
            ),
            *env,
        ),
        resources=ResourceRequirements(requests=_LAUNCHER),
        volume_mounts=(_HOOK_TEMPLATE,),
    )
    volume = Volume(name=_HOOK_TEMPLATE.name, config_map=LocalObjectReference(name=hook_template))
    return PodTemplate(
        labels=JOB_POD,
        annotations=NOT_EVICTABLE,
        spec=PodSpec(
            containers=(runner,),
            volumes=(volume,),
            affinity=affinity,
            tolerations=tolerations,
            service_account_name=hooks.account if hooks is not None else None,
            fs_group=fs_group,
        ),
    )


def _job_pod(lane: GitHubLane, job: Job) -> PodTemplate:
    """Return the hook template: what the hooks add to each job pod.

    In mode `kubernetes` it has no affinity, because it would replace the hooks' own, which ties
    the pod to the node of its work volume. The job pod gets no token of the cluster's API unless
    the lane has a service account.
    """
    volumes, mounts = _volumes(job)
    container = Container(
        name=JOB_CONTAINER,
        image_pull_policy=lane.pull_policy,
        env=_environment(job) or None,
        resources=job.resources,
        security_context=_security_context(lane, job),
        volume_mounts=mounts,
    )
    return PodTemplate(
        labels=JOB_POD,
        annotations=NOT_EVICTABLE,
        spec=PodSpec(
            containers=(container,),
            volumes=volumes,
            affinity=job.affinity if lane.container_mode == "kubernetes-novolume" else None,
            tolerations=job.tolerations,
            service_account_name=job.service_account,
            automount_service_account_token=None if job.service_account else False,
            supplemental_groups=lane.supplemental_groups or None,
            runtime_class_name=job.runtime_class,
        ),
    )


def _template(
    lane: GitHubLane,
    job: Job,
    *,
    containers: tuple[Container, ...],
    volumes: tuple[Volume, ...],
    init_containers: tuple[Container, ...] | None = None,
) -> PodTemplate:
    """Return a runner pod in which the job itself runs."""
    return PodTemplate(
        labels=JOB_POD,
        annotations=NOT_EVICTABLE,
        spec=PodSpec(
            containers=containers,
            init_containers=init_containers,
            volumes=volumes,
            affinity=job.affinity,
            tolerations=job.tolerations,
            service_account_name=job.service_account,
            supplemental_groups=lane.supplemental_groups or None,
            runtime_class_name=job.runtime_class,
        ),
    )


def _environment(job: Job) -> tuple[EnvVar, ...]:
    return tuple(EnvVar(name=name, value=value) for name, value in job.env.items())


def _runner_environment(lane: GitHubLane, job: Job) -> tuple[EnvVar, ...]:
    """Return the environment of a runner container. Without a variable, the runner refuses root."""
    allowed = (EnvVar(name="RUNNER_ALLOW_RUNASROOT", value="1"),) if lane.run_as_root else ()
    return (*allowed, *_environment(job))


def _security_context(lane: GitHubLane, job: Job) -> SecurityContext | None:
    if not (job.privileged or lane.run_as_root):
        return None
    return SecurityContext(
        privileged=True if job.privileged else None,
        run_as_user=_ROOT if lane.run_as_root else None,
    )


def _volumes(job: Job) -> tuple[tuple[Volume, ...], tuple[VolumeMount, ...]]:
    """Return shared memory, and the host device of a privileged job."""
    volume, mount = shared_memory(job.shm_mib)
    if job.device is None or not job.privileged:
        return (volume,), (mount,)
    path = device_path(job.device)
    name = "host" + path.replace("/", "-")
    return (
        (volume, Volume(name=name, host_path=HostPath(path=path))),
        (mount, VolumeMount(name=name, mount_path=path)),
    )
