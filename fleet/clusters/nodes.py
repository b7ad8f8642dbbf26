"""Clusters, pools and nodes of any platform, and the placement of pods on them.

Units: CPU in millicores, memory and disk in MiB, money in USD.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from fleet.catalog.daemonsets import DaemonSetRequest
from fleet.kubernetes import labels
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.pods import Affinity, Toleration, selector_affinity
from fleet.kubernetes.releases import Release
from fleet.kubernetes.resources import Resources

ClusterKind: TypeAlias = Literal["eks", "oke", "existing"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One node of a pool."""

    kind: str
    """Instance type or shape; the name of the pool in an existing cluster."""
    gpu: str | None
    """Model, a key of `fleet.catalog.gpus.GPU_MODELS`."""
    gpus: int
    """Cards, or fractions of one, that the node has."""
    advertised: int
    """The node's amount of nvidia.com/gpu: cards times slices."""
    gpu_memory_gb: int
    """Data-sheet memory of each card, fraction of one or MIG instance; 0 without GPUs."""
    gpu_memory_mib: int
    """The part of that memory that a job can use."""
    allocatable: Resources
    daemonsets: Resources
    """Requests of the DaemonSets on the node."""
    reserve: Resources
    """Resources that the pool keeps for the user's own DaemonSets."""
    usd_per_hour: float | None
    """On-demand price; `None` for an existing cluster."""
    pods: int
    """Number of pods besides those of DaemonSets."""

    @property
    def free(self) -> Resources:
        """Resources left for jobs on an empty node."""
        return self.allocatable - self.daemonsets - self.reserve


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveSize:
    """Current bounds and size, in nodes, of a pool that exists."""

    desired_size: int
    min_size: int | None = None
    """`None` on OKE, which keeps no bounds with the pool."""
    max_size: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """Nodes of one kind; `EksPool` and `OkePool` add the settings of their cloud."""

    cluster: str
    name: str
    path: str
    """Path of the pool in the stack file."""
    role: Literal["gpu", "system"]
    nodes: tuple[Node, ...]
    """One for each instance type or shape, in order of preference."""
    min_size: int
    max_size: int
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    selector: dict[str, str]
    """Labels that select the nodes of this pool and no others."""
    capacity: str
    """Purchase option, in the platform's term."""
    sharing: str | None
    """The device plugin's named config; `None` on a pool without GPUs."""
    time_slices: int
    devices: dict[str, int] = field(default_factory=dict[str, int])
    """Host devices that jobs may open, and how many jobs share each."""
    qualified_images: bool = False
    """Whether the container runtime refuses image names without a registry."""
    mig_instances: int = 1
    """MIG instances of each card."""
    driver: str | None = None
    """NVIDIA driver of the nodes, or its lowest version; `None` if unknown."""
    paused: bool = False
    runtime_class: str | None = None
    """RuntimeClass that containers need to see a GPU; `None` if the default runtime shows it."""
    drain_minutes: int | None = None
    """How long the cloud waits for the jobs of a node that it replaces; `None` if others own it."""

    @property
    def logical_name(self) -> str:
        """Pulumi name of the pool's resource."""
        return f"{self.cluster}-{self.name}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Instance types or shapes, in order of preference."""
        return tuple(node.kind for node in self.nodes)

    @property
    def gpu(self) -> str | None:
        """GPU model of every node."""
        return self.nodes[0].gpu

    @property
    def advertised(self) -> int:
        """Amount of nvidia.com/gpu of every node."""
        return self.nodes[0].advertised

    def free(self) -> Resources:
        """Return the resources left for jobs on the smallest empty node, resource by resource."""
        return smallest(node.free for node in self.nodes)


