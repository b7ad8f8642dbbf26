"""The order of a lane's pools, what each choice costs, and pools that no lane uses.

Prices are on demand. Pools are compared only where both or neither are spot.
"""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError
from itertools import pairwise
from typing import Final

from fleet.checks.capacity import interruptible
from fleet.checks.check import check
from fleet.checks.view import LaneView, View
from fleet.clusters.autoscaler import least_wanted_first
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePlan
from fleet.cost import monthly_cost
from fleet.findings import Finding
from fleet.kubernetes.scheduling import copies, offer

_COST_RATIO: Final = 1.2
"""A first pool is reported if a job costs more there than on the second, times this factor."""

_FALLBACK_RATIO: Final = 10
"""A fallback is reported if its node costs at least the first pool's node, times this factor."""

_IDLE_CPU_USD: Final = 1000
"""A month of CPU nodes that always run and have no lane; two small ones cost about 140."""


@check("preference", "warning")
def preference_conflicts(view: View) -> Iterator[Finding]:
    """Lanes of an EKS cluster that list the same pools in opposite orders."""
    for cluster in view.plan.clusters:
        if cluster.autoscaler is None:
            continue
        try:
            least_wanted_first(lane.plan.pool_names for lane in view.lanes_of(cluster)).prepare()
        except CycleError as error:
            pools = ", ".join(dict.fromkeys(error.args[1]))
            yield preference_conflicts.finding(
                f"clusters.{cluster.name}",
                message=(
                    f"lanes list the pools {pools} in different orders: the autoscaler has one "
                    "order for the whole cluster, so it follows none of them"
                ),
                remedy="list these pools in the same order in every lane",
            )


@check("oke-pool-order", "warning")
def oke_pool_order(view: View) -> Iterator[Finding]:
    """Lanes on OKE that list several pools: Oracle's autoscaler add-on has no order of pools."""
    for lane in view.lanes:
        if isinstance(lane.cluster.platform, OkePlan) and len(lane.plan.pool_names) > 1:
            yield oke_pool_order.finding(
                f"{lane.path}.pools",
                message=(
                    f"are {', '.join(lane.plan.pool_names)}, but Oracle's autoscaler add-on "
                    "ignores their order: it may add a node to any of them"
                ),
                remedy=(
                    "no change needed if any of these pools will do: jobs prefer the first one "
                    "among nodes that run. Otherwise list one pool"
                ),
            )


@check("spot-behind", "warning")
def spot_behind(view: View) -> Iterator[Finding]:
    """Lanes that list a spot or preemptible pool after an on-demand pool of the same GPU."""
    for lane in view.lanes:
        for first, then in pairwise(_open(lane)):
            if interruptible(then) and not interruptible(first) and then.gpu == first.gpu:
                yield spot_behind.finding(
                    f"{lane.path}.pools",
                    message=(
                        f"list {then.name} ({then.capacity}) after the on-demand pool "
                        f"{first.name}: spot nodes start only when {first.name} is full"
                    ),
                    remedy=f"put {then.name} before {first.name}",
                )


@check("dear-first", "warning")
def dear_first(view: View) -> Iterator[Finding]:
    """Lanes whose first pool costs more for each job than the next pool of the same GPU."""
    for lane in view.lanes:
        for first, then in pairwise(_open(lane)):
            one, other = _usd_per_job(lane, first), _usd_per_job(lane, then)
            if one is None or other is None or interruptible(first) != interruptible(then):
                continue
            if first.gpu == then.gpu and one > _COST_RATIO * other:
                yield dear_first.finding(
                    f"{lane.path}.pools",
                    message=(
                        f"list {first.name} before {then.name}, but a job costs {one:.2f} USD an "
                        f"hour on a full node of {first.name} and {other:.2f} on one of {then.name}"
                    ),
                    remedy=f"put {then.name} first, or remove {first.name}",
                )


@check("dear-fallback", "warning")
def dear_fallback(view: View) -> Iterator[Finding]:
    """Lanes whose fallback nodes cost at least ten times those of their first pool."""
    for lane in view.lanes:
        pools = _open(lane)
        first = _usd_per_node(pools[0]) if pools else None
        for pool in pools[1:]:
            fallback = _usd_per_node(pool)
            if first and fallback and fallback >= _FALLBACK_RATIO * first:
                yield dear_fallback.finding(
                    f"{lane.path}.pools",
                    message=(
                        f"fall back to {pool.name}: when {pools[0].name} is full, one job starts a "
                        f"node of {fallback:.2f} USD an hour instead of {first:.2f}"
                    ),
                    remedy=f"remove {pool.name} from the lane, or use it in a separate lane",
                )


@check("unused-pool", "note")
def unused_pools(view: View) -> Iterator[Finding]:
    """GPU pools that no lane uses, and costly CPU nodes that always run without a lane."""
    for cluster in view.plan.clusters:
        used = {name for lane in view.lanes_of(cluster) for name in lane.plan.pool_names}
        cheapest = min(
            (pool for pool in cluster.pools if pool.gpu is None and pool.min_size),
            key=lambda pool: monthly_cost(pool).floor,
            default=None,
        )
        for pool in cluster.pools:
            if pool.name in used or pool.paused:
                continue
            floor = monthly_cost(pool).floor
            if pool.gpu is not None:
                yield unused_pools.finding(
                    pool.path,
                    message=f"has {pool.gpu} nodes that no lane uses: no job can run on them",
                    remedy=f"add {pool.name} to the pools of a lane, or remove it",
                )
            elif floor > _IDLE_CPU_USD or (pool.min_size and pool != cheapest and floor):
                yield unused_pools.finding(
                    f"{pool.path}.min_size",
                    message=(
                        f"keeps {pool.min_size} nodes of {pool.kinds[0]} running, which no lane "
                        f"uses: they cost {floor:,.0f} USD a month"
                    ),
                    remedy=(
                        "use fewer or smaller nodes; controllers, listeners and add-ons need "
                        "little, like 2 of m6i.large"
                    ),
                    severity="warning" if floor > _IDLE_CPU_USD else None,
                )


def _open(lane: LaneView) -> tuple[Pool, ...]:
    return tuple(pool for pool in lane.pools if not pool.paused)


def _usd_per_node(pool: Pool) -> float | None:
    prices = [node.usd_per_hour for node in pool.nodes if node.usd_per_hour is not None]
    return max(prices) if prices else None


def _usd_per_job(lane: LaneView, pool: Pool) -> float | None:
    """Return the price of an hour of a job on a node that is full of the lane's jobs."""
    prices = [
        node.usd_per_hour / jobs
        for node in pool.nodes
        if node.usd_per_hour is not None and (jobs := copies(lane.requests, offer(pool, node))[0])
    ]
    return max(prices) if prices else None
