"""GPU models: memory, architecture, and the labels under which a node shows them.

`memory_gb` is the vendor's data-sheet figure in GB; `usable_mib` the total that nvidia-smi shows,
in MiB. Compute capability and CUDA versions are (major, minor) pairs, so that 10.0 sorts after 8.9.

Sources:
- architectures, first CUDA, last driver branch and last CUDA:
  https://docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html
- first driver branch: the driver of the first CUDA by the release notes of that toolkit, which is
  the oldest that can know the architecture; a single card may want a newer one: the GPU Operator's
  platform support page asks 575.57.08 for the RTX PRO 6000 and 570.133.20 for B200
- `product` is the device name that NVML reports with spaces turned to dashes, which is what GPU
  feature discovery writes (NVIDIA/k8s-device-plugin docs/gpu-feature-discovery/README.md); each
  was seen as a node label in a public manifest except where `source` says otherwise. Time slicing
  appends `-SHARED`, a MIG strategy `single` appends `-MIG-<profile>`.
- `usable_mib`: "Memory-Usage" in public copies of nvidia-smi's table, and the label
  nvidia.com/gpu.memory of public node descriptions, with drivers from 510 on and ECC as the card is
  delivered: on, but off on RTX cards, and GeForce cards have none. From memory, not confirmed: what
  ECC is by default, and the figures of V100, P40 and RTX 3090
- `accelerator_label`: the autoscaler knows the values nvidia-tesla-{k80,p100,v100,t4,a100},
  nvidia-a10g, nvidia-l4 and nvidia-l40s (kubernetes/autoscaler
  cluster-autoscaler/cloudprovider/aws/aws_cloud_provider.go). Another value works the same for
  scheduling and only counts as "generic" in the autoscaler's metrics.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

PRODUCT_LABEL: Final = "nvidia.com/gpu.product"
ACCELERATOR_LABEL: Final = "k8s.amazonaws.com/accelerator"

_SEEN = "label seen in public node descriptions"
_AUTOSCALER = f"{_SEEN}; accelerator value known to the autoscaler"
_OWN_VALUE = f"{_SEEN}; accelerator value inferred from the autoscaler's pattern"
_ELSEWHERE = "product seen in public manifests; in no cloud's catalog here, so nothing is labelled"
_BY_NAME = "product by NVML's device name and the rule above; in no cloud's catalog here"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuModel:
    """One GPU model; `product` is None where the label's value is not known for certain."""

    name: str
    memory_gb: int
    usable_mib: int
    """What a job can have at most: the driver and ECC take the rest."""
    architecture: str
    compute_capability: tuple[int, int]
    mig: bool
    product: str | None
    accelerator_label: str
    first_cuda: tuple[int, int]
    """Oldest CUDA toolkit that compiles for it."""
    last_cuda_major: int | None
    """Last CUDA major that supports it; None while support goes on."""
    first_driver_branch: int
    """Oldest driver branch that knows the architecture, or the card where that one is newer."""
    last_driver_branch: int | None
    """Last driver branch that supports it; None while support goes on."""
    source: str


# name, first CUDA, last CUDA major, first and last driver branch
_Architecture = tuple[str, tuple[int, int], int | None, int, int | None]
_PASCAL: _Architecture = ("Pascal", (8, 0), 12, 367, 580)
_VOLTA: _Architecture = ("Volta", (9, 0), 12, 384, 580)
_TURING: _Architecture = ("Turing", (10, 0), None, 410, None)
_AMPERE: _Architecture = ("Ampere", (11, 0), None, 450, None)
_ADA: _Architecture = ("Ada", (11, 8), None, 520, None)
_HOPPER: _Architecture = ("Hopper", (11, 8), None, 520, None)
_BLACKWELL: _Architecture = ("Blackwell", (12, 8), None, 570, None)

FIRST_CUDA_OF_MAJOR: Final[Mapping[int, tuple[int, int]]] = MappingProxyType(
    {6: (8, 0), 7: (9, 0), 8: (11, 0), 9: (11, 8), 10: (12, 8), 12: (12, 8)}
)
"""Major compute capability -> oldest CUDA that makes machine code for any card of it.

Machine code runs on every card of the same major with an equal or higher minor (CUDA C++
Programming Guide, binary compatibility): an image of CUDA 11.1 runs on an L4 (8.9), though only
11.8 compiles for it. Older images run only where they carry PTX, which the driver compiles.
"""

_Row = tuple[str, int, int, _Architecture, tuple[int, int], bool, str | None, str, str]
_PRO: _Architecture = ("Blackwell", (12, 8), None, 575, None)
_PRO_LABEL = "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"