PoolT_co = TypeVar("PoolT_co", bound=Pool, covariant=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Platform(Generic[PoolT_co]):
    """An EKS cluster, an OKE cluster or an existing one, without GPU stack and runners."""

    kind: ClassVar[ClusterKind]
    """Key of the stack file under which the cluster is declared."""
    name: str
    """Name in the stack file, and in EKS or OKE."""
    version: str | None
    """Kubernetes version as the platform writes it: `1.35` on EKS, `v1.35.2` on OKE."""
    pools: tuple[PoolT_co, ...]
    region: str | None
    profile: str | None
    """Profile of the cloud's configuration file; `None` for the ambient credentials."""
    allow: tuple[str, ...] | None
    """Public CIDR ranges that reach the API endpoint, which is private without any; `None` for an
    existing cluster."""

    @property
    def path(self) -> str:
        """Path of the cluster's own keys in the stack file."""
        return f"clusters.{self.name}.{self.kind}"

    @property
    def minor(self) -> str | None:
        """Kubernetes minor version, such as `1.35`; `None` if the stack file omits it."""
        return self.version

    @property
    def supported_until(self) -> date | None:
        """Last day of the cloud's (standard) support for the version; `None` if unknown."""
        return None

    @property
    def support_rule(self) -> str | None:
        """What ends on that day."""
        return None

    @property
    def releases(self) -> tuple[Release[Any], ...]:
        """Helm releases that belong to the platform."""
        return ()

    @property
    def system_pools(self) -> tuple[PoolT_co, ...]:
        """Pools without GPUs."""
        return tuple(pool for pool in self.pools if pool.role == "system")

    @property
    def gpu_pools(self) -> tuple[PoolT_co, ...]:
        """Pools with GPUs."""
        return tuple(pool for pool in self.pools if pool.role == "gpu")


def smallest(several: Iterable[Resources]) -> Resources:
    """Return the minimum of each resource. Raises ValueError for no resources."""
    every = tuple(several)
    return Resources(
        cpu_m=min(one.cpu_m for one in every),
        memory_mib=min(one.memory_mib for one in every),
        disk_mib=min(one.disk_mib for one in every),
    )


def daemonset_requests(pods: Iterable[DaemonSetRequest]) -> Resources:
    """Return the sum of what DaemonSets request on a node that runs all of them."""
    every = tuple(pods)
    return Resources(
        cpu_m=sum(pod.cpu_m for pod in every), memory_mib=sum(pod.memory_mib for pod in every)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """Node affinity and tolerations of pods."""

    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None


ANYWHERE = Placement(affinity=selector_affinity([{"kubernetes.io/os": "linux"}]))
"""Any Linux node without a taint."""


def job_affinity(pools: Sequence[Pool]) -> Affinity:
    """Return a required node affinity to any of `pools`, with a preference for earlier ones."""
    return selector_affinity([pool.selector for pool in pools])


def job_tolerations(pools: Iterable[Pool]) -> tuple[Toleration, ...]:
    """Return tolerations of the pools' taints, except the taint of a paused pool."""
    return tuple(one for one in daemonset_tolerations(pools) if one.key != labels.PAUSED_TAINT.key)


def daemonset_tolerations(pools: Iterable[Pool]) -> tuple[Toleration, ...]:
    """Return tolerations of every taint of the pools, each once."""
    return tuple(dict.fromkeys(taint.tolerated() for pool in pools for taint in pool.taints))


def daemonset_placement(pools: Sequence[Pool]) -> Placement:
    """Return a placement on the GPU pools of a cluster, paused ones included.

    It selects `gpu-runners/role`, if every pool has that label, so that it covers pools added
    later. Otherwise it selects the labels of each pool.
    """
    ours = all(pool.labels.get(labels.ROLE_LABEL) == "gpu" for pool in pools)
    return Placement(
        affinity=_affinity(pools, "gpu" if ours else None),
        tolerations=daemonset_tolerations(pools),
    )


def system_placement(pools: Sequence[Pool]) -> Placement:
    """Return a placement on the CPU pools, for controllers, listeners and runner managers.

    An existing cluster may have no such pool. Then these pods run on CPU pools with host devices,
    or on all pools.
    """
    cpu = [pool for pool in pools if pool.role == "system"]
    system = [pool for pool in cpu if not pool.devices] or cpu or list(pools)
    ours = all(labels.ROLE_LABEL in pool.labels for pool in system)
    return Placement(
        affinity=_affinity(system, "system" if ours else None),
        tolerations=job_tolerations(system) or None,
    )


def _affinity(pools: Sequence[Pool], role: str | None) -> Affinity:
    if role is not None:
        return selector_affinity([{labels.ROLE_LABEL: role}])
    return selector_affinity([pool.selector for pool in pools], in_order=False)
