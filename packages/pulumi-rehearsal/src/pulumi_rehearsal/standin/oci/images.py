"""The node images that OKE offers, invented with names like Oracle's own.

`Oracle-Linux-9.7-Gen2-GPU-2026.06.15-0-OKE-1.35.2-1505`: operating system, build for GPUs or Arm,
date, Kubernetes version, build number. Source:
https://docs.oracle.com/en-us/iaas/images/oke-worker-node-oracle-linux-8x/

Each version and build has images of two dates, so that a program has to choose the newest. The list
also contains plain platform images, without OKE in their name. An image that is not in the list (an
older or a custom one) is not checked, because nothing can be derived from its OCID.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pulumi_rehearsal.standin.oci.base import ocid

VERSIONS: Final = ("v1.33.10", "v1.34.2", "v1.34.10", "v1.35.2", "v1.36.1")
"""The versions that OKE offered in June 2026:
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
    """One image; `version` is Kubernetes' with its `v`, `None` for a plain platform image."""

    id: str
    name: str
    release: str
    version: str | None
    is_arm: bool
    has_gpu_driver: bool


@functools.cache
def of_region(region: str) -> tuple[Image, ...]:
    """Return the images of the region, in no particular order."""
    names = sorted(_names(), key=lambda name: ocid("image", region, name))
    return tuple(_image(region, name) for name in names)


def find(region: str, image_id: str | None) -> Image | None:
    """Return the image with that OCID; `None` if it is not in the list."""
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
        raise ValueError(f"{name!r} is not a name of Oracle's form")
    return Image(
        id=ocid("image", region, name),
        name=name,
        release=parts["release"],
        version=f"v{parts['version']}" if parts["version"] else None,
        is_arm=parts["build"] == "-aarch64",
        has_gpu_driver=parts["build"] == "-Gen2-GPU",
    )
