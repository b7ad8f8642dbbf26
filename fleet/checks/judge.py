"""All checks of a stack, in the order in which a person would mend what they find."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.checks.existing import same_cluster_twice, sharing_configs
from fleet.checks.images import unqualified_images
from fleet.checks.lanes import lane_needs
from fleet.checks.names import node_group_names, release_names, scale_set_names
from fleet.checks.oke import oke_warnings
from fleet.checks.references import lanes
from fleet.findings import Finding
from fleet.plan.build import ClusterPlan, Plan
from fleet.plan.shares import fits
from fleet.spec.stack import Stack


def judge(stack: Stack, plan: Plan) -> Iterator[Finding]:
    """Every finding about a stack and its plan."""
    yield from node_group_names(plan)
    yield from release_names(plan)
    yield from scale_set_names(stack)
    yield from unqualified_images(stack, plan)
    yield from oke_warnings(plan)
    yield from same_cluster_twice(plan)
    yield from sharing_configs(stack, plan)
    for cluster in plan.clusters:
        yield from _jobs(cluster)
        for path, lane in lanes(cluster.name, stack.clusters[cluster.name]):
            yield from lane_needs(path, lane, stack.clusters[cluster.name], cluster)


def _jobs(cluster: ClusterPlan) -> Iterator[Finding]:
    pools = {pool.name: pool for pool in cluster.pools}
    for path, job in cluster.jobs():
        yield from fits(job, tuple(pools[name] for name in job.pools if name in pools), path)
