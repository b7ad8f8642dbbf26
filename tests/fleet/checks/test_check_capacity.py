"""Spot, preemptible nodes, capacity blocks, reservations, quotas and unequal sizes."""

from typing import Any

import pytest

from tests.fleet.checks.planted import found, stack_of
from tests.fleet.samples import every_key

LANES = {"gpu": {"pools": ["p"], "gpus": 1}}
POOL = "clusters.ci.eks.pools.p"


def pool(*kinds: str, **more: Any) -> dict[str, Any]:
    return {"p": {"instance_types": list(kinds), "max_size": 2, **more}}


def test_types_of_unequal_size_in_one_pool_are_a_warning() -> None:
    mixed = pool("g4dn.xlarge", "g4dn.2xlarge", capacity_type="SPOT")
    (finding,) = found("mixed-sizes", stack_of(mixed, LANES))
    assert (finding.severity, finding.path) == ("warning", f"{POOL}.instance_types")
    assert "g4dn.xlarge, g4dn.2xlarge" in finding.message
    # The same CPU and memory, whatever the family.
    assert not found("mixed-sizes", stack_of(pool("g5.2xlarge", "g5.2xlarge"), LANES))


def test_a_lane_of_spot_pools_alone_is_a_warning() -> None:
    spot = pool("g4dn.xlarge", capacity_type="SPOT")
    (finding,) = found("spot-fallback", stack_of(spot, LANES))
    assert (finding.severity, finding.path) == ("warning", "clusters.ci.github.lanes.gpu.pools")
    both = {**spot, "behind": {"instance_types": ["g4dn.xlarge"], "max_size": 2}}
    lanes = {"gpu": {"pools": ["p", "behind"], "gpus": 1}}
    assert not found("spot-fallback", stack_of(both, lanes))


def test_preemptible_nodes_count_as_spot() -> None:
    findings = found("spot-fallback", every_key())
    assert "clusters.oci.github.lanes.a10.pools" in [finding.path for finding in findings]


def test_spot_of_large_gpus_is_a_warning() -> None:
    (finding,) = found("spot-scarce", stack_of(pool("p4d.24xlarge", capacity_type="SPOT"), LANES))
    assert finding.path == f"{POOL}.capacity_type"
    assert not found("spot-scarce", stack_of(pool("p4d.24xlarge"), LANES))
    assert not found("spot-scarce", stack_of(pool("g4dn.xlarge", capacity_type="SPOT"), LANES))


def block(*kinds: str) -> dict[str, Any]:
    return pool(
        *kinds,
        capacity_type="CAPACITY_BLOCK",
        capacity_reservation_id="cr-0123456789abcdef0",
        zones=["us-west-2a"],
    )


@pytest.mark.parametrize(
    ("kind", "region", "severity", "says"),
    [
        ("p4d.24xlarge", "us-west-2", None, ""),
        ("g4dn.xlarge", "us-west-2", "error", "sells no capacity blocks of g4dn.xlarge"),
        (
            "p4d.24xlarge",
            "eu-central-1",
            "warning",
            "no capacity blocks of p4d.24xlarge in eu-central-1",
        ),
    ],
)
def test_a_capacity_block_is_of_a_type_and_region_that_has_them(
    kind: str, region: str, severity: str | None, says: str
) -> None:
    data = stack_of(block(kind), LANES)
    eks = data["clusters"]["ci"]["eks"]
    eks["region"] = region
    eks["network"]["zones"] = [f"{region}a", f"{region}b"]
    eks["pools"]["p"]["zones"] = [f"{region}a"]
    findings = found("capacity-block", data)
    assert [finding.severity for finding in findings] == ([severity] if severity else [])
    if findings:
        assert says in findings[0].message


def test_a_reservation_is_of_one_instance_type() -> None:
    two = block("p4d.24xlarge", "p4de.24xlarge")
    two["p"]["instance_types"] = ["g5.xlarge", "g5.2xlarge"]
    (finding,) = found("reservation-types", stack_of(two, LANES))
    assert finding.path == f"{POOL}.capacity_reservation_id"
    assert not found("reservation-types", stack_of(block("p4d.24xlarge"), LANES))


def test_a_preemptible_shape_that_oracle_does_not_list_is_a_warning() -> None:
    (finding,) = found("preemptible-unlisted", every_key())
    assert (finding.severity, finding.path) == ("warning", "clusters.oci.oke.pools.a10.preemptible")


def test_quota_that_a_new_account_lacks_is_a_note_with_its_code() -> None:
    # 2 x 4 vCPUs of g4dn.xlarge, and 4 x 2 of the CPU pool, of which a new account has 5.
    notes = found("quota", stack_of(pool("g4dn.xlarge"), LANES))
    assert {finding.severity for finding in notes} == {"note"}
    messages = " ".join(finding.message for finding in notes)
    assert "8 vCPUs of the quota Running On-Demand G and VT instances" in messages
    assert "us-west-2 (L-DB2E81BA); a new account has none" in messages
    spot = found("quota", stack_of(pool("g4dn.xlarge", capacity_type="SPOT"), LANES))
    assert any("All G and VT Spot Instance Requests" in finding.message for finding in spot)


def test_quota_of_oci_counts_gpus() -> None:
    (finding,) = [one for one in found("quota", every_key()) if one.path == "clusters.oci"]
    assert "4 GPUs of the quota gpu-a10-count" in finding.message
