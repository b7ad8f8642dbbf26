"""The cloud quotas that a stack needs at full size. Below them, the cloud refuses nodes.

Units: vCPUs on EC2; GPUs, or OCPUs and GB of memory, on OCI. A paused pool needs nothing, nor does
capacity that is reserved under a separate limit (capacity blocks, OCI reservations). Names, codes
and defaults: `fleet.catalog.quotas`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.catalog.oci import SHAPES
from fleet.catalog.quotas import ec2_quota, oci_limits
from fleet.clusters.eks import EksPlan, EksPool
from fleet.clusters.oke import OkePlan, OkePool
from fleet.plan import Plan

Key = tuple[str | None, str, tuple[str, ...], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuotaNeed:
    """One quota, and the sum of what its pools need at full size."""

    cloud: Literal["aws", "oci"]
    account: str | None
    """Profile in the stack file; `None` for the ambient one."""
    region: str
    domains: tuple[str, ...]
    """Availability domains of the pools, each with its own limit; none on EC2."""
    name: str
    code: str | None
    """Code in AWS Service Quotas; `None` on OCI."""
    unit: str
    needed: int
    default: int | None
    """Value of a new account; `None` if it is not documented."""
    pools: tuple[str, ...] = field(default=())
    """`<cluster>/<pool>` of each pool."""


def quotas(plan: Plan) -> tuple[QuotaNeed, ...]:
    """Return every quota that the pools of a stack count against, in the order of the file."""
    needs: dict[Key, QuotaNeed] = {}
    for need in _needs(plan):
        key = (need.account, need.region, need.domains, need.name)
        known = needs.get(key)
        if known is not None:
            need = replace(  # noqa: PLW2901
                known, needed=known.needed + need.needed, pools=(*known.pools, *need.pools)
            )
        needs[key] = need
    return tuple(needs.values())


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
                pass  # This program does not manage the nodes of an existing cluster.


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
