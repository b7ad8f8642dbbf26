"""Pools: nodes of one kind. Here the managed node groups of EKS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from fleet.catalog.ec2 import INSTANCE_TYPES, UnknownInstanceTypeError, instance_type
from fleet.catalog.eks import AMI_TYPES, DEAD_AMI_TYPES
from fleet.catalog.gpus import GPU_MODELS
from fleet.config.base import CpuOrNone, MemoryOrNone, Model, Rule, Zone, exactly_one

_OFFERED = tuple(
    ami.name
    for ami in AMI_TYPES.values()
    if ami.family == "al2023" and ami.architecture == "x86_64"
)


def _known_instance_type(value: str) -> str:
    try:
        instance_type(value)
    except UnknownInstanceTypeError as error:
        hint = str(error).partition(": ")[2]
        raise ValueError(f"is not an EC2 instance type of the catalog; {hint}") from None
    return value


def _known_ami_type(value: str) -> str:
    if value in DEAD_AMI_TYPES:
        raise ValueError(f"is an AMI type that EKS has dropped; {DEAD_AMI_TYPES[value]}")
    if value not in AMI_TYPES:
        raise ValueError(f"is not an AMI type of EKS; use {' or '.join(_OFFERED)}")
    if value not in _OFFERED:
        raise ValueError(
            "is an AMI type that this program does not run (x86 instance types, and no AMI that "
            f"brings a device plugin of its own); use {' or '.join(_OFFERED)}"
        )
    return value


def _node_label_key(value: str) -> str:
    prefix, _, name = value.rpartition("/")
    if not re.fullmatch(_LABEL_PART, name) or not re.fullmatch(_LABEL_PREFIX, prefix):
        raise ValueError("is not a key of a node label; write it like example.com/team")
    return value


def _label_key(value: str) -> str:
    prefix = _node_label_key(value).rpartition("/")[0]
    if len(value) > _LABEL_LIMIT:
        raise ValueError(
            f"has more than {_LABEL_LIMIT} characters; shorten it, the autoscaler reads it from a "
            "tag whose length AWS limits"
        )
    if prefix in _OURS or f".{prefix}".endswith(_KEPT):
        raise ValueError(
            "has a prefix that Kubernetes, EKS or this program keeps; use one of your own"
        )
    return value


def _label_value(value: str) -> str:
    if value and not re.fullmatch(_LABEL_PART, value):
        raise ValueError(
            "is not a value of a node label; use up to 63 letters, digits, dots, hyphens and "
            "underscores"
        )
    return value


_LABEL_PART = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_LABEL_PREFIX = r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?"
_OURS = ("gpu-runners", "nvidia.com")
_LABEL_LIMIT = 128 - len("k8s.io/cluster-autoscaler/node-template/label/")
_KEPT = (".kubernetes.io", ".k8s.io", ".amazonaws.com")

EKS_GPU_DISK_GIB = 200
"""Root volume on which a GPU node has room for several CUDA images of 10 to 20 GB each."""

EKS_GPU_DISK_FLOOR_GIB = 100
"""Below it the system, one image and the work of one job do not fit."""

InstanceTypeName = Annotated[
    str,
    AfterValidator(_known_instance_type),
    WithJsonSchema({"type": "string", "enum": list(INSTANCE_TYPES)}),
]
AmiType = Annotated[
    str,
    AfterValidator(_known_ami_type),
    WithJsonSchema({"type": "string", "enum": list(_OFFERED)}),
]
LabelKey = Annotated[str, AfterValidator(_label_key)]
"""Key of a label that this program puts on nodes."""

NodeLabelKey = Annotated[str, AfterValidator(_node_label_key)]
"""Key of a label, or taint, that nodes have already."""

LabelValue = Annotated[str, AfterValidator(_label_value)]


class Sharing(Model):
    """How one card serves several jobs. Time slicing isolates neither memory nor faults."""

    time_slicing: int | None = Field(
        default=None, ge=2, le=48, description="jobs that share one GPU in turn"
    )
    mig: str | None = Field(
        default=None,
        pattern=r"^\d+g\.\d+gb$",
        description=(
            "MIG profile into which every card of an existing cluster is partitioned already "
            "(strategy single: each instance is one nvidia.com/gpu), like 1g.5gb"
        ),
    )

    def rules(self) -> Iterator[Rule]:
        """One way of sharing."""
        yield from exactly_one(self, "time_slicing", "mig")

    @property
    def slices(self) -> int:
        """Jobs that share one card in turn."""
        return self.time_slicing or 1


def bounds_rules(min_size: int, max_size: int) -> Iterator[Rule]:
    """The sizes of a pool, in nodes, agree."""
    if max_size < min_size:
        yield Rule(
            "max_size",
            f"is {max_size}, below min_size ({min_size})",
            "raise max_size or lower min_size",
        )


def mig_rules(sharing: Sharing | None, gpu: str) -> Iterator[Rule]:
    """MIG on nodes that this program makes: never, and on some models not by anybody."""
    if sharing is None or sharing.mig is None:
        return
    if not GPU_MODELS[gpu].mig:
        yield Rule("sharing.mig", f"is set, but the {gpu} has no MIG", "use time_slicing")
    else:
        yield Rule(
            "sharing.mig",
            "is set, but this program does not partition the cards of nodes that it makes",
            "use time_slicing, or remove sharing",
        )


class Reserve(Model):
    """What a pool keeps free on each node for DaemonSets of your own."""

    cpu: CpuOrNone = Field(default=0, description="CPU on each node")
    memory: MemoryOrNone = Field(default=0, description="memory on each node")
    disk: MemoryOrNone = Field(default=0, description="ephemeral storage on each node")


class EksPool(Model):
    """One EKS managed node group; a GPU pool when its instance types have GPUs."""

    instance_types: tuple[InstanceTypeName, ...] = Field(
        min_length=1,
        description="EC2 instance types of equal size, in order of preference",
        examples=[["m6i.large"]],
    )
    min_size: int = Field(default=0, ge=0, description="nodes that always run")
    max_size: int = Field(ge=1, description="nodes at most", examples=[1])
    capacity_type: Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"] = Field(
        default="ON_DEMAND", description="as EKS spells it"
    )
    capacity_reservation_id: str | None = Field(
        default=None,
        pattern=r"^cr-[0-9a-f]{8,17}$",
        description="EC2 capacity reservation or capacity block to start the nodes in",
        examples=["cr-0123456789abcdef0"],
    )
    ami_type: AmiType | None = Field(
        default=None,
        description="default: AL2023_x86_64_NVIDIA for GPU types, else AL2023_x86_64_STANDARD",
    )
    release_version: str | None = Field(
        default=None,
        pattern=r"^1\.\d\d\.\d+-\d{8}$",
        description="AMI release; default: the one this program pins",
        examples=["1.35.8-20260923"],
    )
    disk_gib: int = Field(
        default=EKS_GPU_DISK_GIB, ge=20, le=16384, description="root volume (encrypted gp3), GiB"
    )
    instance_store: Literal["raid0", "unused"] = Field(
        default="raid0",
        description="local NVMe disks, where the type has them: one RAID0 for images and jobs",
    )
    zones: tuple[Zone, ...] | None = Field(
        default=None, min_length=1, description="zones of the network to use; default: all"
    )
    sharing: Sharing | None = Field(default=None, description="GPU sharing; default: none")
    efa: bool = Field(default=False, description="Elastic Fabric Adapter; needs exactly one zone")
    node_repair: bool = Field(default=True, description="let EKS replace or reboot broken nodes")
    reserve: Reserve = Field(
        default=Reserve(), description="what to keep free on each node for your own DaemonSets"
    )
    labels: dict[LabelKey, LabelValue] = Field(default={}, description="further node labels")
    paused: bool = Field(default=False, description="scale to zero without deleting the pool")

    def rules(self) -> Iterator[Rule]:
        """Sizes, GPU options, capacity and EFA agree with the instance types."""
        yield from bounds_rules(self.min_size, self.max_size)
        kinds = [INSTANCE_TYPES[name] for name in self.instance_types]
        if len({(kind.gpu, kind.gpus) for kind in kinds}) > 1:
            yield Rule(
                "instance_types",
                "mixes GPU models or GPU counts; a pool is nodes of one kind",
                "make one pool for each, and list them in the lane",
            )
        yield from self._gpu_rules()
        yield from self._capacity_rules()
        if self.efa:
            without = [kind.name for kind in kinds if not kind.efa_interfaces]
            if without:
                yield Rule(
                    "efa",
                    f"is on, but {', '.join(without)} has none",
                    "turn efa off",
                )
            if self.zones is None or len(self.zones) != 1:
                yield Rule(
                    "efa",
                    "is on without exactly one zone; its nodes share a placement group",
                    "name one zone under zones",
                )

    def _gpu_rules(self) -> Iterator[Rule]:
        if self.gpus and self.disk_gib < EKS_GPU_DISK_FLOOR_GIB and self.images_on_root:
            yield Rule(
                "disk_gib",
                f"is under {EKS_GPU_DISK_FLOOR_GIB} on a GPU pool without instance store; "
                "CUDA images fill it",
                f"use {EKS_GPU_DISK_GIB} or more",
            )
        if not self.gpus and self.sharing is not None:
            yield Rule(
                "sharing",
                "is set, but the instance types have no GPU",
                "remove sharing",
            )
        if (gpu := INSTANCE_TYPES[self.instance_types[0]].gpu) is not None:
            yield from mig_rules(self.sharing, gpu)
        if self.ami_type is not None and bool(self.gpus) != AMI_TYPES[self.ami_type].gpu:
            wanted = "AL2023_x86_64_NVIDIA" if self.gpus else "AL2023_x86_64_STANDARD"
            yield Rule("ami_type", "does not suit the instance types", f"use {wanted}")

    def _capacity_rules(self) -> Iterator[Rule]:
        block = self.capacity_type == "CAPACITY_BLOCK"
        if block and self.capacity_reservation_id is None:
            yield Rule(
                "capacity_type",
                "is CAPACITY_BLOCK without a reservation",
                "add capacity_reservation_id: cr-…",
            )
        if self.capacity_reservation_id is None:
            return
        if self.capacity_type == "SPOT":
            yield Rule(
                "capacity_reservation_id",
                "cannot be used by SPOT",
                "remove it or use ON_DEMAND",
            )
        if self.zones is None or len(self.zones) != 1:
            yield Rule(
                "capacity_reservation_id",
                "is set without exactly one zone; a reservation lives in one",
                "name its zone under zones",
            )

    @property
    def images_on_root(self) -> bool:
        """Whether images and jobs of some node lie on its root volume."""
        return self.instance_store == "unused" or not all(
            INSTANCE_TYPES[name].nvme_gb for name in self.instance_types
        )

    @property
    def gpus(self) -> int:
        """Devices per node, before sharing."""
        return INSTANCE_TYPES[self.instance_types[0]].gpus
