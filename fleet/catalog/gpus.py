"""GPU models: memory, architecture, and the labels of their nodes.

`memory_gb` is the data-sheet figure in GB, `usable_mib` the total that nvidia-smi shows, in MiB.
Compute capability and CUDA versions are (major, minor) pairs, so that 10.0 sorts after 8.9.

Sources:
- architectures, first CUDA, last driver branch and last CUDA:
  https://docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html
- first driver branch: the driver of the first CUDA by the release notes of that toolkit, which is
  the oldest that can support the architecture. A single card can need a newer one: the GPU
  Operator's platform support page requires 575.57.08 for the RTX PRO 6000 and 570.133.20 for B200
- `product` is NVML's device name with dashes for spaces, which GPU Feature Discovery writes
  (NVIDIA/k8s-device-plugin docs/gpu-feature-discovery/README.md). Each was seen as a node label in
  public manifests or node descriptions, except for P40, A2 and A16 (by NVML's device name) and
  where a comment names another source. Time slicing appends `-SHARED`; MIG strategy `single`
  appends `-MIG-<profile>`
- `usable_mib`: "Memory-Usage" in public copies of nvidia-smi's table, and the label
  nvidia.com/gpu.memory of public node descriptions, with drivers from 510 on and the default of ECC
  (on, but off on RTX cards; GeForce cards have no ECC). From memory, not confirmed: the default of
  ECC, and the figures of V100, P40 and RTX 3090
- `accelerator_label`: the autoscaler knows the values nvidia-tesla-{k80,p100,v100,t4,a100},
  nvidia-a10g, nvidia-l4 and nvidia-l40s (kubernetes/autoscaler
  cluster-autoscaler/cloudprovider/aws/aws_cloud_provider.go). The others are inferred from that
  pattern. They work the same for scheduling; the autoscaler's metrics count them as "generic".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

PRODUCT_LABEL: Final = "nvidia.com/gpu.product"
ACCELERATOR_LABEL: Final = "k8s.amazonaws.com/accelerator"


@dataclass(frozen=True, slots=True)
class Architecture:
    """One generation of GPUs, with the CUDA and driver versions that support it."""

    name: str
    first_cuda: tuple[int, int]
    """Oldest CUDA toolkit that compiles for it."""
    last_cuda_major: int | None
    """Last CUDA major that supports it; `None` while the newest does."""
    first_driver_branch: int
    last_driver_branch: int | None
    """Last driver branch that supports it; `None` while the newest does."""


@dataclass(frozen=True, slots=True)
class GpuModel:
    """One GPU model; the fields are the columns of the table below."""

    name: str
    memory_gb: int
    usable_mib: int
    """Maximum for a job: the driver and ECC take the rest."""
    generation: Architecture
    compute_capability: tuple[int, int]
    mig: bool
    product: str | None
    """Value of `PRODUCT_LABEL`; `None` if it is not known for certain."""
    accelerator_label: str

    @property
    def architecture(self) -> str:
        return self.generation.name

    @property
    def first_cuda(self) -> tuple[int, int]:
        return self.generation.first_cuda

    @property
    def last_cuda_major(self) -> int | None:
        return self.generation.last_cuda_major

    @property
    def first_driver_branch(self) -> int:
        return self.generation.first_driver_branch

    @property
    def last_driver_branch(self) -> int | None:
        return self.generation.last_driver_branch


_PASCAL = Architecture("Pascal", (8, 0), 12, 367, 580)
_VOLTA = Architecture("Volta", (9, 0), 12, 384, 580)
_TURING = Architecture("Turing", (10, 0), None, 410, None)
_AMPERE = Architecture("Ampere", (11, 0), None, 450, None)
_ADA = Architecture("Ada", (11, 8), None, 520, None)
_HOPPER = Architecture("Hopper", (11, 8), None, 520, None)
_BLACKWELL = Architecture("Blackwell", (12, 8), None, 570, None)
_BLACKWELL_PRO = Architecture("Blackwell", (12, 8), None, 575, None)

FIRST_CUDA_OF_MAJOR: Final[Mapping[int, tuple[int, int]]] = MappingProxyType(
    {6: (8, 0), 7: (9, 0), 8: (11, 0), 9: (11, 8), 10: (12, 8), 12: (12, 8)}
)
"""Major compute capability -> oldest CUDA that generates machine code for a card of it.

