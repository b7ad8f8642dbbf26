"""The monthly cost of a pool's nodes without jobs and at full size.

Units: USD a month of 730 hours, on demand, Linux, at the prices of the catalog (`Price.date` and
`.source`). The lower price of spot and preemptible nodes and the price of capacity blocks are not
counted, only named. Nodes of an existing cluster cost nothing here. Disks, traffic, NAT and the
control plane are extra.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from fleet.catalog.ec2 import INSTANCE_TYPES, PRICE_REGION
from fleet.catalog.oci import PRICE_SOURCE, SHAPES
from fleet.clusters.eks import EksPool
from fleet.clusters.nodes import Pool

HOURS_PER_MONTH: Final = 730

_NOT_COUNTED: Final = {
    "SPOT": "spot costs less; not counted",
    "CAPACITY_BLOCK": "a capacity block is paid in advance, at its own price; not counted",
    "preemptible": "preemptible costs less; not counted",
}
"""How the price of a purchase option (`Pool.capacity`) differs from the on-demand price."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthlyCost:
    """USD a month: `floor` while no job runs, `ceiling` with every pool at `max_size`."""

    floor: float = 0
    ceiling: float = 0

    def __add__(self, other: MonthlyCost) -> MonthlyCost:
        return MonthlyCost(floor=self.floor + other.floor, ceiling=self.ceiling + other.ceiling)


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """The on-demand price of one node an hour, in USD."""

    kind: str
    """Instance type or shape."""
    usd_per_hour: float
    region: str | None
    """Region of the price; `None` if the cloud has one price everywhere."""
    date: date | None
    """Day of the price list; `None` if the list has no date."""
    source: str


def price(pool: Pool) -> Price | None:
    """Return the price of a pool's most expensive node; `None` for an existing cluster."""
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
    """Return how the pool's price differs from the counted one; `None` if it does not."""
    return _NOT_COUNTED.get(pool.capacity)


def monthly_cost(pool: Pool, *, waiting: int = 0) -> MonthlyCost:
    """Return the cost of one pool, at the price of its most expensive node.

    `waiting` is the number of nodes that idle runners keep. A paused pool starts no node, so it
    costs nothing.
    """
    found = price(pool)
    if found is None or pool.paused:
        return MonthlyCost()
    monthly = found.usd_per_hour * HOURS_PER_MONTH
    return MonthlyCost(
        floor=min(max(pool.min_size, waiting), pool.max_size) * monthly,
        ceiling=pool.max_size * monthly,
    )
