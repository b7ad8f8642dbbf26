"""A cluster that somebody else made: how to reach it, and what its nodes are.

The facts of a node take the place of a catalog: fair shares, fit and every later check read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field

from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.mig import MIG_INSTANCES
from fleet.config.base import Cpu, Driver, Memory, Model, Name, ObjectName, Rule
from fleet.config.hardware import Device, GpuModelName
from fleet.config.pools import LabelValue, NodeLabelKey, Sharing


class NodeTaint(Model):
    """A taint that the nodes have."""

    key: NodeLabelKey = Field(description="key of the taint", examples=["nvidia.com/gpu"])
    value: LabelValue = Field(default="", description="value of the taint")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        description="effect of the taint", examples=["NoSchedule"]
    )


class ExistingPool(Model):
    """Nodes of one kind, as they are. Per node: what `kubectl describe node` says."""

    cpu: Cpu = Field(
        description="Allocatable CPU of a node, less what else runs there", examples=[8]
    )
    memory: Memory = Field(
        description="Allocatable memory of a node, less what else runs there", examples=["32Gi"]
    )
    disk: Memory = Field(
        description="Allocatable ephemeral storage of a node, less what else uses it",
        examples=["100Gi"],
    )
    count: int = Field(ge=1, description="nodes of this kind", examples=[1])
    max_pods: int = Field(
        default=110, ge=1, description="Allocatable pods of a node, less those that run there"
    )
    labels: dict[NodeLabelKey, LabelValue] = Field(
        min_length=1,
        description="labels that these nodes have and no other node has",
    )
    taints: tuple[NodeTaint, ...] = Field(default=(), description="taints of the nodes")
    gpu: GpuModelName | None = Field(
        default=None, description="GPU model of the nodes", examples=["A100-40GB"]
    )
    gpus: int | None = Field(default=None, ge=1, description="cards of a node", examples=[1])
    driver: Driver | None = Field(
        default=None,
        description='NVIDIA driver of the nodes, quoted: "580.95"',
        examples=["580.95"],
    )
    runtime_class: ObjectName | None = Field(
        default=None, description="RuntimeClass that containers need to see a GPU, like nvidia"
    )
    container_runtime: Literal["containerd", "crio"] = Field(
        default="containerd", description="CRI-O refuses image names without their registry"
    )
    sharing: Sharing | None = Field(
        default=None, description="GPU sharing: what is, or what the advertiser is to do"
    )
    devices: dict[Device, Annotated[int, Field(ge=1, le=100)]] = Field(
        default={},
        description="host devices that jobs may use, and how many jobs share each: {dri: 4}",
    )

    def rules(self) -> Iterator[Rule]:
        """GPU facts are whole or absent, and MIG suits the model."""
        for field, other, remedy in (
            ("gpus", "gpu", f"name the model under gpu: one of {', '.join(GPU_MODELS)}"),
            ("gpu", "gpus", "add the cards of a node, like gpus: 8"),
        ):
            if getattr(self, field) is not None and getattr(self, other) is None:
                yield Rule(field, f"is set without {other}", remedy)
        for field in ("driver", "sharing"):
            if self.gpu is None and self.gpus is None and getattr(self, field) is not None:
                yield Rule(
                    field,
                    "is set, but the nodes have no GPU",
                    f"add gpu and gpus, or remove {field}",
                )
        if self.gpu is not None and self.sharing is not None and self.sharing.mig is not None:
            profiles = MIG_INSTANCES.get(self.gpu)
            if profiles is None:
                yield Rule(
                    "sharing.mig",
                    f"is set, but the {self.gpu} has no MIG",
                    "use time_slicing, or correct gpu",
                )
            elif self.sharing.mig not in profiles:
                yield Rule(
                    "sharing.mig",
                    f"is not a MIG profile of the {self.gpu}",
                    f"use one of {', '.join(profiles)}",
                )


class Existing(Model):
    """A cluster that is there: nothing is made on the cloud's side."""

    context: str = Field(min_length=1, description="context of the kubeconfig", examples=["honey"])
    kubeconfig: str | None = Field(
        default=None,
        pattern=r"^[^\s{}]+$",
        description="path of the kubeconfig; default: KUBECONFIG, then ~/.kube/config",
        examples=["kubeconfigs/honey.yaml"],
    )
    version: str | None = Field(
        default=None,
        pattern=r"^1\.\d\d$",
        description='Kubernetes minor version of the cluster, quoted: "1.35"',
        examples=["1.35"],
    )
    pools: dict[Name, ExistingPool] = Field(min_length=1, description="kinds of nodes by name")

    def rules(self) -> Iterator[Rule]:
        """Labels tell the pools apart."""
        for (first, one), (second, other) in combinations(self.pools.items(), 2):
            if not _apart(one.labels, other.labels):
                yield Rule(
                    f"pools.{second}.labels",
                    f"do not tell its nodes from those of pool {first}",
                    "give both pools a label of one key with different values, like "
                    "kubernetes.io/hostname",
                )


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether no node can have both sets of labels."""
    return any(other.get(key, value) != value for key, value in one.items())
