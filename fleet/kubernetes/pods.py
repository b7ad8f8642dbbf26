"""The parts of a Kubernetes pod that this program sets.

Fields are rendered in camelCase by `fleet.kubernetes.releases.to_values`.
Units: `*_m` is millicores, `*_mib` is MiB, both whole numbers.
Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fleet.kubernetes.releases import key
from fleet.kubernetes.resources import Resources, mebibytes, millicores

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]

GPU_RESOURCE = "nvidia.com/gpu"

# The autoscaler may otherwise drain a node under a running job, which cannot be moved.
# Source: kubernetes/autoscaler:cluster-autoscaler/FAQ.md
NOT_EVICTABLE: Mapping[str, str] = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}

JOB_POD: Mapping[str, str] = {"gpu-runners/job": "true"}
"""Label of the pods that an eviction waits for: `components/runners/job_budget.py`."""

SHARED_MEMORY_PATH = "/dev/shm"  # noqa: S108 -- a mount path in the pod, not a local file
SHARED_MEMORY_VOLUME = "shared-memory"


@dataclass(frozen=True, kw_only=True, slots=True)
class Toleration:
    """A toleration of a taint with any value, because taint values differ by cloud."""

    key: str
    operator: Literal["Exists"] = "Exists"
    effect: Effect


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSelectorRequirement:
    """One condition on a node label."""

    key: str
    operator: Literal["In"] = "In"
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSelectorTerm:
    """Conditions that a node must meet together."""

    match_expressions: tuple[NodeSelectorRequirement, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PreferredSchedulingTerm:
    """A preference; `weight` is 1 to 100."""

    weight: int
    preference: NodeSelectorTerm


@dataclass(frozen=True, kw_only=True, slots=True)
class Affinity:
    """Node affinity: a node must match one of the required terms."""

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
    """Return an affinity to nodes that have every label of one of `selectors`.

    Selectors with one and the same label become one term with several values. With `in_order`,
    earlier selectors are preferred: weights fall evenly from 100 for the first to none for the
    last. Raises ValueError for no selector and for one without labels, because a pod with such an
    affinity would run nowhere, or anywhere.
    """
    if not selectors or not all(selectors):
        raise ValueError("an affinity needs at least one pool, and each pool at least one label")
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
        one = NodeSelectorRequirement(key=only[0], values=values)
        return (NodeSelectorTerm(match_expressions=(one,)),)
    return tuple(_term(labels) for labels in selectors)


def _term(labels: Mapping[str, str]) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_expressions=tuple(
            NodeSelectorRequirement(key=name, values=(value,)) for name, value in labels.items()
        )
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceRequirements:
    """Requests and limits of one container.

    Memory is limited, because memory without a limit ends in the node's out-of-memory killer. An
    extended resource (a GPU, a device) must have request = limit. CPU has no limit, which would
    only throttle. Disk has no limit, which would evict the whole pod.
    """

    requests: Resources
    memory_limit_mib: int | None = None
    """`None` for a limit that equals the request."""
    extended: Mapping[str, int] = field(default_factory=dict[str, int])

    def rendered(self) -> dict[str, Any]:
        """Return the object as Kubernetes writes it."""
        size, limit = self.requests, self.memory_limit_mib
        requests: dict[str, str | int] = {
            "cpu": millicores(size.cpu_m),
            "memory": mebibytes(size.memory_mib),
        }
        if size.disk_mib:
            requests["ephemeral-storage"] = mebibytes(size.disk_mib)
        limits = {"memory": mebibytes(size.memory_mib if limit is None else limit)}
        return {"requests": {**requests, **self.extended}, "limits": {**limits, **self.extended}}


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvVar:
    """A variable of a container's environment."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeMount:
    """A volume of the pod, mounted into a container."""

    name: str
    mount_path: str
    read_only: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalObjectReference:
    """An object in the pod's namespace, such as a ConfigMap to mount."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EmptyDir:
    """Scratch space; medium `Memory` is a tmpfs that counts against the container's memory."""

    medium: Literal["Memory"] | None = None
    size_limit: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPath:
    """A path of the node."""

    path: str
    type: Literal["Directory"] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PersistentVolumeClaimSpec:
    """A volume claim of one node; `storage` is its size."""

    access_modes: tuple[str, ...] = ("ReadWriteOnce",)
    storage: str = field(metadata=key("resources", "requests", "storage"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """A volume of a pod, of one kind."""

    name: str
    empty_dir: EmptyDir | None = None
    config_map: LocalObjectReference | None = None
    host_path: HostPath | None = None


def shared_memory(size_mib: int) -> tuple[Volume, VolumeMount]:
    """Return volume and mount of a `/dev/shm` of `size_mib` MiB.

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
    run_as_user: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """A command that checks a container; times in seconds."""

    command: tuple[str, ...] = field(metadata=key("exec", "command"))
    timeout_seconds: int | None = None
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
    readiness_probe: Probe | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PodSpec:
    """Containers and scheduling of a pod; the group `fs_group` owns its volumes."""

    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    service_account_name: str | None = None
    automount_service_account_token: bool | None = None
    fs_group: int | None = field(default=None, metadata=key("securityContext", "fsGroup"))
    supplemental_groups: tuple[int, ...] | None = field(
        default=None, metadata=key("securityContext", "supplementalGroups")
    )
    runtime_class_name: str | None = None
    priority_class_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PodTemplate:
    """A pod with its labels and annotations."""

    spec: PodSpec
    labels: Mapping[str, str] | None = field(default=None, metadata=key("metadata", "labels"))
    annotations: Mapping[str, str] | None = field(
        default=None, metadata=key("metadata", "annotations")
    )
