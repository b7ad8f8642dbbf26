"""The managed node groups of an EKS cluster: instance types, image, capacity, labels, taints, tags.

Units: CPU in millicores, memory and disk in MiB (see `fleet.kubernetes.resources.Resources`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fleet.catalog.daemonsets import (
    EFA_DAEMONSETS,
    EKS_NODE_DAEMONSETS,
    NODE_MONITORING_DAEMONSETS,
    DaemonSetRequest,
)
from fleet.catalog.ec2 import InstanceType, instance_type
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.eks_amis import ami_driver_branch
from fleet.catalog.gpus import GPU_MODELS, usable_gpu_memory_mib
from fleet.catalog.kubelet import eks_allocatable, eks_pod_limit
from fleet.clusters.nodes import LiveSize, Node, Pool, asked_by, smallest
from fleet.config import pools as spec
from fleet.gpu_stack.ownership import Ownership, gpu_daemonsets
from fleet.kubernetes import labels as words
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.resources import Resources, format_cpu, format_memory

_AUTOSCALER = "k8s.io/cluster-autoscaler"


@dataclass(frozen=True, kw_only=True, slots=True)
class EksPool(Pool):
    """One EKS managed node group; its physical name adds a dash and seven hex digits."""

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
    desired_size: int
    ignore_changes: tuple[str, ...]
    """Properties of the node group that an update leaves as they are."""
    autoscaling_tags: dict[str, str]
    """Tags of the Auto Scaling group, from which the autoscaler imagines a node at size zero."""

    @property
    def instance_types(self) -> tuple[str, ...]:
        """EC2 instance types, in order of preference."""
        return self.kinds

    def at_live_size(self, live: LiveSize) -> EksPool:
        """Return the pool with the desired size of the next update.

        The autoscaler moves the size, so the difference is ignored while the bounds stay the same.
        When the bounds change, EKS takes all three numbers at once and refuses min > desired. The
        update then sends the live size, clamped to the new bounds, and no running job is scaled in.
        Source: https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2508.
        """
        if (live.min_size, live.max_size) == (self.min_size, self.max_size):
            return replace(self, desired_size=live.desired_size)
        clamped = min(max(live.desired_size, self.min_size), self.max_size)
        return replace(self, desired_size=clamped, ignore_changes=())


def eks_pool(
    cluster: str,
    name: str,
    pool: spec.EksPool,
    *,
    version: str,
    zones: tuple[str, ...],
    owners: Ownership,
) -> EksPool:
    """Derive one pool; `version` and `zones` are those of its cluster."""
    first = instance_type(pool.instance_types[0])
    gpu = first.gpu
    labels = {
        **pool.labels,
        words.POOL_LABEL: name,
        words.ROLE_LABEL: "gpu" if gpu else "system",
    }
    taints: list[Taint] = []
    sharing = None
    if gpu is not None:
        sharing = words.slices(pool.sharing.slices if pool.sharing else 1)
        labels[words.GPU_PRESENT_LABEL] = "true"
        labels[words.ACCELERATOR_LABEL] = GPU_MODELS[gpu].accelerator_label
        labels[words.SHARING_LABEL] = sharing
        taints.append(words.GPU_TAINT)
    if pool.paused:
        taints.append(words.PAUSED_TAINT)
    release_version = pool.release_version or KUBERNETES_VERSIONS[version].ami_release
    min_size = 0 if pool.paused else pool.min_size
    nodes = tuple(_node(instance_type(kind), pool, owners) for kind in pool.instance_types)
    return EksPool(
        cluster=cluster,
        name=name,
        path=f"clusters.{cluster}.eks.pools.{name}",
        role="gpu" if gpu else "system",
        nodes=nodes,
        min_size=min_size,
        max_size=pool.max_size,
        desired_size=min_size,
        # Only the camelCase path works below the top level.
        ignore_changes=("scalingConfig.desiredSize",),
        selector={words.POOL_LABEL: name},
        capacity=pool.capacity_type,
        capacity_type=pool.capacity_type,
        capacity_reservation_id=pool.capacity_reservation_id,
        ami_type=pool.ami_type or ("AL2023_x86_64_NVIDIA" if gpu else "AL2023_x86_64_STANDARD"),
        # Pinned, since a newer AMI rolls nodes under running jobs: it is a visible change.
        release_version=release_version,
        zones=pool.zones or zones,
        disk_gib=pool.disk_gib,
        raid0=_raid0(first, pool),
        efa_interfaces=first.efa_interfaces if pool.efa else 0,
        network_cards=first.network_cards,
        node_repair=pool.node_repair,
        labels=labels,
        taints=tuple(taints),
        sharing=sharing,
        time_slices=pool.sharing.slices if pool.sharing else 1,
        driver=_driver(version, release_version) if gpu else None,
        paused=pool.paused,
        autoscaling_tags=_autoscaling_tags(
            cluster=cluster,
            labels=labels,
            taints=taints,
            offer=smallest(node.allocatable for node in nodes),
            gpus=nodes[0].advertised,
            efa=first.efa_interfaces if pool.efa else 0,
        ),
    )


def _driver(version: str, release_version: str) -> str | None:
    """Driver that the nodes have at least: that of the pinned release, or the branch of another."""
    pinned = KUBERNETES_VERSIONS[version]
    if release_version == pinned.ami_release:
        return pinned.nvidia_driver
    branch = ami_driver_branch(release_version)
    return None if branch is None else str(branch)


def _raid0(kind: InstanceType, pool: spec.EksPool) -> bool:
    return pool.instance_store == "raid0" and kind.nvme_gb > 0


def _node(kind: InstanceType, pool: spec.EksPool, owners: Ownership) -> Node:
    slices = pool.sharing.slices if pool.sharing else 1
    daemonsets = _daemonsets(gpu=kind.gpu is not None, efa=pool.efa, owners=owners)
    return Node(
        kind=kind.name,
        gpu=kind.gpu,
        gpus=kind.gpus,
        advertised=kind.gpus * slices,
        gpu_memory_gb=kind.gpu_memory_gb,
        gpu_memory_mib=usable_gpu_memory_mib(kind.gpu, kind.gpu_memory_gb),
        allocatable=eks_allocatable(
            kind, root_disk_gib=pool.disk_gib, instance_store_raid0=_raid0(kind, pool)
        ),
        daemonsets=asked_by(daemonsets),
        reserve=Resources(
            cpu_m=pool.reserve.cpu, memory_mib=pool.reserve.memory, disk_mib=pool.reserve.disk
        ),
        usd_per_hour=kind.usd_per_hour,
        pods=eks_pod_limit(kind) - len(daemonsets),
    )


def _daemonsets(*, gpu: bool, efa: bool, owners: Ownership) -> tuple[DaemonSetRequest, ...]:
    """The DaemonSets whose pods run on a node of that sort."""
    pods = (
        *EKS_NODE_DAEMONSETS,
        *NODE_MONITORING_DAEMONSETS,
        *(gpu_daemonsets(owners) if gpu else ()),
        *(EFA_DAEMONSETS if efa else ()),
    )
    return tuple(pod for pod in pods if gpu or pod.where != "gpu_nodes")


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
