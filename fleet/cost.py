"""What the nodes of a pool cost when all idle and when all full.

Units: USD a month of 730 hours, on demand, Linux, at the prices of the catalog. Spot, preemptible
nodes and capacity blocks cost less or otherwise, and nodes of somebody else nothing here; disks,
traffic, NAT and the control plane are extra.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.plan.nodes import Pool

HOURS_PER_MONTH = 730


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthlyCost:
    """USD a month: `floor` with every pool at its minimum, `ceiling` at its maximum."""

    floor: float
    ceiling: float

    def __add__(self, other: MonthlyCost) -> MonthlyCost:
        return MonthlyCost(floor=self.floor + other.floor, ceiling=self.ceiling + other.ceiling)


NOTHING = MonthlyCost(floor=0, ceiling=0)


def monthly_cost(pool: Pool) -> MonthlyCost:
    """Cost of one pool, at the price of its dearest kind of node."""
    hourly = max(node.usd_per_hour or 0 for node in pool.nodes)
    return MonthlyCost(
        floor=pool.min_size * hourly * HOURS_PER_MONTH,
        ceiling=pool.max_size * hourly * HOURS_PER_MONTH,
    )
