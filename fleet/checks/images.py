"""Images of lanes: names that a runtime refuses, images that cannot serve, and room for them."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.oke import is_fully_qualified
from fleet.catalog.runner_images import lacks_github_runner
from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View
from fleet.clusters.nodes import Pool
from fleet.clusters.oke_pools import OkePool
from fleet.config.github import GitHubLane
from fleet.config.gitlab import GitLabLane
from fleet.config.oke_pools import GPU_BOOT_VOLUME_GB
from fleet.config.pools import EKS_GPU_DISK_GIB


@check("image-registry")
def unqualified_images(view: View) -> Iterator[Problem]:
    """Lanes whose image lacks its registry where the pool demands it."""
    for lane in view.lanes:
        pool = next((pool for pool in lane.pools if pool.qualified_images), None)
        image = lane.spec.image
        if image is not None and pool is not None and not is_fully_qualified(image):
            yield Problem(
                path=f"{lane.path}.image",
                message=(
                    f"is {image}, a name without its registry; the CRI-O of pool {pool.name} "
                    "refuses it"
                ),
                remedy=f"write the registry too, like {_qualified(image)}",
            )


def _qualified(image: str) -> str:
    return f"docker.io/{image if '/' in image else f'library/{image}'}"


@check("runner-image")
def runner_images(view: View) -> Iterator[Problem]:
    """GitHub lanes whose image holds no runner: in every container mode it is the runner's own."""
    for lane in view.lanes:
        image = lane.spec.image
        if not isinstance(lane.spec, GitHubLane) or image is None:
            continue
        lacks = lacks_github_runner(image)
        if lacks is not None:
            says = "holds" if lacks == "certain" else "holds, by its name,"
            named_by_workflow = lane.plan.job_image is None
            yield Problem(
                path=f"{lane.path}.image",
                message=f"is {image}, which {says} no GitHub runner; its pod would end at once",
                remedy=(
                    "use an image built on ghcr.io/actions/actions-runner"
                    + (
                        "; the job's own image is named by container: in the workflow"
                        if named_by_workflow
                        else ""
                    )
                ),
                severity="error" if lacks == "certain" else "warning",
            )


@check("pull-policy")
def unpulled_images(view: View) -> Iterator[Problem]:
    """Lanes that never pull on a pool that starts at zero nodes: no new node has the image."""
    for lane in view.lanes:
        if not _never_pulls(lane):
            continue
        for pool in lane.pools:
            if pool.capacity == "existing" or pool.min_size > 0:
                continue
            yield Problem(
                path=f"{lane.path}.pull_policy",
                message=(
                    f"lets no node pull the image, and pool {pool.name} starts at zero nodes: a "
                    "new node does not have it"
                ),
                remedy="use the policy that pulls what is missing, which is the default",
                # An image of one's own choice for the node may bring others along.
                severity="warning" if isinstance(pool, OkePool) and pool.image_id else "error",
            )


def _never_pulls(lane: LaneView) -> bool:
    if isinstance(lane.spec, GitLabLane):
        return set(lane.spec.pull_policy) == {"never"}
    return isinstance(lane.spec, GitHubLane) and lane.spec.pull_policy == "Never"


@check("image-disk", "warning")
def small_image_disks(view: View) -> Iterator[Problem]:
    """GPU pools whose disk holds few CUDA images, so that nodes run full or pull again and again.

    Below half of these sizes the stack file is refused.
    """
    for cluster in view.plan.clusters:
        spec = view.spec_of(cluster)
        for pool in cluster.pools:
            if pool.gpu is None:
                continue
            if spec.eks is not None:
                one = spec.eks.pools[pool.name]
                if one.images_on_root and one.disk_gib < EKS_GPU_DISK_GIB:
                    keys = ("instance_types", "instance_store")
                    yield _small_disk(pool, "disk_gib", one.disk_gib, EKS_GPU_DISK_GIB, keys)
            elif spec.oke is not None:
                size = spec.oke.pools[pool.name].boot_gb
                if size < GPU_BOOT_VOLUME_GB:
                    yield _small_disk(
                        pool, "boot_volume_gb", size, GPU_BOOT_VOLUME_GB, keys=("shape",)
                    )


def _small_disk(pool: Pool, key: str, size: int, wanted: int, keys: tuple[str, ...]) -> Problem:
    return Problem(
        path=f"{pool.path}.{key}",
        message=(
            f"is {size} on a GPU pool: CUDA images take 10 to 20 GB each, and beside the system "
            "and the jobs' own files few of them have room"
        ),
        remedy=f"use {wanted} or more, unless jobs share one small image",
    )
