"""EC2 capacity that is not simply on demand: Capacity Blocks, and spot that hardly exists.

Sources:
- which types: `SupportedUsageClasses` of EC2 DescribeInstanceTypes as stored in moto 5.2.5
  (2026-10-27); regions, count and times:
  https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html , read in a copy of
  autumn 2026; Local Zones and GovCloud are left out;
- durations: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html .
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_P5_COMMON: Final = (
    "us-east-1 us-east-2 us-west-1 us-west-2 eu-north-1 eu-west-2 ap-northeast-1 ap-south-1 "
    "ap-southeast-2 ap-southeast-3"
)

_REGIONS: Final[tuple[tuple[str, str], ...]] = (
    ("p4d.24xlarge", "us-east-1 us-east-2 us-west-2"),
    ("p4de.24xlarge", "us-east-1 us-west-2"),
    (
        "p5.4xlarge",
        "us-east-1 us-east-2 us-west-2 eu-west-2 ap-northeast-1 ap-south-1 ap-southeast-2 "
        "sa-east-1",
    ),
    ("p5.48xlarge", f"{_P5_COMMON} sa-east-1"),
    ("p5en.48xlarge", f"{_P5_COMMON} eu-south-2 ap-northeast-2"),
    ("p6-b200.48xlarge", "us-east-1 us-east-2 us-west-2 ap-south-1 ap-south-2"),
)

CAPACITY_BLOCK_REGIONS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {name: frozenset(regions.split()) for name, regions in _REGIONS}
)
"""Instance type of the catalog -> regions that sell Capacity Blocks of it.

A block lies in one zone, and a node group on it must have its subnet there; instances of a block
do not count against the On-Demand quota and take no placement group.
"""

CAPACITY_BLOCK_MAX_INSTANCES: Final = 64
"""Instances of one block; not every type and region has that many."""

CAPACITY_BLOCK_ENDS_BEFORE_MINUTES: Final = 30
"""Instances are terminated from this long before the end of the block (11:30 UTC) on."""


def capacity_block_days(days: int) -> bool:
    """Return whether a block of that length is sold: 1 to 14 days, or weeks up to 182 days."""
    return 1 <= days <= 14 or (days <= 182 and days > 0 and days % 7 == 0)


SCARCE_SPOT_FAMILIES: Final = frozenset({"p4d", "p4de", "p5", "p5en", "p6-b200"})
"""Families that EC2 sells as spot but hardly ever has.

From memory (facts sheet), not confirmed by a figure of AWS; that even On-Demand lacks p4d in a
zone is on record (InsufficientInstanceCapacity, aws/aws-parallelcluster-node pull request 560).
"""
