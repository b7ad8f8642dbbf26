"""An existing cluster: its kubeconfig, and the facts of its nodes.

The facts replace the catalog's: fair shares, the fit of jobs and all checks use them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field

from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.mig import MIG_INSTANCES
from fleet.config.base import (
    Cpu,
    Device,
    Driver,
    Form,
    GpuModelName,
    Memory,
    Model,
    Name,
    ObjectName,
    Rule,
)
from fleet.config.pools import LabelValue, NodeLabelKey, Sharing


class NodeTaint(Model):
    """A taint of the nodes."""

    key: NodeLabelKey = Field(description="taint key", examples=["nvidia.com/gpu"])
    value: LabelValue = Field(default="", description="taint value")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        description="taint effect", examples=["NoSchedule"]
    )


class ExistingPool(Model):
    """Existing nodes of one kind. `kubectl describe node` shows the facts of one node."""

    cpu: Cpu = Field(
        description="allocatable CPU of a node, minus the requests of other pods", examples=[8]
    )
    memory: Memory = Field(
        description="allocatable memory of a node, minus the requests of other pods",
        examples=["32Gi"],
    )
    disk: Memory = Field(
        description="allocatable ephemeral storage of a node, minus what other pods use",
        examples=["100Gi"],
    )
    count: int = Field(ge=1, description="number of nodes", examples=[2])
    max_pods: int = Field(
        default=110, ge=1, description="allocatable pods of a node, minus other pods"
    )
    labels: dict[NodeLabelKey, LabelValue] = Field(
        min_length=1,
        description="labels that select these nodes and no others",
        examples=[{"kubernetes.io/hostname": "gpu-1"}],
    )
    taints: tuple[NodeTaint, ...] = Field(default=(), description="taints of the nodes")
    gpu: GpuModelName | None = Field(
        default=None, description="GPU model of the nodes", examples=["A100-40GB"]
    )
    gpus: int | None = Field(
        default=None, ge=1, description="physical GPUs of a node", examples=[8]
    )
    driver: Driver | None = Field(
        default=None,
        description='NVIDIA driver of the nodes, quoted: "580.95"',
    )
    runtime_class: ObjectName | None = Field(
        default=None,
        description="RuntimeClass with which containers get a GPU",
    )
    container_runtime: Literal["containerd", "crio"] = Field(
        default="containerd",
        description="container runtime; CRI-O rejects image names without a registry",
    )
    sharing: Sharing | None = Field(
        default=None,
        description="GPU sharing that the nodes have, or that the advertiser of gpu_stack sets up",
    )
    devices: dict[Device, Annotated[int, Field(ge=1, le=100)]] = Field(
        default={},
        description="host devices for jobs, with the number of jobs that share each",
        examples=[{"dri": 4}],
    )

    def rules(self) -> Iterator[Rule]:
        for field, other, remedy in (
            ("gpus", "gpu", f"add gpu, one of {', '.join(GPU_MODELS)}"),
            ("gpu", "gpus", "add the number of GPUs of a node, like gpus: 8"),
        ):
            if getattr(self, field) is not None and getattr(self, other) is None:
                yield Rule(field, f"is set, but {other} is missing", remedy)
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
                    "use time_slicing: 2, or correct gpu",
                )
            elif self.sharing.mig not in profiles:
                yield Rule(
                    "sharing.mig",
                    f"is not a MIG profile of the {self.gpu}",
                    f"use one of {', '.join(profiles)}",
                )


class Existing(Model):
    """An existing cluster, in which this program creates Kubernetes objects only."""

    context: str = Field(min_length=1, description="kubeconfig context", examples=["honey"])
    kubeconfig: Annotated[str, Form(r"^[^\s{}]+$", "kubeconfigs/honey.yaml")] | None = Field(
        default=None,
        description="path of the kubeconfig; default: KUBECONFIG, then ~/.kube/config",
    )
    version: Annotated[str, Form(r"^1\.\d\d$", "1.35")] | None = Field(
        default=None,
        description='Kubernetes minor version of the cluster, quoted: "1.35"',
    )
    pools: dict[Name, ExistingPool] = Field(
        min_length=1,
        description="kinds of nodes by name",
        examples=[
            {
                "cpu": {
                    "cpu": 8,
                    "memory": "32Gi",
                    "disk": "100Gi",
                    "count": 2,
                    "labels": {"kubernetes.io/hostname": "node-1"},
                }
            }
        ],
    )

    def rules(self) -> Iterator[Rule]:
        for (first, one), (second, other) in combinations(self.pools.items(), 2):
            if not _disjoint(one.labels, other.labels):
                yield Rule(
                    f"pools.{second}.labels",
                    f"could select nodes of pool {first} too",
                    "give both pools a label with the same key and different values, like "
                    "kubernetes.io/hostname: node-1",
                )


def _disjoint(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether no node can have both sets of labels."""
    return any(other.get(key, value) != value for key, value in one.items())
