"""The pieces of a Kubernetes pod that several charts take, in Kubernetes' exact spelling.

Units: `*_m` is millicores, `*_mib` is MiB, both whole numbers. Quantities inside `requests` and
`limits` are Kubernetes quantities (`"1500m"`, `"512Mi"`, `1`).
Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fleet.kubernetes.values import key

Quantity = str | int
Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

GPU = "nvidia.com/gpu"

# The autoscaler may otherwise drain a node under a running job, which cannot be moved.
# Source: kubernetes/autoscaler:cluster-autoscaler/FAQ.md
NOT_EVICTABLE: Mapping[str, str] = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}

SHARED_MEMORY_PATH = "/dev/shm"  # noqa: S108 -- a mount path in the pod, not a file of ours
SHARED_MEMORY_VOLUME = "shared-memory"


def millicores(cpu_m: int) -> str:
    """A CPU quantity from millicores."""
    return f"{cpu_m}m"


def mebibytes(mib: int) -> str:
    """A memory or storage quantity from MiB."""
    return f"{mib}Mi"


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """What one container asks for besides GPUs: CPU in millicores, memory and disk in MiB."""

    cpu_m: int
    memory_mib: int
    disk_mib: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Toleration:
    """Tolerates a taint; by default whatever value it has, because taint values differ by cloud.

    Raises ValueError for a value given with `Exists`, which the API server refuses.
    """

    key: str | None = None
    operator: Literal["Exists", "Equal"] = "Exists"
    value: str | None = None
    effect: Effect | None = None

    def __post_init__(self) -> None:
        if self.operator == "Exists" and self.value is not None:
            raise ValueError(
                f"toleration of {self.key!r} has the operator Exists and the value "
                f"{self.value!r}: drop the value or use the operator Equal"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSelectorRequirement:
    """One condition on a node label."""

    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSelectorTerm:
    """Conditions that hold together."""

    match_expressions: tuple[NodeSelectorRequirement, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PreferredSchedulingTerm:
    """A wish; `weight` is 1 to 100."""

    weight: int
    preference: NodeSelectorTerm


@dataclass(frozen=True, kw_only=True, slots=True)
class Affinity:
    """Nodes a pod must have (one of the terms) and nodes it would rather have."""

    required: tuple[NodeSelectorTerm, ...] = field(
        metadata=key(
            "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
        ),
    )
    preferred: tuple[PreferredSchedulingTerm, ...] | None = field(
        default=None,
        metadata=key("nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"),
    )


def selector_affinity(selectors: Sequence[Mapping[str, str]], *, in_order: bool = True) -> Affinity:
    """Requires a node that has every label of one of `selectors`, the earlier the rather.

    Selectors of one and the same label become one term with several values. With `in_order`,
    weights fall evenly from 100 for the first to none for the last. Raises ValueError for no
    selector and for one without labels, because such a pod would run nowhere, or anywhere.
    """
    if not selectors or not all(selectors):
        raise ValueError("a pool is named by no label: name at least one pool, by its labels")
    last = len(selectors) - 1
    preferred = tuple(
        PreferredSchedulingTerm(
            weight=max(1, 100 * (last - rank) // last), preference=_term(labels)
        )
        for rank, labels in enumerate(selectors[:last])
    )
    return Affinity(required=_terms(selectors), preferred=(preferred if in_order else None) or None)


def _terms(selectors: Sequence[Mapping[str, str]]) -> tuple[NodeSelectorTerm, ...]:
    keys = {tuple(labels) for labels in selectors}
    if len(keys) == 1 and len(only := keys.pop()) == 1:
        values = tuple(dict.fromkeys(labels[only[0]] for labels in selectors))
        one = NodeSelectorRequirement(key=only[0], operator="In", values=values)
        return (NodeSelectorTerm(match_expressions=(one,)),)
    return tuple(_term(labels) for labels in selectors)


def _term(labels: Mapping[str, str]) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_expressions=tuple(
            NodeSelectorRequirement(key=name, operator="In", values=(value,))
            for name, value in labels.items()
        )
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceRequirements:
    """What a container, or a volume claim, is promised and what it may not exceed."""

    requests: Mapping[str, Quantity] | None = None
    limits: Mapping[str, Quantity] | None = None


def resources(
    size: Size,
    *,
    memory_limit_mib: int | None = None,
    extended: Mapping[str, int] | None = None,
) -> ResourceRequirements:
    """Resources of a container: memory and devices are limited to what they ask, CPU is not.

    A CPU limit only throttles; memory without a limit ends in the node's out-of-memory killer;
    an extended resource (a GPU, a device) must have request = limit. Disk is asked for, not
    limited, because a limit evicts the whole pod.
    """
    requests: dict[str, Quantity] = {
        "cpu": millicores(size.cpu_m),
        "memory": mebibytes(size.memory_mib),
    }
    most = size.memory_mib if memory_limit_mib is None else memory_limit_mib
    limits: dict[str, Quantity] = {"memory": mebibytes(most)}
    if size.disk_mib:
        requests["ephemeral-storage"] = mebibytes(size.disk_mib)
    for name, count in (extended or {}).items():
        requests[name] = limits[name] = count
    return ResourceRequirements(requests=requests, limits=limits)


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvVar:
    """A variable of a container's environment."""

    name: str
    value: str


