"""The node images that OKE offers, made up after Oracle's own names.

`Oracle-Linux-9.7-Gen2-GPU-2026.06.15-0-OKE-1.35.2-1505`: operating system, build for GPUs or Arm,
date, Kubernetes version, build number. Source:
https://docs.oracle.com/en-us/iaas/images/oke-worker-node-oracle-linux-8x/

Each version has two dates of each build, so that the newest has to be chosen, and the list holds
plain platform images too, which have no OKE in their name. An image that is not in the list (a
pinned older one, a custom one) is taken on trust: its OCID tells nothing of it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pulumi_rehearsal.standin.oci.base import ocid

VERSIONS: Final = ("v1.33.10", "v1.34.2", "v1.34.10", "v1.35.2", "v1.36.1")
"""What OKE offered in the middle of 2026, newest patch of each minor:
https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengaboutk8sversions.htm"""

SIZE_GB: Final = 47
"""Size of Oracle's images; a boot volume is at least 50 GB."""

_SYSTEMS: Final = ("8.10", "9.7")
_BUILDS: Final = ("", "-aarch64", "-Gen2-GPU")
_DATES: Final = (("2026.04.20-0", 1431), ("2026.06.15-0", 1505))

_NAME: Final = re.compile(
    r"Oracle-Linux-(?P<release>\d+\.\d+)(?P<build>-aarch64|-Gen2-GPU)?"
    r"-(?P<date>[\d.]+-\d+)(-OKE-(?P<version>\d+\.\d+\.\d+)-\d+)?"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """One image; `version` is Kubernetes' with its `v`, None for a plain platform image."""

    id: str
    name: str
    release: str
    version: str | None
    is_arm: bool
    has_gpu_driver: bool


@functools.cache
def of_region(region: str) -> tuple[Image, ...]:
    """Every image of the region, in no order that means anything."""
    names = sorted(_names(), key=lambda name: ocid("image", region, name))
    return tuple(_image(region, name) for name in names)


def find(region: str, image_id: str | None) -> Image | None:
    """The image with that OCID, None where it is none of OKE's list."""
    return next((image for image in of_region(region) if image.id == image_id), None)


def _names() -> Iterator[str]:
    for release in _SYSTEMS:
        for build in _BUILDS:
            for date, number in _DATES:
                plain = f"Oracle-Linux-{release}{build}-{date}"
                yield plain
                for version in VERSIONS:
                    yield f"{plain}-OKE-{version.removeprefix('v')}-{number}"


def _image(region: str, name: str) -> Image:
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise ValueError(f"{name!r} is not spelled as Oracle names its images")
    return Image(
        id=ocid("image", region, name),
        name=name,
        release=parts["release"],
        version=f"v{parts['version']}" if parts["version"] else None,
        is_arm=parts["build"] == "-aarch64",
        has_gpu_driver=parts["build"] == "-Gen2-GPU",
    )
