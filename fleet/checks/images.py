"""Images of lanes: names without a registry, images without a runner, and disks too small."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.oke import is_fully_qualified
from fleet.catalog.runner_images import lacks_github_runner
from fleet.checks.check import check
from fleet.checks.view import LaneView, View
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePool
from fleet.config.gitlab import GitLabLane
from fleet.config.oke_pools import GPU_BOOT_VOLUME_GB
from fleet.config.pools import EKS_GPU_DISK_GIB
from fleet.findings import Finding


@check("image-registry")
def unqualified_images(view: View) -> Iterator[Finding]:
    """Images without a registry on pools whose CRI-O refuses such names."""
    for lane in view.lanes:
        pool = next((pool for pool in lane.pools if pool.qualified_images), None)
        image = lane.spec.image
        if image is not None and pool is not None and not is_fully_qualified(image):
            qualified = f"docker.io/{image if '/' in image else f'library/{image}'}"
            yield unqualified_images.finding(
                f"{lane.path}.image",
                message=(
                    f"is {image}, a name without its registry: CRI-O on pool {pool.name} refuses "
                    "to pull it"
                ),
                remedy=f"write the registry too, like {qualified}",
            )


@check("runner-image")
def runner_images(view: View) -> Iterator[Finding]:
    """GitHub lanes whose image has no GitHub runner; every container mode starts it from there."""
    for lane in view.github_lanes:
        image = lane.spec.image
        lacks = lacks_github_runner(image) if image is not None else None
        if lacks is not None:
            verb = "has" if lacks == "certain" else "by its name has"
            hint = (
                "; the workflow names the job's own image, by container:"
                if lane.plan.image is None
                else ""
            )
            yield runner_images.finding(
                f"{lane.path}.image",
                message=f"is {image}, which {verb} no GitHub runner: its pod would exit at once",
                remedy=f"use an image built on ghcr.io/actions/actions-runner{hint}",
                severity="error" if lacks == "certain" else "warning",
            )


@check("pull-policy")
def unpulled_images(view: View) -> Iterator[Finding]:
    """Lanes that never pull images on a pool that starts at zero nodes."""
    for lane in view.lanes:
        for pool in lane.pools if _never_pulls(lane) else ():
            if pool.capacity == "existing" or pool.min_size > 0:
                continue
            yield unpulled_images.finding(
                f"{lane.path}.pull_policy",
                message=(
                    f"forbids pulling the image, but pool {pool.name} starts at zero nodes: a new "
                    "node does not have the image, and jobs fail with ErrImageNeverPull"
                ),
                remedy="remove it: the default pulls an image that a node does not have",
                # A node image of the user's own may contain container images.
                severity="warning" if isinstance(pool, OkePool) and pool.image_id else "error",
            )


def _never_pulls(lane: LaneView) -> bool:
    if isinstance(lane.spec, GitLabLane):
        return set(lane.spec.pull_policy) == {"never"}
    return lane.spec.pull_policy == "Never"


@check("image-disk", "warning")
def small_image_disks(view: View) -> Iterator[Finding]:
    """GPU pools whose disk has room for few CUDA images.

    Below half of these sizes the stack file is refused.
    """
    for cluster in view.plan.clusters:
        spec = view.spec_of(cluster)
        for pool in (pool for pool in cluster.pools if pool.gpu is not None):
            if spec.eks is not None:
                eks_pool = spec.eks.pools[pool.name]
                if eks_pool.images_on_root:
                    yield from _small_disk(pool, "disk_gib", eks_pool.disk_gib, EKS_GPU_DISK_GIB)
            elif spec.oke is not None:
                size = spec.oke.pools[pool.name].boot_gb
                yield from _small_disk(pool, "boot_volume_gb", size, GPU_BOOT_VOLUME_GB)


def _small_disk(pool: Pool, key: str, size: int, recommended: int) -> Iterator[Finding]:
    if size < recommended:
        yield small_image_disks.finding(
            f"{pool.path}.{key}",
            message=(
                f"is {size} on a GPU pool, and CUDA images take 10 to 20 GB each: nodes run full, "
                "or delete images and pull them again"
            ),
            remedy=f"use {recommended} or more, unless all jobs share one small image",
        )
