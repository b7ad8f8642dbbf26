"""Device plugins for devices of the host, like /dev/dri and /dev/kvm, so that no job is privileged.

An unprivileged container cannot open a device node of a hostPath volume; a device plugin makes the
kubelet hand it over. NVIDIA's GPUs have plugins of their own, see `components.gpu.device_plugin`.
https://github.com/squat/generic-device-plugin
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as kubernetes

from components.helm import namespace
from fleet.plan.host_devices import HostDevicesPlan


@dataclass(frozen=True, kw_only=True)
class HostDevicesArgs:
    """The plan, and what must exist first."""

    plan: HostDevicesPlan
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class HostDevices(pulumi.ComponentResource):
    """A privileged namespace, and one DaemonSet for each pool that offers devices."""

    ready: list[pulumi.Resource]
    """What jobs that ask for a device wait for."""

    def __init__(
        self, name: str, args: HostDevicesArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:gpu:HostDevices", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        space = namespace(
            f"{name}-namespace", plan.namespace, child, after=args.after, privileged=True
        )
        self.ready = [
            kubernetes.apps.v1.DaemonSet(
                f"{name}-{daemonset.name}",
                metadata=kubernetes.meta.v1.ObjectMetaArgs(
                    name=daemonset.name, namespace=plan.namespace, labels=daemonset.labels
                ),
                spec={
                    "selector": {"matchLabels": daemonset.labels},
                    "template": daemonset.pod,
                },
                opts=pulumi.ResourceOptions.merge(
                    child, pulumi.ResourceOptions(depends_on=[space])
                ),
            )
            for daemonset in plan.daemonsets
        ]
        self.register_outputs({"namespace": plan.namespace})
