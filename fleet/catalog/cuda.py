"""CUDA toolkits and driver branches: which driver a CUDA image needs, and how long it lives.

Versions are tuples of whole numbers. `MINIMUM_DRIVER` is the floor of minor-version compatibility:
below it nothing of that major runs; at it, PTX of a newer toolkit may still fail to compile.

Sources:
- floors: https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
- toolkits: https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html (13.2 Update 2
  edition; 11.x from https://docs.nvidia.com/cuda/archive/11.8.0/cuda-toolkit-release-notes ; 13.3
  as quoted in public notes of its edition)
- branches: see `DRIVER_BRANCHES`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

MINIMUM_DRIVER: Final[Mapping[int, int]] = MappingProxyType({11: 450, 12: 525, 13: 580})
"""CUDA major -> oldest driver branch that runs it at all."""

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
        # NVIDIA ships 13.4 without a driver: the branch is from CUTLASS' release notes (4.8.0dev).
        (13, 4): (615,),
    }
)
"""CUDA toolkit (general availability) -> Linux driver that has every feature of it."""


_PAGE: Final = (
    "https://docs.nvidia.com/datacenter/tesla/drivers/"
    "supported-drivers-and-cuda-toolkit-versions.html"
)
_PAGE_2025: Final = f"{_PAGE} as of August 2025 calls it past its end; the month is a bound"
_MEMORY: Final = "month from memory, not confirmed; past its end by August 2024 (NVIDIA's own code)"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverBranch:
    """A branch of the data-centre driver; `end_of_life` is year and month."""

    branch: int
    kind: Literal["LTS", "production", "new feature"]
    end_of_life: tuple[int, int]
    """Last month of support, or where `source` says so the month by which it had ended."""
    max_cuda_major: int
    source: str


_Kind = Literal["LTS", "production", "new feature"]

_ROWS: Final[tuple[tuple[int, _Kind, tuple[int, int], int, str], ...]] = (
    (450, "LTS", (2023, 7), 11, f"{_PAGE} as of March 2021"),
    (470, "LTS", (2024, 7), 11, "NVIDIA/gpu-operator pull request 927, quoting the page"),
    (
        510,
        "production",
        (2023, 1),
        11,
        "NVIDIA/ansible-role-nvidia-driver pull request 58, quoting the page",
    ),
    (515, "production", (2023, 5), 11, _MEMORY),
    (525, "production", (2023, 12), 12, _MEMORY),
    (535, "LTS", (2026, 6), 12, _PAGE),
    (
        550,
        "production",
        (2025, 6),
        12,
        "NVIDIA/gpu-driver-container pull request 381, quoting the page",
    ),
    (560, "new feature", (2025, 8), 12, _PAGE_2025),
    (565, "new feature", (2025, 8), 12, _PAGE_2025),
    (570, "production", (2026, 2), 12, _PAGE),
    (
        575,
        "new feature",
        (2025, 7),
        12,
        "NVIDIA/gpu-driver-container pull request 381: one release only",
    ),
    # NVIDIA's pages differ between June and August 2028: the earlier one is kept.
    (580, "LTS", (2028, 6), 13, _PAGE),
    (590, "new feature", (2026, 9), 13, f"{_PAGE} as of 2026-09-09 has it no more"),
    (595, "production", (2027, 3), 13, _PAGE),
    (610, "new feature", (2026, 8), 13, _PAGE),
)

DRIVER_BRANCHES: Final[Mapping[int, DriverBranch]] = MappingProxyType(
    {
        branch: DriverBranch(
            branch=branch,
            kind=kind,
            end_of_life=end_of_life,
            max_cuda_major=max_cuda_major,
            source=source,
        )
        for branch, kind, end_of_life, max_cuda_major, source in _ROWS
    }
)
"""Branch -> kind, end of life and newest CUDA major without a compatibility package.

R615 exists since September 2026 (NVIDIA's documentation has an edition of it), but its kind and
end of life were not to be seen: it is left out.
"""
