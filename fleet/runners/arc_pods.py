"""The pods of a GitHub lane, one function per kind of lane.

Units: `*_m` millicores, `*_mib` MiB, `*_s` seconds.

| kind | where the job runs | who asks for the GPU |
|---|---|---|
| `runner_pod` | in the runner container | container `runner` |
| `novolume_runner_pod` + `job_pod_template` | in a pod of its own, anywhere | container `$job` |
| `kubernetes_runner_pod` + `job_pod_template` | in a pod of its own on the runner's node | `$job` |
| `dind_pod` | in the runner container; `docker` in a sidecar | container `runner` |

Sources: actions/actions-runner-controller@gha-runner-scale-set-0.14.2:charts/gha-runner-scale-set
(templates/_helpers.tpl); actions/runner-container-hooks:packages/k8s/src/k8s/{index,utils}.ts
"""

from __future__ import annotations

from typing import Any, Literal

from fleet.kubernetes.pods import (
    Affinity,
    Container,
    EmptyDir,
    EnvVar,
    LocalObjectReference,
    PersistentVolumeClaimSpec,
    PodSpec,
    PodTemplate,
    Probe,
    SecurityContext,
    Size,
    Toleration,
    Volume,
    VolumeMount,
    resources,
)
from fleet.kubernetes.values import to_values
from fleet.runners.arc_job import JobShape
from fleet.runners.arc_scale_set import RUNNER_CONTAINER

# The image's entry point is a shell; the runner is started by its own script.
_RUN = ("/home/runner/run.sh",)
_RUNNER_UID = 1001  # user and group `runner` of ghcr.io/actions/actions-runner
_WORK = VolumeMount(name="work", mount_path="/home/runner/_work")

# mergeContainerWithOptions of the hooks applies the container of this name to the job container.
JOB_CONTAINER = "$job"
HOOK_TEMPLATE_FILE = "job-pod.yaml"
_HOOK_TEMPLATE = VolumeMount(
    name="job-pod-template", mount_path="/home/runner/job-pod-template", read_only=True
)

# The hooks give up on a job pod after 600 s, which a cold GPU node with a CUDA image exceeds.
PREPARE_JOB_TIMEOUT_S = 1800

_DOCKER_SOCKET = VolumeMount(name="dind-sock", mount_path="/var/run")
_DOCKER_EXTERNALS = "dind-externals"
_DOCKER_GROUP = 123  # group `docker` of ghcr.io/actions/actions-runner
_DOCKER_WAIT_S = 120


def runner_pod(job: JobShape) -> PodTemplate:
    """The job runs in the runner container, which holds the GPU; needs no container mode."""
    runner = Container(
        name=RUNNER_CONTAINER,
        image=job.image,
        image_pull_policy=job.pull_policy,
        command=_RUN,
        env=job.runner_environment or None,
        resources=job.resources,
        security_context=job.security_context,
        volume_mounts=job.mounts,
    )
    return _template(job, containers=(runner,), volumes=job.volumes)


def dind_pod(
    job: JobShape,
    *,
    docker_image: str,
    docker: Size,
    work: PersistentVolumeClaimSpec | None = None,
) -> PodTemplate:
    """The job runs in the runner container; its `docker` commands talk to a sidecar's daemon.

    Only the sidecar is privileged, and only it holds images and layers, so its disk is `docker`'s
    and not the job's. The GPU belongs to the runner container: *the inner docker does not see
    it*, so steps use CUDA directly and containers started by docker cannot.
    The meaning is that of the chart's mode `dind`, which takes no resources for the sidecar.
    """
    externals = Container(
        name="init-dind-externals",
        image=job.image,
        image_pull_policy=job.pull_policy,
        command=("cp", "-r", "/home/runner/externals/.", "/home/runner/tmpDir/"),
        volume_mounts=(VolumeMount(name=_DOCKER_EXTERNALS, mount_path="/home/runner/tmpDir"),),
    )
    daemon = Container(
        name="dind",
        image=docker_image,
        args=("dockerd", "--host=unix:///var/run/docker.sock", f"--group={_DOCKER_GROUP}"),
        resources=resources(docker),
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
        image_pull_policy=job.pull_policy,
        command=_RUN,
        env=(
            EnvVar(name="DOCKER_HOST", value="unix:///var/run/docker.sock"),
            EnvVar(name="RUNNER_WAIT_FOR_DOCKER_IN_SECONDS", value=str(_DOCKER_WAIT_S)),
            *job.runner_environment,
        ),
        resources=job.resources,
        security_context=job.security_context,
        volume_mounts=(_WORK, _DOCKER_SOCKET, *job.mounts),
    )
    work_volume = (
        Volume(name=_WORK.name, ephemeral=work)
        if work
        else Volume(name=_WORK.name, empty_dir=EmptyDir())
    )
    return _template(
        job,
        containers=(runner,),
        init_containers=(externals, daemon),
        volumes=(
            work_volume,
            Volume(name=_DOCKER_SOCKET.name, empty_dir=EmptyDir()),
            Volume(name=_DOCKER_EXTERNALS, empty_dir=EmptyDir()),
            *job.volumes,
        ),
        # A new block volume belongs to root.
        fs_group=_RUNNER_UID if work else None,
    )


