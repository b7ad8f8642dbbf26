"""What one job of a GitHub lane gets, whatever the kind of lane.

Units: `*_m` millicores, `*_mib` MiB, `*_s` seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fleet.kubernetes.pods import (
    GPU,
    NOT_EVICTABLE,
    Affinity,
    EnvVar,
    HostPath,
    ResourceRequirements,
    SecurityContext,
    Size,
    Toleration,
    Volume,
    VolumeMount,
    job_environment,
    refuse_visible_devices,
    resources,
    shared_memory,
)

PullPolicy = Literal["Always", "IfNotPresent", "Never"]

_ROOT = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class JobShape:
    """The container in which a job runs, and the pod around it.

    `image` is the runner's. Where a job has a pod of its own, its image is the one that the
    workflow names. `devices` are extended resources, one of each; `host_devices` are paths of the
    node that the container gets by being privileged, which shows it every device there.
    `env` may not set `NVIDIA_VISIBLE_DEVICES` (ValueError).
    """

    image: str
    gpus: int
    cpu_m: int
    memory_mib: int
    disk_mib: int
    shm_mib: int
    affinity: Affinity
    tolerations: tuple[Toleration, ...]
    memory_limit_mib: int | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    gpu_resource: str = GPU
    devices: tuple[str, ...] = ()
    host_devices: tuple[str, ...] = ()
    run_as_root: bool = False
    supplemental_groups: tuple[int, ...] = ()
    pull_policy: PullPolicy | None = None
    service_account_name: str | None = None
    runtime_class_name: str | None = None
    image_pull_secrets: tuple[str, ...] = ()
    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str] = field(default_factory=lambda: NOT_EVICTABLE)
    termination_grace_period_seconds: int | None = None

    def __post_init__(self) -> None:
        refuse_visible_devices(self.env)

    @property
    def resources(self) -> ResourceRequirements:
        """What the container asks for."""
        return resources(
            Size(cpu_m=self.cpu_m, memory_mib=self.memory_mib, disk_mib=self.disk_mib),
            memory_limit_mib=self.memory_limit_mib,
            extended={
                **({self.gpu_resource: self.gpus} if self.gpus else {}),
                **dict.fromkeys(self.devices, 1),
            },
        )

    @property
    def environment(self) -> tuple[EnvVar, ...]:
        """Environment of the container."""
        return job_environment(self.env)

    @property
    def runner_environment(self) -> tuple[EnvVar, ...]:
        """Environment where the container is the runner's, which refuses to run as root unasked."""
        allowed = (EnvVar(name="RUNNER_ALLOW_RUNASROOT", value="1"),) if self.run_as_root else ()
        return (*allowed, *self.environment)

    @property
    def security_context(self) -> SecurityContext | None:
        """Privileges of the container; None for the image's own user without any."""
        if not (self.host_devices or self.run_as_root):
            return None
        return SecurityContext(
            privileged=True if self.host_devices else None,
            run_as_user=_ROOT if self.run_as_root else None,
        )

    @property
    def volumes(self) -> tuple[Volume, ...]:
        """Volumes of the pod: shared memory, and devices of the node."""
        return (
            shared_memory(self.shm_mib)[0],
            *(
                Volume(name=_volume_name(path), host_path=HostPath(path=path))
                for path in self.host_devices
            ),
        )

    @property
    def mounts(self) -> tuple[VolumeMount, ...]:
        """Where the container sees them."""
        return (
            shared_memory(self.shm_mib)[1],
            *(VolumeMount(name=_volume_name(path), mount_path=path) for path in self.host_devices),
        )


def _volume_name(path: str) -> str:
    return "host" + path.replace("/", "-")
