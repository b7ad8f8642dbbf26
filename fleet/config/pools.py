"""EKS managed node groups, and what pools of every platform have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.catalog.eks import AMI_TYPES, DEAD_AMI_TYPES
from fleet.catalog.gpus import GPU_MODELS
from fleet.config.base import (
    CpuOrZero,
    Form,
    MemoryOrZero,
    Model,
    Rule,
    Zone,
    exactly_one,
    known,
    one_of,
    refusal,
)

_SUPPORTED = tuple(
    ami.name
    for ami in AMI_TYPES.values()
    if ami.family == "al2023" and ami.architecture == "x86_64"
)


def _known_instance_type(value: str) -> str:
    return known(value, INSTANCE_TYPES, "EC2 instance type", "g4dn.xlarge")


def _known_ami_type(value: str) -> str:
    if value in DEAD_AMI_TYPES:
        raise refusal("is an AMI type without further releases", DEAD_AMI_TYPES[value])
    choice = f"use {' or '.join(_SUPPORTED)}"
    if value not in AMI_TYPES:
        raise refusal("is not an AMI type of EKS", choice)
    if value not in _SUPPORTED:
        raise refusal(
            "is an AMI type that this program does not support: it uses x86 instance types, and "
            "images that contain no device plugin",
            choice,
        )
    return value


def _node_label_key(value: str) -> str:
    prefix, _, name = value.rpartition("/")
    if not re.fullmatch(_LABEL_PART, name) or not re.fullmatch(_LABEL_PREFIX, prefix):
        raise refusal("is not a valid key of a node label", "write it like example.com/team")
    return value


def _label_key(value: str) -> str:
    prefix = _node_label_key(value).rpartition("/")[0]
    if len(value) > _LABEL_LIMIT:
        raise refusal(
            f"has {len(value)} characters, but the AWS tag from which the autoscaler reads the "
            f"label has room for {_LABEL_LIMIT}",
            f"shorten it to {_LABEL_LIMIT} characters",
        )
    if prefix in _OWN_PREFIXES or f".{prefix}".endswith(_RESERVED_SUFFIXES):
        raise refusal(
            "has a prefix that is reserved for Kubernetes, the cloud, NVIDIA or this program",
            "use your own prefix, like example.com/team",
        )
    return value


def _label_value(value: str) -> str:
    if value and not re.fullmatch(_LABEL_PART, value):
        raise refusal(
            "is not a valid value of a node label",
            "use up to 63 letters, digits, dots, hyphens and underscores, like ci-1.2",
        )
    return value


_LABEL_PART = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_LABEL_PREFIX = r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?"
_OWN_PREFIXES = ("gpu-runners", "nvidia.com")
_LABEL_LIMIT = 128 - len("k8s.io/cluster-autoscaler/node-template/label/")
_RESERVED_SUFFIXES = (".kubernetes.io", ".k8s.io", ".amazonaws.com")

EKS_GPU_DISK_GIB = 200
"""Default root volume, with room for several CUDA images of 10 to 20 GB each."""

EKS_GPU_DISK_FLOOR_GIB = 100
"""Minimum on a GPU node for the system, one CUDA image and the files of one job."""

InstanceTypeName = Annotated[str, AfterValidator(_known_instance_type), one_of(INSTANCE_TYPES)]
AmiType = Annotated[str, AfterValidator(_known_ami_type), one_of(_SUPPORTED)]
CapacityReservationId = Annotated[str, Form(r"^cr-[0-9a-f]{8,17}$", "cr-0123456789abcdef0")]
ReleaseVersion = Annotated[str, Form(r"^1\.\d\d\.\d+-\d{8}$", "1.35.8-20260923")]
LabelKey = Annotated[str, AfterValidator(_label_key)]
"""Key of a label that this program sets on nodes."""

NodeLabelKey = Annotated[str, AfterValidator(_node_label_key)]
"""Key of a label or taint that the nodes of an existing cluster have."""

LabelValue = Annotated[str, AfterValidator(_label_value)]


class Sharing(Model):
    """How several jobs share one GPU. Time slicing isolates neither memory nor faults."""

    time_slicing: int | None = Field(
        default=None, ge=2, le=48, description="jobs that share one GPU by time slicing"
    )
    mig: Annotated[str, Form(r"^\d+g\.\d+gb$", "1g.5gb")] | None = Field(
        default=None,
        description=(
            "MIG profile of every GPU of the pool, only on existing clusters (strategy single: "
            "each MIG instance is one nvidia.com/gpu)"
        ),
    )

    def rules(self) -> Iterator[Rule]:
        yield from exactly_one(self, "time_slicing", "mig", example="time_slicing: 2")

    @property
    def slices(self) -> int:
        """Jobs that share one GPU by time slicing."""
        return self.time_slicing or 1


def size_rules(min_size: int, max_size: int) -> Iterator[Rule]:
    """Yield a rule if a pool's limits are in the wrong order."""
    if max_size < min_size:
        yield Rule(
            "max_size",
            f"is {max_size}, below min_size ({min_size})",
            "raise max_size or lower min_size",
        )