def novolume_runner_pod(
    job: JobShape,
    *,
    runner: Size,
    hook_template: str,
    affinity: Affinity | None = None,
    tolerations: tuple[Toleration, ...] | None = None,
) -> PodTemplate:
    """The small pod that starts job pods; for container mode `kubernetes-novolume`.

    It belongs on CPU nodes (`affinity`, `tolerations`), the job pod on the GPU pool.
    `hook_template` names the ConfigMap that holds `job_pod_template` under `HOOK_TEMPLATE_FILE`.
    The chart adds the path of the hooks, the pod's name and the runner image.
    """
    return _launcher(
        job, size=runner, hook_template=hook_template, affinity=affinity, tolerations=tolerations
    )


def kubernetes_runner_pod(job: JobShape, *, runner: Size, hook_template: str) -> PodTemplate:
    """The small pod that starts job pods on its own node; for container mode `kubernetes`.

    Both share the work volume, so the runner sits on the job's GPU pool. The scheduler places the
    job pod (by required affinity to the runner's node): the hooks' other way, a fixed node name,
    goes past the scheduler, and a second job on a full node would fail instead of wait. It waits
    at most `PREPARE_JOB_TIMEOUT_S`. `novolume_runner_pod` has none of these limits.
    """
    return _launcher(
        job,
        size=runner,
        hook_template=hook_template,
        affinity=job.affinity,
        tolerations=job.tolerations,
        env=(EnvVar(name="ACTIONS_RUNNER_USE_KUBE_SCHEDULER", value="true"),),
        fs_group=_RUNNER_UID,
    )


def job_pod_template(
    job: JobShape, *, mode: Literal["kubernetes", "kubernetes-novolume"]
) -> dict[str, Any]:
    """The hook template: what the hooks add to each job pod, as data for a ConfigMap.

    In mode `kubernetes` it holds no affinity, because it would replace the hooks' own, which ties
    the pod to the node of its work volume. The job pod gets no token of the cluster's API unless
    the lane names a service account.
    """
    container = Container(
        name=JOB_CONTAINER,
        image_pull_policy=job.pull_policy,
        env=job.environment or None,
        resources=job.resources,
        security_context=job.security_context,
        volume_mounts=job.mounts,
    )
    return to_values(
        PodTemplate(
            labels=job.labels,
            annotations=job.annotations,
            spec=PodSpec(
                containers=(container,),
                volumes=job.volumes,
                affinity=job.affinity if mode == "kubernetes-novolume" else None,
                tolerations=job.tolerations,
                service_account_name=job.service_account_name,
                automount_service_account_token=None if job.service_account_name else False,
                supplemental_groups=job.supplemental_groups or None,
                runtime_class_name=job.runtime_class_name,
                image_pull_secrets=_references(job.image_pull_secrets),
                termination_grace_period_seconds=job.termination_grace_period_seconds,
            ),
        )
    )


def _template(
    job: JobShape,
    *,
    containers: tuple[Container, ...],
    volumes: tuple[Volume, ...],
    init_containers: tuple[Container, ...] | None = None,
    fs_group: int | None = None,
) -> PodTemplate:
    """A runner pod in which the job itself runs."""
    return PodTemplate(
        labels=job.labels,
        annotations=job.annotations,
        spec=PodSpec(
            containers=containers,
            init_containers=init_containers,
            volumes=volumes,
            affinity=job.affinity,
            tolerations=job.tolerations,
            service_account_name=job.service_account_name,
            fs_group=fs_group,
            supplemental_groups=job.supplemental_groups or None,
            runtime_class_name=job.runtime_class_name,
            image_pull_secrets=_references(job.image_pull_secrets),
            termination_grace_period_seconds=job.termination_grace_period_seconds,
        ),
    )


def _launcher(
    job: JobShape,
    *,
    size: Size,
    hook_template: str,
    affinity: Affinity | None,
    tolerations: tuple[Toleration, ...] | None,
    env: tuple[EnvVar, ...] = (),
    fs_group: int | None = None,
) -> PodTemplate:
    """A runner pod that only starts job pods.

    It names no service account: with one, the chart would not make the account, role and binding
    that let the hooks create pods (templates/kube_mode_role.yaml).
    """
    runner = Container(
        name=RUNNER_CONTAINER,
        image=job.image,
        command=_RUN,
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
        resources=resources(size),
        volume_mounts=(_HOOK_TEMPLATE,),
    )
    hook_volume = Volume(
        name=_HOOK_TEMPLATE.name, config_map=LocalObjectReference(name=hook_template)
    )
    return PodTemplate(
        labels=job.labels,
        annotations=job.annotations,
        spec=PodSpec(
            containers=(runner,),
            volumes=(hook_volume,),
            affinity=affinity,
            tolerations=tolerations,
            fs_group=fs_group,
            image_pull_secrets=_references(job.image_pull_secrets),
            termination_grace_period_seconds=job.termination_grace_period_seconds,
        ),
    )


def _references(names: tuple[str, ...]) -> tuple[LocalObjectReference, ...] | None:
    return tuple(LocalObjectReference(name=name) for name in names) or None
