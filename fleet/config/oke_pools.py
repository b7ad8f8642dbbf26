"""OKE node pools.

One OCPU is one core with two threads, which Kubernetes counts as 2 CPU. OCI's GB of memory are GiB.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from fleet.catalog.limits import OKE_MAX_BOOT_VOLUME_GB, OKE_MIN_BOOT_VOLUME_GB
from fleet.catalog.oci import SHAPES, Ocpus, ShapeSizeError, sized
from fleet.config.base import Driver, Form, Model, Rule, known, one_of
from fleet.config.pools import LabelKey, LabelValue, Reserve, Sharing, mig_rules, size_rules

GPU_BOOT_VOLUME_GB = 400
"""Default boot volume of a GPU node, with room for several CUDA images of 10 to 20 GB each."""

GPU_BOOT_VOLUME_FLOOR_GB = 200
"""Minimum for the node's GPU image, one CUDA image and the files of one job."""

_CPU_BOOT_VOLUME_GB = 100


def ocid(pattern: str, kind: str = "") -> Form:
    """Return the form of the OCIDs of one resource type; `kind` is one that matches `pattern`."""
    return Form(
        rf"^ocid1\.{pattern}\.oc\d+\.[a-z0-9-]*\.[a-z0-9]+$",
        f"ocid1.{kind or pattern}.oc1.iad.aaaaexample",
    )


def _known_shape(value: str) -> str:
    return known(value, SHAPES, "OCI shape", "VM.GPU.A10.1")


ShapeName = Annotated[str, AfterValidator(_known_shape), one_of(SHAPES)]
AvailabilityDomain = Annotated[
    str,
    Form(
        r"^([A-Za-z]{4}:)?[A-Z0-9-]+-AD-[1-3]$",
        "Uocm:US-ASHBURN-AD-1",
        "is not an availability domain",
    ),
]
ImageId = Annotated[str, ocid("image")]
CapacityReservationId = Annotated[str, ocid("capacityreservation")]


class OkePool(Model):
    """One OKE node pool. It is a GPU pool if its shape has GPUs."""

    shape: ShapeName = Field(description="OCI shape", examples=["VM.GPU.A10.1"])
    ocpus: int | None = Field(
        default=None, ge=1, description="OCPUs of a Flex shape; Kubernetes counts one as 2 CPU"
    )
    memory_gb: int | None = Field(default=None, ge=1, description="memory of a Flex shape, GB")
    min_size: int = Field(default=0, ge=0, description="lower limit of nodes")
    max_size: int = Field(ge=1, description="upper limit of nodes", examples=[4])
    image_id: ImageId | None = Field(
        default=None,
        description="OKE node image; default: the newest of the Kubernetes version, which changes",
    )
    driver: Driver | None = Field(
        default=None,
        description='NVIDIA driver of the image image_id, quoted: "580.95.05"',
    )
    boot_volume_gb: int | None = Field(
        default=None,
        ge=OKE_MIN_BOOT_VOLUME_GB,
        le=OKE_MAX_BOOT_VOLUME_GB,
        description="boot volume in GB, grown at boot; default: 400 with GPUs, otherwise 100",
    )
    availability_domains: tuple[AvailabilityDomain, ...] | None = Field(
        default=None,
        min_length=1,
        description="availability domains to use, in order; default: those of the cluster",
        examples=[["Uocm:US-ASHBURN-AD-1"]],
    )
    capacity_reservation_id: CapacityReservationId | None = Field(
        default=None,
        description="capacity reservation of the nodes",
    )
    preemptible: bool = Field(
        default=False, description="use preemptible capacity, which OCI can reclaim at any time"
    )
    sharing: Sharing | None = Field(default=None, description="GPU sharing; default: none")
    node_cycling: bool = Field(
        default=False,
        description="replace the nodes one by one when image, version or size changes",
    )
    eviction_minutes: int = Field(
        default=60, ge=0, le=60, description="time that a draining node waits for its jobs"
    )
    reserve: Reserve = Field(
        default=Reserve(), description="resources to keep free on each node for your own DaemonSets"
    )
    labels: dict[LabelKey, LabelValue] = Field(default={}, description="additional node labels")
    paused: bool = Field(default=False, description="scale to zero, but keep the pool")

    def rules(self) -> Iterator[Rule]:
        yield from size_rules(self.min_size, self.max_size)
        kind = SHAPES[self.shape]
        yield from self._size_rules()
        if kind.gpu is not None:
            yield from mig_rules(self.sharing, kind.gpu)
        elif self.sharing is not None:
            yield Rule("sharing", f"is set, but {self.shape} has no GPU", "remove sharing")
        if self.gpus and self.boot_gb < GPU_BOOT_VOLUME_FLOOR_GB:
            yield Rule(
                "boot_volume_gb",
                f"is {self.boot_gb}, below {GPU_BOOT_VOLUME_FLOOR_GB}, so CUDA images fill it",
                f"use boot_volume_gb: {GPU_BOOT_VOLUME_GB} or more",
            )
        if self.driver is not None and (self.image_id is None or not self.gpus):
            yield Rule(
                "driver",
                "is set, but it is the driver of a GPU image, and the pool declares no such image",
                "add image_id of a GPU image, or remove driver",
            )
        yield from self._capacity_rules()

    def _size_rules(self) -> Iterator[Rule]:
        kind = SHAPES[self.shape]
        given = {"ocpus": self.ocpus, "memory_gb": self.memory_gb}
        for field, value in given.items():
            if kind.flex is None and value is not None:
                yield Rule(field, f"is set, but {self.shape} has a fixed size", f"remove {field}")
            if kind.flex is not None and value is None:
                yield Rule(
                    field,
                    f"is missing, but the Flex shape {self.shape} has no fixed size",
                    "add it, like ocpus: 2 and memory_gb: 16 (one OCPU is 2 CPU)",
                )
        if kind.flex is None or self.ocpus is None or self.memory_gb is None:
            return
        try:
            sized(kind, Ocpus(self.ocpus), self.memory_gb)
        except ShapeSizeError as error:
            field = "ocpus" if self.ocpus > kind.flex.max_ocpus else "memory_gb"
            yield Rule(field, f"is outside the limits: {error}", "use values within the limits")

    def _capacity_rules(self) -> Iterator[Rule]:
        if self.preemptible and SHAPES[self.shape].preemptible == "never":
            yield Rule(
                "preemptible",
                f"is on, but {self.shape} is bare metal, for which OCI has no preemptible capacity",
                "remove preemptible, or use a VM shape, like VM.GPU.A10.1",
            )
        if self.preemptible and self.capacity_reservation_id is not None:
            yield Rule(
                "capacity_reservation_id",
                "is set, but OCI starts no preemptible nodes in a reservation",
                "remove capacity_reservation_id or preemptible",
            )

    @property
    def gpus(self) -> int:
        """Physical GPUs of a node."""
        return SHAPES[self.shape].gpus

    @property
    def boot_gb(self) -> int:
        """Boot volume in GB: the declared size, or the default."""
        if self.boot_volume_gb is not None:
            return self.boot_volume_gb
        return GPU_BOOT_VOLUME_GB if self.gpus else _CPU_BOOT_VOLUME_GB
