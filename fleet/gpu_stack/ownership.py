"""Who owns driver, toolkit and advertiser on the GPU nodes of one cluster: exactly one each."""

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
from fleet.config.gpu_stack import Advertiser
from fleet.config.stack import Cluster


@dataclass(frozen=True, kw_only=True, slots=True)
class Ownership:
    """Plain data for everything that installs, or counts, a part of the GPU stack."""

    advertiser: Advertiser
    """What turns a card into nvidia.com/gpu; `provider` is the platform's own plugin."""
    operator: bool
    """Whether the GPU Operator is installed."""
    driver: bool
    """Whether the operator installs the driver; else the node's image has it."""
    toolkit: bool
    """Whether the operator installs the container toolkit; else the node's image has it."""
    driver_version: str | None = None
    """Driver that the operator installs; None where it installs none."""


def ownership(cluster: Cluster) -> Ownership:
    """Derive the owners of a cluster; the platform decides where the file says nothing."""
    stack = cluster.gpu_stack
    installs = stack.operator is not None and stack.operator.driver
    pinned = operator_release(GPU_OPERATOR.version)
    return Ownership(
        advertiser=stack.advertiser or cluster.default_advertiser,
        operator=stack.operator is not None,
        driver=installs,
        driver_version=(
            stack.operator.driver_version or (pinned.default_driver if pinned else None)
            if stack.operator is not None and installs
            else None
        ),
        toolkit=stack.operator is not None and stack.operator.toolkit,
    )


def gpu_daemonsets(owners: Ownership) -> tuple[DaemonSetRequest, ...]:
    """The DaemonSets of the GPU stack on a GPU node, the platform's own plugin aside."""
    pods: list[DaemonSetRequest] = []
    if owners.advertiser == "device_plugin":
        pods += DEVICE_PLUGIN_DAEMONSETS
    if owners.operator:
        pods += GPU_OPERATOR_DAEMONSETS
        if owners.advertiser == "operator":
            pods += GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS
    return tuple(pods)
