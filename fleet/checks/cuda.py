"""CUDA versions of lanes against drivers and GPUs of their pools, by NVIDIA's tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fleet.catalog.cuda import DRIVER_BRANCHES, MINIMUM_DRIVER, TOOLKIT_DRIVER
from fleet.catalog.gpus import FIRST_CUDA_OF_MAJOR, GPU_MODELS, GpuModel
from fleet.catalog.image_names import cuda_of_image, cuda_tag_without_patch
from fleet.checks.check import Check, check
from fleet.checks.view import LaneView, View
from fleet.clusters.nodes import Pool
from fleet.findings import Finding, Severity

_BEFORE_THE_TABLE: Final = frozenset({(8, 0), (9, 0), (9, 1), (9, 2), (10, 0), (10, 1), (10, 2)})
"""CUDA toolkits older than `TOOLKIT_DRIVER`."""

_NEWEST_BRANCH: Final = max(*DRIVER_BRANCHES, *(driver[0] for driver in TOOLKIT_DRIVER.values()))
_OLDEST_BRANCH: Final = 300
_FUTURE_BRANCHES: Final = 100
"""Branch numbers above the newest known one that are plausible: about three years of releases."""


@check("cuda-driver")
def cuda_drivers(view: View) -> Iterator[Finding]:
    """Lanes whose CUDA major version the driver of a pool does not run."""
    for lane, cuda, pool in _jobs(view):
        floor = MINIMUM_DRIVER.get(cuda[0])
        if floor is not None and pool.driver is not None and _branch(pool.driver) < floor:
            yield cuda_drivers.finding(
                _path(lane),
                message=(
                    f"{_has(lane)} CUDA {_text(cuda)}, which needs driver {floor} or newer, but "
                    f"the nodes of pool {pool.name} have {pool.driver}: CUDA calls fail with "
                    "insufficient driver"
                ),
                remedy=(
                    f"use an image of CUDA {_newest_major(pool)} or older, or nodes with driver "
                    f"{floor} or newer"
                ),
                severity=_severity(lane),
            )


@check("cuda-features", "warning")
def cuda_features(view: View) -> Iterator[Finding]:
    """Lanes whose CUDA is newer than a pool's driver, within one major version.

    Such jobs run, but PTX code does not compile and newer features are missing.
    """
    for lane, cuda, pool in _jobs(view):
        wanted = TOOLKIT_DRIVER.get(cuda)
        if wanted is None or pool.driver is None or _branch(pool.driver) < MINIMUM_DRIVER[cuda[0]]:
            continue
        driver = _numbers(pool.driver)
        if driver < wanted[: len(driver)]:
            yield cuda_features.finding(
                _path(lane),
                message=(
                    f"{_has(lane)} CUDA {_text(cuda)}, which needs driver "
                    f"{_driver_text(wanted)} for all features, but pool {pool.name} has "
                    f"{pool.driver}: code that contains only PTX fails to start"
                ),
                remedy="compile for the GPU's own architecture, or use an image of an older CUDA",
            )


@check("cuda-gpu")
def cuda_models(view: View) -> Iterator[Finding]:
    """Lanes whose CUDA is too old for the GPU of a pool, or no longer supports it."""
    for lane, cuda, pool in _jobs(view):
        model = GPU_MODELS[pool.gpu or ""]
        first = FIRST_CUDA_OF_MAJOR[model.compute_capability[0]]
        last = model.last_cuda_major
        if last is not None and cuda[0] > last:
            yield _unsupported_gpu(
                *(cuda_models, lane, cuda, pool),
                why=f"CUDA {last} is the last that supports {model.architecture}",
                remedy=f"use an image of CUDA {last}, or pools of newer GPUs",
            )
        elif cuda < first:
            yield _unsupported_gpu(
                *(cuda_models, lane, cuda, pool),
                why=f"CUDA {_text(first)} is the first that supports {model.architecture}",
                remedy=f"use an image of CUDA {_text(model.first_cuda)} or newer",
            )


@check("cuda-architecture", "warning")
def cuda_architectures(view: View) -> Iterator[Finding]:
    """Lanes whose CUDA runs on a pool's GPU but cannot compile for its architecture."""
    for lane, cuda, pool in _jobs(view):
        model = GPU_MODELS[pool.gpu or ""]
        if FIRST_CUDA_OF_MAJOR[model.compute_capability[0]] <= cuda < model.first_cuda:
            yield _unsupported_gpu(
                *(cuda_architectures, lane, cuda, pool),
                why=(
                    f"CUDA {_text(model.first_cuda)} is the first that compiles for "
                    f"{model.architecture}, so jobs run code of an older GPU"
                ),
                remedy=f"use an image of CUDA {_text(model.first_cuda)} or newer",
            )


