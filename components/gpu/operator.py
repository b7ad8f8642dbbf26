"""The NVIDIA GPU Operator. Who owns driver, toolkit and advertiser is in the plan's values.

https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pulumi

from components.helm import install, namespace
from fleet.kubernetes.releases import Release


@dataclass(frozen=True, kw_only=True)
class GpuOperatorArgs:
    """The release, and what must exist first."""

    release: Release[Any]
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class GpuOperator(pulumi.ComponentResource):
    """A privileged namespace and the release."""

    ready: list[pulumi.Resource]
    """What GPU jobs wait for."""

    def __init__(
        self, name: str, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:gpu:Operator", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        space = namespace(
            f"{name}-namespace", args.release.namespace, child, after=args.after, privileged=True
        )
        release = install(f"{name}-release", args.release, child, after=[space, *args.after])
        self.ready = [release]
        self.register_outputs({"version": args.release.version})
