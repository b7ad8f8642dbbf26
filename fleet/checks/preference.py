"""The order in which lanes prefer pools: one autoscaler can follow one order."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError

from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.autoscaler import least_wanted_first


@check("preference", "warning")
def preference_conflicts(view: View) -> Iterator[Problem]:
    """Lanes of an EKS cluster that list the same pools in opposite orders."""
    for cluster in view.plan.clusters:
        if cluster.autoscaler is None:
            continue
        lanes = view.lanes_of(cluster)
        try:
            least_wanted_first(lane.job.pools for lane in lanes).prepare()
        except CycleError as error:
            pools = ", ".join(dict.fromkeys(error.args[1]))
            yield Problem(
                path=f"clusters.{cluster.name}",
                message=(
                    f"lanes list the pools {pools} in different orders; the autoscaler has one, "
                    "and so follows none"
                ),
                remedy="list them in the same order in every lane",
            )
