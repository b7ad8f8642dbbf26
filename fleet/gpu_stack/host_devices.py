"""The generic device plugin, which hands devices of the host to pods that request them.

There is no chart to pin (the project's own is in no chart repository), so this program registers
one DaemonSet for each pool. A device's path may be a folder: the container runtime then hands over
its content. `count` is how many pods may hold the device at once; they are not isolated.
Source: squat/generic-device-plugin README.md, config.go, deviceplugin/path.go and
manifests/generic-device-plugin.yaml; containerd/containerd oci/utils_unix.go (folders of devices).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.catalog.daemonsets import HOST_DEVICE_DAEMONSETS
from fleet.catalog.images import GENERIC_DEVICE_PLUGIN
from fleet.clusters.nodes import Pool, daemonset_requests, daemonset_tolerations, job_affinity
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.pods import (
    Container,
    HostPath,
    PodSpec,
    PodTemplate,
    ResourceRequirements,
    SecurityContext,
    Volume,
    VolumeMount,
)
from fleet.kubernetes.releases import to_values

DOMAIN = "gpu-runners"
"""Prefix of the extended resources: gpu-runners/dri, gpu-runners/kvm."""

CONTAINER = "generic-device-plugin"

_SOCKETS = VolumeMount(name="device-plugins", mount_path="/var/lib/kubelet/device-plugins")
_DEV = VolumeMount(name="dev", mount_path="/dev")


@dataclass(frozen=True, kw_only=True, slots=True)
class DaemonSetPlan:
    """One DaemonSet and the labels that select its pods."""

    name: str
    pool: str
    labels: dict[str, str]
    template: PodTemplate = field(repr=False)

    @property
    def pod(self) -> dict[str, Any]:
        """The pod template as it is sent."""
        return to_values(self.template)


@dataclass(frozen=True, kw_only=True, slots=True)
class HostDevicesPlan:
    """The DaemonSets of a cluster, and their namespace."""

    namespace: str
    daemonsets: tuple[DaemonSetPlan, ...]


def device_path(device: str) -> str:
    """Return the node's path of a device: a folder for `dri`, else a device node."""
    return f"{_DEV.mount_path}/{device}"


def device_resource(device: str) -> str:
    """Return the extended resource of a device."""
    return f"{DOMAIN}/{device}"


def host_devices_plan(pools: Iterable[Pool]) -> HostDevicesPlan | None:
    """Return the plugins of the pools with host devices, or `None` without such a pool."""
    daemonsets = tuple(_daemonset(pool) for pool in pools if pool.devices)
    if not daemonsets:
        return None
    return HostDevicesPlan(namespace=Namespaces.host_devices, daemonsets=daemonsets)


def _daemonset(pool: Pool) -> DaemonSetPlan:
    name = f"host-devices-{pool.name}"
    labels = {"app.kubernetes.io/name": name}
    # Privileged, because it reads the host's devices and opens a socket in the kubelet's folder.
    plugin = Container(
        name=CONTAINER,
        image=GENERIC_DEVICE_PLUGIN,
        args=("--domain", DOMAIN, *_arguments(pool.devices)),
        resources=ResourceRequirements(requests=daemonset_requests(HOST_DEVICE_DAEMONSETS)),
        security_context=SecurityContext(privileged=True),
        volume_mounts=(_SOCKETS, _DEV),
    )
    spec = PodSpec(
        containers=(plugin,),
        volumes=tuple(
            Volume(name=one.name, host_path=HostPath(path=one.mount_path, type="Directory"))
            for one in (_SOCKETS, _DEV)
        ),
        affinity=job_affinity([pool]),
        tolerations=daemonset_tolerations([pool]) or None,
        automount_service_account_token=False,
        priority_class_name="system-node-critical",
    )
    return DaemonSetPlan(
        name=name, pool=pool.name, labels=labels, template=PodTemplate(labels=labels, spec=spec)
    )


def _arguments(devices: Mapping[str, int]) -> tuple[str, ...]:
    arguments: list[str] = []
    for name, count in devices.items():
        group = {"count": count, "paths": [{"path": device_path(name)}]}
        arguments += ("--device", json.dumps({"name": name, "groups": [group]}))
    return tuple(arguments)
