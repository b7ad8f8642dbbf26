"""Which software makes the GPUs of a cluster's nodes available to Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from fleet.config.base import Driver, Model, Rule

Advertiser = Literal["device_plugin", "operator", "provider"]


class GpuOperator(Model):
    """The NVIDIA GPU Operator; `{}` selects the defaults."""

    metrics: bool = Field(
        default=True, description="run dcgm-exporter on GPU nodes (creates no ServiceMonitor)"
    )
    driver: bool = Field(
        default=False,
        description="let the operator install the driver; default: the node image has it",
    )
    driver_version: Driver | None = Field(
        default=None,
        description='driver that the operator installs, quoted: "580.173.02"',
    )
    toolkit: bool = Field(
        default=False,
        description="let the operator install the container toolkit; default: the image has it",
    )

    def rules(self) -> Iterator[Rule]:
        if self.driver_version is None:
            return
        if not self.driver:
            yield Rule(
                "driver_version",
                "is set, but the operator does not install a driver",
                "add driver: true, or remove driver_version",
            )
        if "." not in self.driver_version:
            yield Rule(
                "driver_version",
                "is a branch, but NVIDIA publishes driver images by full version",
                'write the full version, like "580.173.02"',
            )


class GpuStack(Model):
    """The owner of the driver, of the container toolkit and of the GPU advertiser."""

    advertiser: Advertiser | None = Field(
        default=None,
        description=(
            "what advertises nvidia.com/gpu. device_plugin: NVIDIA's chart (default on EKS). "
            "operator: the GPU Operator. provider: a plugin that the cluster has already (default "
            "on OKE and existing clusters)"
        ),
    )
    operator: GpuOperator | None = Field(
        default=None, description="the GPU Operator (feature discovery, validation, metrics)"
    )

    def rules(self) -> Iterator[Rule]:
        if self.advertiser == "operator" and self.operator is None:
            yield Rule(
                "advertiser",
                "is operator, but the cluster has no operator, so no GPU would be advertised",
                "add operator: {} too, or use advertiser: device_plugin",
            )