def _unsupported_gpu(
    by: Check, lane: LaneView, cuda: tuple[int, int], pool: Pool, *, why: str, remedy: str
) -> Finding:
    return by.finding(
        _path(lane),
        message=f"{_has(lane)} CUDA {_text(cuda)}, but pool {pool.name} has {pool.gpu}: {why}",
        remedy=remedy,
        severity=_severity(lane),
    )


@check("driver-gpu")
def driver_models(view: View) -> Iterator[Finding]:
    """Pools whose driver is too old for their GPU, or no longer supports it."""
    for pool in _gpu_pools(view):
        if pool.driver is None:
            continue
        model = GPU_MODELS[pool.gpu or ""]
        first, last = model.first_driver_branch, model.last_driver_branch
        branch = _branch(pool.driver)
        if last is not None and branch > last:
            why = f"driver {last} is the last that supports {model.architecture}"
            yield _wrong_driver(view, pool, why, last)
        if branch < first:
            why = f"the {model.name} needs driver {first} or newer"
            yield _wrong_driver(view, pool, why, _supported_branch(model))


def _wrong_driver(view: View, pool: Pool, why: str, branch: int) -> Finding:
    operator = view.stack.clusters[pool.cluster].gpu_stack.operator
    supported = _supported_branch(GPU_MODELS[pool.gpu or ""])
    how = (
        f'gpu_stack.operator.driver_version: "{supported}.…"'
        if operator is not None and operator.driver
        else "another node image"
    )
    return driver_models.finding(
        pool.path,
        message=f"has {pool.gpu} and driver {pool.driver}, but {why}: jobs would see no GPU",
        remedy=f"use driver {branch}, by {how}",
    )


@check("driver-end-of-life", "warning")
def old_drivers(view: View) -> Iterator[Finding]:
    """Pools whose driver branch has reached its end of life."""
    for pool in _gpu_pools(view):
        branch = DRIVER_BRANCHES.get(_branch(pool.driver)) if pool.driver is not None else None
        if branch is not None and branch.end_of_life < (view.today.year, view.today.month):
            year, month = branch.end_of_life
            yield old_drivers.finding(
                pool.path,
                message=(
                    f"has driver {pool.driver}, whose branch ({branch.kind}) ended in "
                    f"{year}-{month:02}: it gets no security fixes, and runs CUDA up to "
                    f"{branch.max_cuda_major} only"
                ),
                remedy=f"use driver {_supported_branch(GPU_MODELS[pool.gpu or ''])}",
            )


@check("image-tag", "warning")
def unpublished_tags(view: View) -> Iterator[Finding]:
    """Images of nvidia/cuda without a patch number in the tag, which NVIDIA does not publish."""
    for lane in view.lanes:
        image = lane.spec.image
        if image is not None and cuda_tag_without_patch(image):
            yield unpublished_tags.finding(
                f"{lane.path}.image",
                message=(
                    f"is {image}, but tags of nvidia/cuda have three numbers: the pull would fail "
                    "with manifest unknown"
                ),
                remedy="write the patch number too, like 12.4.1-devel-ubuntu22.04",
            )


@check("cuda-tag", "warning")
def contradicted_cuda(view: View) -> Iterator[Finding]:
    """Lanes that declare another CUDA version than the one in their image's name."""
    for lane in view.lanes:
        image = lane.plan.image
        if lane.spec.cuda is None or lane.spec.image is None or image is None:
            continue
        named = cuda_of_image(image)
        if named is not None and named != _parse(lane.spec.cuda):
            yield contradicted_cuda.finding(
                f"{lane.path}.cuda",
                message=(
                    f"is {lane.spec.cuda}, but the name of image {image} has {_text(named)}: the "
                    f"checks of CUDA use {lane.spec.cuda}"
                ),
                remedy="remove cuda, or correct it, unless jobs install another CUDA",
            )


