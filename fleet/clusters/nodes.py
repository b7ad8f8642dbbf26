"""Nodes and pools as every platform has them: what a node offers, and what ties jobs to it.

Units: CPU in millicores, memory and disk in MiB (see `fleet.kubernetes.resources.Resources`), money in USD.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Literal

from fleet.catalog.daemonsets import DaemonSetRequest
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.resources import Resources


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One node of a pool, of one kind."""

    kind: str
    """Instance type or shape; of an existing cluster the name of the pool."""
    gpu: str | None
    """Model, a key of `fleet.catalog.gpus.GPU_MODELS`."""
    gpus: int
    """Cards, or fractions of one, that the node has."""
    advertised: int
    """What the node offers as nvidia.com/gpu: cards times slices."""
    gpu_memory_gb: int
    """The vendor's figure of each card, fraction of one or MIG instance; 0 without GPUs."""
    gpu_memory_mib: int
    """What of it a job can have."""
    allocatable: Resources
    daemonsets: Resources
    """What the DaemonSets that run there ask for."""
    reserve: Resources
    """What the pool keeps for the user's own DaemonSets."""
    usd_per_hour: float | None
    """On demand; None where the nodes are somebody else's."""
    pods: int
    """Pods that jobs may start, DaemonSets taken off."""

    @property
    def free(self) -> Resources:
        """What is left for jobs on an empty node."""
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
    """What the pools of every platform share; a platform's own pool adds what it registers."""

    cluster: str
    name: str
    path: str
    """Where the stack file says it."""
    role: Literal["gpu", "system"]
    nodes: tuple[Node, ...]
    """One for each kind of node, in the order of the file."""
    min_size: int
    max_size: int
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    selector: dict[str, str]
    """Labels that no node outside the pool has all of."""
    capacity: str
    """How the nodes are had, in the platform's word, for the report."""
    sharing: str | None
    """The device plugin's named config; None on a pool without GPUs."""
    time_slices: int
    devices: dict[str, int] = field(default_factory=dict[str, int])
    """Host devices that jobs may open, and how many jobs share each."""
    qualified_images: bool = False
    """Whether the container runtime refuses image names without a registry."""
    mig_instances: int = 1
    """Instances into which each card is partitioned."""
    driver: str | None = None
    """NVIDIA driver of the nodes, or the least that they have; None where nobody says it."""
    paused: bool = False
    runtime_class: str | None = None
    """RuntimeClass that containers need to see a GPU; None where the runtime's default does."""

    @property
    def logical_name(self) -> str:
        """Name of the pool's resource."""
        return f"{self.cluster}-{self.name}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of node, in order of preference."""
        return tuple(node.kind for node in self.nodes)

    @property
    def gpu(self) -> str | None:
        """GPU model of every node."""
        return self.nodes[0].gpu

    @property
    def advertised(self) -> int:
        """nvidia.com/gpu of every node."""
        return self.nodes[0].advertised

    def free(self) -> Resources:
        """What is left for jobs on the smallest empty node, resource by resource."""
        return smallest(node.free for node in self.nodes)


def smallest(several: Iterable[Resources]) -> Resources:
    """The minimum of each resource. Raises ValueError when there is none."""
    every = tuple(several)
    return Resources(
        cpu_m=min(one.cpu_m for one in every),
        memory_mib=min(one.memory_mib for one in every),
        disk_mib=min(one.disk_mib for one in every),
    )


def asked_by(pods: Iterable[DaemonSetRequest]) -> Resources:
    """What the DaemonSets take from a node on which all of them run."""
    return reduce(
        add,
        (Resources(cpu_m=pod.cpu_m, memory_mib=pod.memory_mib, disk_mib=0) for pod in pods),
        Resources(cpu_m=0, memory_mib=0, disk_mib=0),
    )
