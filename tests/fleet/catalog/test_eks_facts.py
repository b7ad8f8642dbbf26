"""Faults and drivers of AMI releases of EKS."""

import pytest

from fleet.catalog.cuda import DRIVER_BRANCHES
from fleet.catalog.eks import KUBERNETES_VERSIONS, KubernetesVersion
from fleet.catalog.eks_amis import AMI_RELEASE_FAULTS, ami_driver_branch, ami_fault

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
