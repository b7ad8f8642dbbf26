"""OCI compute shapes: size, GPUs, local disks, VNICs, price.

Units: CPU in OCPUs (`Ocpus`, never a bare number), memory in OCI's GB, which are GiB (a node of
24 GB shows 24298008Ki), GPU memory per card in GB, local NVMe in GB (10^9 bytes), price in USD per
hour on demand; OCI's list prices are the same in every commercial region.

Sources:
- sizes, local disks, VNICs, limits of the Flex shapes: Oracle's shape page
  (https://docs.oracle.com/en-us/iaas/Content/Compute/References/computeshapes.htm), read in a
  copy of 2026; every fixed shape below is on it;
- prices and `preemptible`: oracle/karpenter-provider-oci chart/config/oci-shape-meta.json (2026),
  which agrees with two public price lists of 2026; part numbers: Oracle's price list as quoted
  there and in public cost tools.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Preemptible = Literal["offered", "unlisted", "never"]
"""`unlisted`: a VM, so the API takes the request, but Oracle's list of preemptible shapes lacks it.

Bare metal is `never` (https://docs.oracle.com/en-us/iaas/Content/Compute/Concepts/preemptible.htm).
Oracle's announcement says "all VM shapes", its later list has no A10.
"""

PRICE_SOURCE: Final = (
    "Oracle's price list of 2026, day not recorded, in oracle/karpenter-provider-oci "
    "chart/config/oci-shape-meta.json"
)

PREEMPTIBLE_PRICE_SHARE: Final = 0.5
"""Of the price on demand: https://blogs.oracle.com/cloud-infrastructure, preemptible instances."""


@dataclass(frozen=True, slots=True, order=True)
class Ocpus:
    """Physical x86 cores, as Oracle counts and bills them: not a number, so never taken for vCPUs.

    Kubernetes counts threads, of which a core has two. Arm is left out: there an OCPU of A1 is
    one vCPU.
    """

    count: int

    @property
    def vcpus(self) -> int:
        """The CPUs that a node of this size shows."""
        return 2 * self.count

    @property
    def cpu_m(self) -> int:
        """The millicores that a node of this size shows."""
        return 1000 * self.vcpus


@dataclass(frozen=True, slots=True, kw_only=True)
class FlexLimits:
    """What a Flex shape can be ordered with, and what its parts cost an hour."""

    max_ocpus: int
    max_memory_gb: int
    max_memory_gb_per_ocpu: int
    usd_per_ocpu: float
    usd_per_memory_gb: float
    ocpu_part: str
    memory_part: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One OCI shape; `gpu` is a key of `GPU_MODELS`.

    A Flex shape has no size of its own: `ocpus` and `memory_gb` are None until `sized`.
    """

    name: str
    kind: Literal["vm", "bm"]
    ocpus: Ocpus | None
    memory_gb: int | None
    flex: FlexLimits | None
    gpus: int
    gpu: str | None
    gpu_memory_gb: int
    """Per card; 0 without a GPU."""
    nvme_gb: int
    """Local disks in total, which OKE leaves unformatted; 0 where there are none."""
    nvme_disks: int
    max_vnics: int
    """A Flex shape has one per OCPU, at least 2, up to this."""
    usd_per_gpu: float
    """Per card and hour, all of the shape included; 0 without a GPU."""
    part_number: str | None
    """Of the price per GPU hour; None for a Flex shape, which has two."""
    preemptible: Preemptible
    source: str

    @property
    def part_numbers(self) -> tuple[str, ...]:
        """Of Oracle's price list: one of a fixed shape, those of OCPU and memory of a Flex one."""
        if self.flex is not None:
            return (self.flex.ocpu_part, self.flex.memory_part)
        return (self.part_number,) if self.part_number is not None else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedShape:
    """A shape with its size settled: what one node is."""

    shape: Shape
    ocpus: Ocpus
    memory_gb: int

    @property
    def memory_mib(self) -> int:
        """Nominal memory; the kernel shows less (see `kubelet_oke`)."""
        return self.memory_gb * 1024

    @property
    def max_vnics(self) -> int:
        """VNICs that such an instance may have, its primary one included."""
        if self.shape.flex is None:
            return self.shape.max_vnics
        return min(max(self.ocpus.count, 2), self.shape.max_vnics)

    @property
    def usd_per_hour(self) -> float:
        """Price on demand; preemptible capacity costs `PREEMPTIBLE_PRICE_SHARE` of it."""
        flex = self.shape.flex
        if flex is None:
            return self.shape.usd_per_gpu * self.shape.gpus
        return self.ocpus.count * flex.usd_per_ocpu + self.memory_gb * flex.usd_per_memory_gb


class UnknownShape(ValueError):  # noqa: N818 (it reads as what it says)
    """The catalog has no such OCI shape; the message names the nearest ones."""


class BadShapeSize(ValueError):  # noqa: N818 (it reads as what it says)
    """The shape does not come in that size; the message says which sizes there are."""


def shape(name: str) -> Shape:
    """Return the shape of that name.

    Raises:
        UnknownShape: the catalog does not have it.

    """
    known = SHAPES.get(name)
    if known is None:
        from difflib import get_close_matches  # noqa: PLC0415 (only a wrong name pays for it)

        nearest = get_close_matches(name, SHAPES, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(nearest)}?" if nearest else "see fleet/catalog/oci.py"
        raise UnknownShape(f'"{name}" is not an OCI shape of the catalog: {hint}')
    return known


def sized(kind: Shape, ocpus: Ocpus | None = None, memory_gb: int | None = None) -> SizedShape:
    """Return the shape with its size: its own, or the one ordered of a Flex shape.

    Raises:
        BadShapeSize: a Flex shape without a size or beyond its limits, or a fixed one with a size.

    """
    if kind.ocpus is not None and kind.memory_gb is not None:
        if ocpus is not None or memory_gb is not None:
            raise BadShapeSize(
                f"{kind.name} always has {kind.ocpus.count} OCPUs and {kind.memory_gb} GB: "
                "leave ocpus and memory_gb out"
            )
        return SizedShape(shape=kind, ocpus=kind.ocpus, memory_gb=kind.memory_gb)
    if kind.flex is None or ocpus is None or memory_gb is None:
        raise BadShapeSize(f"{kind.name} is a Flex shape: give ocpus and memory_gb")
    if not 1 <= ocpus.count <= kind.flex.max_ocpus:
        raise BadShapeSize(
            f"{kind.name} has 1 to {kind.flex.max_ocpus} OCPUs, not {ocpus.count} "
            "(an OCPU is two vCPUs)"
        )
    most = min(kind.flex.max_memory_gb, ocpus.count * kind.flex.max_memory_gb_per_ocpu)
    if not ocpus.count <= memory_gb <= most:
        raise BadShapeSize(
            f"{kind.name} with {ocpus.count} OCPUs has {ocpus.count} to {most} GB of memory, "
            f"not {memory_gb}"
        )
    return SizedShape(shape=kind, ocpus=ocpus, memory_gb=memory_gb)


_SOURCE: Final = "size and price: see the module's sources"

_Row = tuple[str, int, int, int, str, int, int, int, int, float, str, Preemptible]

# fmt: off
_ROWS: Final[tuple[_Row, ...]] = (
    # name             OCPU  GB  GPUs model     GB  NVMe GB disks VNICs USD/GPU part
    ("VM.GPU2.1",        12,   72, 1, "P100",      16,     0,  0,  12,  1.275, "B88518", "offered"),
    ("VM.GPU3.1",         6,   90, 1, "V100",      16,     0,  0,   6,  2.95, "B89734", "offered"),
    ("VM.GPU3.2",        12,  180, 2, "V100",      16,     0,  0,  12,  2.95, "B89734", "offered"),
    ("VM.GPU3.4",        24,  360, 4, "V100",      16,     0,  0,  24,  2.95, "B89734", "offered"),
    ("VM.GPU.A10.1",     15,  240, 1, "A10",       24,     0,  0,  15,  2.0, "B95909", "unlisted"),
    ("VM.GPU.A10.2",     30,  480, 2, "A10",       24,     0,  0,  24,  2.0, "B95909", "unlisted"),
    ("BM.GPU2.2",        28,  192, 2, "P100",      16,     0,  0,  28,  1.275, "B88517", "never"),
    ("BM.GPU3.8",        52,  768, 8, "V100",      16,     0,  0,  52,  2.95, "B89734", "never"),
    ("BM.GPU.A10.4",     64, 1024, 4, "A10",       24,  7680,  2, 256,  2.0, "B95909", "never"),
    ("BM.GPU4.8",        64, 2048, 8, "A100-40GB", 40, 27200,  4,  64,  3.05, "B92740", "never"),
    ("BM.GPU.A100-v2.8", 128, 2048, 8, "A100-80GB", 80, 27200, 4, 256,  4.0, "B95907", "never"),
    ("BM.GPU.L40S.4",   112, 1024, 4, "L40S",      48,  7680,  2, 256,  3.5, "B109479", "never"),
    ("BM.GPU.H100.8",   112, 2048, 8, "H100",      80, 61440, 16, 256, 10.0, "B98415", "never"),
    ("BM.GPU.H200.8",   112, 3072, 8, "H200",     141, 30720,  8, 256, 10.0, "B110519", "never"),
    ("BM.GPU.B200.8",   128, 4096, 8, "B200",     180, 30720,  8, 256, 14.0, "B110978", "never"),
)

_FLEX_ROWS: Final[tuple[tuple[str, int, int, float, float, str, str], ...]] = (
    # name                OCPU   GB USD/OCPU USD/GB  parts of OCPU and memory
    ("VM.Standard3.Flex",   32,  512, 0.04,  0.0015, "B94176", "B94177"),
    ("VM.Standard.E4.Flex", 64, 1024, 0.025, 0.0015, "B93113", "B93114"),
    ("VM.Standard.E5.Flex", 126, 1049, 0.03, 0.002,  "B97384", "B97385"),
    ("VM.Standard.E6.Flex", 126, 1454, 0.03, 0.002,  "B111129", "B111130"),
)
# fmt: on

# Oracle's text gives 64 GB per OCPU for the older Flex shapes; for E5 and E6 it was not confirmed.
# Its "extended memory" sizes (E4 up to 114 OCPUs and 1760 GB) span two sockets and are left out.
_FLEX_GB_PER_OCPU: Final = 64
_FLEX_VNICS: Final = 24

_NOTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "VM.GPU2.1": "price lists differ on the part number (B88517 or B88518), not on the price",
        "BM.GPU2.2": "price lists differ on the part number (B88517 or B88518), not on the price",
        "BM.GPU4.8": "price lists differ on the part number (B92740 or B93544), not on the price",
    }
)


