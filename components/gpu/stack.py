"""The charts of the GPU stack: a stand-alone device plugin, and the NVIDIA GPU Operator.

https://github.com/NVIDIA/k8s-device-plugin
https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

import pulumi

from components import intent
from components.helm import install, namespace
from components.intent import AnyPool
from fleet.config.gpu_stack import Advertiser, GpuStack
from fleet.gpu_stack.ownership import ownership
from fleet.gpu_stack.plan import gpu_stack_plan
from fleet.kubernetes.releases import Release


class GpuOperatorOptions(TypedDict, total=False):
    """The keys of `gpu_stack.operator` in a stack file."""

    metrics: bool
    driver: bool
    driver_version: str | None
    toolkit: bool


class DevicePlugin(pulumi.ComponentResource):
    """A privileged namespace and the release of a device plugin.

    The plugin is NVIDIA's for GPUs, or AWS' for EFA. Its DaemonSet mounts the kubelet's plugin
    folder, so the namespace is privileged.
    """

    ready: list[pulumi.Resource]
    """The release. Jobs that request the device depend on it."""

    def __init__(
        self,
        name: str,
        *,
        release: Release[Any] | None = None,
        pools: Sequence[AnyPool] = (),
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register a planned release, or NVIDIA's device plugin on `pools`."""
        if release is None:
            release = _plan(f"DevicePlugin {name}", "device_plugin", pools)
        super().__init__("gpu-runners:gpu:DevicePlugin", name, None, opts)
        self.ready = _privileged_release(name, release, self, depends_on)
        self.register_outputs({"version": release.version})


class GpuOperator(pulumi.ComponentResource):
    """A privileged namespace and the release of the NVIDIA GPU Operator."""

    ready: list[pulumi.Resource]
    """The release. GPU jobs depend on it."""

    def __init__(
        self,
        name: str,
        *,
        release: Release[Any] | None = None,
        pools: Sequence[AnyPool] = (),
        system_pools: Sequence[AnyPool] = (),
        advertiser: Advertiser = "device_plugin",
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
        **operator: Unpack[GpuOperatorOptions],
    ) -> None:
        """Register a planned release, or the operator on `pools`.

        Its controllers run on `system_pools`, by default on any node without a taint. Its own
        device plugin is off unless `advertiser` is "operator".
        """
        if release is None:
            release = _plan(f"GpuOperator {name}", advertiser, pools, system_pools, operator)
        super().__init__("gpu-runners:gpu:Operator", name, None, opts)
        self.ready = _privileged_release(name, release, self, depends_on)
        self.register_outputs({"version": release.version})


def _plan(
    component: str,
    advertiser: Advertiser,
    pools: Sequence[AnyPool],
    system_pools: Sequence[AnyPool] = (),
    operator: Mapping[str, object] | None = None,
) -> Release[Any]:
    """Return the release of the operator, or of the device plugin if `operator` is None."""
    plans = intent.pool_plans(component, pools)
    without = [pool.name for pool in plans if pool.gpu is None]
    if without:
        raise intent.InvalidArguments(
            component, [f"  pools: {', '.join(without)} has no GPU.\n    Pass GPU pools only."]
        )
    keywords = {"advertiser": advertiser, "operator": operator and dict(operator)}
    stack = intent.read(GpuStack, component, keywords, within="operator")
    spec = stack.operator
    plan = gpu_stack_plan(
        plans, stack, ownership(stack), system=intent.system_placement(system_pools)
    )
    release = plan.device_plugin if spec is None else plan.operator
    if release is None:
        raise ValueError(f"{component}: the plan has no release for {advertiser}")
    return release


def _privileged_release(
    name: str, release: Release[Any], parent: pulumi.Resource, depends_on: Sequence[pulumi.Resource]
) -> list[pulumi.Resource]:
    child = pulumi.ResourceOptions(parent=parent)
    space = namespace(
        f"{name}-namespace", release.namespace, child, depends_on=depends_on, privileged=True
    )
    return [install(f"{name}-release", release, child, depends_on=[space, *depends_on])]
