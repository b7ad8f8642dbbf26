"""Quotas: what a stack takes of each at full size."""

from collections.abc import Mapping
from typing import Any

from fleet.catalog.ec2 import instance_type
from fleet.catalog.quotas import G_ON_DEMAND, G_SPOT, P_ON_DEMAND
from fleet.quotas import QuotaNeed, quotas
from tests.fleet.samples import GONE, every_key, loaded

T4 = "clusters.ci.eks.pools.t4"
A100 = "clusters.ci.eks.pools.a100"
A10 = "clusters.oci.oke.pools.a10"
SYSTEM = "clusters.oci.oke.pools.system"


def needs(changes: Mapping[str, Any] | None = None) -> dict[tuple[str, str], QuotaNeed]:
    found = quotas(loaded(every_key(changes)).plan)
    assert len({(one.account, one.region, one.name, one.domains) for one in found}) == len(found)
    return {(one.region, one.name): one for one in found}


def test_ec2_counts_the_vcpus_of_a_pool_at_full_size() -> None:
    need = needs({f"{T4}.max_size": 7})["us-west-2", G_SPOT.name]
    assert need.needed == 7 * instance_type("g4dn.2xlarge").vcpu
    assert (need.code, need.unit, need.default) == (G_SPOT.code, "vCPUs", 0)
    assert need.pools == ("ci/t4",)
    assert need.account == "ci", "a quota is of one account"


def test_a_pool_of_several_types_may_need_those_of_the_largest() -> None:
    types = ["g4dn.xlarge", "g4dn.4xlarge"]
    need = needs({f"{T4}.instance_types": types, f"{T4}.max_size": 3})["us-west-2", G_SPOT.name]
    assert need.needed == 3 * instance_type("g4dn.4xlarge").vcpu


def test_pools_of_one_quota_need_it_together() -> None:
    capacity = {"capacity_type": "ON_DEMAND", "max_size": 2}
    on_demand = {f"{T4}.{key}": value for key, value in capacity.items()}
    more = {"instance_types": ["g5.xlarge"], "max_size": 3}
    need = needs({**on_demand, "clusters.ci.eks.pools.a10g": more})["us-west-2", G_ON_DEMAND.name]
    assert need.needed == 2 * 8 + 3 * 4
    assert need.pools == ("ci/t4", "ci/a10g")


def test_a_capacity_block_counts_against_no_quota_and_a_reservation_does() -> None:
    assert ("us-west-2", P_ON_DEMAND.name) not in needs()
    reserved = needs({f"{A100}.capacity_type": "ON_DEMAND"})
    assert reserved["us-west-2", P_ON_DEMAND.name].needed == 96


def test_a_paused_pool_needs_nothing() -> None:
    assert ("us-west-2", G_SPOT.name) not in needs({f"{T4}.paused": True})
    assert ("us-ashburn-1", "gpu-a10-count") not in needs({f"{A10}.paused": True})


def test_oci_counts_gpus_over_the_pools_availability_domains() -> None:
    need = needs({f"{A10}.shape": "VM.GPU.A10.2"})["us-ashburn-1", "gpu-a10-count"]
    assert (need.needed, need.unit) == (4 * 2, "GPUs")
    assert need.domains == ("Uocm:US-ASHBURN-AD-1", "Uocm:US-ASHBURN-AD-2")


def test_a_flex_shape_counts_in_ocpus_and_in_memory_and_reserved_capacity_in_neither() -> None:
    limits = ("standard-e5-core-count", "standard-e5-memory-count")
    found = needs({f"{SYSTEM}.capacity_reservation_id": GONE})
    assert [found["us-ashburn-1", name].needed for name in limits] == [2 * 2, 2 * 16]
    assert not {("us-ashburn-1", name) for name in limits} & needs().keys()


def test_nodes_of_somebody_else_count_against_no_quota_of_ours() -> None:
    assert not [pool for one in needs().values() for pool in one.pools if pool.startswith("honey/")]
