"""The order in which lanes prefer pools: one autoscaler can follow one order."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError

from fleet.checks.check import Problem, check
from fleet.checks.references import lanes
from fleet.checks.view import View
from fleet.plan.autoscaler import least_wanted_first


@check("preference")
def preference_conflicts(view: View) -> Iterator[Problem]:
    """Lanes of a cluster that list the same pools in opposite orders."""
    for name, cluster in view.stack.clusters.items():
        try:
            least_wanted_first(lane.pools for _, lane in lanes(name, cluster)).prepare()
        except CycleError as error:
            pools = ", ".join(dict.fromkeys(error.args[1]))
            yield Problem(
                path=f"clusters.{name}",
                message=f"lanes list the pools {pools} in different orders, the autoscaler has one",
                remedy="list them in the same order in every lane",
                reads=tuple(f"{path}.pools" for path, _ in lanes(name, cluster)),
            )
