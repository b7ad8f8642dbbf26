"""An existing cluster: how to reach it, and its nodes as the stack file declares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fleet.catalog.daemonsets import HOST_DEVICE_DAEMONSETS
from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.mig import MIG_INSTANCES, mig_memory_gb, mig_usable_mib
from fleet.clusters.nodes import ClusterKind, Node, Platform, Pool, daemonset_requests
from fleet.config.existing import Existing, ExistingPool
from fleet.gpu_stack.ownership import Ownership, gpu_daemonsets
from fleet.kubernetes import labels
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.resources import Resources


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingPlan(Platform[Pool]):
    """One existing cluster, for whose nodes this program registers no resources."""

    kind: ClassVar[ClusterKind] = "existing"
    context: str
    kubeconfig: str | None
    """Path of the kubeconfig; `None` for the ambient one."""
    drivers: dict[str, str]
    """NVIDIA driver by pool, where the stack file declares one."""


def existing_plan(name: str, existing: Existing, owners: Ownership) -> ExistingPlan:
    """Return the plan of one existing cluster."""
    return ExistingPlan(
        name=name,
        region=None,
        profile=None,
        allow=None,
        context=existing.context,
        kubeconfig=existing.kubeconfig,
        version=existing.version,
        pools=tuple(
            existing_pool(name, pool, one, owners=owners) for pool, one in existing.pools.items()
        ),
        drivers={
            pool: one.driver for pool, one in existing.pools.items() if one.driver is not None
        },
    )


def _gpu_memory(model: str | None, mig: str | None) -> tuple[int, int]:
    """Return (data-sheet GB, usable MiB) of one card, or of one MIG instance if `mig` is set."""
    if mig is not None:
        return mig_memory_gb(mig), mig_usable_mib(mig)
    if model is None:
        return 0, 0
    return GPU_MODELS[model].memory_gb, GPU_MODELS[model].usable_mib


def existing_pool(
    cluster: str,
    name: str,
    pool: ExistingPool,
    *,
    owners: Ownership = Ownership(advertiser="provider"),  # noqa: B008 -- frozen
) -> Pool:
    """Return the plan of the declared nodes.

    `owners` decides which DaemonSets of the GPU stack take part of a node.
    """
    gpus = pool.gpus or 0
    slices = pool.sharing.slices if pool.sharing is not None else 1
    mig = pool.sharing.mig if pool.sharing is not None else None
    instances = MIG_INSTANCES.get(pool.gpu or "", {}).get(mig, 1) if mig is not None else 1
    memory_gb, usable_mib = _gpu_memory(pool.gpu, mig)
    node = Node(
        kind=name,
        gpu=pool.gpu,
        gpus=gpus,
        advertised=gpus * slices * instances,
        gpu_memory_gb=memory_gb,
        gpu_memory_mib=usable_mib,
        allocatable=Resources(cpu_m=pool.cpu, memory_mib=pool.memory, disk_mib=pool.disk),
        daemonsets=daemonset_requests(
            (
                *(gpu_daemonsets(owners) if pool.gpu is not None else ()),
                *(HOST_DEVICE_DAEMONSETS if pool.devices else ()),
            )
        ),
        # The declared CPU and memory do not include the requests of other pods.
        reserve=Resources(),
        usd_per_hour=None,
        pods=pool.max_pods,
    )
    return Pool(
        cluster=cluster,
        name=name,
        path=f"clusters.{cluster}.existing.pools.{name}",
        role="gpu" if pool.gpu is not None else "system",
        nodes=(node,),
        min_size=pool.count,
        max_size=pool.count,
        labels=dict(pool.labels),
        taints=tuple(
            Taint(key=taint.key, value=taint.value, effect=taint.effect) for taint in pool.taints
        ),
        selector=dict(pool.labels),
        capacity="existing",
        sharing=labels.slices(slices) if pool.gpu is not None else None,
        time_slices=slices,
        driver=pool.driver or owners.driver_version if pool.gpu is not None else None,
        mig_instances=instances,
        devices={**pool.devices},
        qualified_images=pool.container_runtime == "crio",
        runtime_class=pool.runtime_class,
    )
