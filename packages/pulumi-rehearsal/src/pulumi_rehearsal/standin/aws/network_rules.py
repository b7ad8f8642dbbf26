"""What subnets and security groups must have in common to serve one cluster or node group.

A subnet that is not the rehearsed stack's own (an existing network: the stack file names it by id)
is taken on trust: its VPC and zone are not known here. A deleted or misspelt own one is not told
apart from that, except by its form.
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
    """The stack's own subnets among `ids`. Raises `Refusal` for what is no subnet's id."""
    found: list[Resource] = []
    for subnet_id in ids:
        subnet = world.get(subnet_id, tokens.SUBNET, scope)
        if subnet is not None:
            found.append(subnet)
        elif not re.fullmatch(r"subnet-[0-9a-f]{8,17}", subnet_id):
            raise Refusal(
                f"InvalidSubnetID.NotFound: {subnet_id!r} is no subnet; give ids such as "
                "subnet-0123456789abcdef0"
            )
    return tuple(found)


def zones(found: Iterable[Resource]) -> tuple[str, ...]:
    """The availability zones of subnets."""
    names = {text(subnet.outputs, "availabilityZone") for subnet in found}
    return tuple(sorted(name for name in names if name))


def refuse_many_vpcs(found: Iterable[Resource], what: str) -> None:
    """Raises `Refusal` unless all subnets are of one VPC."""
    networks = sorted({text(subnet.outputs, "vpcId") or "" for subnet in found})
    if len(networks) > 1:
        raise Refusal(
            f"InvalidParameterException: {what} must be in one VPC, these are in "
            f"{', '.join(networks)}; take those of one"
        )


def refuse_foreign_groups(
    world: World, scope: str, ids: Iterable[str], found: tuple[Resource, ...]
) -> None:
    """Raises `Refusal` where a security group is of another VPC than the subnets."""
    expected = text(found[0].outputs, "vpcId") if found else None
    for group_id in ids:
        group = must_exist(world, tokens.SECURITY_GROUP, group_id, scope, "InvalidGroup.NotFound")
        actual = text(group.outputs, "vpcId") if group else None
        if expected is not None and actual is not None and actual != expected:
            raise Refusal(
                f"InvalidParameterException: security group {group_id} is in VPC {actual}, the "
                f"subnets are in {expected}; use a group of the subnets' VPC"
            )
