"""Which software installs driver, toolkit and device plugin on the GPU nodes of one cluster."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalog.charts import GPU_OPERATOR
from fleet.catalog.daemonsets import (
    DEVICE_PLUGIN_DAEMONSETS,
    GPU_OPERATOR_DAEMONSETS,
    GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS,
    DaemonSetRequest,
)
from fleet.catalog.gpu_operator import operator_release
from fleet.config.gpu_stack import Advertiser, GpuStack


@dataclass(frozen=True, kw_only=True, slots=True)
class Ownership:
    """The owner of each part of the GPU stack."""

    advertiser: Advertiser = "device_plugin"
    """Owner of `nvidia.com/gpu`; `provider` is the platform's own plugin."""
    operator: bool = False
    """Whether the GPU Operator is installed."""
    driver: bool = False
    """Whether the operator installs the driver; otherwise the node image includes it."""
    toolkit: bool = False
    """Whether the operator installs the container toolkit; otherwise the image includes it."""
    driver_version: str | None = None
    """Driver that the operator installs; `None` if it installs none."""


def ownership(stack: GpuStack, default_advertiser: Advertiser = "device_plugin") -> Ownership:
    """Return the owners; `default_advertiser` is the platform's, for a stack that names none."""
    operator = stack.operator
    if operator is None:
        return Ownership(advertiser=stack.advertiser or default_advertiser)
    version = None
    if operator.driver:
        pinned = operator_release(GPU_OPERATOR.version)
        version = operator.driver_version or (pinned.default_driver if pinned else None)
    return Ownership(
        advertiser=stack.advertiser or default_advertiser,
        operator=True,
        driver=operator.driver,
        driver_version=version,
        toolkit=operator.toolkit,
    )


def gpu_daemonsets(owners: Ownership) -> tuple[DaemonSetRequest, ...]:
    """Return the DaemonSets of the GPU stack on a GPU node, without the platform's own plugin."""
    pods: list[DaemonSetRequest] = []
    if owners.advertiser == "device_plugin":
        pods += DEVICE_PLUGIN_DAEMONSETS
    if owners.operator:
        pods += GPU_OPERATOR_DAEMONSETS
        if owners.advertiser == "operator":
            pods += GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS
    return tuple(pods)
