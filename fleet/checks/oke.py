"""What works on OKE, but less well than it reads: the limits of Oracle's autoscaler add-on."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.oke import OkePlan


@check("oke-autoscaler-node", "warning")
def autoscaler_node(view: View) -> Iterator[Problem]:
    """OKE clusters whose autoscaler scales the pool that it runs on."""
    for cluster in view.plan.clusters:
        oke = cluster.platform
        if isinstance(oke, OkePlan) and oke.pools == oke.scaled_pools:
            yield Problem(
                path=f"clusters.{oke.name}.oke.pools",
                message="are all scaled by the autoscaler, the one that it runs on too",
                remedy="give a CPU pool equal min_size and max_size, as Oracle advises",
            )


@check("oke-pool-order", "warning")
def pool_order(view: View) -> Iterator[Problem]:
    """Lanes on OKE that list several pools: Oracle's autoscaler add-on follows no order."""
    for lane in view.lanes:
        if isinstance(lane.cluster.platform, OkePlan) and len(lane.job.pools) > 1:
            yield Problem(
                path=f"{lane.path}.pools",
                message="are in an order that Oracle's autoscaler add-on does not know",
                remedy=(
                    "it grows any of them; jobs prefer the first only among nodes that run already"
                ),
            )
