"""Device plugins for devices of the host, like /dev/dri and /dev/kvm, so that no job is privileged.

An unprivileged container cannot open a device node of a hostPath volume. A device plugin makes the
kubelet pass the device to the container. NVIDIA GPUs have other plugins, see
`components.gpu.stack`.
https://github.com/squat/generic-device-plugin
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components import intent
from components.helm import namespace
from components.intent import AnyPool
from fleet.gpu_stack.host_devices import DaemonSetPlan, HostDevicesPlan, host_devices_plan


class HostDevices(pulumi.ComponentResource):
    """A privileged namespace, and one DaemonSet for each pool that offers devices."""

    ready: list[pulumi.Resource]
    """The DaemonSets. Jobs that request a device depend on them."""

    def __init__(
        self,
        name: str,
        *,
        plan: HostDevicesPlan | None = None,
        pools: Sequence[AnyPool] = (),
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register a plan, or the device plugins of `pools`, which have `devices`."""
        if plan is None:
            plan = _plan(f"HostDevices {name}", pools)
        super().__init__("gpu-runners:gpu:HostDevices", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        space = namespace(
            f"{name}-namespace", plan.namespace, child, depends_on=depends_on, privileged=True
        )
        self.ready = [
            _daemonset(f"{name}-{daemonset.name}", daemonset, plan.namespace, space, child)
            for daemonset in plan.daemonsets
        ]
        self.register_outputs({"namespace": plan.namespace})


def _plan(component: str, pools: Sequence[AnyPool]) -> HostDevicesPlan:
    plan = host_devices_plan(intent.pool_plans(component, pools))
    if plan is None:
        raise intent.InvalidArguments(
            component,
            ["  pools: have no host devices.\n    Add devices to a pool, like devices={'dri': 4}."],
        )
    return plan


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
        metadata={"name": plan.name, "namespace": namespace_name, "labels": plan.labels},
        spec={"selector": {"match_labels": plan.labels}, "template": pod},
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[space])),
    )
