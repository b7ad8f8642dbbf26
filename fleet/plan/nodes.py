"""Nodes and pools as they will be: what a node has, what is left for jobs, labels, taints, tags.

Units: CPU in millicores, memory and disk in MiB (see `fleet.units.Resources`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Literal

from fleet.catalog.daemonsets import (
    DEVICE_PLUGIN_DAEMONSETS,
    EFA_DAEMONSETS,
    EKS_NODE_DAEMONSETS,
    GPU_OPERATOR_DAEMONSETS,
    GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS,
    NODE_MONITORING_DAEMONSETS,
    DaemonSetRequest,
)
from fleet.catalog.ec2 import InstanceType, instance_type
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.kubelet import eks_allocatable
from fleet.charts.pods import Toleration
from fleet.plan import words
from fleet.plan.words import Taint
from fleet.spec.eks import Eks
from fleet.spec.gpu_stack import GpuStack
from fleet.spec.pools import EksPool
from fleet.units import Resources, format_cpu, format_memory

_AUTOSCALER = "k8s.io/cluster-autoscaler"


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One node of a pool, of one instance type."""

    instance_type: str
    gpu: str | None
    """Model, a key of `fleet.catalog.gpus.GPU_MODELS`."""
    gpus: int
    """Cards, or fractions of one, that the node has."""
    advertised: int
    """What the node offers as nvidia.com/gpu: cards times slices."""
    allocatable: Resources
    daemonsets: Resources
    """What the DaemonSets that run there ask for."""
    reserve: Resources
    """What the pool keeps for the user's own DaemonSets."""

    @property
    def free(self) -> Resources:
        """What is left for jobs on an empty node."""
        return self.allocatable - self.daemonsets - self.reserve


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """One EKS managed node group."""

    cluster: str
    name: str
    path: str
    """Where the stack file says it."""
    role: Literal["gpu", "system"]
    nodes: tuple[Node, ...]
    """One for each instance type, in the order of the file."""
    min_size: int
    max_size: int
    capacity_type: str
    capacity_reservation_id: str | None
    ami_type: str
    release_version: str
    zones: tuple[str, ...]
    disk_gib: int
    raid0: bool
    efa_interfaces: int
    network_cards: int
    node_repair: bool
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    sharing: str | None
    """The device plugin's named config; None on a pool without GPUs."""
    time_slices: int
    autoscaling_tags: dict[str, str]
    """Tags of the Auto Scaling group, from which the autoscaler imagines a node at size zero."""

    @property
    def logical_name(self) -> str:
        """Name of the node group's resource; the physical name adds a dash and seven hex digits."""
        return f"{self.cluster}-{self.name}"

    @property
    def instance_types(self) -> tuple[str, ...]:
        """EC2 instance types, in order of preference."""
        return tuple(node.instance_type for node in self.nodes)

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


def eks_pool(cluster: str, eks: Eks, gpu_stack: GpuStack, name: str) -> Pool:
    """Derive one pool of an EKS cluster."""
    spec = eks.pools[name]
    first = instance_type(spec.instance_types[0])
    gpu = first.gpu
    labels = {
        **spec.labels,
        words.POOL_LABEL: name,
        words.ROLE_LABEL: "gpu" if gpu else "system",
    }
    taints: list[Taint] = []
    sharing = None
    if gpu is not None:
        sharing = words.slices(spec.sharing.time_slicing) if spec.sharing else words.WHOLE_GPUS
        labels[words.GPU_PRESENT_LABEL] = "true"
        labels[words.ACCELERATOR_LABEL] = GPU_MODELS[gpu].accelerator_label
        labels[words.SHARING_LABEL] = sharing
        taints.append(words.GPU_TAINT)
    if spec.paused:
        taints.append(words.PAUSED_TAINT)
    nodes = tuple(_node(instance_type(kind), spec, gpu_stack) for kind in spec.instance_types)
    return Pool(
        cluster=cluster,
        name=name,
        path=f"clusters.{cluster}.eks.pools.{name}",
        role="gpu" if gpu else "system",
        nodes=nodes,
        min_size=0 if spec.paused else spec.min_size,
        max_size=spec.max_size,
        capacity_type=spec.capacity_type,
        capacity_reservation_id=spec.capacity_reservation_id,
        ami_type=spec.ami_type or ("AL2023_x86_64_NVIDIA" if gpu else "AL2023_x86_64_STANDARD"),
        # Pinned, since a newer AMI rolls nodes under running jobs: it is a visible change.
        release_version=spec.release_version or KUBERNETES_VERSIONS[eks.version].ami_release,
        zones=spec.zones or eks.network.zone_names,
        disk_gib=spec.disk_gib,
        raid0=_raid0(first, spec),
        efa_interfaces=first.efa_interfaces if spec.efa else 0,
        network_cards=first.network_cards,
        node_repair=spec.node_repair,
        labels=labels,
        taints=tuple(taints),
        sharing=sharing,
        time_slices=spec.sharing.time_slicing if spec.sharing else 1,
        autoscaling_tags=_autoscaling_tags(
            cluster=cluster,
            labels=labels,
            taints=taints,
            offer=smallest(node.allocatable for node in nodes),
            gpus=nodes[0].advertised,
            efa=first.efa_interfaces if spec.efa else 0,
        ),
    )


