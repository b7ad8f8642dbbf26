"""The device plugins that hand devices of the host to jobs: one DaemonSet for each pool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fleet.catalog.daemonsets import HOST_DEVICE_DAEMONSETS
from fleet.catalog.images import GENERIC_DEVICE_PLUGIN
from fleet.clusters.nodes import Pool, asked_by
from fleet.gpu_stack.host_device_pods import plugin_pod
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.placement import daemonset_tolerations, job_affinity
from fleet.kubernetes.pods import Size, resources
from fleet.kubernetes.values import to_values

_LABEL = "app.kubernetes.io/name"


@dataclass(frozen=True, kw_only=True, slots=True)
class DaemonSetPlan:
    """One DaemonSet: its name, the labels that select its pods, and the pod."""

    name: str
    labels: dict[str, str]
    pod: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class HostDevicesPlan:
    """The DaemonSets of a cluster, in a namespace of their own."""

    namespace: str
    daemonsets: tuple[DaemonSetPlan, ...]


def host_devices_plan(pools: Iterable[Pool]) -> HostDevicesPlan | None:
    """Derive the plugins; None where no pool offers a device of its host."""
    daemonsets = tuple(_daemonset(pool) for pool in pools if pool.devices)
    if not daemonsets:
        return None
    return HostDevicesPlan(namespace=Namespaces.host_devices, daemonsets=daemonsets)


def _daemonset(pool: Pool) -> DaemonSetPlan:
    name = f"host-devices-{pool.name}"
    labels = {_LABEL: name}
    asked = asked_by(HOST_DEVICE_DAEMONSETS)
    return DaemonSetPlan(
        name=name,
        labels=labels,
        pod=to_values(
            plugin_pod(
                pool.devices,
                image=GENERIC_DEVICE_PLUGIN,
                affinity=job_affinity([pool]),
                tolerations=daemonset_tolerations([pool]) or None,
                labels=labels,
                resources=resources(Size(cpu_m=asked.cpu_m, memory_mib=asked.memory_mib)),
            )
        ),
    )
