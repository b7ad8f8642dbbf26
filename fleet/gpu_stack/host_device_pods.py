"""The pod of a generic device plugin, which hands devices of the host to pods that ask for them.

There is no chart to pin (the project's own is not in a chart repository), so this is the pod of a
DaemonSet. A device's path may be a folder: the container runtime then hands over what is in it.
`count` is how many pods may hold the device at once; nothing keeps them apart.
Source: squat/generic-device-plugin README.md, config.go, deviceplugin/path.go and
manifests/generic-device-plugin.yaml; containerd/containerd oci/utils_unix.go (folders of devices).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from fleet.kubernetes.pods import (
    Affinity,
    Container,
    HostPath,
    PodSpec,
    PodTemplate,
    ResourceRequirements,
    SecurityContext,
    Toleration,
    Volume,
    VolumeMount,
)

DOMAIN = "gpu-runners"
"""Of the extended resources: gpu-runners/dri, gpu-runners/kvm."""

CONTAINER = "generic-device-plugin"

_SOCKETS = "/var/lib/kubelet/device-plugins"
_DEV = "/dev"


def device_path(device: str) -> str:
    """Where the node has the device: a folder for `dri`, else a device node of that name."""
    return f"{_DEV}/{device}"


def device_resource(device: str) -> str:
    """The extended resource that stands for the device."""
    return f"{DOMAIN}/{device}"


def plugin_pod(
    devices: Mapping[str, int],
    *,
    image: str,
    affinity: Affinity,
    tolerations: tuple[Toleration, ...] | None,
    labels: Mapping[str, str],
    resources: ResourceRequirements,
) -> PodTemplate:
    """The pod that advertises `devices`, each for as many pods as its count.

    Privileged, as it has to see the host's devices and to open a socket in the kubelet's folder;
    it talks to no API server.
    """
    sockets = VolumeMount(name="device-plugins", mount_path=_SOCKETS)
    dev = VolumeMount(name="dev", mount_path=_DEV)
    plugin = Container(
        name=CONTAINER,
        image=image,
        args=("--domain", DOMAIN, *_arguments(devices)),
        resources=resources,
        security_context=SecurityContext(privileged=True),
        volume_mounts=(sockets, dev),
    )
    return PodTemplate(
        labels=labels,
        spec=PodSpec(
            containers=(plugin,),
            volumes=(
                Volume(name=sockets.name, host_path=HostPath(path=_SOCKETS, type="Directory")),
                Volume(name=dev.name, host_path=HostPath(path=_DEV, type="Directory")),
            ),
            affinity=affinity,
            tolerations=tolerations,
            automount_service_account_token=False,
            priority_class_name="system-node-critical",
        ),
    )


def _arguments(devices: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(
        argument
        for name, count in devices.items()
        for argument in ("--device", _device(name, count))
    )


def _device(name: str, count: int) -> str:
    group = {"count": count, "paths": [{"path": device_path(name)}]}
    return json.dumps({"name": name, "groups": [group]})