def _raid0(kind: InstanceType, spec: EksPool) -> bool:
    return spec.instance_store == "raid0" and kind.nvme_gb > 0


def _node(kind: InstanceType, spec: EksPool, gpu_stack: GpuStack) -> Node:
    slices = spec.sharing.time_slicing if spec.sharing else 1
    return Node(
        instance_type=kind.name,
        gpu=kind.gpu,
        gpus=kind.gpus,
        advertised=kind.gpus * slices,
        allocatable=eks_allocatable(
            kind, root_disk_gib=spec.disk_gib, instance_store_raid0=_raid0(kind, spec)
        ),
        daemonsets=reduce(
            add,
            (
                Resources(cpu_m=pod.cpu_m, memory_mib=pod.memory_mib, disk_mib=0)
                for pod in daemonsets(gpu=kind.gpu is not None, efa=spec.efa, stack=gpu_stack)
            ),
            Resources(cpu_m=0, memory_mib=0, disk_mib=0),
        ),
        reserve=Resources(
            cpu_m=spec.reserve.cpu, memory_mib=spec.reserve.memory, disk_mib=spec.reserve.disk
        ),
    )


def daemonsets(*, gpu: bool, efa: bool, stack: GpuStack) -> tuple[DaemonSetRequest, ...]:
    """The DaemonSets whose pods run on a node of that sort."""
    pods = [*EKS_NODE_DAEMONSETS, *NODE_MONITORING_DAEMONSETS]
    if gpu and stack.advertiser == "device_plugin":
        pods += DEVICE_PLUGIN_DAEMONSETS
    if gpu and stack.operator is not None:
        pods += GPU_OPERATOR_DAEMONSETS
        if stack.advertiser == "operator":
            pods += GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS
    if efa:
        pods += EFA_DAEMONSETS
    return tuple(pod for pod in pods if gpu or pod.where != "gpu_nodes")


def daemonset_tolerations(pools: Iterable[Pool]) -> tuple[Toleration, ...]:
    """Tolerations of every taint of the pools: a DaemonSet of the GPU stack belongs on all."""
    taints = {(taint.key, taint.effect): taint for pool in pools for taint in pool.taints}
    return tuple(taint.tolerated() for taint in taints.values())


def job_tolerations(pools: Iterable[Pool]) -> tuple[Toleration, ...]:
    """Tolerations of a lane's jobs: a paused pool takes no new ones."""
    taints = {
        (taint.key, taint.effect): taint
        for pool in pools
        for taint in pool.taints
        if taint != words.PAUSED_TAINT
    }
    return tuple(taint.tolerated() for taint in taints.values())


def _autoscaling_tags(
    *,
    cluster: str,
    labels: dict[str, str],
    taints: Iterable[Taint],
    offer: Resources,
    gpus: int,
    efa: int,
) -> dict[str, str]:
    """Tags for discovery, and for the imagined node of an empty group.

    CPU and memory are the allocatable ones: without the tags the autoscaler takes the nominal size
    and starts a node on which the job still does not fit.
    Source: kubernetes/autoscaler cluster-autoscaler/cloudprovider/aws/aws_manager.go.
    """
    template = f"{_AUTOSCALER}/node-template"
    tags = {f"{_AUTOSCALER}/enabled": "true", f"{_AUTOSCALER}/{cluster}": "owned"}
    tags |= {f"{template}/label/{key}": value for key, value in labels.items()}
    tags |= {f"{template}/taint/{taint.key}": f"{taint.value}:{taint.effect}" for taint in taints}
    tags |= {
        f"{template}/resources/cpu": format_cpu(offer.cpu_m),
        f"{template}/resources/memory": format_memory(offer.memory_mib),
        f"{template}/resources/ephemeral-storage": format_memory(offer.disk_mib),
    }
    if gpus:
        tags[f"{template}/resources/{words.GPU_RESOURCE}"] = str(gpus)
    if efa:
        tags[f"{template}/resources/{words.EFA_RESOURCE}"] = str(efa)
    return tags
