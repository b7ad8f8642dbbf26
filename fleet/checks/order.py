"""The choice between pools: which comes first, what the next one costs, and pools of no lane.

Prices are on demand, so pools are compared where both are had the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from fleet.checks.capacity import taken_back
from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View
from fleet.clusters.nodes import Pool
from fleet.cost import monthly_cost
from fleet.kubernetes.scheduling import copies, offer

_DEARER: Final = 1.2
"""A first choice that costs so many times the second is a slip, not a preference."""

_FALLBACK: Final = 10
"""A node that costs so many times the first choice's is a surprise on the bill."""

_IDLE_CPU_USD: Final = 1000
"""A month of CPU nodes that always run and have no lane; two small ones cost about 140."""


@check("spot-behind", "warning")
def spot_behind(view: View) -> Iterator[Problem]:
    """Lanes that use spot or preemptible nodes only when nodes on demand are all taken."""
    for lane in view.lanes:
        for first, then in pairwise(_open(lane)):
            if taken_back(then) and not taken_back(first) and then.gpu == first.gpu:
                yield Problem(
                    path=f"{lane.path}.pools",
                    message=(
                        f"list {then.name} ({then.capacity}) behind {first.name}: it is used only "
                        "when that is full"
                    ),
                    remedy=f"put {then.name} before {first.name}",
                )


@check("dear-first", "warning")
def dear_first(view: View) -> Iterator[Problem]:
    """Lanes whose first choice costs more for a job than the next pool, had the same way."""
    for lane in view.lanes:
        for first, then in pairwise(_open(lane)):
            one, other = _usd_per_job(lane, first), _usd_per_job(lane, then)
            if None in (one, other) or taken_back(first) != taken_back(then):
                continue
            if first.gpu == then.gpu and (one or 0) > _DEARER * (other or 0):
                yield Problem(
                    path=f"{lane.path}.pools",
                    message=(
                        f"list {first.name} before {then.name}: a job costs {one:.2f} USD an hour "
                        f"there, and {other:.2f} on a full node of {then.name}"
                    ),
                    remedy=f"put {then.name} first, or remove {first.name}",
                )


@check("dear-fallback", "warning")
def dear_fallback(view: View) -> Iterator[Problem]:
    """Lanes that fall back to nodes many times as dear as those of their first choice."""
    for lane in view.lanes:
        pools = _open(lane)
        least = _usd_per_node(pools[0]) if pools else None
        for pool in pools[1:]:
            dear = _usd_per_node(pool)
            if least and dear and dear >= _FALLBACK * least:
                yield Problem(
                    path=f"{lane.path}.pools",
                    message=(
                        f"fall back to {pool.name}: a job that {pools[0].name} has no room for "
                        f"starts a node of {dear:.2f} USD an hour instead of {least:.2f}"
                    ),
                    remedy=f"remove {pool.name} from the lane, or give it a lane of its own",
                )


@check("unused-pool", "note")
def unused_pools(view: View) -> Iterator[Problem]:
    """Pools of which no lane takes anything: GPU pools, and CPU pools that cost much."""
    for cluster in view.plan.clusters:
        used = {name for lane in view.lanes_of(cluster) for name in lane.job.pools}
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
                yield Problem(
                    path=pool.path,
                    message=f"is a pool of {pool.gpu} that no lane uses",
                    remedy="name it in a lane's pools, or remove it",
                )
            elif floor > _IDLE_CPU_USD or (pool.min_size and pool != cheapest and floor):
                yield Problem(
                    path=f"{pool.path}.min_size",
                    message=(
                        f"keeps {pool.min_size} nodes of {pool.kinds[0]} running, {floor:,.0f} USD "
                        "a month, and no lane uses them"
                    ),
                    remedy=(
                        "use fewer or smaller nodes for what always runs (controllers, listeners, "
                        "add-ons)"
                    ),
                    severity="warning" if floor > _IDLE_CPU_USD else None,
                )


def _open(lane: LaneView) -> tuple[Pool, ...]:
    return tuple(pool for pool in lane.pools if not pool.paused)


def _usd_per_node(pool: Pool) -> float | None:
    prices = [node.usd_per_hour for node in pool.nodes if node.usd_per_hour is not None]
    return max(prices) if prices else None


def _usd_per_job(lane: LaneView, pool: Pool) -> float | None:
    """On a node that is full of the lane's jobs."""
    prices = [
        node.usd_per_hour / jobs
        for node in pool.nodes
        if node.usd_per_hour is not None and (jobs := copies(lane.asked, offer(pool, node))[0])
    ]
    return max(prices) if prices else None
