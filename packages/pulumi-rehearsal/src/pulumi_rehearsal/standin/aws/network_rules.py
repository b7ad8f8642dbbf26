"""Rules for the subnets and security groups of one cluster or node group.

A subnet outside the stack (of an existing network, given by id) is assumed to exist; its VPC and
zone are unknown. A deleted subnet of the stack looks the same; a malformed id is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.kind import Refusal, Resource
from pulumi_rehearsal.standin.properties import text
from pulumi_rehearsal.standin.rules import must_exist
from pulumi_rehearsal.standin.world import World


def subnets(world: World, scope: str, ids: Iterable[str]) -> tuple[Resource, ...]:
    """Return the subnets of the stack among `ids`. Raises `Refusal` for a malformed id."""
    found: list[Resource] = []
    for subnet_id in ids:
        subnet = world.get(subnet_id, tokens.SUBNET, scope)
        if subnet is not None:
            found.append(subnet)
        elif not re.fullmatch(r"subnet-[0-9a-f]{8,17}", subnet_id):
            raise Refusal(
                f"InvalidSubnetID.NotFound: {subnet_id!r} is not a subnet; give ids such as "
                "subnet-0123456789abcdef0"
            )
    return tuple(found)


def zones(found: Iterable[Resource]) -> tuple[str, ...]:
    """Return the availability zones of subnets."""
    names = {text(subnet.outputs, "availabilityZone") for subnet in found}
    return tuple(sorted(name for name in names if name))


def refuse_many_vpcs(found: Iterable[Resource], what: str) -> None:
    """Raise `Refusal` unless all subnets are in one VPC."""
    networks = sorted({text(subnet.outputs, "vpcId") or "" for subnet in found})
    if len(networks) > 1:
        raise Refusal(
            f"InvalidParameterException: {what} must be in one VPC, these are in "
            f"{', '.join(networks)}; use those of one VPC"
        )


def refuse_foreign_groups(
    world: World, scope: str, ids: Iterable[str], found: tuple[Resource, ...]
) -> None:
    """Raise `Refusal` if a security group is in another VPC than the subnets."""
    expected = text(found[0].outputs, "vpcId") if found else None
    for group_id in ids:
        group = must_exist(world, tokens.SECURITY_GROUP, group_id, scope, "InvalidGroup.NotFound")
        actual = text(group.outputs, "vpcId") if group else None
        if expected is not None and actual is not None and actual != expected:
            raise Refusal(
                f"InvalidParameterException: security group {group_id} is in VPC {actual}, the "
                f"subnets are in {expected}; use a group of the subnets' VPC"
            )
