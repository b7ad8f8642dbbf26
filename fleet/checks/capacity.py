"""Money and capacity: spot, preemptible nodes and capacity blocks, and what they come with."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.capacity import CAPACITY_BLOCK_REGIONS, SCARCE_SPOT_FAMILIES
from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.catalog.oci import SHAPES
from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan
from fleet.clusters.eks_pools import EksPool
from fleet.clusters.nodes import Pool
from fleet.clusters.oke_pools import OkePool
from fleet.quotas import quotas


@check("mixed-sizes", "warning")
def mixed_sizes(view: View) -> Iterator[Problem]:
    """EKS pools whose instance types differ in CPU or memory: the autoscaler sees one of them."""
    for pool in _eks_pools(view):
        sizes = {
            (INSTANCE_TYPES[kind].vcpu, INSTANCE_TYPES[kind].memory_mib) for kind in pool.kinds
        }
        if len(sizes) > 1:
            yield Problem(
                path=f"{pool.path}.instance_types",
                message=(
                    f"are of unequal size ({', '.join(pool.kinds)}): the autoscaler simulates one "
                    "of them, and jobs are cut to the smallest"
                ),
                remedy="make one pool for each size, and list them in the lane in order",
            )


@check("spot-fallback", "warning")
def spot_fallback(view: View) -> Iterator[Problem]:
    """Lanes that have only nodes which the cloud may take back, or not have at all."""
    for lane in view.lanes:
        open_pools = [pool for pool in lane.pools if not pool.paused]
        if open_pools and all(taken_back(pool) for pool in open_pools):
            yield Problem(
                path=f"{lane.path}.pools",
                message=(
                    f"are all spot or preemptible ({', '.join(lane.job.pools)}): when there is no "
                    "such capacity, jobs wait, and a reclaim ends several at once"
                ),
                remedy="add an on-demand pool behind them, or say why not by silence",
            )


@check("spot-scarce", "warning")
def scarce_spot(view: View) -> Iterator[Problem]:
    """Spot pools of instance families of which spot capacity is seldom to be had."""
    for pool in _eks_pools(view):
        scarce = [
            kind for kind in pool.kinds if INSTANCE_TYPES[kind].family in SCARCE_SPOT_FAMILIES
        ]
        if pool.capacity_type == "SPOT" and scarce:
            yield Problem(
                path=f"{pool.path}.capacity_type",
                message=f"is SPOT, but there is seldom spot capacity of {', '.join(scarce)}",
                remedy="use ON_DEMAND, a capacity reservation or a CAPACITY_BLOCK",
            )


@check("reservation-types")
def reservation_types(view: View) -> Iterator[Problem]:
    """Pools that start several instance types in one reservation, which is for one."""
    for pool in _eks_pools(view):
        if pool.capacity_reservation_id is not None and len(pool.kinds) > 1:
            yield Problem(
                path=f"{pool.path}.capacity_reservation_id",
                message=f"is of one instance type, the pool has {', '.join(pool.kinds)}",
                remedy="keep the reservation's type, and make another pool for the others",
            )


@check("capacity-block")
def capacity_blocks(view: View) -> Iterator[Problem]:
    """Capacity-block pools of instance types or in regions of which EC2 sells no blocks."""
    for cluster in view.plan.clusters:
        if not isinstance(cluster.platform, EksPlan):
            continue
        region = cluster.platform.region
        for pool in cluster.platform.pools:
            if pool.capacity_type != "CAPACITY_BLOCK":
                continue
            for kind in pool.kinds:
                regions = CAPACITY_BLOCK_REGIONS.get(kind, frozenset())
                if region in regions:
                    continue
                yield Problem(
                    path=f"{pool.path}.capacity_type",
                    message=(
                        f"is CAPACITY_BLOCK, but EC2 sells no blocks of {kind} in {region}"
                        if regions
                        else f"is CAPACITY_BLOCK, but EC2 sells no blocks of {kind}"
                    ),
                    remedy=(
                        f"use one of {', '.join(sorted(regions))}, or ON_DEMAND"
                        if regions
                        else f"use ON_DEMAND, or one of {', '.join(CAPACITY_BLOCK_REGIONS)}"
                    ),
                    # AWS adds regions faster than types.
                    severity="warning" if regions else None,
                )


@check("preemptible-unlisted", "warning")
def unlisted_preemptible(view: View) -> Iterator[Problem]:
    """Preemptible OKE pools of shapes that Oracle's list of preemptible shapes lacks."""
    for cluster in view.plan.clusters:
        for pool in cluster.pools:
            if not isinstance(pool, OkePool) or not pool.preemptible:
                continue
            if SHAPES[pool.shape].preemptible == "unlisted":
                yield Problem(
                    path=f"{pool.path}.preemptible",
                    message=f"is on, but Oracle's list of preemptible shapes lacks {pool.shape}",
                    remedy="expect that nodes do not come; keep an on-demand pool behind it",
                )


def _eks_pools(view: View) -> Iterator[EksPool]:
    for cluster in view.plan.clusters:
        yield from (pool for pool in cluster.pools if isinstance(pool, EksPool))


def taken_back(pool: Pool) -> bool:
    """Whether the cloud may end the pool's nodes at any time."""
    if isinstance(pool, EksPool):
        return pool.capacity_type == "SPOT"
    return isinstance(pool, OkePool) and pool.preemptible


@check("quota", "note")
def quota_needs(view: View) -> Iterator[Problem]:
    """Quotas that a new account does not have, at what all pools take of them when full."""
    for need in quotas(view.plan):
        if need.unit == "GPUs" or (need.default is not None and need.needed > need.default):
            where = f"{need.region} ({need.code})" if need.code else need.region
            has = "has" if need.default is not None else "often has"
            least = need.default or "none"
            yield Problem(
                path=f"clusters.{need.pools[0].partition('/')[0]}",
                message=(
                    f"full pools take {need.needed} {need.unit} of the quota {need.name} in "
                    f"{where}; a new account {has} {least}"
                ),
                remedy=(
                    "ask for it before the first job: without it, jobs wait for nodes that the "
                    "cloud refuses"
                ),
            )
