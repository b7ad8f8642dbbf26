"""CUDA toolkits and driver branches: which driver a CUDA image needs, and when its support ends.

Versions are tuples of numbers. `MINIMUM_DRIVER` is the minimum for minor-version compatibility:
an older driver runs no toolkit of that major; with this one, PTX of a newer toolkit can still fail
to compile.

Sources:
- minimum drivers: https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
- toolkits: https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html (13.2 Update 2
  edition; 11.x from https://docs.nvidia.com/cuda/archive/11.8.0/cuda-toolkit-release-notes ; 13.3
  as quoted in public notes of its edition).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

MINIMUM_DRIVER: Final[Mapping[int, int]] = MappingProxyType({11: 450, 12: 525, 13: 580})
"""CUDA major -> oldest driver branch that runs it."""

TOOLKIT_DRIVER: Final[Mapping[tuple[int, int], tuple[int, ...]]] = MappingProxyType(
    {
        (11, 0): (450, 51, 5),
        (11, 1): (455, 23),
        (11, 2): (460, 27, 3),
        (11, 3): (465, 19, 1),
        (11, 4): (470, 42, 1),
        (11, 5): (495, 29, 5),
        (11, 6): (510, 39, 1),
        (11, 7): (515, 43, 4),
        (11, 8): (520, 61, 5),
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
        (13, 3): (610, 43, 2),
        # NVIDIA ships 13.4 without a driver; the branch is from CUTLASS' release notes (4.8.0dev).
        (13, 4): (615,),
    }
)
"""CUDA toolkit (general availability) -> oldest Linux driver with all of its features."""


@dataclass(frozen=True, slots=True)
class DriverBranch:
    """A branch of the data-centre driver."""

    branch: int
    kind: Literal["LTS", "production", "new feature"]
    end_of_life: tuple[int, int]
    """Year and month of the last support."""

    @property
    def max_cuda_major(self) -> int:
        """Return the newest CUDA major that runs without a compatibility package."""
        return max(major for major, floor in MINIMUM_DRIVER.items() if floor <= self.branch)


DRIVER_BRANCHES: Final[Mapping[int, DriverBranch]] = MappingProxyType(
    {
        row.branch: row
        for row in (
            # From the page as of March 2021.
            DriverBranch(450, "LTS", (2023, 7)),
            # NVIDIA/gpu-operator pull request 927 quotes the page.
            DriverBranch(470, "LTS", (2024, 7)),
            # NVIDIA/ansible-role-nvidia-driver pull request 58 quotes the page.
            DriverBranch(510, "production", (2023, 1)),
            # Months from memory, not confirmed. Both had ended by August 2024 (NVIDIA's own code).
            DriverBranch(515, "production", (2023, 5)),
            DriverBranch(525, "production", (2023, 12)),
            DriverBranch(535, "LTS", (2026, 6)),
            # NVIDIA/gpu-driver-container pull request 381 quotes the page.
            DriverBranch(550, "production", (2025, 6)),
            # The page as of August 2025 lists both as ended; the month is an upper bound.
            DriverBranch(560, "new feature", (2025, 8)),
            DriverBranch(565, "new feature", (2025, 8)),
            DriverBranch(570, "production", (2026, 2)),
            # NVIDIA/gpu-driver-container pull request 381: one release only.
            DriverBranch(575, "new feature", (2025, 7)),
            # NVIDIA's pages differ between June and August 2028; this is the earlier month.
            DriverBranch(580, "LTS", (2028, 6)),
            # The page as of 2026-09-09 does not list it any more.
            DriverBranch(590, "new feature", (2026, 9)),
            DriverBranch(595, "production", (2027, 3)),
            DriverBranch(610, "new feature", (2026, 8)),
        )
    }
)
"""Source: https://docs.nvidia.com/datacenter/tesla/drivers/
supported-drivers-and-cuda-toolkit-versions.html , except where a row has another one.

R615 exists since September 2026 (NVIDIA's documentation has an edition of it). Its kind and its end
of life were not found, so it is left out.
"""
