"""Money: what a pool costs when idle and when full, at whose prices of which day."""

import pytest

from fleet.catalog.ec2 import INSTANCE_TYPES, instance_type
from fleet.catalog.oci import SHAPES
from fleet.cost import HOURS_PER_MONTH, MonthlyCost, monthly_cost, not_counted, price
from tests.fleet.samples import cluster_of, pool_of

T4 = "clusters.ci.eks.pools.t4"
T4_MONTH = instance_type("g4dn.2xlarge").usd_per_hour * HOURS_PER_MONTH


def test_a_pool_costs_its_minimum_when_idle_and_its_maximum_when_full() -> None:
    cost = monthly_cost(pool_of({f"{T4}.min_size": 2, f"{T4}.max_size": 5}))
    assert (cost.floor, cost.ceiling) == pytest.approx((2 * T4_MONTH, 5 * T4_MONTH))


def test_a_pool_of_several_types_may_cost_as_much_as_the_dearest() -> None:
    both = monthly_cost(pool_of({f"{T4}.instance_types": ["g4dn.xlarge", "g4dn.2xlarge"]}))
    assert both == monthly_cost(pool_of())


def test_costs_add_up() -> None:
    assert MonthlyCost(floor=1, ceiling=2) + MonthlyCost(floor=3, ceiling=4) == MonthlyCost(
        floor=4, ceiling=6
    )


@pytest.mark.parametrize(("waiting", "nodes"), [(0, 2), (1, 2), (3, 3), (99, 5)])
def test_waiting_runners_hold_nodes_within_the_bounds_of_the_pool(waiting: int, nodes: int) -> None:
    pool = pool_of({f"{T4}.min_size": 2, f"{T4}.max_size": 5})
    assert monthly_cost(pool, waiting=waiting).floor == pytest.approx(nodes * T4_MONTH)


def test_a_paused_pool_costs_nothing() -> None:
    assert monthly_cost(pool_of({f"{T4}.paused": True}), waiting=1) == MonthlyCost()


def test_nodes_of_somebody_else_have_no_price() -> None:
    for pool in cluster_of(name="honey").pools:
        assert price(pool) is None
        assert monthly_cost(pool) == MonthlyCost()


def test_a_price_says_its_day_its_region_and_where_it_was_read() -> None:
    found = price(pool_of())
    assert found is not None
    assert (found.kind, found.usd_per_hour) == (
        "g4dn.2xlarge",
        INSTANCE_TYPES["g4dn.2xlarge"].usd_per_hour,
    )
    assert found.date == INSTANCE_TYPES["g4dn.2xlarge"].price_date
    assert found.region == "us-east-1"
    assert found.source == INSTANCE_TYPES["g4dn.2xlarge"].price_source


def test_every_priced_type_of_the_catalog_says_where_its_price_was_read() -> None:
    assert all(kind.price_source for kind in INSTANCE_TYPES.values())
    assert all(len(kind.part_numbers) == (2 if kind.flex else 1) for kind in SHAPES.values())


def test_an_oci_price_names_the_parts_of_oracles_list_and_is_the_same_everywhere() -> None:
    pools = {pool.name: price(pool) for pool in cluster_of(name="oci").pools}
    assert pools["a10"] is not None
    assert pools["a10"].region is None
    assert pools["a10"].source.endswith(f", {SHAPES['VM.GPU.A10.1'].part_numbers[0]}")
    flex = SHAPES["VM.Standard.E5.Flex"].flex
    assert flex is not None
    assert pools["system"] is not None
    assert pools["system"].source.endswith(f"{flex.ocpu_part} and {flex.memory_part}")


def test_what_costs_another_price_than_the_counted_one_says_so() -> None:
    assert "spot" in (not_counted(pool_of()) or "")
    assert not_counted(pool_of({f"{T4}.capacity_type": "ON_DEMAND"})) is None
    assert "block" in (not_counted(pool_of(name="a100")) or "")
    pools = {pool.name: pool for pool in cluster_of(name="oci").pools}
    assert "preemptible" in (not_counted(pools["a10"]) or "")
    assert not_counted(pools["system"]) is None
