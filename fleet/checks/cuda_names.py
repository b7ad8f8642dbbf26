"""CUDA by what is written: versions that do not exist, and statements that differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fleet.catalog.cuda import DRIVER_BRANCHES, TOOLKIT_DRIVER
from fleet.catalog.image_names import cuda_of_image, cuda_tag_without_patch
from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View

_BEFORE_THE_TABLE: Final = frozenset({(8, 0), (9, 0), (9, 1), (9, 2), (10, 0), (10, 1), (10, 2)})
"""CUDA toolkits older than `TOOLKIT_DRIVER`."""

_NEWEST_BRANCH: Final = max(*DRIVER_BRANCHES, *(driver[0] for driver in TOOLKIT_DRIVER.values()))
_OLDEST_BRANCH: Final = 300
_SOON: Final = 100
"""Branches ahead of the newest one that are believed unseen: about three years of them."""


@check("image-tag", "warning")
def unpublished_tags(view: View) -> Iterator[Problem]:
    """Images of nvidia/cuda with two numbers in their tag, which NVIDIA does not publish."""
    for lane in view.lanes:
        image = lane.spec.image
        if image is not None and cuda_tag_without_patch(image):
            yield Problem(
                path=f"{lane.path}.image",
                message=f"is {image}; NVIDIA's tags of nvidia/cuda have three numbers",
                remedy="write the patch number too, like 12.4.1-devel-ubuntu22.04",
            )


@check("cuda-tag", "warning")
def contradicted_cuda(view: View) -> Iterator[Problem]:
    """Lanes that declare another CUDA version than their image's name."""
    for lane in view.lanes:
        image = lane.plan.job_image
        if lane.spec.cuda is None or lane.spec.image is None or image is None:
            continue
        named = cuda_of_image(image)
        if named is not None and named != _version(lane.spec.cuda):
            yield Problem(
                path=f"{lane.path}.cuda",
                message=(
                    f"is {lane.spec.cuda}, but image {image} has {named[0]}.{named[1]} in its "
                    "name; the checks believe cuda"
                ),
                remedy="remove cuda, or correct it, unless jobs bring a CUDA of their own",
            )


@check("version-unknown", "warning")
def unknown_versions(view: View) -> Iterator[Problem]:
    """CUDA versions that NVIDIA never released, and drivers of branches far from any known one."""
    for lane in view.lanes:
        yield from _unknown_cuda(lane)
    for cluster in view.plan.clusters:
        for pool in cluster.pools:
            branch = None if pool.driver is None else int(pool.driver.partition(".")[0])
            if branch is None or _OLDEST_BRANCH <= branch <= _NEWEST_BRANCH + _SOON:
                continue
            yield Problem(
                path=pool.path,
                message=(
                    f"has driver {pool.driver}, of a branch that is not known (the newest is "
                    f"{_NEWEST_BRANCH}): the checks of CUDA believe it"
                ),
                remedy="write the driver as nvidia-smi of a node shows it",
            )


def _unknown_cuda(lane: LaneView) -> Iterator[Problem]:
    if lane.spec.cuda is None:
        return
    cuda = _version(lane.spec.cuda)
    newest = max(TOOLKIT_DRIVER)
    # A minor or a major after the newest one may be out by the time it is written.
    soon = newest < cuda < (newest[0] + 2, 0)
    if cuda not in TOOLKIT_DRIVER and cuda not in _BEFORE_THE_TABLE and not soon:
        near = sorted(
            TOOLKIT_DRIVER, key=lambda one: (abs(one[0] - cuda[0]), abs(one[1] - cuda[1]))
        )
        yield Problem(
            path=f"{lane.path}.cuda",
            message=f"is {lane.spec.cuda}, a CUDA version that NVIDIA never released",
            remedy=f'write the version of the toolkit, like "{near[0][0]}.{near[0][1]}"',
        )


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)
