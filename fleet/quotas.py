"""What a stack at full size takes of the quotas of its clouds, to ask for before a node is missing.

Units: vCPUs on EC2; GPUs, or OCPUs and GB of memory, on OCI. A paused pool takes nothing, nor does
capacity that was reserved under a limit of its own (capacity blocks, OCI's reservations). Names,
codes and defaults: `fleet.catalog.quotas`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.catalog.oci import SHAPES
from fleet.catalog.quotas import ec2_quota, oci_limits
from fleet.clusters.eks import EksPlan
from fleet.clusters.eks_pools import EksPool
from fleet.clusters.oke import OkePlan
from fleet.clusters.oke_pools import OkePool
from fleet.plan import Plan

Key = tuple[str | None, str, tuple[str, ...], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuotaNeed:
    """One quota and what all pools that count against it need together, at full size."""

    cloud: Literal["aws", "oci"]
    account: str | None
    """Profile of the stack file; None for the ambient one."""
    region: str
    domains: tuple[str, ...]
    """Availability domains that share the need, each with a limit of its own; none on EC2."""
    name: str
    code: str | None
    """Of Service Quotas; OCI has none."""
    unit: str
    needed: int
    default: int | None
    """What a new account has; None where nobody says it."""
    pools: tuple[str, ...] = field(default=())
    """Cluster and pool, joined by a slash."""


def quotas(plan: Plan) -> tuple[QuotaNeed, ...]:
    """Every quota that the pools of a stack count against, the clouds in the order of the file."""
    needs: dict[Key, QuotaNeed] = {}
    for need in _needs(plan):
        key = (need.account, need.region, need.domains, need.name)
        known = needs.get(key)
        needs[key] = need if known is None else _sum(known, need)
    return tuple(needs.values())


def _sum(one: QuotaNeed, other: QuotaNeed) -> QuotaNeed:
    return QuotaNeed(
        cloud=one.cloud,
        account=one.account,
        region=one.region,
        domains=one.domains,
        name=one.name,
        code=one.code,
        unit=one.unit,
        needed=one.needed + other.needed,
        default=one.default,
        pools=(*one.pools, *other.pools),
    )


def _needs(plan: Plan) -> Iterator[QuotaNeed]:
    for cluster in plan.clusters:
        match cluster.platform:
            case EksPlan() as eks:
                for pool in eks.pools:
                    if not pool.paused and pool.capacity_type != "CAPACITY_BLOCK":
                        yield _ec2(eks, pool)
            case OkePlan() as oke:
                for pool in oke.pools:
                    if not pool.paused and pool.capacity_reservation_id is None:
                        yield from _oci(oke, pool)
            case _:
                pass  # the nodes are somebody else's


def _ec2(eks: EksPlan, pool: EksPool) -> QuotaNeed:
    kinds = [INSTANCE_TYPES[name] for name in pool.instance_types]
    quota = ec2_quota(kinds[0].family, spot=pool.capacity_type == "SPOT")
    return QuotaNeed(
        cloud="aws",
        account=eks.profile,
        region=eks.region,
        domains=(),
        name=quota.name,
        code=quota.code,
        unit="vCPUs",
        needed=pool.max_size * max(kind.vcpu for kind in kinds),
        default=quota.default_vcpus,
        pools=(f"{pool.cluster}/{pool.name}",),
    )


def _oci(oke: OkePlan, pool: OkePool) -> Iterator[QuotaNeed]:
    each = {
        "GPUs": SHAPES[pool.shape].gpus,
        "OCPUs": pool.ocpus or 0,
        "GB of memory": pool.memory_gb or 0,
    }
    for limit in oci_limits(pool.shape):
        yield QuotaNeed(
            cloud="oci",
            account=oke.profile,
            region=oke.region,
            domains=pool.availability_domains,
            name=limit.name,
            code=None,
            unit=limit.counted_in,
            needed=pool.max_size * each[limit.counted_in],
            default=None,
            pools=(f"{pool.cluster}/{pool.name}",),
        )