Machine code runs on every card of the same major with an equal or higher minor (CUDA C++
Programming Guide, binary compatibility): an image of CUDA 11.1 runs on an L4 (8.9), though only
11.8 compiles for it. Older images run only if they contain PTX, which the driver compiles.
"""

_Row = tuple[str, int, int, Architecture, tuple[int, int], bool, str | None, str]

# fmt: off
_ROWS: Final[tuple[_Row, ...]] = (
    # name           GB     MiB  architecture capab. MIG  product label, accelerator label
    # Product not confirmed: only Tesla-P100-PCIE-12GB was seen.
    ("P100",          16,  16280, _PASCAL,    (6, 0), False, None, "nvidia-tesla-p100"),
    ("V100",          16,  16384, _VOLTA,     (7, 0), False, "Tesla-V100-SXM2-16GB",
        "nvidia-tesla-v100"),
    ("V100-32GB",     32,  32768, _VOLTA,     (7, 0), False, "Tesla-V100-SXM2-32GB",
        "nvidia-tesla-v100"),
    ("T4",            16,  15360, _TURING,    (7, 5), False, "Tesla-T4", "nvidia-tesla-t4"),
    ("A10",           24,  23028, _AMPERE,    (8, 6), False, "NVIDIA-A10", "nvidia-a10"),
    ("A10G",          24,  23028, _AMPERE,    (8, 6), False, "NVIDIA-A10G", "nvidia-a10g"),
    ("A100-40GB",     40,  40960, _AMPERE,    (8, 0), True,  "NVIDIA-A100-SXM4-40GB",
        "nvidia-tesla-a100"),
    ("A100-80GB",     80,  81920, _AMPERE,    (8, 0), True,  "NVIDIA-A100-SXM4-80GB",
        "nvidia-tesla-a100"),
    ("L4",            24,  23034, _ADA,       (8, 9), False, "NVIDIA-L4", "nvidia-l4"),
    ("L40S",          48,  46068, _ADA,       (8, 9), False, "NVIDIA-L40S", "nvidia-l40s"),
    ("H100",          80,  81559, _HOPPER,    (9, 0), True,  "NVIDIA-H100-80GB-HBM3",
        "nvidia-h100"),
    ("H200",         141, 143771, _HOPPER,    (9, 0), True,  "NVIDIA-H200", "nvidia-h200"),
    ("B200",         180, 183359, _BLACKWELL, (10, 0), True,  "NVIDIA-B200", "nvidia-b200"),
    # The product label was seen with a MIG suffix only.
    ("RTX PRO 6000",  96,  97887, _BLACKWELL_PRO, (12, 0), True,
        "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "nvidia-rtx-pro-6000"),
    # Models that no instance type or shape of the catalog has.
    ("P40",           24,  24576, _PASCAL,    (6, 1), False, "Tesla-P40", "nvidia-tesla-p40"),
    ("A2",            16,  15356, _AMPERE,    (8, 6), False, "NVIDIA-A2", "nvidia-a2"),
    # One board has four GPUs.
    ("A16",           16,  15356, _AMPERE,    (8, 6), False, "NVIDIA-A16", "nvidia-a16"),
    ("A30",           24,  24576, _AMPERE,    (8, 0), True,  "NVIDIA-A30", "nvidia-a30"),
    ("A40",           48,  46068, _AMPERE,    (8, 6), False, "NVIDIA-A40", "nvidia-a40"),
    ("RTX A5000",     24,  24564, _AMPERE,    (8, 6), False, "NVIDIA-RTX-A5000",
        "nvidia-rtx-a5000"),
    ("RTX A6000",     48,  49140, _AMPERE,    (8, 6), False, "NVIDIA-RTX-A6000",
        "nvidia-rtx-a6000"),
    ("RTX 3090",      24,  24576, _AMPERE,    (8, 6), False, "NVIDIA-GeForce-RTX-3090",
        "nvidia-geforce-rtx-3090"),
    ("L20",           48,  46068, _ADA,       (8, 9), False, "NVIDIA-L20", "nvidia-l20"),
    ("L40",           48,  46068, _ADA,       (8, 9), False, "NVIDIA-L40", "nvidia-l40"),
    ("RTX 4000 Ada",  20,  20475, _ADA,       (8, 9), False, "NVIDIA-RTX-4000-Ada-Generation",
        "nvidia-rtx-4000-ada"),
    ("RTX 6000 Ada",  48,  49140, _ADA,       (8, 9), False, "NVIDIA-RTX-6000-Ada-Generation",
        "nvidia-rtx-6000-ada"),
    ("RTX 4090",      24,  24564, _ADA,       (8, 9), False, "NVIDIA-GeForce-RTX-4090",
        "nvidia-geforce-rtx-4090"),
    ("H100-NVL",      94,  95830, _HOPPER,    (9, 0), True,  "NVIDIA-H100-NVL", "nvidia-h100-nvl"),
    ("RTX 5090",      32,  32607, _BLACKWELL, (12, 0), False, "NVIDIA-GeForce-RTX-5090",
        "nvidia-geforce-rtx-5090"),
)
# fmt: on

GPU_MODELS: Final[Mapping[str, GpuModel]] = MappingProxyType(
    {row[0]: GpuModel(*row) for row in _ROWS}
)


def usable_gpu_memory_mib(model: str | None, memory_gb: int) -> int:
    """Return the MiB for a job on a card, or on the fraction of a card with `memory_gb`.

    0 without a model. Raises KeyError for a model that is not in `GPU_MODELS`.
    """
    if model is None:
        return 0
    card = GPU_MODELS[model]
    return card.usable_mib * memory_gb // card.memory_gb
