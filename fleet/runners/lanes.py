"""What GitHub lanes and GitLab lanes have in common: the job, its share of a node, its rights.

Units: CPU in millicores, memory and disk in MiB.

The fair share of a node is what is left for jobs, divided by the GPUs that the node advertises,
times the GPUs of the job, minus what the lane's side containers request, rounded down. So a job
that only sets `gpus: 1` always fits, and jobs with fair shares use the whole node.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from fleet.clusters.nodes import Pool, job_affinity, job_tolerations, smallest
from fleet.config.access import AccessRule, KubernetesAccess
from fleet.config.lanes import Lane
from fleet.gpu_stack.host_devices import device_resource
from fleet.kubernetes.pods import (
    GPU_RESOURCE,
    Affinity,
    PodSpec,
    ResourceRequirements,
    Toleration,
)
from fleet.kubernetes.releases import Release
from fleet.kubernetes.resources import Resources

Forge: TypeAlias = Literal["github", "gitlab"]

IMAGES_MIB = 40 * 1024
"""Disk that fair shares leave for images, because the images of a CUDA job are on the same disk as
its scratch space (a framework image alone is 10 to 20 GiB). Inferred from the sizes of public
images."""

_GENERATION_DIGITS = 5

_CPU_STEP_M = 10
_MIB_STEP = 16
_DISK_STEP_MIB = 1024

_DEPLOY = ("create", "delete", "get", "list", "patch", "update", "watch")

DEFAULT_PERMISSIONS = (
    AccessRule(
        resources=("configmaps", "persistentvolumeclaims", "pods", "services"), verbs=_DEPLOY
    ),
    AccessRule(resources=("events", "pods/log"), verbs=("get", "list", "watch")),
    AccessRule(api_groups=("apps",), resources=("deployments", "statefulsets"), verbs=_DEPLOY),
    AccessRule(api_groups=("batch",), resources=("jobs",), verbs=_DEPLOY),
)
"""Enough to deploy and watch a test of an application. Secrets are not included, but an account
that can create pods can mount every Secret of the namespace, so the namespace should have none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What one job of a lane gets."""

    image: str
    """Image of the runner on GitHub; on GitLab, of a job that names no image."""
    gpus: int
    request: Resources
    """Request of the job's own container."""
    memory_limit_mib: int
    max_request: Resources
    """Upper bound of GitLab's `KUBERNETES_*_REQUEST` overrides; equals `request` without them."""
    side_containers: Resources
    """Requests of the other containers of the job on the same node."""
    shm_mib: int
    """Size of `/dev/shm`."""
    affinity: Affinity
    tolerations: tuple[Toleration, ...]
    runtime_class: str | None
    env: Mapping[str, str]
    service_account: str | None
    device: str | None = None
    """Host device, such as `dri`."""
    privileged: bool = False
    """Whether the job's container is privileged; it then gets `device` without a device plugin."""

    @property
    def resources(self) -> ResourceRequirements:
        """Resources of the job's own container, GPUs and plugged devices included."""
        extended = {GPU_RESOURCE: self.gpus} if self.gpus else {}
        if self.device is not None and not self.privileged:
            extended[device_resource(self.device)] = 1
        return ResourceRequirements(
            requests=self.request, memory_limit_mib=self.memory_limit_mib, extended=extended
        )

    @property
    def total(self) -> Resources:
        """Requests of all the job's containers on its node."""
        return self.request + self.side_containers


@dataclass(frozen=True, kw_only=True, slots=True)
class JobAccess:
    """A ServiceAccount for jobs, and a Role with its RoleBinding in each namespace."""

    account: str
    account_namespace: str
    namespaces: tuple[str, ...]
    made_namespaces: tuple[str, ...]
    """The ones that this program creates."""
    role: str
    permissions: tuple[AccessRule, ...]
    """Rules of the role."""


_LITERALS = {
    "github_app_id": "ID",
    "github_app_installation_id": "ID",
    "runner-registration-token": "",
}
"""Keys of Secrets whose values are not secret. The last one may be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExternalSecret:
    """A Kubernetes Secret that this program does not create."""

    name: str
    namespace: str
    keys: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command that makes it. A secret value is in a file, without a line break after it."""
        values = (
            f"--from-literal={key}={_LITERALS[key]}"
            if key in _LITERALS
            else f"--from-file={key}=FILE"
            for key in self.keys
        )
        return f"kubectl -n {self.namespace} create secret generic {self.name} {' '.join(values)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LanePods:
    """The pods of one job."""

    on_pool: tuple[PodSpec, ...]
    """Pods that share a node of the lane's pools."""
    launcher: PodSpec | None = None
    """A runner pod that runs on a CPU node and starts the job's pod."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LanePlan:
    """One lane: one installed chart that serves one kind of job.

    What the forge reads only at registration is in `generation`, and the names of all that a lane
    makes contain it. So a change of it makes a successor, which takes the waiting jobs, before the
    lane's old objects are removed and finish their running jobs.
    """

    forge: ClassVar[Forge]
    cluster: str
    name: str
    generation: str
    """Five hexadecimal digits, see `generation`."""
    pools: tuple[Pool, ...] = field(repr=False)
    """Pools that may run a job, in order of preference."""
    job: Job
    release: Release[Any]
    labels: tuple[str, ...]
    """What a job writes to run here: `runs-on` labels on GitHub, `tags` on GitLab."""
    min_jobs: int
    """Idle runners that always wait for a job, each on a node."""
    max_jobs: int
    """Jobs at once; 0 while the lane is paused."""
    access: JobAccess | None
    """Rights of the jobs in their cluster, if they have any."""
    external_secret: ExternalSecret | None
    """The Secret with the lane's credentials, if this program does not create it."""
    pods: LanePods = field(repr=False)
    drain_minutes: int
    """Longest wait for running jobs when the lane is replaced or removed."""

    @property
    def path(self) -> str:
        """Path of the lane in the stack file."""
        return f"clusters.{self.cluster}.{self.forge}.lanes.{self.name}"

    @property
    def logical_name(self) -> str:
        """Pulumi name of the lane's component."""
        return f"{self.cluster}-{self.forge}-{self.name}"

    @property
    def pool_names(self) -> tuple[str, ...]:
        """Names of the pools, in order of preference."""
        return tuple(pool.name for pool in self.pools)

    @property
    def image(self) -> str | None:
        """Image in which a job runs if it names none; `None` if a job must name one."""
        return self.job.image


