"""OCI's compute shapes: processor, memory and GPUs.

Sources, under https://docs.oracle.com/en-us/iaas/Content/ :
ContEng/Tasks/contengrunninggpunodes.htm (GPU shapes of managed nodes),
Compute/References/computeshapes.htm (sizes and flexible ranges, upper ends rounded up where sources
differ). An OCPU is a physical core: two vCPU on x86, one on A1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_MEMORY_PER_OCPU_GB: Final = 64
"""https://docs.oracle.com/en-us/iaas/Content/Compute/References/computeshapes.htm#flexible"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """One shape; `ocpus` and `memory_gb` are the upper bounds of a flexible one."""

    name: str
    ocpus: float
    memory_gb: float
    gpus: int = 0
    gpu_model: str = ""
    is_arm: bool = False

    @property
    def is_flexible(self) -> bool:
        """Whether a pool chooses OCPUs and memory."""
        return self.name.endswith(".Flex")

    @property
    def is_bare_metal(self) -> bool:
        """Whether a node is a physical machine."""
        return self.name.startswith("BM.")

    @property
    def has_nvidia_gpu(self) -> bool:
        """Whether the shape has GPUs made by NVIDIA."""
        return self.gpus > 0 and not self.gpu_model.startswith("MI")


def _table(text: str, *, is_arm: bool = False) -> dict[str, Shape]:
    """Parse rows of name, OCPUs, memory in GB, and for a GPU shape number and model of GPUs."""
    shapes: dict[str, Shape] = {}
    for row in text.strip().splitlines():
        name, ocpus, memory_gb, *gpu = row.split()
        shapes[name] = Shape(
            name=name,
            ocpus=float(ocpus),
            memory_gb=float(memory_gb),
            gpus=int(gpu[0]) if gpu else 0,
            gpu_model=gpu[1] if gpu else "",
            is_arm=is_arm,
        )
    return shapes


_X86: Final = """
VM.Standard2.1 1 15
VM.Standard2.2 2 30
VM.Standard2.4 4 60
VM.Standard2.8 8 120
VM.Standard2.16 16 240
VM.Standard2.24 24 320
VM.Standard3.Flex 32 512
VM.Standard.E3.Flex 114 1776
VM.Standard.E4.Flex 114 1776
VM.Standard.E5.Flex 126 1776
VM.Standard.E6.Flex 126 1776
VM.Optimized3.Flex 18 256
VM.DenseIO.E4.Flex 32 512
VM.DenseIO.E5.Flex 48 576
BM.Standard3.64 64 1024
BM.Standard.E4.128 128 2048
BM.Standard.E5.192 192 2304
BM.Optimized3.36 36 512
VM.GPU2.1 12 72 1 P100
VM.GPU3.1 6 90 1 V100
VM.GPU3.2 12 180 2 V100
VM.GPU3.4 24 360 4 V100
VM.GPU.A10.1 15 240 1 A10
VM.GPU.A10.2 30 480 2 A10
VM.GPU.A100.40G.1 15 240 1 A100
VM.GPU.A100.40G.2 30 480 2 A100
VM.GPU.A100.40G.4 60 960 4 A100
VM.GPU.A100.80G.1 15 240 1 A100
VM.GPU.A100.80G.2 30 480 2 A100
VM.GPU.A100.80G.4 60 960 4 A100
VM.GPU.L40S.1 28 230 1 L40S
VM.GPU.L40S.2 56 460 2 L40S
BM.GPU2.2 28 192 2 P100
BM.GPU3.8 52 768 8 V100
BM.GPU4.8 64 2048 8 A100
BM.GPU.A10.4 64 1024 4 A10
BM.GPU.A100-v2.8 128 2048 8 A100
BM.GPU.B4.8 64 2048 8 A100
BM.GPU.GM4.8 128 2048 8 A100
BM.GPU.L40S.4 112 1024 4 L40S
BM.GPU.H100.8 112 2048 8 H100
BM.GPU.H200.8 112 3072 8 H200
BM.GPU.B200.8 128 4096 8 B200
BM.GPU.MI300X.8 112 2048 8 MI300X
"""

_ARM: Final = """
VM.Standard.A1.Flex 80 512
VM.Standard.A2.Flex 78 946
BM.Standard.A1.160 160 1024
BM.GPU.GB200.4 144 960 4 GB200
"""

SHAPES: Final[dict[str, Shape]] = {**_table(_X86), **_table(_ARM, is_arm=True)}
