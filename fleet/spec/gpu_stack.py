"""Who turns a card into `nvidia.com/gpu` on the nodes of one cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from fleet.spec.base import Model, Rule

Advertiser = Literal["device_plugin", "operator"]


class GpuOperator(Model):
    """The NVIDIA GPU Operator; `{}` takes the defaults."""

    metrics: bool = Field(
        default=True, description="run dcgm-exporter on GPU nodes (no ServiceMonitor is made)"
    )


class GpuStack(Model):
    """Exactly one owner per node for the driver, the toolkit and the advertiser of GPUs."""

    advertiser: Advertiser = Field(
        default="device_plugin",
        description="what advertises nvidia.com/gpu: the device plugin's chart, or the operator",
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
                ("operator",),
            )
