"""Facts of EKS: AMI releases, and the addresses of a node's interfaces."""

from dataclasses import replace

import pytest

from fleet.catalog.addresses import node_addresses
from fleet.catalog.cuda import DRIVER_BRANCHES
from fleet.catalog.ec2 import INSTANCE_TYPES, InstanceType, instance_type
from fleet.catalog.eks import KUBERNETES_VERSIONS, KubernetesVersion
from fleet.catalog.eks_amis import AMI_RELEASE_FAULTS, ami_driver_branch, ami_fault
from tests.cases import for_each

EVERY_VERSION = pytest.mark.parametrize(
    "version", KUBERNETES_VERSIONS.values(), ids=lambda version: version.minor
)


@EVERY_VERSION
def test_no_pinned_ami_release_has_a_known_fault(version: KubernetesVersion) -> None:
    assert ami_fault(version.ami_release) is None


@pytest.mark.parametrize(
    ("release", "faulty"),
    [
        ("1.35.8-20260930", True),
        ("1.31.14-20261003", True),
        ("1.36.4-20260930", False),
        ("1.30.14-20261003", False),
        ("1.35.8-20260923", False),
        ("1.35.9-20261012", False),
    ],
)
def test_a_fault_affects_one_day_and_some_kubernetes_versions(release: str, faulty: bool) -> None:
    fault = ami_fault(release)
    assert (fault is not None) is faulty
    if fault is not None:
        assert "panics" in fault.reason


@pytest.mark.parametrize("day", AMI_RELEASE_FAULTS)
def test_a_fault_is_fixed_in_a_later_release_without_fault(day: str) -> None:
    fault = AMI_RELEASE_FAULTS[day]
    assert fault.fixed_in > day
    assert fault.fixed_in not in AMI_RELEASE_FAULTS
    assert fault.oldest_kubernetes <= fault.newest_kubernetes


@EVERY_VERSION
def test_the_branch_of_a_pinned_release_agrees_with_its_driver(version: KubernetesVersion) -> None:
    assert ami_driver_branch(version.ami_release) == int(version.nvidia_driver.split(".")[0])


# awslabs/amazon-eks-ami issues 2196 and 2379, pull requests 2484, 2496, 2503 and 2509.
@pytest.mark.parametrize(
    ("release", "branch"),
    [
        ("1.33.1-20250601", 560),
        ("1.33.4-20250904", 570),
        ("1.33.5-20251016", 570),
        ("1.33.5-20251209", 580),
        ("1.35.8-20260923", 580),
        ("1.30.0-20240605", None),
    ],
)
def test_an_older_release_has_an_older_driver(release: str, branch: int | None) -> None:
    assert ami_driver_branch(release) == branch


def test_the_drivers_of_amis_are_known_branches() -> None:
    days = ("20241001", "20250819", "20251120", "20260917")
    branches = [ami_driver_branch(f"1.33.1-{day}") for day in days]
    assert branches == sorted(filter(None, branches))
    assert set(branches) <= set(DRIVER_BRANCHES)


@pytest.mark.parametrize("release", ["20260923", "1.35-20260923", "1.35.8", "1.35.8-2026-09-23"])
def test_an_invalid_release_version_is_refused(release: str) -> None:
    with pytest.raises(ValueError, match=r"write it like 1\.35\.8-20260923"):
        ami_fault(release)
    with pytest.raises(ValueError, match="is not an AMI release version"):
        ami_driver_branch(release)


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
