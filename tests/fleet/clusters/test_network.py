"""The VPC: every zone gets its two blocks, and no address lies in two of them."""

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.clusters.eks_network import ExistingNetwork, NewNetwork, zones
from tests.fleet.samples import GONE, eks_of

NAMES = tuple(f"us-west-2{letter}" for letter in "abcdef")
NETWORK = "clusters.ci.eks.network"


@st.composite
def ranges(draw: st.DrawFn) -> str:
    prefix = draw(st.integers(16, 20))
    block = draw(st.integers(0, 2**prefix - 1))
    return f"{IPv4Network((block << (32 - prefix), prefix))}"


@given(cidr=ranges(), count=st.integers(2, 6))
def test_blocks_lie_in_the_vpc_and_apart(cidr: str, count: int) -> None:
    made = zones(cidr, NAMES[:count])
    blocks = [IPv4Network(text) for zone in made for text in (zone.private_cidr, zone.public_cidr)]
    assert [zone.name for zone in made] == list(NAMES[:count])
    assert all(block.subnet_of(IPv4Network(cidr)) for block in blocks)
    assert not [pair for pair in combinations(blocks, 2) if pair[0].overlaps(pair[1])]


@given(cidr=ranges(), count=st.integers(2, 6))
def test_blocks_are_of_sizes_that_aws_takes_and_private_ones_are_the_larger(
    cidr: str, count: int
) -> None:
    for zone in zones(cidr, NAMES[:count]):
        private, public = IPv4Network(zone.private_cidr), IPv4Network(zone.public_cidr)
        assert 16 <= private.prefixlen < public.prefixlen <= 28
        assert private.num_addresses * 2 * (count + 1) > IPv4Network(cidr).num_addresses


def test_blocks_of_two_zones_are_these() -> None:
    assert [(zone.private_cidr, zone.public_cidr) for zone in zones("10.1.0.0/16", NAMES[:2])] == [
        ("10.1.0.0/18", "10.1.192.0/24"),
        ("10.1.64.0/18", "10.1.193.0/24"),
    ]


@pytest.mark.parametrize(("before", "after"), [(2, 3), (4, 5), (5, 6)])
@given(cidr=ranges())
def test_a_zone_more_moves_no_subnet_of_the_others(before: int, after: int, cidr: str) -> None:
    assert zones(cidr, NAMES[:before]) == zones(cidr, NAMES[:after])[:before]


@pytest.mark.parametrize(("nat", "per_zone"), [("per-zone", True), ("one", False), (GONE, False)])
def test_a_network_to_make_has_its_gateways_as_asked(nat: object, per_zone: bool) -> None:
    network = eks_of({f"{NETWORK}.nat": nat}).network
    assert isinstance(network, NewNetwork)
    assert (network.cidr, network.nat_per_zone, network.region) == (
        "10.0.0.0/16",
        per_zone,
        "us-west-2",
    )
    assert network.zones == zones("10.0.0.0/16", ("us-west-2a", "us-west-2b"))


def test_a_network_to_use_is_taken_as_it_is() -> None:
    assert eks_of(name="existing").network == ExistingNetwork(
        vpc_id="vpc-0123456789abcdef0",
        subnet_ids={
            "eu-central-1a": "subnet-0123456789abcdef0",
            "eu-central-1b": "subnet-0123456789abcdef1",
        },
    )