def job_environment(variables: Mapping[str, str]) -> tuple[EnvVar, ...]:
    """The environment of a container in which a job runs, in the order given.

    Raises ValueError for `NVIDIA_VISIBLE_DEVICES`: the device plugin sets it to the GPUs that the
    pod was given, and a value of the user's could show every GPU of the node
    (https://github.com/NVIDIA/k8s-device-plugin/issues/87).
    """
    refuse_visible_devices(variables)
    return tuple(EnvVar(name=name, value=value) for name, value in variables.items())


def refuse_visible_devices(variables: Mapping[str, str]) -> None:
    """Raises ValueError when a job's variables name the GPUs it sees; see `job_environment`."""
    if "NVIDIA_VISIBLE_DEVICES" in variables:
        raise ValueError(
            "a job's environment may not set NVIDIA_VISIBLE_DEVICES, which would show GPUs of "
            "other jobs: remove it, the device plugin sets it to the GPUs that the job asked for"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeMount:
    """Where a container sees a volume of its pod."""

    name: str
    mount_path: str
    read_only: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalObjectReference:
    """An object in the pod's namespace: a ConfigMap to mount, a Secret to pull images with."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EmptyDir:
    """Scratch space; medium `Memory` is a tmpfs that counts against the container's memory."""

    medium: Literal["Memory"] | None = None
    size_limit: Quantity | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPath:
    """A path of the node."""

    path: str
    type: Literal["Directory", "DirectoryOrCreate", "CharDevice"] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PersistentVolumeClaimSpec:
    """What a volume claim asks for."""

    access_modes: tuple[Literal["ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"], ...]
    resources: ResourceRequirements
    storage_class_name: str | None = None


def work_claim(disk_mib: int, storage_class_name: str | None = None) -> PersistentVolumeClaimSpec:
    """A claim of `disk_mib` MiB for the working directory of one job."""
    return PersistentVolumeClaimSpec(
        access_modes=("ReadWriteOnce",),
        storage_class_name=storage_class_name,
        resources=ResourceRequirements(requests={"storage": mebibytes(disk_mib)}),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """A volume of a pod, of exactly one kind; ValueError otherwise.

    `ephemeral` is a claim that is made with the pod and deleted with it.
    """

    name: str
    empty_dir: EmptyDir | None = None
    config_map: LocalObjectReference | None = None
    ephemeral: PersistentVolumeClaimSpec | None = field(
        default=None, metadata=key("ephemeral", "volumeClaimTemplate", "spec")
    )
    host_path: HostPath | None = None

    def __post_init__(self) -> None:
        kinds = (self.empty_dir, self.config_map, self.ephemeral, self.host_path)
        given = sum(kind is not None for kind in kinds)
        if given != 1:
            raise ValueError(
                f"volume {self.name!r} has {given} kinds: give exactly one of empty_dir, "
                "config_map, ephemeral and host_path"
            )


def shared_memory(size_mib: int) -> tuple[Volume, VolumeMount]:
    """`/dev/shm` of `size_mib` MiB.

    The runtime's default of 64 MiB breaks NCCL and the data loaders of PyTorch
    (https://github.com/NVIDIA/nccl/issues/525).
    """
    tmpfs = EmptyDir(medium="Memory", size_limit=mebibytes(size_mib))
    return (
        Volume(name=SHARED_MEMORY_VOLUME, empty_dir=tmpfs),
        VolumeMount(name=SHARED_MEMORY_VOLUME, mount_path=SHARED_MEMORY_PATH),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class SecurityContext:
    """Privileges of a container."""

    privileged: bool | None = None
    allow_privilege_escalation: bool | None = None
    run_as_user: int | None = None
    run_as_group: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """A command that checks a container; times in seconds."""

    command: tuple[str, ...] = field(metadata=key("exec", "command"))
    failure_threshold: int | None = None
    period_seconds: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Container:
    """A container; an init container with `restart_policy="Always"` is a sidecar."""

    name: str
    image: str | None = None
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    env: tuple[EnvVar, ...] | None = None
    resources: ResourceRequirements | None = None
    volume_mounts: tuple[VolumeMount, ...] | None = None
    security_context: SecurityContext | None = None
    restart_policy: Literal["Always"] | None = None
    startup_probe: Probe | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PodSpec:
    """What runs and where; `fs_group` owns the volumes, the grace period is in seconds."""

    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    affinity: Affinity | None = None
    node_selector: Mapping[str, str] | None = None
    tolerations: tuple[Toleration, ...] | None = None
    service_account_name: str | None = None
    automount_service_account_token: bool | None = None
    fs_group: int | None = field(default=None, metadata=key("securityContext", "fsGroup"))
    supplemental_groups: tuple[int, ...] | None = field(
        default=None, metadata=key("securityContext", "supplementalGroups")
    )
    image_pull_secrets: tuple[LocalObjectReference, ...] | None = None
    runtime_class_name: str | None = None
    priority_class_name: str | None = None
    termination_grace_period_seconds: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PodTemplate:
    """A pod to be made many times, with its labels and annotations."""

    spec: PodSpec
    labels: Mapping[str, str] | None = field(default=None, metadata=key("metadata", "labels"))
    annotations: Mapping[str, str] | None = field(
        default=None, metadata=key("metadata", "annotations")
    )
