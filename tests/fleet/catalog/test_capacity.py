import re

import pytest

from fleet.catalog.capacity import (
    CAPACITY_BLOCK_REGIONS,
    SCARCE_SPOT_FAMILIES,
    capacity_block_days,
)
from fleet.catalog.ec2 import INSTANCE_TYPES, instance_type


def test_capacity_blocks_are_sold_of_p4_and_newer_and_of_nothing_else() -> None:
    newer = {
        name
        for name, instance in INSTANCE_TYPES.items()
        if instance.family.startswith(("p4", "p5", "p6"))
    }
    assert set(CAPACITY_BLOCK_REGIONS) == newer


@pytest.mark.parametrize(("name", "regions"), CAPACITY_BLOCK_REGIONS.items())
def test_every_type_with_blocks_is_sold_in_oregon_and_in_real_regions(
    name: str, regions: frozenset[str]
) -> None:
    assert instance_type(name).gpus > 0
    assert "us-west-2" in regions
    assert all(re.fullmatch(r"[a-z]{2}-[a-z]+-\d", region) for region in regions)


# Read off AWS' table.
@pytest.mark.parametrize(
    ("name", "region", "sold"),
    [
        ("p4de.24xlarge", "us-east-2", False),
        ("p4d.24xlarge", "eu-west-2", False),
        ("p5.48xlarge", "sa-east-1", True),
        ("p5en.48xlarge", "sa-east-1", False),
        ("p5en.48xlarge", "ap-northeast-2", True),
        ("p6-b200.48xlarge", "eu-north-1", False),
    ],
)
def test_a_block_is_sold_only_in_some_regions(name: str, region: str, sold: bool) -> None:
    assert (region in CAPACITY_BLOCK_REGIONS[name]) is sold


def test_a_block_lasts_days_up_to_two_weeks_and_then_whole_weeks() -> None:
    lengths = [days for days in range(-7, 200) if capacity_block_days(days)]
    assert lengths[:14] == list(range(1, 15))
    assert lengths[14:] == list(range(21, 183, 7))


def test_families_whose_spot_is_scarce_are_families_of_the_catalog_with_whole_machines() -> None:
    families = {instance.family for instance in INSTANCE_TYPES.values()}
    assert families >= SCARCE_SPOT_FAMILIES
    assert not any(family.startswith(("g", "m")) for family in SCARCE_SPOT_FAMILIES)
