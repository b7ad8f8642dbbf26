"""Who turns a card into `nvidia.com/gpu` on the nodes of one cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from fleet.config.base import Driver, Model, Rule

Advertiser = Literal["device_plugin", "operator", "provider"]


class GpuOperator(Model):
    """The NVIDIA GPU Operator; `{}` takes the defaults."""

    metrics: bool = Field(
        default=True, description="run dcgm-exporter on GPU nodes (no ServiceMonitor is made)"
    )
    driver: bool = Field(
        default=False, description="let the operator install the driver; else the image has it"
    )
    driver_version: Driver | None = Field(
        default=None, description='driver that the operator installs: "580.173.02"'
    )
    toolkit: bool = Field(
        default=False,
        description="let the operator install the container toolkit; else the image has it",
    )

    def rules(self) -> Iterator[Rule]:
        """A driver's version belongs to a driver, and is one that NVIDIA has an image for."""
        if self.driver_version is None:
            return
        if not self.driver:
            yield Rule(
                "driver_version",
                "is set, but the operator installs no driver",
                "add driver: true, or remove driver_version",
            )
        if self.driver_version.count(".") < 1:
            yield Rule(
                "driver_version",
                "is a branch, not a version",
                'write it in full, like "580.173.02"',
            )


class GpuStack(Model):
    """Exactly one owner per node for the driver, the toolkit and the advertiser of GPUs."""

    advertiser: Advertiser | None = Field(
        default=None,
        description=(
            "what advertises nvidia.com/gpu: the device plugin's chart (default on EKS), the "
            "operator, or the provider's own plugin (default on OKE and existing clusters)"
        ),
    )
    operator: GpuOperator | None = Field(
        default=None, description="the GPU Operator (feature discovery, validation, metrics)"
    )

    def rules(self) -> Iterator[Rule]:
        """The advertiser must exist."""
        if self.advertiser == "operator" and self.operator is None:
            yield Rule(
                "advertiser",
                "is operator, but there is no operator",
                "add `operator: {}` beside it, or use advertiser: device_plugin",
            )
