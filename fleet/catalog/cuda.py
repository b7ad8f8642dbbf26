"""CUDA toolkits and driver branches: which driver a CUDA image needs, and how long it lives.

Versions are tuples of whole numbers. `MINIMUM_DRIVER` is the floor of minor-version compatibility:
below it nothing of that major runs; at it, PTX of a newer toolkit may still fail to compile.
Sources: https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html ,
https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html (13.2 Update 2 edition) ,
https://docs.nvidia.com/datacenter/tesla/drivers/supported-drivers-and-cuda-toolkit-versions.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

MINIMUM_DRIVER: Final[Mapping[int, int]] = MappingProxyType({11: 450, 12: 525, 13: 580})
"""CUDA major -> oldest driver branch that runs it at all."""

TOOLKIT_DRIVER: Final[Mapping[tuple[int, int], tuple[int, ...]]] = MappingProxyType(
    {
        (12, 0): (525, 60, 13),
        (12, 1): (530, 30, 2),
        (12, 2): (535, 54, 3),
        (12, 3): (545, 23, 6),
        (12, 4): (550, 54, 14),
        (12, 5): (555, 42, 2),
        (12, 6): (560, 28, 3),
        # There is no CUDA 12.7.
        (12, 8): (570, 26),
        (12, 9): (575, 51, 3),
        (13, 0): (580, 65, 6),
        (13, 1): (590, 44, 1),
        (13, 2): (595, 45, 4),
    }
)
"""CUDA toolkit (general availability) -> Linux driver that has every feature of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverBranch:
    """A branch of the data-centre driver; `end_of_life` is year and month."""

    branch: int
    kind: str
    end_of_life: tuple[int, int]
    max_cuda_major: int


DRIVER_BRANCHES: Final[Mapping[int, DriverBranch]] = MappingProxyType(
    {
        branch: DriverBranch(
            branch=branch, kind=kind, end_of_life=end_of_life, max_cuda_major=max_cuda_major
        )
        for branch, kind, end_of_life, max_cuda_major in (
            (535, "LTS", (2026, 6), 12),
            (570, "production", (2026, 2), 12),
            # NVIDIA's pages differ between June and August 2028: the earlier one is kept.
            (580, "LTS", (2028, 6), 13),
            (595, "production", (2027, 3), 13),
            (610, "new feature", (2026, 8), 13),
        )
    }
)
