from dataclasses import replace
from ipaddress import IPv4Network

import pytest

from fleet.catalog.addresses import (
    ADDRESSES_PER_INTERFACE,
    AWS_RESERVED_PER_SUBNET,
    EKS_SERVICE_RANGES,
    OCI_RESERVED_PER_SUBNET,
    eks_service_range,
    node_addresses,
)
from fleet.catalog.ec2 import INSTANCE_TYPES, InstanceType, instance_type

EVERY_TYPE = pytest.mark.parametrize(
    "instance", INSTANCE_TYPES.values(), ids=lambda instance: instance.name
)


@EVERY_TYPE
def test_the_pods_of_a_type_are_a_whole_number_of_interfaces(instance: InstanceType) -> None:
    usable = ADDRESSES_PER_INTERFACE[instance.max_pods] - 1
    interfaces, rest = divmod(instance.max_pods - 2, usable)
    assert rest == 0
    assert 2 <= interfaces <= 15


# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/AvailableIpPerENI.html
@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("g4dn.xlarge", 10),
        ("g5.xlarge", 15),
        ("g6.4xlarge", 30),
        ("p4d.24xlarge", 50),
        ("m5.large", 10),
        ("m6i.xlarge", 15),
    ],
)
def test_an_interface_has_the_addresses_that_aws_lists(name: str, addresses: int) -> None:
    assert ADDRESSES_PER_INTERFACE[instance_type(name).max_pods] == addresses


# "a m5.8xlarge node that is running 10 pods will hold 60 IPs ... a m5.16xlarge would hold 100":
# 8 interfaces of 30 addresses, 15 of 50.
@pytest.mark.parametrize(("max_pods", "held"), [(234, 60), (737, 100)])
def test_a_node_with_ten_pods_holds_two_interfaces(max_pods: int, held: int) -> None:
    node = replace(instance_type("m5.4xlarge"), max_pods=max_pods)
    assert node_addresses(node, 10) == held


def test_an_empty_node_holds_one_interface() -> None:
    assert node_addresses(instance_type("g4dn.xlarge"), 0) == 10


@pytest.mark.parametrize(("pods", "held"), [(1, 20), (9, 20), (10, 30), (18, 30), (27, 30)])
def test_a_full_interface_brings_another_until_there_is_no_more(pods: int, held: int) -> None:
    # g4dn.xlarge: 3 interfaces of 10 addresses.
    assert node_addresses(instance_type("g4dn.xlarge"), pods) == held


@EVERY_TYPE
def test_a_node_never_holds_fewer_addresses_than_its_pods_take(instance: InstanceType) -> None:
    held = [node_addresses(instance, pods) for pods in range(instance.max_pods - 1)]
    assert held == sorted(held)
    assert all(addresses > pods for pods, addresses in enumerate(held))


@pytest.mark.parametrize(
    ("vpc", "services"),
    [
        (["10.0.0.0/16"], "172.20.0.0/16"),
        (["10.100.0.0/16"], "172.20.0.0/16"),
        (["172.31.0.0/16"], "10.100.0.0/16"),
        (["192.168.0.0/16"], "10.100.0.0/16"),
        (["192.168.0.0/16", "10.8.0.0/20"], "172.20.0.0/16"),
    ],
)
def test_eks_takes_the_service_range_that_a_vpc_in_10_leaves(vpc: list[str], services: str) -> None:
    assert eks_service_range(map(IPv4Network, vpc)) == IPv4Network(services)


def test_eks_does_not_see_that_its_choice_overlaps_a_vpc_in_172_20() -> None:
    vpc = [IPv4Network("172.20.0.0/16"), IPv4Network("10.8.0.0/20")]
    assert eks_service_range(vpc).overlaps(vpc[0])


def test_the_smallest_subnets_keep_addresses_for_nodes() -> None:
    assert IPv4Network("10.0.0.0/28").num_addresses - AWS_RESERVED_PER_SUBNET == 11
    assert IPv4Network("10.0.0.0/30").num_addresses - OCI_RESERVED_PER_SUBNET == 1
    assert len({network.prefixlen for network in EKS_SERVICE_RANGES}) == 1
