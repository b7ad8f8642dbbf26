"""A stand-alone device plugin: NVIDIA's for GPUs, or AWS' for EFA.

https://github.com/NVIDIA/k8s-device-plugin
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pulumi

from components.helm import install, namespace
from fleet.kubernetes.releases import Release


@dataclass(frozen=True, kw_only=True)
class DevicePluginArgs:
    """The release, and what must exist first."""

    release: Release[Any]
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class DevicePlugin(pulumi.ComponentResource):
    """A privileged namespace and the release: its DaemonSet mounts the kubelet's plugin folder."""

    ready: list[pulumi.Resource]
    """What jobs that ask for the device wait for."""

    def __init__(
        self, name: str, args: DevicePluginArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:gpu:DevicePlugin", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        space = namespace(
            f"{name}-namespace", args.release.namespace, child, after=args.after, privileged=True
        )
        release = install(f"{name}-release", args.release, child, after=[space, *args.after])
        self.ready = [release]
        self.register_outputs({"version": args.release.version})
