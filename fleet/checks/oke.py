"""What works on OKE, but less well than it reads."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.findings import Finding
from fleet.plan.build import ClusterPlan, Plan
from fleet.plan.oke import OkePlan


def oke_warnings(plan: Plan) -> Iterator[Finding]:
    """The limits of Oracle's autoscaler add-on."""
    for cluster in plan.clusters:
        if isinstance(cluster.platform, OkePlan):
            yield from _own_node(cluster.platform)
            yield from _order(cluster)


def _own_node(oke: OkePlan) -> Iterator[Finding]:
    if oke.pools == oke.scaled_pools:
        yield Finding(
            rule="oke-autoscaler",
            path=f"clusters.{oke.name}.oke.pools",
            message="are all scaled by the autoscaler, the one that it runs on too",
            remedy="give a CPU pool equal min_size and max_size, as Oracle advises",
            severity="warning",
            reads=(f"clusters.{oke.name}.oke.pools",),
        )


def _order(cluster: ClusterPlan) -> Iterator[Finding]:
    for path, job in cluster.jobs():
        if len(job.pools) > 1:
            yield Finding(
                rule="oke-autoscaler",
                path=f"{path}.pools",
                message="are in an order that Oracle's autoscaler add-on does not know",
                remedy=(
                    "it grows any of them; jobs prefer the first only among nodes that run already"
                ),
                severity="warning",
            )
