"""Image names on pools whose container runtime guesses no registry (CRI-O, as on OKE)."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.oke import is_fully_qualified
from fleet.checks.check import Problem, check
from fleet.checks.view import View


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
                reads=(f"{lane.path}.image", f"{lane.path}.pools"),
            )


def _qualified(image: str) -> str:
    return f"docker.io/{image if '/' in image else f'library/{image}'}"
