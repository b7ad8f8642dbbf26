"""Spot and preemptible nodes, capacity blocks, reservations and quotas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.catalog.oci import SHAPES
from fleet.checks.check import check
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan, EksPool
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePool
from fleet.findings import Finding
from fleet.quotas import quotas

_WITH_CAPACITY_BLOCKS: Final = [
    name for name, kind in INSTANCE_TYPES.items() if kind.capacity_block_regions
]


@check("mixed-sizes", "warning")
def mixed_sizes(view: View) -> Iterator[Finding]:
    """EKS pools whose instance types differ in CPU or memory: the autoscaler assumes one size."""
    for pool in _eks_pools(view):
        sizes = {
            (INSTANCE_TYPES[kind].vcpu, INSTANCE_TYPES[kind].memory_mib) for kind in pool.kinds
        }
        if len(sizes) > 1:
            yield mixed_sizes.finding(
                f"{pool.path}.instance_types",
                message=(
                    f"{', '.join(pool.kinds)} differ in CPU or memory: the autoscaler assumes one "
                    "of them for every new node, and jobs get the share of the smallest"
                ),
                remedy="make one pool for each size, and list these pools in the lane",
            )


@check("spot-fallback", "warning")
def spot_fallback(view: View) -> Iterator[Finding]:
    """Lanes whose pools are all spot or preemptible, without an on-demand fallback."""
    for lane in view.lanes:
        open_pools = [pool for pool in lane.pools if not pool.paused]
        if open_pools and all(interruptible(pool) for pool in open_pools):
            yield spot_fallback.finding(
                f"{lane.path}.pools",
                message=(
                    f"are all spot or preemptible ({', '.join(lane.plan.pool_names)}): jobs wait "
                    "while the cloud has no such capacity, and an interruption can end several "
                    "at once"
                ),
                remedy="add an on-demand pool at the end, or silence spot-fallback with a reason",
            )


@check("spot-scarce", "warning")
def scarce_spot(view: View) -> Iterator[Finding]:
    """Spot pools of instance families that seldom have spot capacity."""
    for pool in _eks_pools(view):
        scarce = [kind for kind in pool.kinds if INSTANCE_TYPES[kind].scarce_on_spot]
        if pool.capacity_type == "SPOT" and scarce:
            yield scarce_spot.finding(
                f"{pool.path}.capacity_type",
                message=(
                    f"is SPOT, but AWS seldom has spot capacity of {', '.join(scarce)}: the "
                    "pool may get no nodes for days"
                ),
                remedy="use ON_DEMAND, a capacity reservation or a CAPACITY_BLOCK",
            )


@check("reservation-types")
def reservation_types(view: View) -> Iterator[Finding]:
    """Pools with a capacity reservation and several instance types; a reservation is for one."""
    for pool in _eks_pools(view):
        if pool.capacity_reservation_id is not None and len(pool.kinds) > 1:
            yield reservation_types.finding(
                f"{pool.path}.capacity_reservation_id",
                message=(
                    f"is a reservation of one instance type, but the pool has "
                    f"{', '.join(pool.kinds)}: EC2 cannot start the others in it"
                ),
                remedy="keep the reservation's type, and make another pool for the others",
            )


@check("capacity-block")
def capacity_blocks(view: View) -> Iterator[Finding]:
    """Capacity-block pools whose instance type or region has no capacity blocks."""
    for cluster in view.plan.clusters:
        if not isinstance(cluster.platform, EksPlan):
            continue
        region = cluster.platform.region
        for pool in cluster.platform.pools:
            for kind in pool.kinds if pool.capacity_type == "CAPACITY_BLOCK" else ():
                regions = INSTANCE_TYPES[kind].capacity_block_regions
                if region in regions:
                    continue
                if regions:
                    where, remedy = f" in {region}", f"use one of {', '.join(sorted(regions))}"
                else:
                    where, remedy = "", f"use one of {', '.join(_WITH_CAPACITY_BLOCKS)}"
                yield capacity_blocks.finding(
                    f"{pool.path}.capacity_type",
                    message=(
                        f"is CAPACITY_BLOCK, but EC2 sells no capacity blocks of {kind}{where}: "
                        "the pool would get no nodes"
                    ),
                    remedy=f"{remedy}, or ON_DEMAND",
                    # AWS adds regions more often than instance types.
                    severity="warning" if regions else None,
                )


@check("preemptible-unlisted", "warning")
def unlisted_preemptible(view: View) -> Iterator[Finding]:
    """Preemptible OKE pools of shapes that are not on Oracle's list of preemptible shapes."""
    for cluster in view.plan.clusters:
        for pool in cluster.pools:
            if not isinstance(pool, OkePool) or not pool.preemptible:
                continue
            if SHAPES[pool.shape].preemptible == "unlisted":
                yield unlisted_preemptible.finding(
                    f"{pool.path}.preemptible",
                    message=(
                        f"is on, but {pool.shape} is not on Oracle's list of preemptible shapes: "
                        "OCI may refuse to start nodes"
                    ),
                    remedy="keep an on-demand pool after it in each lane, or remove preemptible",
                )


@check("quota", "note")
def quota_needs(view: View) -> Iterator[Finding]:
    """Quotas that full pools need and a new account does not have."""
    for need in quotas(view.plan):
        if need.unit == "GPUs" or (need.default is not None and need.needed > need.default):
            where = f"{need.region} ({need.code})" if need.code else need.region
            has = "has" if need.default is not None else "often has"
            yield quota_needs.finding(
                f"clusters.{need.pools[0].partition('/')[0]}",
                message=(
                    f"full pools need {need.needed} {need.unit} of the quota {need.name} in "
                    f"{where}; a new account {has} {need.default or 'none'}: above the quota, the "
                    "cloud starts no nodes and jobs wait"
                ),
                remedy="request an increase before the first job",
            )


def interruptible(pool: Pool) -> bool:
    """Whether the cloud may end the pool's nodes at any time."""
    if isinstance(pool, EksPool):
        return pool.capacity_type == "SPOT"
    return isinstance(pool, OkePool) and pool.preemptible


def _eks_pools(view: View) -> Iterator[EksPool]:
    for cluster in view.plan.clusters:
        yield from (pool for pool in cluster.pools if isinstance(pool, EksPool))
