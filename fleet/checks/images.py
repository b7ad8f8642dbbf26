"""Image names on pools whose container runtime guesses no registry (CRI-O, as on OKE)."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.oke import is_fully_qualified
from fleet.checks.references import lanes
from fleet.findings import Finding
from fleet.plan.build import Plan
from fleet.spec.stack import Stack


def unqualified_images(stack: Stack, plan: Plan) -> Iterator[Finding]:
    """Lanes whose image lacks its registry where the pool demands it."""
    for cluster in plan.clusters:
        strict = {pool.name for pool in cluster.pools if pool.qualified_images}
        for path, lane in lanes(cluster.name, stack.clusters[cluster.name]):
            pools = [name for name in lane.pools if name in strict]
            if lane.image is None or not pools or is_fully_qualified(lane.image):
                continue
            yield Finding(
                rule="images",
                path=f"{path}.image",
                message=(
                    f"is {lane.image}, a name without its registry; the CRI-O of pool "
                    f"{pools[0]} refuses it"
                ),
                remedy=f"write the registry too, like {_qualified(lane.image)}",
                reads=(f"{path}.image", f"{path}.pools"),
            )


def _qualified(image: str) -> str:
    return f"docker.io/{image if '/' in image else f'library/{image}'}"
