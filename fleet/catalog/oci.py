"""OCI compute shapes: size, GPUs, VNICs, price and limit.

To add a shape, add a row below, then run `make schema`.

Units: CPU in OCPUs (`Ocpus`, never a bare number), memory in OCI's GB, which are GiB (a node of
24 GB shows 24298008Ki), GPU memory per card in GB, price in USD per hour on demand. OCI's list
prices are the same in every commercial region. Local NVMe disks are left out: OKE does not format
them.

Sources:
- sizes, VNICs, limits of the Flex shapes: Oracle's shape page
  (https://docs.oracle.com/en-us/iaas/Content/Compute/References/computeshapes.htm), read in a
  copy of 2026; it lists every fixed shape below;
- prices and `preemptible`: oracle/karpenter-provider-oci chart/config/oci-shape-meta.json (2026),
  which agrees with two public price lists of 2026; part numbers: Oracle's price list as quoted
  there and in public cost tools. Price lists differ on the part numbers of VM.GPU2.1 and BM.GPU2.2
  (B88517 or B88518) and of BM.GPU4.8 (B92740 or B93544), not on the prices;
- limits: https://docs.oracle.com/en-us/iaas/Content/Quotas/Concepts/
  resourcequotas_topic-Compute_Quotas.htm as of 2026-09-05. The page has no L40S (inferred from the
  other names) and no H100 (seen in public tools that query the Limits API). For E5 it has
  standard-e5-core-ad-count, but public answers of the Limits API have the name below. E6:
  `quotaNames` in a public answer of ListShapes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Preemptible = Literal["offered", "unlisted", "never"]
"""`unlisted`: a VM, so the API accepts the request, but Oracle's list of preemptible shapes has no
A10, although its announcement named "all VM shapes".