def mig_rules(sharing: Sharing | None, gpu: str) -> Iterator[Rule]:
    """Yield a rule if a pool that this program creates uses MIG."""
    if sharing is None or sharing.mig is None:
        return
    if not GPU_MODELS[gpu].mig:
        yield Rule("sharing.mig", f"is set, but the {gpu} has no MIG", "use time_slicing: 2")
    else:
        yield Rule(
            "sharing.mig",
            "is set, but this program does not partition the GPUs of nodes that it creates",
            "use time_slicing: 2, or remove sharing",
        )


class Reserve(Model):
    """Resources of each node that lanes leave to the user's own DaemonSets."""

    cpu: CpuOrZero = Field(default=0, description="CPU of each node")
    memory: MemoryOrZero = Field(default=0, description="memory of each node")
    disk: MemoryOrZero = Field(default=0, description="ephemeral storage of each node")


class EksPool(Model):
    """One EKS managed node group. It is a GPU pool if its instance types have GPUs."""

    instance_types: tuple[InstanceTypeName, ...] = Field(
        min_length=1,
        description="EC2 instance types of equal size, in order of preference",
        examples=[["g4dn.xlarge"]],
    )
    min_size: int = Field(default=0, ge=0, description="lower limit of nodes")
    max_size: int = Field(ge=1, description="upper limit of nodes", examples=[10])
    capacity_type: Literal["ON_DEMAND", "SPOT", "CAPACITY_BLOCK"] = Field(
        default="ON_DEMAND", description="capacity type of the node group"
    )
    capacity_reservation_id: CapacityReservationId | None = Field(
        default=None,
        description="EC2 capacity reservation or capacity block of the nodes",
    )
    ami_type: AmiType | None = Field(
        default=None,
        description="default: AL2023_x86_64_NVIDIA with GPUs, otherwise AL2023_x86_64_STANDARD",
    )
    release_version: ReleaseVersion | None = Field(
        default=None,
        description="AMI release; default: the release that this program pins",
    )
    disk_gib: int = Field(
        default=EKS_GPU_DISK_GIB, ge=20, le=16384, description="root volume (encrypted gp3) in GiB"
    )
    instance_store: Literal["raid0", "unused"] = Field(
        default="raid0",
        description="local NVMe disks of the instance type. raid0: one volume for images and jobs",
    )
    zones: tuple[Zone, ...] | None = Field(
        default=None,
        min_length=1,
        description="zones of the network to use; default: all",
        examples=[["us-west-2a"]],
    )
    sharing: Sharing | None = Field(default=None, description="GPU sharing; default: none")
    efa: bool = Field(default=False, description="use Elastic Fabric Adapter; needs one zone")
    node_repair: bool = Field(default=True, description="let EKS replace or reboot unhealthy nodes")
    reserve: Reserve = Field(
        default=Reserve(), description="resources to keep free on each node for your own DaemonSets"
    )
    labels: dict[LabelKey, LabelValue] = Field(default={}, description="additional node labels")
    paused: bool = Field(default=False, description="scale to zero, but keep the pool")

    def rules(self) -> Iterator[Rule]:
        yield from size_rules(self.min_size, self.max_size)
        kinds = [INSTANCE_TYPES[name] for name in self.instance_types]
        if len({(kind.gpu, kind.gpus) for kind in kinds}) > 1:
            yield Rule(
                "instance_types",
                "has types of different GPU models or GPU counts, but a pool has nodes of one kind",
                "make one pool for each, and list the pools in the lane",
            )
        yield from self._gpu_rules()
        yield from self._capacity_rules()
        if self.efa:
            without = [kind.name for kind in kinds if not kind.efa_interfaces]
            if without:
                yield Rule(
                    "efa",
                    f"is on, but {', '.join(without)} does not support it",
                    "remove efa",
                )
            if self.zones is None or len(self.zones) != 1:
                yield Rule(
                    "efa",
                    "is on, but its nodes share a placement group and need exactly one zone",
                    "list one zone, like zones: [us-west-2a]",
                )

    def _gpu_rules(self) -> Iterator[Rule]:
        if self.gpus and self.disk_gib < EKS_GPU_DISK_FLOOR_GIB and self.images_on_root:
            yield Rule(
                "disk_gib",
                f"is {self.disk_gib}, below {EKS_GPU_DISK_FLOOR_GIB}, so CUDA images fill the disk "
                "of nodes without instance store",
                f"use disk_gib: {EKS_GPU_DISK_GIB} or more",
            )
        if not self.gpus and self.sharing is not None:
            yield Rule(
                "sharing",
                f"is set, but {self.instance_types[0]} has no GPU",
                "remove sharing",
            )
        if (gpu := INSTANCE_TYPES[self.instance_types[0]].gpu) is not None:
            yield from mig_rules(self.sharing, gpu)
        if self.ami_type is not None and bool(self.gpus) != AMI_TYPES[self.ami_type].gpu:
            expected = "AL2023_x86_64_NVIDIA" if self.gpus else "AL2023_x86_64_STANDARD"
            has = "have GPUs" if self.gpus else "have no GPU"
            yield Rule(
                "ami_type",
                f"is {self.ami_type}, but the instance types {has}",
                f"use {expected}, or remove ami_type",
            )

    def _capacity_rules(self) -> Iterator[Rule]:
        block = self.capacity_type == "CAPACITY_BLOCK"
        if block and self.capacity_reservation_id is None:
            yield Rule(
                "capacity_type",
                "is CAPACITY_BLOCK, but the pool has no capacity_reservation_id",
                "add capacity_reservation_id: cr-0123456789abcdef0",
            )
        if self.capacity_reservation_id is None:
            return
        if self.capacity_type == "SPOT":
            yield Rule(
                "capacity_reservation_id",
                "is set, but EC2 starts no spot instances in a reservation",
                "remove it, or use capacity_type: ON_DEMAND",
            )
        if self.zones is None or len(self.zones) != 1:
            yield Rule(
                "capacity_reservation_id",
                "is set, but the pool does not have exactly one zone, and a reservation belongs to "
                "one",
                "list the reservation's zone, like zones: [us-west-2a]",
            )

    @property
    def images_on_root(self) -> bool:
        """Whether some node stores images and jobs on its root volume."""
        return self.instance_store == "unused" or not all(
            INSTANCE_TYPES[name].nvme_gb for name in self.instance_types
        )

    @property
    def gpus(self) -> int:
        """Physical GPUs of a node."""
        return INSTANCE_TYPES[self.instance_types[0]].gpus
