"""What the nodes of a pool cost when all idle and when all full.

Units: USD a month of 730 hours, on demand, Linux, at the prices of the catalog (`Price.date` and
`.source`). Spot and preemptible nodes cost less and capacity blocks otherwise, which is said and
not counted; nodes of somebody else cost nothing here; disks, traffic, NAT and the control plane are
extra.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from fleet.catalog.ec2 import INSTANCE_TYPES, PRICE_REGION
from fleet.catalog.oci import PRICE_SOURCE, SHAPES
from fleet.clusters.eks_pools import EksPool
from fleet.clusters.nodes import Pool

HOURS_PER_MONTH: Final = 730

_NOT_COUNTED: Final = {
    "SPOT": "spot costs less; not counted",
    "CAPACITY_BLOCK": "a capacity block is paid in advance, at its own price; not counted",
    "preemptible": "preemptible costs less; not counted",
}
"""Capacity, in the platform's word -> how its price differs from the one on demand."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthlyCost:
    """USD a month: `floor` while no job runs, `ceiling` with every pool at its maximum."""

    floor: float
    ceiling: float

    def __add__(self, other: MonthlyCost) -> MonthlyCost:
        return MonthlyCost(floor=self.floor + other.floor, ceiling=self.ceiling + other.ceiling)


NOTHING: Final = MonthlyCost(floor=0, ceiling=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What one node costs an hour on demand, in USD."""

    kind: str
    """Instance type or shape."""
    usd_per_hour: float
    region: str | None
    """Whose price it is; None where the cloud has one price everywhere."""
    date: date | None
    """Day of the price list; None where it carried none."""
    source: str


def price(pool: Pool) -> Price | None:
    """The price of a pool's dearest kind of node; None where the nodes are somebody else's."""
    priced = [(node.usd_per_hour, node.kind) for node in pool.nodes if node.usd_per_hour]
    if not priced:
        return None
    usd, kind = max(priced, key=lambda each: each[0])
    if isinstance(pool, EksPool):
        known = INSTANCE_TYPES[kind]
        return Price(
            kind=kind,
            usd_per_hour=usd,
            region=PRICE_REGION,
            date=known.price_date,
            source=known.price_source,
        )
    parts = " and ".join(SHAPES[kind].part_numbers)
    return Price(
        kind=kind, usd_per_hour=usd, region=None, date=None, source=f"{PRICE_SOURCE}, {parts}"
    )


def not_counted(pool: Pool) -> str | None:
    """How the pool's real price differs from the one that is counted; None where it does not."""
    return _NOT_COUNTED.get(pool.capacity)


def monthly_cost(pool: Pool, *, waiting: int = 0) -> MonthlyCost:
    """Cost of one pool, at the price of its dearest kind of node.

    `waiting` nodes are held by runners that wait for jobs. A paused pool starts no node: it costs
    nothing until it goes on.
    """
    found = price(pool)
    if found is None or pool.paused:
        return NOTHING
    monthly = found.usd_per_hour * HOURS_PER_MONTH
    return MonthlyCost(
        floor=min(max(pool.min_size, waiting), pool.max_size) * monthly,
        ceiling=pool.max_size * monthly,
    )
