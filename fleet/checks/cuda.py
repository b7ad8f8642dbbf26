"""CUDA: what a lane's image wants of the driver and of the card, by NVIDIA's tables."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.cuda import DRIVER_BRANCHES, MINIMUM_DRIVER, TOOLKIT_DRIVER
from fleet.catalog.gpus import FIRST_CUDA_OF_MAJOR, GPU_MODELS, GpuModel
from fleet.catalog.image_names import cuda_of_image
from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View
from fleet.clusters.nodes import Pool
from fleet.findings import Severity

_DRIVER_KEYS = ("driver", "image_id", "release_version", "gpu")


@check("cuda-driver")
def cuda_drivers(view: View) -> Iterator[Problem]:
    """Images whose CUDA major the driver of a pool does not run."""
    for lane, cuda, pool in _jobs(view):
        floor = MINIMUM_DRIVER.get(cuda[0])
        if floor is not None and pool.driver is not None and _branch(pool.driver) < floor:
            yield Problem(
                path=_where(lane),
                message=(
                    f"{_has(lane)} CUDA {_text(cuda)}, which needs driver {floor} or newer; the "
                    f"nodes of pool {pool.name} have {pool.driver}"
                ),
                remedy=f"use an image of CUDA {_newest(pool)} or older, or nodes of a newer driver",
                severity=_severity(lane),
            )


@check("cuda-features", "warning")
def cuda_features(view: View) -> Iterator[Problem]:
    """Images newer than a pool's driver, which run but miss PTX compilation and new features."""
    for lane, cuda, pool in _jobs(view):
        wanted = TOOLKIT_DRIVER.get(cuda)
        if wanted is None or pool.driver is None or _branch(pool.driver) < MINIMUM_DRIVER[cuda[0]]:
            continue
        driver = _numbers(pool.driver)
        if driver < wanted[: len(driver)]:
            yield Problem(
                path=_where(lane),
                message=(
                    f"{_has(lane)} CUDA {_text(cuda)}, which needs driver "
                    f"{_driver_text(wanted)} for every feature; pool {pool.name} has "
                    f"{pool.driver}: code that brings PTX only does not start"
                ),
                remedy="build for the card's own architecture, or use an older image",
            )


@check("cuda-gpu")
def cuda_models(view: View) -> Iterator[Problem]:
    """Images whose CUDA does not know the GPU of a pool, or knows it no more."""
    for lane, cuda, pool in _jobs(view):
        model = GPU_MODELS[pool.gpu or ""]
        first = FIRST_CUDA_OF_MAJOR[model.compute_capability[0]]
        if model.last_cuda_major is not None and cuda[0] > model.last_cuda_major:
            yield _unknown_card(
                lane,
                cuda,
                pool,
                f"CUDA {model.last_cuda_major} is the last for {model.architecture}",
                f"use an image of CUDA {model.last_cuda_major}, or pools of newer GPUs",
            )
        elif cuda < first:
            yield _unknown_card(
                lane,
                cuda,
                pool,
                f"{model.architecture} begins with CUDA {_text(first)}",
                f"use an image of CUDA {_text(model.first_cuda)} or newer",
            )


@check("cuda-architecture", "warning")
def cuda_architectures(view: View) -> Iterator[Problem]:
    """Images that run on a pool's GPU by the code of an older card, and compile none for it."""
    for lane, cuda, pool in _jobs(view):
        model = GPU_MODELS[pool.gpu or ""]
        if FIRST_CUDA_OF_MAJOR[model.compute_capability[0]] <= cuda < model.first_cuda:
            yield _unknown_card(
                lane,
                cuda,
                pool,
                f"{model.architecture} is compiled for from CUDA {_text(model.first_cuda)} on",
                f"use an image of CUDA {_text(model.first_cuda)} or newer",
            )


def _unknown_card(
    lane: LaneView, cuda: tuple[int, int], pool: Pool, why: str, remedy: str
) -> Problem:
    return Problem(
        path=_where(lane),
        message=f"{_has(lane)} CUDA {_text(cuda)}, but pool {pool.name} has {pool.gpu}: {why}",
        remedy=remedy,
        severity=_severity(lane),
    )


