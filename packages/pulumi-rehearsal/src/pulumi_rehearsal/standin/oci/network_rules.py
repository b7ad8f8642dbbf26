"""Relations between VCNs, subnets, routes and security rules.

An existing subnet or security group, which the program does not create, is not checked, because its
VCN, routes and rules are not known. Rules of security groups and security lists only allow traffic:
one rule that allows it is enough.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Iterator

from pulumi_rehearsal.standin.kind import Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import tokens
from pulumi_rehearsal.standin.oci.base import is_ocid
from pulumi_rehearsal.standin.properties import mapping, number, objects, text, texts
from pulumi_rehearsal.standin.world import World

TCP = "6"


def vcn(world: World, scope: str, vcn_id: str | None) -> Resource | None:
    """Return the VCN; `None` for an existing one. Raise `Refusal` if the id is not an OCID."""
    return _own(world, tokens.VCN, scope, vcn_id, "vcn")


def subnet(world: World, scope: str, subnet_id: str | None) -> Resource | None:
    """Return the subnet; `None` for an existing one. Raise `Refusal` if the id is not an OCID."""
    return _own(world, tokens.SUBNET, scope, subnet_id, "subnet")


def groups(world: World, scope: str, ids: Iterable[str]) -> tuple[Resource, ...]:
    """Return the groups except for existing ones. Raise `Refusal` if an id is not an OCID."""
    kind = "networksecuritygroup"
    found = (_own(world, tokens.SECURITY_GROUP, scope, one, kind) for one in ids)
    return tuple(group for group in found if group is not None)


def refuse_foreign(found: Iterable[Resource], vcn_id: str | None, what: str) -> None:
    """Raise `Refusal` if one of the subnets or groups is in another VCN."""
    for resource in found:
        actual = text(resource.outputs, "vcnId")
        if vcn_id is not None and actual is not None and actual != vcn_id:
            noun = resource.type.rpartition(":")[2]
            raise Refusal(
                f"400-InvalidParameter: {noun} {resource.name} of {what} is in VCN {actual}, the "
                f"cluster in {vcn_id}; use one of the cluster's VCN"
            )


def rules_of(world: World, subnet: Resource) -> tuple[Properties, ...]:
    """Return the rules of the subnet's route table."""
    table_id = text(subnet.outputs, "routeTableId") or ""
    table = world.get(table_id, tokens.ROUTE_TABLE, subnet.scope)
    return objects(table.outputs, "routeRules") if table else ()


def has_route(world: World, subnet: Resource, *kinds: str) -> bool:
    """Whether the subnet's route table leads to a gateway of one of these OCID types."""
    targets = (text(rule, "networkEntityId") or "" for rule in rules_of(world, subnet))
    return any(is_ocid(target, *kinds) for target in targets)


def allows(
    world: World,
    direction: str,
    *,
    here: tuple[Resource, Collection[str]],
    there: tuple[Resource, Collection[str]],
    port: int,
) -> bool:
    """Whether a rule of `here` allows TCP to `port`, to or from `there`.

    Each side is a subnet and the ids of its security groups. `direction` is `INGRESS` or `EGRESS`,
    seen from `here`. True if one of the groups is an existing one.
    """
    (subnet, group_ids), (other_subnet, other_ids) = here, there
    scope = subnet.scope
    for group_id in group_ids:
        if world.get(group_id, tokens.SECURITY_GROUP, scope) is None:
            return True
    side = "source" if direction == "INGRESS" else "destination"
    block = text(other_subnet.outputs, "cidrBlock") or "0.0.0.0/32"
    rules = (*_group_rules(world, scope, group_ids, direction), *_listed(world, subnet, direction))
    return any(
        text(rule, "protocol") in (TCP, "all")
        and _covers(text(rule, side) or "", block, other_ids)
        and _includes(rule, port)
        for rule in rules
    )


def _own(world: World, token: str, scope: str, wanted: str | None, kind: str) -> Resource | None:
    found = world.get(wanted or "", token, scope)
    if found is None and wanted is not None and not is_ocid(wanted, kind):
        raise Refusal(
            f"400-InvalidParameter: {wanted!r} is not the OCID of a {token.rpartition(':')[2]}; "
            f"such an OCID begins with ocid1.{kind}."
        )
    return found


def _group_rules(
    world: World, scope: str, group_ids: Collection[str], direction: str
) -> Iterator[Properties]:
    for rule in world.where(tokens.SECURITY_RULE, scope, direction=direction):
        if text(rule.outputs, "networkSecurityGroupId") in group_ids:
            yield rule.outputs


def _listed(world: World, subnet: Resource, direction: str) -> Iterator[Properties]:
    for list_id in texts(subnet.outputs, "securityListIds"):
        security_list = world.get(list_id, tokens.SECURITY_LIST, subnet.scope)
        if security_list is not None:
            yield from objects(security_list.outputs, f"{direction.lower()}SecurityRules")


def _covers(peer: str, block: str, group_ids: Collection[str]) -> bool:
    if peer in group_ids:
        return True
    try:
        return ipaddress.IPv4Network(block).subnet_of(ipaddress.IPv4Network(peer))
    except ValueError:
        return False


def _includes(rule: Properties, port: int) -> bool:
    """Whether the rule includes the port, in the form of a security list or of a group's rule."""
    options = mapping(rule, "tcpOptions")
    ports = mapping(options, "destinationPortRange") or options
    low, high = number(ports, "min"), number(ports, "max")
    return low is None or high is None or low <= port <= high
