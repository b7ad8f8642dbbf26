from dataclasses import replace

from fleet.catalog.addresses import node_addresses
from fleet.catalog.ec2 import INSTANCE_TYPES, InstanceType, instance_type
from tests.cases import for_each

EVERY_TYPE = for_each("instance", INSTANCE_TYPES.values(), ids=lambda instance: instance.name)


@EVERY_TYPE
def test_max_pods_agrees_with_the_addresses_per_interface(instance: InstanceType) -> None:
    interfaces, rest = divmod(instance.max_pods - 2, instance.addresses_per_interface - 1)
    assert rest == 0
    assert 2 <= interfaces <= 15


# "a m5.8xlarge node that is running 10 pods will hold 60 IPs ... a m5.16xlarge would hold 100":
# 8 interfaces of 30 addresses, 15 of 50.
@for_each(("max_pods", "per_interface", "held"), [(234, 30, 60), (737, 50, 100)])
def test_a_node_with_ten_pods_holds_two_interfaces(
    max_pods: int, per_interface: int, held: int
) -> None:
    node = replace(
        instance_type("m5.4xlarge"), max_pods=max_pods, addresses_per_interface=per_interface
    )
    assert node_addresses(node, 10) == held


# g4dn.xlarge: 3 interfaces of 10 addresses.
@for_each(("pods", "held"), [(0, 10), (1, 20), (9, 20), (10, 30), (18, 30), (27, 30)])
def test_a_full_interface_adds_another_up_to_the_maximum(pods: int, held: int) -> None:
    assert node_addresses(instance_type("g4dn.xlarge"), pods) == held


@EVERY_TYPE
def test_a_node_never_holds_fewer_addresses_than_its_pods_take(instance: InstanceType) -> None:
    held = [node_addresses(instance, pods) for pods in range(instance.max_pods - 1)]
    assert held == sorted(held)
    assert all(addresses > pods for pods, addresses in enumerate(held))