def generation(cluster: str, name: str, *fixed: object) -> str:
    """Return the digits for what a lane cannot change in place.

    The cluster is a part of it: two scale sets of one name at GitHub would be one, which the
    removal of either deletes.
    """
    text = json.dumps((cluster, name, *fixed))
    return hashlib.sha256(text.encode()).hexdigest()[:_GENERATION_DIGITS]


def generation_name(stem: str, digits: str, longest: int) -> str:
    """Return the name of one generation, with its stem cut to the limit of `longest`."""
    return f"{stem[: longest - _GENERATION_DIGITS - 1].rstrip('-')}-{digits}"


def job(
    lane: Lane,
    pools: tuple[Pool, ...],
    *,
    image: str,
    env: Mapping[str, str],
    side_containers: Resources = Resources(),  # noqa: B008 -- frozen
    access: JobAccess | None = None,
    device: str | None = None,
    privileged: bool = False,
    max_cpu_m: int | None = None,
    max_memory_mib: int | None = None,
) -> Job:
    """Return the job of a lane on `pools`, which are in order of preference.

    CPU, memory and disk that the lane omits are the fair share of the smallest node.
    """
    share = fair_share(pools, lane.gpus, side_containers)
    memory_mib = share.memory_mib if lane.memory is None else lane.memory
    if lane.memory is None and lane.memory_limit is not None:
        memory_mib = min(memory_mib, lane.memory_limit)
    request = Resources(
        cpu_m=share.cpu_m if lane.cpu is None else lane.cpu,
        memory_mib=memory_mib,
        disk_mib=share.disk_mib if lane.disk is None else lane.disk,
    )
    return Job(
        image=image,
        gpus=lane.gpus,
        request=request,
        memory_limit_mib=memory_mib if lane.memory_limit is None else lane.memory_limit,
        max_request=Resources(
            cpu_m=max(request.cpu_m, max_cpu_m or 0),
            memory_mib=max(request.memory_mib, max_memory_mib or 0),
            disk_mib=request.disk_mib,
        ),
        side_containers=side_containers,
        shm_mib=memory_mib // 2 if lane.shm is None else lane.shm,
        affinity=job_affinity(pools),
        tolerations=job_tolerations(pools),
        runtime_class=_runtime_class(lane, pools),
        env=env,
        service_account=access.account if access is not None else None,
        device=device,
        privileged=privileged,
    )


def _runtime_class(lane: Lane, pools: tuple[Pool, ...]) -> str | None:
    if lane.runtime_class is not None or not lane.gpus:
        return lane.runtime_class
    return next((pool.runtime_class for pool in pools if pool.runtime_class is not None), None)


def fair_share(pools: tuple[Pool, ...], gpus: int, side_containers: Resources) -> Resources:
    """Return the fair share of the smallest GPU node among the pools; nothing without GPUs.

    If nothing is left, it is one step of CPU and memory and no disk, so that the scheduler and
    `fleet.checks.fits` refuse the job alike. If a node has fewer GPUs than the job, it is the whole
    node, so that the check reports only the number of GPUs.
    """
    shares = [
        Resources(
            cpu_m=node.free.cpu_m * part // node.advertised,
            memory_mib=node.free.memory_mib * part // node.advertised,
            disk_mib=(node.free.disk_mib - IMAGES_MIB) * part // node.advertised,
        )
        for pool in pools
        for node in pool.nodes
        if (part := min(gpus, node.advertised))
    ]
    if not shares:
        return Resources()
    left = smallest(shares) - side_containers
    return Resources(
        cpu_m=max(_CPU_STEP_M, _down(left.cpu_m, _CPU_STEP_M)),
        memory_mib=max(_MIB_STEP, _down(left.memory_mib, _MIB_STEP)),
        disk_mib=_down(left.disk_mib, _DISK_STEP_MIB),
    )


def _down(amount: int, step: int) -> int:
    return max(0, amount // step * step)


def job_access(access: KubernetesAccess | None, name: str, namespace: str) -> JobAccess | None:
    """Return the rights of a lane's jobs.

    `name` is unique among the lanes of the cluster, and `namespace` is the namespace of the jobs.
    """
    if access is None:
        return None
    return JobAccess(
        account=name,
        account_namespace=namespace,
        namespaces=tuple(dict.fromkeys((*access.namespaces, *access.existing_namespaces))),
        made_namespaces=tuple(dict.fromkeys(access.namespaces)),
        role=name,
        permissions=access.permissions or DEFAULT_PERMISSIONS,
    )
