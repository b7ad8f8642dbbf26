"""Limits of Oracle's autoscaler add-on."""

from __future__ import annotations

from tests.fleet.checks.planted import found
from tests.fleet.samples import every_key

OKE = "clusters.oci.oke"
LANE = "clusters.oci.github.lanes.a10"
SYSTEM = f"{OKE}.pools.system"
SECOND = {
    "shape": "VM.GPU.A10.1",
    "boot_volume_gb": 400,
    "image_id": "ocid1.image.oc1.eu-frankfurt-1.aaaaaaaaexample",
    "max_size": 2,
}


def test_an_autoscaler_that_scales_its_own_pool_is_told() -> None:
    sizes = {f"{SYSTEM}.min_size": 1, f"{SYSTEM}.max_size": 3}
    (finding,) = found("oke-autoscaler-node", every_key(sizes))
    assert (finding.path, finding.severity) == (f"{OKE}.pools", "warning")
    assert "equal min_size and max_size" in finding.remedy


def test_a_pool_of_one_size_is_where_the_autoscaler_lives() -> None:
    sizes = {f"{SYSTEM}.min_size": 2, f"{SYSTEM}.max_size": 2}
    assert not found("oke-autoscaler-node", every_key(sizes))


def test_an_order_of_pools_that_nobody_follows_is_told() -> None:
    changes = {f"{OKE}.pools.a10b": SECOND, f"{LANE}.pools": ["a10", "a10b"]}
    (finding,) = found("oke-pool-order", every_key(changes))
    assert (finding.path, finding.severity) == (f"{LANE}.pools", "warning")
    assert not found("oke-pool-order", every_key()), "one pool has no order"
