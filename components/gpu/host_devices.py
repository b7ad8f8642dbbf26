"""Device plugins for devices of the host, like /dev/dri and /dev/kvm, so that no job is privileged.

An unprivileged container cannot open a device node of a hostPath volume; a device plugin makes the
kubelet hand it over. NVIDIA's GPUs have plugins of their own, see `components.gpu.device_plugin`.
https://github.com/squat/generic-device-plugin
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.helm import namespace
from fleet.gpu_stack.host_devices import DaemonSetPlan, HostDevicesPlan


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
            _daemonset(f"{name}-{daemonset.name}", daemonset, plan.namespace, space, child)
            for daemonset in plan.daemonsets
        ]
        self.register_outputs({"namespace": plan.namespace})


def _daemonset(
    name: str,
    plan: DaemonSetPlan,
    namespace_name: str,
    space: kubernetes.core.v1.Namespace,
    child: pulumi.ResourceOptions,
) -> pulumi.Resource:
    pod: Any = plan.pod
    return kubernetes.apps.v1.DaemonSet(
        name,
        metadata=kubernetes.meta.v1.ObjectMetaArgs(
            name=plan.name, namespace=namespace_name, labels=plan.labels
        ),
        spec=kubernetes.apps.v1.DaemonSetSpecArgs(
            selector=kubernetes.meta.v1.LabelSelectorArgs(match_labels=plan.labels), template=pod
        ),
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[space])),
    )