@check("driver-gpu")
def driver_models(view: View) -> Iterator[Problem]:
    """Pools whose driver does not know their GPU, or knows it no more."""
    for pool in _gpu_pools(view):
        if pool.driver is None:
            continue
        model = GPU_MODELS[pool.gpu or ""]
        branch = _branch(pool.driver)
        if model.last_driver_branch is not None and branch > model.last_driver_branch:
            yield _wrong_driver(
                view,
                pool,
                f"driver {model.last_driver_branch} is the last for {model.architecture}",
                f"use driver {model.last_driver_branch}",
            )
        if branch < model.first_driver_branch:
            yield _wrong_driver(
                view,
                pool,
                f"the {model.name} needs driver {model.first_driver_branch} or newer",
                f"use driver {_supported(model)}",
            )


def _wrong_driver(view: View, pool: Pool, why: str, remedy: str) -> Problem:
    operator = view.stack.clusters[pool.cluster].gpu_stack.operator
    key = (
        f'gpu_stack.operator.driver_version: "{_supported(GPU_MODELS[pool.gpu or ""])}.…"'
        if operator is not None and operator.driver
        else "another node image"
    )
    return Problem(
        path=pool.path,
        message=f"has {pool.gpu} and driver {pool.driver}, which do not go together: {why}",
        remedy=f"{remedy}, by {key}",
    )


@check("driver-end-of-life", "warning")
def old_drivers(view: View) -> Iterator[Problem]:
    """Pools whose driver branch gets no fixes any more."""
    for pool in _gpu_pools(view):
        branch = DRIVER_BRANCHES.get(_branch(pool.driver)) if pool.driver is not None else None
        if branch is not None and branch.end_of_life < (view.today.year, view.today.month):
            year, month = branch.end_of_life
            yield Problem(
                path=pool.path,
                message=(
                    f"has driver {pool.driver}, whose branch ({branch.kind}) ended in "
                    f"{year}-{month:02}: no fixes, and CUDA up to {branch.max_cuda_major} only"
                ),
                remedy=f"use driver {_supported(GPU_MODELS[pool.gpu or ''])}",
            )


def _jobs(view: View) -> Iterator[tuple[LaneView, tuple[int, int], Pool]]:
    """GPU lanes of known CUDA, with each of their GPU pools."""
    for lane in view.lanes:
        if not lane.job.gpus:
            continue
        cuda = _cuda(lane)
        if cuda is not None:
            for pool in lane.pools:
                if pool.gpu is not None:
                    yield lane, cuda, pool


def _cuda(lane: LaneView) -> tuple[int, int] | None:
    """What the lane declares, else what its image's name says.

    Where ARC starts a pod for each job, the workflow names the image and the lane's is the
    runner's.
    """
    if lane.spec.cuda is not None:
        major, minor = lane.spec.cuda.split(".")
        return int(major), int(minor)
    image = lane.plan.job_image
    return cuda_of_image(image) if image is not None else None


def _gpu_pools(view: View) -> Iterator[Pool]:
    for cluster in view.plan.clusters:
        yield from (pool for pool in cluster.pools if pool.gpu is not None)


def _severity(lane: LaneView) -> Severity | None:
    """A default image serves only jobs that name none, so it is no reason to stop."""
    return "warning" if lane.spec.cuda is None and lane.spec.image is None else None


def _has(lane: LaneView) -> str:
    if lane.spec.cuda is not None:
        return "says"
    return "has" if lane.spec.image is not None else "is not said, and the default image has"


def _where(lane: LaneView) -> str:
    key = "cuda" if lane.spec.cuda is not None or lane.spec.image is None else "image"
    return f"{lane.path}.{key}"


def _supported(model: GpuModel) -> int:
    """The long-term branch of today, which every card of the catalog has."""
    branches = [branch.branch for branch in DRIVER_BRANCHES.values() if branch.kind == "LTS"]
    last = model.last_driver_branch
    return max(branch for branch in branches if last is None or branch <= last)


def _newest(pool: Pool) -> int:
    """Newest CUDA major that the driver of a pool runs."""
    return max(
        (major for major, floor in MINIMUM_DRIVER.items() if _branch(pool.driver or "0") >= floor),
        default=min(MINIMUM_DRIVER) - 1,
    )


def _branch(driver: str) -> int:
    return _numbers(driver)[0]


def _numbers(driver: str) -> tuple[int, ...]:
    return tuple(int(part) for part in driver.split("."))


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _driver_text(driver: tuple[int, ...]) -> str:
    """As NVIDIA writes it: two digits in the third place."""
    return ".".join(f"{part:02}" if place == 2 else str(part) for place, part in enumerate(driver))
