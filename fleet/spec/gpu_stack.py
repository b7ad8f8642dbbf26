"""Who turns a card into `nvidia.com/gpu` on the nodes of one cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from fleet.spec.base import Model, Rule

Advertiser = Literal["device_plugin", "operator", "provider"]


class GpuOperator(Model):
    """The NVIDIA GPU Operator; `{}` takes the defaults."""

    metrics: bool = Field(
        default=True, description="run dcgm-exporter on GPU nodes (no ServiceMonitor is made)"
    )
    driver: bool = Field(
        default=False, description="let the operator install the driver; else the image has it"
    )
    toolkit: bool = Field(
        default=False,
        description="let the operator install the container toolkit; else the image has it",
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
                ("operator",),
            )
