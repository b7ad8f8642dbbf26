"""The node pools of an OKE cluster: shape, image, boot volume, capacity, labels, taints.

Units: CPU in millicores, memory and disk in MiB (see `fleet.kubernetes.resources.Resources`), boot volumes in GB.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from fleet.catalog.daemonsets import (
    OKE_GPU_PLUGIN_DAEMONSETS,
    OKE_NATIVE_NETWORK_DAEMONSETS,
    OKE_NODE_DAEMONSETS,
    OKE_OBSERVABILITY_DAEMONSETS,
    DaemonSetRequest,
)
from fleet.catalog.gpus import usable_gpu_memory_mib
from fleet.catalog.kubelet_oke import oke_allocatable, oke_pod_limit
from fleet.catalog.oci import SHAPES, ShapeSizeError, Ocpus, SizedShape, sized
from fleet.catalog.oke import (
    DISABLE_GPU_PLUGIN_LABEL,
    GPU_IMAGE_DRIVER,
    GPU_TAINT_KEY,
    GPU_TAINT_VALUE,
    PREEMPTIBLE_KEY,
)
from fleet.clusters.nodes import LiveSize, Node, Pool, asked_by
from fleet.config import oke_pools as spec
from fleet.gpu_stack.ownership import Ownership, gpu_daemonsets
from fleet.kubernetes import labels as words
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.resources import Resources

CNI_TYPE = "OCI_VCN_IP_NATIVE"

GPU_TAINT = Taint(key=GPU_TAINT_KEY, value=GPU_TAINT_VALUE, effect="NoSchedule")
PREEMPTIBLE_TAINT = Taint(key=PREEMPTIBLE_KEY, value="present", effect="NoSchedule")


@dataclass(frozen=True, kw_only=True, slots=True)
class OkePool(Pool):
    """One OKE node pool."""

    shape: str
    ocpus: int | None
    """OCPUs of a Flex shape; None where the shape has its own."""
    memory_gb: int | None
    image_id: str | None
    """None for the newest image of the version."""
    boot_volume_gb: int
    availability_domains: tuple[str, ...]
    capacity_reservation_id: str | None
    preemptible: bool
    node_cycling: bool
    eviction_grace: str
    """ISO 8601 duration."""
    max_pods: int
    desired_size: int
    ignore_changes: tuple[str, ...] = ()
    """Properties of the node pool that an update leaves as they are."""

    def at_live_size(self, live: LiveSize) -> OkePool:
        """Return the pool with the size of the next update: the live one, clamped to the bounds.

        The size is sent although the autoscaler moves it. The provider sends all of
        nodeConfigDetails when any of it changes (tags, security groups, placement), and an ignored
        size would be that of the last update: it would scale running jobs in. So a preview may show
        a size that the autoscaler has already set.
        """
        return replace(self, desired_size=min(max(live.desired_size, self.min_size), self.max_size))


def oke_pool(
    cluster: str,
    name: str,
    pool: spec.OkePool,
    *,
    availability_domains: tuple[str, ...],
    owners: Ownership,
) -> OkePool:
    """Derive one pool; `availability_domains` are those of its cluster."""
    kind = SHAPES[pool.shape]
    gpu = kind.gpu
    machine = _machine(pool)
    slices = pool.sharing.slices if pool.sharing else 1
    labels = {
        **pool.labels,
        words.POOL_LABEL: name,
        words.ROLE_LABEL: "gpu" if gpu else "system",
    }
    taints: list[Taint] = []
    sharing = None
    if gpu is not None:
        labels[words.GPU_PRESENT_LABEL] = "true"
        taints.append(GPU_TAINT)
        if owners.advertiser != "provider":
            sharing = words.slices(slices) if slices > 1 else words.WHOLE_GPUS
            labels[words.SHARING_LABEL] = sharing
            # The add-on is on by default and no resource can take it away.
            labels[DISABLE_GPU_PLUGIN_LABEL] = "true"
    if pool.preemptible:
        taints.append(PREEMPTIBLE_TAINT)
    if pool.paused:
        taints.append(words.PAUSED_TAINT)
    min_size = 0 if pool.paused else pool.min_size
    return OkePool(
        cluster=cluster,
        name=name,
        path=f"clusters.{cluster}.oke.pools.{name}",
        role="gpu" if gpu else "system",
        nodes=(_node(machine, pool, owners, slices),),
        min_size=min_size,
        max_size=pool.max_size,
        desired_size=min_size,
        labels=labels,
        taints=tuple(taints),
        selector={words.POOL_LABEL: name},
        capacity="preemptible" if pool.preemptible else "on demand",
        sharing=sharing,
        time_slices=slices,
        driver=(pool.driver or GPU_IMAGE_DRIVER) if gpu else None,
        paused=pool.paused,
        qualified_images=True,
        shape=pool.shape,
        ocpus=machine.ocpus.count if kind.flex else None,
        memory_gb=machine.memory_gb if kind.flex else None,
        image_id=pool.image_id,
        boot_volume_gb=pool.boot_gb,
        availability_domains=pool.availability_domains or availability_domains,
        capacity_reservation_id=pool.capacity_reservation_id,
        preemptible=pool.preemptible,
        node_cycling=pool.node_cycling,
        eviction_grace=f"PT{pool.eviction_minutes}M",
        max_pods=oke_pod_limit(machine, CNI_TYPE),
    )


def _machine(pool: spec.OkePool) -> SizedShape:
    """A node's size; one that is wrong in itself, which is told at the pool, counts as small."""
    kind = SHAPES[pool.shape]
    if kind.flex is None:
        return sized(kind)
    with suppress(ShapeSizeError):
        return sized(kind, Ocpus(pool.ocpus or 0), pool.memory_gb)
    return sized(kind, Ocpus(2), 16)


def _node(machine: SizedShape, pool: spec.OkePool, owners: Ownership, slices: int) -> Node:
    kind = machine.shape
    daemonsets = _daemonsets(gpu=kind.gpu is not None, owners=owners)
    return Node(
        kind=kind.name,
        gpu=kind.gpu,
        gpus=kind.gpus,
        advertised=kind.gpus * slices,
        gpu_memory_gb=kind.gpu_memory_gb,
        gpu_memory_mib=usable_gpu_memory_mib(kind.gpu, kind.gpu_memory_gb),
        allocatable=oke_allocatable(machine, pool.boot_gb, grown=True),
        daemonsets=asked_by(daemonsets),
        reserve=Resources(
            cpu_m=pool.reserve.cpu, memory_mib=pool.reserve.memory, disk_mib=pool.reserve.disk
        ),
        usd_per_hour=machine.usd_per_hour,
        pods=oke_pod_limit(machine, CNI_TYPE) - len(daemonsets),
    )


def _daemonsets(*, gpu: bool, owners: Ownership) -> tuple[DaemonSetRequest, ...]:
    """The DaemonSets whose pods run on a node of that sort."""
    pods = (
        *OKE_NODE_DAEMONSETS,
        *OKE_NATIVE_NETWORK_DAEMONSETS,
        *OKE_OBSERVABILITY_DAEMONSETS,
        *(gpu_daemonsets(owners) if gpu else ()),
        *(OKE_GPU_PLUGIN_DAEMONSETS if gpu and owners.advertiser == "provider" else ()),
    )
    return tuple(pod for pod in pods if gpu or pod.where != "gpu_nodes")
