"""AMI releases of EKS: releases with known faults, and their NVIDIA driver.

A release version is `minor.patch-day`, such as 1.35.8-20260923. The day identifies the release.

Source: https://github.com/awslabs/amazon-eks-ami : release notes, and the issues named below.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiFault:
    """A fault of an AMI release on a range of Kubernetes minors (33 for 1.33)."""

    reason: str
    oldest_kubernetes: int
    newest_kubernetes: int
    fixed_in: str
    """Day of the first release without the fault."""
    source: str


_KERNEL_PANIC: Final = AmiFault(
    reason="kernel 6.12.110 panics during memory reclaim",
    oldest_kubernetes=31,
    newest_kubernetes=35,
    fixed_in="20261012",
    source="https://github.com/awslabs/amazon-eks-ami/releases/tag/v20261012",
)

AMI_RELEASE_FAULTS: Final[Mapping[str, AmiFault]] = MappingProxyType(
    {"20260930": _KERNEL_PANIC, "20261003": _KERNEL_PANIC}
)
"""Day of an AMI release (the part after the dash) -> its fault."""


def ami_fault(release_version: str) -> AmiFault | None:
    """Return the known fault of a release such as `1.35.8-20260930`.

    Raises ValueError for a release version of another form.
    """
    minor, day = _release_parts(release_version)
    fault = AMI_RELEASE_FAULTS.get(day)
    if fault is None or not fault.oldest_kubernetes <= minor <= fault.newest_kubernetes:
        return None
    return fault


# Day -> minimum driver branch of the NVIDIA variant of AL2023 since that day. On that day the
# change is certain; a release between two rows can have a newer branch. Since 20260917 the AMI
# also has 595, for g7 only (issue 2768).
_AMI_DRIVERS: Final = (
    # The first AL2023 NVIDIA AMIs, of autumn 2024 (from memory; newer than 550 in March 2025:
    # awslabs/amazon-eks-ami issue 2196).
    ("20241001", 560),
    # "AL2023, which already use the 570 branch" (issue 2379, 2025-08-19).
    ("20250819", 570),
    # 580 for 1.29 to 1.33 merged between 2025-10-27 and 2025-11-10 (pull requests 2484 to 2509).
    ("20251120", 580),
)


def ami_driver_branch(release_version: str) -> int | None:
    """Return the minimum driver branch of an AL2023 NVIDIA release.

    `None` for a release older than these AMIs. Raises ValueError for a version of another form.
    """
    _, day = _release_parts(release_version)
    branches = [branch for since, branch in _AMI_DRIVERS if since <= day]
    return branches[-1] if branches else None


def _release_parts(release_version: str) -> tuple[int, str]:
    match = re.fullmatch(r"1\.(\d+)\.\d+-(\d{8})", release_version)
    if match is None:
        raise ValueError(
            f'"{release_version}" is not an AMI release version: write it like 1.35.8-20260923'
        )
    return int(match[1]), match[2]