Bare metal is `never` (https://docs.oracle.com/en-us/iaas/Content/Compute/Concepts/preemptible.htm).
"""

PRICE_SOURCE: Final = (
    "Oracle's price list of 2026, day not recorded, in oracle/karpenter-provider-oci "
    "chart/config/oci-shape-meta.json"
)


@dataclass(frozen=True, slots=True, order=True)
class Ocpus:
    """Physical x86 cores, the unit that Oracle bills. The type prevents a mix-up with vCPUs.

    Kubernetes counts threads: two per core. Arm shapes are left out: an OCPU of A1 is one vCPU.
    """

    count: int

    @property
    def vcpus(self) -> int:
        """Return the CPUs that a node of this size shows."""
        return 2 * self.count

    @property
    def cpu_m(self) -> int:
        """Return the millicores that a node of this size shows."""
        return 1000 * self.vcpus


@dataclass(frozen=True, slots=True)
class Flex:
    """The size limits of a Flex shape, and the hourly price of its parts."""

    max_ocpus: int
    max_memory_gb: int
    usd_per_ocpu: float
    usd_per_memory_gb: float
    ocpu_part: str
    memory_part: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One OCI shape. A Flex shape has no own size: `ocpus` and `memory_gb` are `None`."""

    name: str
    limit: str
    """Name of the service limit, without its suffix `-count`."""
    preemptible: Preemptible
    max_vnics: int
    """A Flex shape has one VNIC per OCPU, at least 2 and at most this."""
    ocpus: Ocpus | None = None
    memory_gb: int | None = None
    gpus: int = 0
    gpu: str | None = None
    """Key of `GPU_MODELS`."""
    gpu_memory_gb: int = 0
    """Per card."""
    usd_per_gpu: float = 0.0
    """Per card and hour, for the whole shape."""
    part_numbers: tuple[str, ...] = ()
    """Of Oracle's price list: one for a fixed shape; OCPU and memory for a Flex shape."""
    flex: Flex | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedShape:
    """A shape with the size of one node."""

    shape: Shape
    ocpus: Ocpus
    memory_gb: int

    @property
    def memory_mib(self) -> int:
        """Return the nominal memory; the kernel shows less (see `kubelet_oke`)."""
        return self.memory_gb * 1024

    @property
    def max_vnics(self) -> int:
        """Return the maximum of VNICs, including the primary one."""
        if self.shape.flex is None:
            return self.shape.max_vnics
        return min(max(self.ocpus.count, 2), self.shape.max_vnics)

    @property
    def usd_per_hour(self) -> float:
        """Return the price on demand. Preemptible capacity costs half of it.

        https://blogs.oracle.com/cloud-infrastructure, preemptible instances
        """
        flex = self.shape.flex
        if flex is None:
            return self.shape.usd_per_gpu * self.shape.gpus
        return self.ocpus.count * flex.usd_per_ocpu + self.memory_gb * flex.usd_per_memory_gb


class UnknownShapeError(ValueError):
    """The catalog has no OCI shape of that name. The message names similar ones."""


class ShapeSizeError(ValueError):
    """The shape does not have that size. The message has the possible sizes."""


def shape(name: str) -> Shape:
    """Return the shape of that name. Raises UnknownShapeError."""
    known = SHAPES.get(name)
    if known is None:
        from difflib import get_close_matches  # noqa: PLC0415 -- rarely needed, slow to import

        nearest = get_close_matches(name, SHAPES, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(nearest)}?" if nearest else "see fleet/catalog/oci.py"
        raise UnknownShapeError(f'"{name}" is not a known OCI shape: {hint}')
    return known


def sized(kind: Shape, ocpus: Ocpus | None = None, memory_gb: int | None = None) -> SizedShape:
    """Return the fixed shape with its size, or the Flex shape with the given size.

    Raises ShapeSizeError for a Flex shape without a size or with one beyond its limits, and for a
    fixed shape with a size.
    """
    if kind.ocpus is not None and kind.memory_gb is not None:
        if ocpus is not None or memory_gb is not None:
            raise ShapeSizeError(
                f"{kind.name} always has {kind.ocpus.count} OCPUs and {kind.memory_gb} GB: "
                "remove ocpus and memory_gb"
            )
        return SizedShape(shape=kind, ocpus=kind.ocpus, memory_gb=kind.memory_gb)
    if kind.flex is None or ocpus is None or memory_gb is None:
        raise ShapeSizeError(f"{kind.name} is a Flex shape: add ocpus and memory_gb")
    if not 1 <= ocpus.count <= kind.flex.max_ocpus:
        raise ShapeSizeError(
            f"{kind.name} has 1 to {kind.flex.max_ocpus} OCPUs, not {ocpus.count} "
            "(an OCPU is two vCPUs)"
        )
    max_gb = min(kind.flex.max_memory_gb, ocpus.count * _FLEX_GB_PER_OCPU)
    if not ocpus.count <= memory_gb <= max_gb:
        raise ShapeSizeError(
            f"{kind.name} with {ocpus.count} OCPUs has {ocpus.count} to {max_gb} GB of memory, "
            f"not {memory_gb}"
        )
    return SizedShape(shape=kind, ocpus=ocpus, memory_gb=memory_gb)


_Row = tuple[str, int, int, int, str, int, int, float, str, Preemptible, str]

# fmt: off
_ROWS: Final[tuple[_Row, ...]] = (
    # name             OCPU    GB GPUs model     GB VNICs USD/GPU part, preemptible, limit
    ("VM.GPU2.1",         12,   72, 1, "P100",       16,  12, 1.275, "B88518", "offered", "gpu2"),
    ("VM.GPU3.1",          6,   90, 1, "V100",       16,   6, 2.95, "B89734", "offered", "gpu3"),
    ("VM.GPU3.2",         12,  180, 2, "V100",       16,  12, 2.95, "B89734", "offered", "gpu3"),
    ("VM.GPU3.4",         24,  360, 4, "V100",       16,  24, 2.95, "B89734", "offered", "gpu3"),
    ("VM.GPU.A10.1",      15,  240, 1, "A10",        24,  15, 2.0, "B95909", "unlisted", "gpu-a10"),
    ("VM.GPU.A10.2",      30,  480, 2, "A10",        24,  24, 2.0, "B95909", "unlisted", "gpu-a10"),
    ("BM.GPU2.2",         28,  192, 2, "P100",       16,  28, 1.275, "B88517", "never", "gpu2"),
    ("BM.GPU3.8",         52,  768, 8, "V100",       16,  52, 2.95, "B89734", "never", "gpu3"),
    ("BM.GPU.A10.4",      64, 1024, 4, "A10",        24, 256, 2.0, "B95909", "never", "gpu-a10"),
    ("BM.GPU4.8",         64, 2048, 8, "A100-40GB",  40,  64, 3.05, "B92740", "never", "gpu4"),
    ("BM.GPU.A100-v2.8",128, 2048, 8, "A100-80GB", 80, 256, 4.0, "B95907", "never", "gpu-a100-v2"),
    ("BM.GPU.L40S.4",    112, 1024, 4, "L40S",       48, 256, 3.5, "B109479", "never", "gpu-l40s"),
    ("BM.GPU.H100.8",    112, 2048, 8, "H100",       80, 256, 10.0, "B98415", "never", "gpu-h100"),
    ("BM.GPU.H200.8",    112, 3072, 8, "H200",      141, 256, 10.0, "B110519", "never", "gpu-h200"),
    ("BM.GPU.B200.8",    128, 4096, 8, "B200",      180, 256, 14.0, "B110978", "never", "gpu-b200"),
)

_FLEX_ROWS: Final[tuple[tuple[str, str, Flex], ...]] = (
    # name and limit                            OCPU   GB USD/OCPU USD/GB parts of OCPU and memory
    ("VM.Standard3.Flex",   "standard3",    Flex( 32,  512, 0.04,  0.0015, "B94176", "B94177")),
    ("VM.Standard.E4.Flex", "standard-e4",  Flex( 64, 1024, 0.025, 0.0015, "B93113", "B93114")),
    ("VM.Standard.E5.Flex", "standard-e5",  Flex(126, 1049, 0.03,  0.002,  "B97384", "B97385")),
    ("VM.Standard.E6.Flex", "standard-e6",  Flex(126, 1454, 0.03,  0.002,  "B111129", "B111130")),
)
# fmt: on

# Oracle's text gives 64 GB per OCPU for the older Flex shapes; for E5 and E6 it was not confirmed.
# Its "extended memory" sizes (E4 up to 114 OCPUs and 1760 GB) span two sockets and are left out.
_FLEX_GB_PER_OCPU: Final = 64
_FLEX_VNICS: Final = 24


def _shapes() -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for name, ocpus, memory_gb, gpus, gpu, gpu_gb, vnics, usd, part, preemptible, limit in _ROWS:
        shapes[name] = Shape(
            name=name,
            limit=limit,
            preemptible=preemptible,
            max_vnics=vnics,
            ocpus=Ocpus(ocpus),
            memory_gb=memory_gb,
            gpus=gpus,
            gpu=gpu,
            gpu_memory_gb=gpu_gb,
            usd_per_gpu=usd,
            part_numbers=(part,),
        )
    for name, limit, flex in _FLEX_ROWS:
        shapes[name] = Shape(
            name=name,
            limit=limit,
            preemptible="offered",
            max_vnics=_FLEX_VNICS,
            part_numbers=(flex.ocpu_part, flex.memory_part),
            flex=flex,
        )
    return shapes


SHAPES: Final[Mapping[str, Shape]] = MappingProxyType(_shapes())