@check("version-unknown", "warning")
def unknown_versions(view: View) -> Iterator[Finding]:
    """CUDA versions that NVIDIA never released, and drivers of unknown branches."""
    for lane in view.lanes:
        yield from _unknown_cuda(lane)
    for cluster in view.plan.clusters:
        for pool in cluster.pools:
            branch = None if pool.driver is None else _branch(pool.driver)
            if branch is None or _OLDEST_BRANCH <= branch <= _NEWEST_BRANCH + _FUTURE_BRANCHES:
                continue
            yield unknown_versions.finding(
                pool.path,
                message=(
                    f"has driver {pool.driver} of an unknown branch (the newest is "
                    f"{_NEWEST_BRANCH}): the checks of CUDA may be wrong"
                ),
                remedy='write the driver as nvidia-smi shows it on a node, like "580.95.05"',
            )


def _unknown_cuda(lane: LaneView) -> Iterator[Finding]:
    if lane.spec.cuda is None:
        return
    cuda = _parse(lane.spec.cuda)
    newest = max(TOOLKIT_DRIVER)
    # The next minor or major version may be released before this table has it.
    is_next = newest < cuda < (newest[0] + 2, 0)
    if cuda not in TOOLKIT_DRIVER and cuda not in _BEFORE_THE_TABLE and not is_next:
        nearest = min(
            sorted(TOOLKIT_DRIVER), key=lambda one: (abs(one[0] - cuda[0]), abs(one[1] - cuda[1]))
        )
        yield unknown_versions.finding(
            f"{lane.path}.cuda",
            message=(
                f"is {lane.spec.cuda}, a CUDA version that NVIDIA never released: the checks of "
                "CUDA cannot use it"
            ),
            remedy=f'write the version of the toolkit, like "{_text(nearest)}"',
        )


def _jobs(view: View) -> Iterator[tuple[LaneView, tuple[int, int], Pool]]:
    """Yield each GPU lane of known CUDA version with each of its GPU pools."""
    for lane in view.lanes:
        cuda = _cuda(lane) if lane.job.gpus else None
        if cuda is not None:
            yield from ((lane, cuda, pool) for pool in lane.pools if pool.gpu is not None)


def _cuda(lane: LaneView) -> tuple[int, int] | None:
    """Return the declared CUDA version, else the one in the name of the job's image.

    In the container modes of ARC that start a pod for each job, the workflow names the job's
    image, and the lane's image is the runner's.
    """
    if lane.spec.cuda is not None:
        return _parse(lane.spec.cuda)
    image = lane.plan.image
    return cuda_of_image(image) if image is not None else None


def _gpu_pools(view: View) -> Iterator[Pool]:
    for cluster in view.plan.clusters:
        yield from (pool for pool in cluster.pools if pool.gpu is not None)


def _severity(lane: LaneView) -> Severity | None:
    """Return a warning for a default image: only jobs that name no image use it."""
    return "warning" if lane.spec.cuda is None and lane.spec.image is None else None


def _has(lane: LaneView) -> str:
    if lane.spec.cuda is not None:
        return "is"
    return "has" if lane.spec.image is not None else "is not set, and the default image has"


def _path(lane: LaneView) -> str:
    key = "cuda" if lane.spec.cuda is not None or lane.spec.image is None else "image"
    return f"{lane.path}.{key}"


def _supported_branch(model: GpuModel) -> int:
    """Return the newest long-term driver branch that supports the model."""
    branches = [branch.branch for branch in DRIVER_BRANCHES.values() if branch.kind == "LTS"]
    last = model.last_driver_branch
    return max(branch for branch in branches if last is None or branch <= last)


def _newest_major(pool: Pool) -> int:
    """Return the newest CUDA major version that the driver of a pool runs."""
    return max(
        (major for major, floor in MINIMUM_DRIVER.items() if _branch(pool.driver or "0") >= floor),
        default=min(MINIMUM_DRIVER) - 1,
    )


def _branch(driver: str) -> int:
    return _numbers(driver)[0]


def _numbers(driver: str) -> tuple[int, ...]:
    return tuple(int(part) for part in driver.split("."))


def _parse(cuda: str) -> tuple[int, int]:
    major, minor = cuda.split(".")
    return int(major), int(minor)


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _driver_text(driver: tuple[int, ...]) -> str:
    """Return a driver version as NVIDIA writes it, with two digits in the third place."""
    return ".".join(f"{part:02}" if place == 2 else str(part) for place, part in enumerate(driver))
