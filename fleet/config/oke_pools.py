"""The node pools of OKE.

An OCPU is a core, two of Kubernetes' CPUs; OCI's GB of memory are GiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from fleet.catalog.limits import OKE_MAX_BOOT_VOLUME_GB, OKE_MIN_BOOT_VOLUME_GB
from fleet.catalog.oci import SHAPES, Ocpus, ShapeSizeError, UnknownShapeError, shape, sized
from fleet.config.base import Driver, Model, Rule
from fleet.config.pools import LabelKey, LabelValue, Reserve, Sharing, bounds_rules, mig_rules

GPU_BOOT_VOLUME_GB = 400
"""Boot volume on which a GPU node has room for several CUDA images of 10 to 20 GB each."""

GPU_BOOT_VOLUME_FLOOR_GB = 200
"""Below it the GPU image of the node, one CUDA image and the work of one job do not fit."""

_CPU_BOOT_VOLUME_GB = 100


def ocid(kind: str) -> StringConstraints:
    """The form of an OCID of one kind of resource; `kind` is a pattern."""
    return StringConstraints(pattern=rf"^ocid1\.{kind}\.oc\d+\.[a-z0-9-]*\.[a-z0-9]+$")


def _known_shape(value: str) -> str:
    try:
        shape(value)
    except UnknownShapeError as error:
        hint = str(error).partition(": ")[2]
        raise ValueError(f"is not an OCI shape of the catalog; {hint}") from None
    return value


def _availability_domain(value: str) -> str:
    if not re.fullmatch(r"([A-Za-z]{4}:)?[A-Z0-9-]+-AD-[1-3]", value):
        raise ValueError("is not an availability domain; write it like Uocm:US-ASHBURN-AD-1")
    return value


ShapeName = Annotated[
    str,
    AfterValidator(_known_shape),
    WithJsonSchema({"type": "string", "enum": list(SHAPES)}),
]
AvailabilityDomain = Annotated[str, AfterValidator(_availability_domain)]
ImageId = Annotated[str, ocid("image")]
CapacityReservationId = Annotated[str, ocid("capacityreservation")]


class OkePool(Model):
    """One OKE node pool; a GPU pool when its shape has GPUs."""

    shape: ShapeName = Field(description="OCI shape", examples=["VM.GPU.A10.1"])
    ocpus: int | None = Field(
        default=None, ge=1, description="OCPUs of a Flex shape; one is two of Kubernetes' CPUs"
    )
    memory_gb: int | None = Field(default=None, ge=1, description="memory of a Flex shape, GB")
    min_size: int = Field(default=0, ge=0, description="nodes that always run")
    max_size: int = Field(ge=1, description="nodes at most", examples=[1])
    image_id: ImageId | None = Field(
        default=None,
        description="OKE node image; default: the newest of the version, which moves with time",
        examples=["ocid1.image.oc1.iad.aaaaexample"],
    )
    driver: Driver | None = Field(
        default=None, description='NVIDIA driver of the image that image_id names: "580.95.05"'
    )
    boot_volume_gb: int | None = Field(
        default=None,
        ge=OKE_MIN_BOOT_VOLUME_GB,
        le=OKE_MAX_BOOT_VOLUME_GB,
        description="boot volume, grown at boot, GB; default: 400 with GPUs, else 100",
    )
    availability_domains: tuple[AvailabilityDomain, ...] | None = Field(
        default=None, min_length=1, description="domains to use, in order; default: all"
    )
    capacity_reservation_id: CapacityReservationId | None = Field(
        default=None,
        description="capacity reservation to start the nodes in",
        examples=["ocid1.capacityreservation.oc1.iad.aaaaexample"],
    )
    preemptible: bool = Field(
        default=False, description="preemptible capacity, which OCI takes back at any time"
    )
    sharing: Sharing | None = Field(default=None, description="GPU sharing; default: none")
    node_cycling: bool = Field(
        default=False, description="replace nodes one by one when image, version or size changes"
    )
    eviction_minutes: int = Field(
        default=60, ge=0, le=60, description="how long a node that goes waits for its jobs"
    )
    reserve: Reserve = Field(
        default=Reserve(), description="what to keep free on each node for your own DaemonSets"
    )
    labels: dict[LabelKey, LabelValue] = Field(default={}, description="further node labels")
    paused: bool = Field(default=False, description="scale to zero without deleting the pool")

    def rules(self) -> Iterator[Rule]:
        """Sizes, GPU options and capacity agree with the shape."""
        yield from bounds_rules(self.min_size, self.max_size)
        kind = SHAPES[self.shape]
        yield from self._size_rules()
        if kind.gpu is not None:
            yield from mig_rules(self.sharing, kind.gpu)
        elif self.sharing is not None:
            yield Rule("sharing", "is set, but the shape has no GPU", "remove sharing")
        if self.gpus and self.boot_gb < GPU_BOOT_VOLUME_FLOOR_GB:
            yield Rule(
                "boot_volume_gb",
                f"is under {GPU_BOOT_VOLUME_FLOOR_GB} on a GPU pool; CUDA images fill it",
                f"use {GPU_BOOT_VOLUME_GB} or more",
            )
        if self.driver is not None and (self.image_id is None or not self.gpus):
            yield Rule(
                "driver",
                "is set, but belongs to a GPU image of your own choice",
                "add image_id, or remove driver: that of Oracle's image is known",
            )
        yield from self._capacity_rules()

    def _size_rules(self) -> Iterator[Rule]:
        """A fixed shape has its own size, a Flex shape the one that is given."""
        kind = SHAPES[self.shape]
        given = {"ocpus": self.ocpus, "memory_gb": self.memory_gb}
        for field, value in given.items():
            if kind.flex is None and value is not None:
                yield Rule(field, f"is set, but {self.shape} has one size", "remove it")
            if kind.flex is not None and value is None:
                yield Rule(
                    field,
                    f"is missing; the Flex shape {self.shape} has no size of its own",
                    "add it, like ocpus: 2 and memory_gb: 16 (an OCPU is two vCPUs)",
                )
        if kind.flex is None or self.ocpus is None or self.memory_gb is None:
            return
        try:
            sized(kind, Ocpus(self.ocpus), self.memory_gb)
        except ShapeSizeError as error:
            field = "ocpus" if self.ocpus > kind.flex.max_ocpus else "memory_gb"
            yield Rule(field, f"does not suit: {error}", "choose within these limits")

    def _capacity_rules(self) -> Iterator[Rule]:
        if self.preemptible and SHAPES[self.shape].preemptible == "never":
            yield Rule(
                "preemptible",
                f"is on, but {self.shape} is bare metal, which OCI never offers as preemptible",
                "remove preemptible, or use a VM shape",
            )
        if self.preemptible and self.capacity_reservation_id is not None:
            yield Rule(
                "capacity_reservation_id",
                "cannot be used by preemptible nodes",
                "remove it or preemptible",
            )

    @property
    def gpus(self) -> int:
        """Cards per node, before sharing."""
        return SHAPES[self.shape].gpus

    @property
    def boot_gb(self) -> int:
        """Size of the boot volume, the default applied."""
        if self.boot_volume_gb is not None:
            return self.boot_volume_gb
        return GPU_BOOT_VOLUME_GB if self.gpus else _CPU_BOOT_VOLUME_GB