# fmt: off
_ROWS: Final[tuple[_Row, ...]] = (
    # name          GB     MiB  architecture capab. MIG    product label         accelerator, source
    ("P100",         16,  16280, _PASCAL,    (6, 0), False, None,
        "nvidia-tesla-p100", "product not confirmed: only Tesla-P100-PCIE-12GB was seen"),
    ("V100",         16,  16384, _VOLTA,     (7, 0), False, "Tesla-V100-SXM2-16GB",
        "nvidia-tesla-v100", _AUTOSCALER),
    ("V100-32GB",    32,  32768, _VOLTA,     (7, 0), False, "Tesla-V100-SXM2-32GB",
        "nvidia-tesla-v100", _AUTOSCALER),
    ("T4",           16,  15360, _TURING,    (7, 5), False, "Tesla-T4",
        "nvidia-tesla-t4", _AUTOSCALER),
    ("A10",          24,  23028, _AMPERE,    (8, 6), False, "NVIDIA-A10", "nvidia-a10", _OWN_VALUE),
    ("A10G",         24,  23028, _AMPERE,    (8, 6), False, "NVIDIA-A10G",
        "nvidia-a10g", _AUTOSCALER),
    ("A100-40GB",    40,  40960, _AMPERE,    (8, 0), True,  "NVIDIA-A100-SXM4-40GB",
        "nvidia-tesla-a100", _AUTOSCALER),
    ("A100-80GB",    80,  81920, _AMPERE,    (8, 0), True,  "NVIDIA-A100-SXM4-80GB",
        "nvidia-tesla-a100", _AUTOSCALER),
    ("L4",           24,  23034, _ADA,       (8, 9), False, "NVIDIA-L4", "nvidia-l4", _AUTOSCALER),
    ("L40S",         48,  46068, _ADA,       (8, 9), False, "NVIDIA-L40S",
        "nvidia-l40s", _AUTOSCALER),
    ("H100",         80,  81559, _HOPPER,    (9, 0), True,  "NVIDIA-H100-80GB-HBM3",
        "nvidia-h100", _OWN_VALUE),
    ("H200",        141, 143771, _HOPPER,    (9, 0), True,  "NVIDIA-H200",
        "nvidia-h200", _OWN_VALUE),
    ("B200",        180, 183359, _BLACKWELL, (10, 0), True, "NVIDIA-B200",
        "nvidia-b200", _OWN_VALUE),
    ("RTX PRO 6000", 96,  97887, _PRO,       (12, 0), True, _PRO_LABEL,
        "nvidia-rtx-pro-6000", "label seen with a MIG suffix only; accelerator value inferred"),
    # Nodes that somebody else made.
    ("P40",          24,  24576, _PASCAL,    (6, 1), False, "Tesla-P40",
        "nvidia-tesla-p40", _BY_NAME),
    ("A2",           16,  15356, _AMPERE,    (8, 6), False, "NVIDIA-A2", "nvidia-a2", _BY_NAME),
    # A board of it has four GPUs.
    ("A16",          16,  15356, _AMPERE,    (8, 6), False, "NVIDIA-A16", "nvidia-a16", _BY_NAME),
    ("A30",          24,  24576, _AMPERE,    (8, 0), True,  "NVIDIA-A30", "nvidia-a30", _ELSEWHERE),
    ("A40",          48,  46068, _AMPERE,    (8, 6), False, "NVIDIA-A40", "nvidia-a40", _ELSEWHERE),
    ("RTX A5000",    24,  24564, _AMPERE,    (8, 6), False, "NVIDIA-RTX-A5000",
        "nvidia-rtx-a5000", _ELSEWHERE),
    ("RTX A6000",    48,  49140, _AMPERE,    (8, 6), False, "NVIDIA-RTX-A6000",
        "nvidia-rtx-a6000", _ELSEWHERE),
    ("RTX 3090",     24,  24576, _AMPERE,    (8, 6), False, "NVIDIA-GeForce-RTX-3090",
        "nvidia-geforce-rtx-3090", _ELSEWHERE),
    ("L20",          48,  46068, _ADA,       (8, 9), False, "NVIDIA-L20", "nvidia-l20", _ELSEWHERE),
    ("L40",          48,  46068, _ADA,       (8, 9), False, "NVIDIA-L40", "nvidia-l40", _ELSEWHERE),
    ("RTX 4000 Ada", 20,  20475, _ADA,       (8, 9), False, "NVIDIA-RTX-4000-Ada-Generation",
        "nvidia-rtx-4000-ada", _ELSEWHERE),
    ("RTX 6000 Ada", 48,  49140, _ADA,       (8, 9), False, "NVIDIA-RTX-6000-Ada-Generation",
        "nvidia-rtx-6000-ada", _ELSEWHERE),
    ("RTX 4090",     24,  24564, _ADA,       (8, 9), False, "NVIDIA-GeForce-RTX-4090",
        "nvidia-geforce-rtx-4090", _ELSEWHERE),
    ("H100-NVL",     94,  95830, _HOPPER,    (9, 0), True,  "NVIDIA-H100-NVL",
        "nvidia-h100-nvl", _ELSEWHERE),
    ("RTX 5090",     32,  32607, _BLACKWELL, (12, 0), False, "NVIDIA-GeForce-RTX-5090",
        "nvidia-geforce-rtx-5090", _ELSEWHERE),
)
# fmt: on


def _from_row(row: _Row) -> GpuModel:
    (
        name,
        memory_gb,
        usable_mib,
        architecture,
        capability,
        mig,
        product,
        accelerator_label,
        source,
    ) = row
    (architecture_name, first_cuda, last_cuda_major, first_branch, last_branch) = architecture
    return GpuModel(
        name=name,
        memory_gb=memory_gb,
        usable_mib=usable_mib,
        architecture=architecture_name,
        compute_capability=capability,
        mig=mig,
        product=product,
        accelerator_label=accelerator_label,
        first_cuda=first_cuda,
        last_cuda_major=last_cuda_major,
        first_driver_branch=first_branch,
        last_driver_branch=last_branch,
        source=source,
    )


GPU_MODELS: Final[Mapping[str, GpuModel]] = MappingProxyType(
    {row[0]: _from_row(row) for row in _ROWS}
)


def usable_gpu_memory_mib(model: str | None, memory_gb: int) -> int:
    """Return the MiB for a job of a card, or of a fraction of one that is sold with that many GB.

    0 without a model. Raises KeyError where the model is not in `GPU_MODELS`.
    """
    if model is None:
        return 0
    card = GPU_MODELS[model]
    return card.usable_mib * memory_gb // card.memory_gb
