"""Container images that this program names itself, each at a tag that exists.

References are fully qualified, because OKE's CRI-O refuses short names from Kubernetes 1.34 on.
Tags, not digests: a mirror keeps the tag and may not keep the digest.
"""

from dataclasses import dataclass
from datetime import date
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One image reference; `current_on` is a day on which a public note calls it the newest."""

    reference: str
    current_on: date | None
    source: str


GITHUB_RUNNER: Final = Image(
    reference="ghcr.io/actions/actions-runner:2.338.0",
    current_on=None,
    source=(
        "newest tag in public use (2.337.0 is of 2026-08-26, 2.339 was not seen); its own day is "
        "not confirmed. GitHub refuses runners more than 30 days behind its newest release "
        "(secondary notices), so this pin must follow releases"
    ),
)
DOCKER_IN_DOCKER: Final = Image(
    reference="docker.io/library/docker:29.8.2-dind",
    current_on=date(2026, 10, 1),
    source="in public use beside the runner image above; 29.9.0 was seen too",
)
CUDA_BASE: Final = Image(
    reference="docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04",
    current_on=None,
    source=(
        "tag in wide public use; CUDA 12 runs on every GPU of the catalog with the 580 driver, "
        "CUDA 13 not on P100 and V100"
    ),
)
GENERIC_DEVICE_PLUGIN: Final = Image(
    reference="ghcr.io/squat/generic-device-plugin:0.2.0",
    current_on=None,
    source="tag in public use beside runner images of 2026; that it is the newest is not confirmed",
)