def _from_row(row: _Row) -> Shape:
    (name, ocpus, memory_gb, gpus, gpu, gpu_gb, nvme_gb, disks, vnics, usd, part, preemptible) = row
    return Shape(
        name=name,
        kind="bm" if name.startswith("BM.") else "vm",
        ocpus=Ocpus(ocpus),
        memory_gb=memory_gb,
        flex=None,
        gpus=gpus,
        gpu=gpu,
        gpu_memory_gb=gpu_gb,
        nvme_gb=nvme_gb,
        nvme_disks=disks,
        max_vnics=vnics,
        usd_per_gpu=usd,
        part_number=part,
        preemptible=preemptible,
        source="; ".join(filter(None, (_SOURCE, _NOTES.get(name)))),
    )


def _from_flex_row(row: tuple[str, int, int, float, float, str, str]) -> Shape:
    (name, max_ocpus, max_memory_gb, usd_per_ocpu, usd_per_gb, ocpu_part, memory_part) = row
    return Shape(
        name=name,
        kind="vm",
        ocpus=None,
        memory_gb=None,
        flex=FlexLimits(
            max_ocpus=max_ocpus,
            max_memory_gb=max_memory_gb,
            max_memory_gb_per_ocpu=_FLEX_GB_PER_OCPU,
            usd_per_ocpu=usd_per_ocpu,
            usd_per_memory_gb=usd_per_gb,
            ocpu_part=ocpu_part,
            memory_part=memory_part,
        ),
        gpus=0,
        gpu=None,
        gpu_memory_gb=0,
        nvme_gb=0,
        nvme_disks=0,
        max_vnics=_FLEX_VNICS,
        usd_per_gpu=0.0,
        part_number=None,
        preemptible="offered",
        source=_SOURCE,
    )


SHAPES: Final[Mapping[str, Shape]] = MappingProxyType(
    {row[0]: _from_row(row) for row in _ROWS} | {row[0]: _from_flex_row(row) for row in _FLEX_ROWS}
)
