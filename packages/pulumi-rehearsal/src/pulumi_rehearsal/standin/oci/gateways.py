"""Gateways, the services behind a service gateway, and route tables with their rules.

Sources: base.py (replacement); https://docs.oracle.com/en-us/iaas/Content/General/Concepts/servicelimits.htm
(by default one gateway of each type in a VCN);
https://docs.oracle.com/en-us/iaas/Content/Network/Tasks/servicegateway.htm
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import network_rules, regions, tokens
from pulumi_rehearsal.standin.oci.base import (
    OciKind,
    is_ocid,
    ocid,
    refuse_while_used,
    region_of,
)
from pulumi_rehearsal.standin.properties import flag, given, objects, text
from pulumi_rehearsal.standin.rules import Problem, choice, must_exist
from pulumi_rehearsal.standin.world import World

CIDR: Final = "CIDR_BLOCK"
SERVICE_CIDR: Final = "SERVICE_CIDR_BLOCK"

_TARGETS: Final = {
    "internetgateway": tokens.INTERNET_GATEWAY,
    "natgateway": tokens.NAT_GATEWAY,
    "servicegateway": tokens.SERVICE_GATEWAY,
}
"""Token by the type in an OCID; routes to other targets (drg, privateip ...) are not checked."""

_SERVICE_LABEL: Final = re.compile(
    r"(all-[a-z0-9-]+-services-in-oracle-services-network)|oci-[a-z0-9-]+"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """A service that a service gateway can lead to."""

    id: str
    name: str
    cidr_block: str
    """The label that rules use in place of an address block."""


def services_of(region: str) -> tuple[Service, ...]:
    """Return the region's two services: Object Storage alone, and all services."""
    key = regions.key(region)
    return tuple(
        Service(id=ocid("service", region, label), name=name, cidr_block=label)
        for name, label in (
            (f"OCI {key.upper()} Object Storage", f"oci-{key}-objectstorage"),
            (
                f"All {key.upper()} Services In Oracle Services Network",
                f"all-{key}-services-in-oracle-services-network",
            ),
        )
    )


def is_service_label(label: str) -> bool:
    """Whether `label` has the form of a service's label."""
    return _SERVICE_LABEL.fullmatch(label) is not None


class _Gateway(OciKind):
    """A gateway; a VCN has at most one of each type."""

    replaced_on: ClassVar[frozenset[str]] = frozenset({"vcnId"})

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        vcn = network_rules.vcn(world, call.scope, text(call.inputs, "vcnId"))
        if vcn is None or old is not None:
            return
        for other in world.where(self.token, call.scope, vcnId=vcn.id):
            noun = self.token.rpartition(":")[2]
            raise Refusal(
                f"400-LimitExceeded: VCN {vcn.name} already has {noun} {other.name}, and the limit "
                "is one; use that one"
            )

    def delete(self, old: Resource, world: World) -> None:
        users = (
            table
            for table in world.all(tokens.ROUTE_TABLE, old.scope)
            if any(
                text(rule, "networkEntityId") == old.id
                for rule in objects(table.outputs, "routeRules")
            )
        )
        refuse_while_used(
            old, users, "remove the rules that lead to it first, or delete these first"
        )


class InternetGateway(_Gateway):
    """A gateway to the internet, for interfaces with a public address."""

    token = tokens.INTERNET_GATEWAY
    id_type = "internetgateway"
    computed: ClassVar[frozenset[str]] = frozenset({"state", "timeCreated"})


class NatGateway(_Gateway):
    """A gateway from private subnets to the internet."""

    token = tokens.NAT_GATEWAY
    id_type = "natgateway"
    computed: ClassVar[frozenset[str]] = frozenset({"natIp", "state", "timeCreated"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"publicIpId", "vcnId"})

    def compute(self, call: Call, id: str, world: World) -> Properties:
        # An address of the block for documentation (RFC 5737).
        address = f"203.0.113.{1 + int(world.fresh_hex(call.urn, 4), 16) % 254}"
        return {"blockTraffic": flag(call.inputs, "blockTraffic") or False, "natIp": address}


class ServiceGateway(_Gateway):
    """A private gateway to Oracle's own services."""

    token = tokens.SERVICE_GATEWAY
    id_type = "servicegateway"
    computed: ClassVar[frozenset[str]] = frozenset({"blockTraffic", "state", "timeCreated"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        count = len(objects(inputs, "services"))
        if count > 1:
            yield "services", "give one service: the label of all services includes Object Storage"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        super().refuse(call, old, world)
        offered = services_of(region_of(call.scope))
        for wanted in objects(call.inputs, "services"):
            service_id = text(wanted, "serviceId")
            if service_id is not None and all(one.id != service_id for one in offered):
                raise Refusal(
                    f"404-NotAuthorizedOrNotFound: {service_id!r} is not a service of "
                    f"{region_of(call.scope)}; take an id from core.getServices"
                )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        offered = {one.id: one.name for one in services_of(region_of(call.scope))}
        named = [
            {**one, "serviceName": offered.get(text(one, "serviceId") or "", "")}
            for one in objects(call.inputs, "services")
        ]
        return {"blockTraffic": False, "services": named}


class RouteTable(OciKind):
    """A route table with its inline rules."""

    token = tokens.ROUTE_TABLE
    id_type = "routetable"
    computed: ClassVar[frozenset[str]] = frozenset({"state", "timeCreated"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"vcnId"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        seen: set[str] = set()
        for index, rule in enumerate(objects(inputs, "routeRules")):
            path = f"routeRules[{index}]"
            for inner, reason in _rule_problems(rule):
                yield f"{path}.{inner}", reason
            destination = _destination(rule)
            if destination in seen:
                yield f"{path}.destination", f"{destination!r} already has a rule"
            if destination is not None:
                seen.add(destination)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        vcn = network_rules.vcn(world, call.scope, text(call.inputs, "vcnId"))
        for rule in objects(call.inputs, "routeRules"):
            target = text(rule, "networkEntityId")
            token = _TARGETS.get(target.split(".")[1]) if target and is_ocid(target) else None
            if target is None or (token is None and is_ocid(target)):
                continue
            if token is None:
                raise Refusal(
                    f"400-InvalidParameter: networkEntityId {target!r} is not an OCID; refer to "
                    "the gateway's id"
                )
            gateway = must_exist(world, token, target, call.scope, self.error)
            if gateway is None or vcn is None:
                continue
            if text(gateway.outputs, "vcnId") != vcn.id:
                raise Refusal(
                    f"400-InvalidParameter: route table {call.name} is in VCN {vcn.name}, gateway "
                    f"{gateway.name} in another one; use a gateway of VCN {vcn.name}"
                )
            _refuse_type(call, rule, gateway)

    def compute(self, call: Call, id: str, world: World) -> Properties:
        rules = objects(call.inputs, "routeRules")
        return {"routeRules": [{"destinationType": CIDR, **rule} for rule in rules]}

    def delete(self, old: Resource, world: World) -> None:
        users = world.where(tokens.SUBNET, old.scope, routeTableId=old.id)
        refuse_while_used(old, users, "give these another route table, or delete them first")


def _destination(rule: Properties) -> str | None:
    return text(rule, "destination") or text(rule, "cidrBlock")


def _rule_problems(rule: Properties) -> Iterator[Problem]:
    yield from choice(rule, "destinationType", (CIDR, SERVICE_CIDR))
    destination = _destination(rule)
    if destination is None:
        if not given(rule, "destination"):
            yield "destination", "is missing"
        return
    if (text(rule, "destinationType") or CIDR) == SERVICE_CIDR:
        if not is_service_label(destination):
            yield (
                "destination",
                f"{destination!r} is not a service label: give the cidrBlock of core.getServices, "
                "such as all-iad-services-in-oracle-services-network",
            )
        return
    try:
        ipaddress.ip_network(destination)
    except ValueError:
        hint = f": set destinationType to {SERVICE_CIDR}" if is_service_label(destination) else ""
        yield "destination", f"{destination!r} is not an address block{hint}"


def _refuse_type(call: Call, rule: Properties, gateway: Resource) -> None:
    kind = text(rule, "destinationType") or CIDR
    is_service = gateway.type == tokens.SERVICE_GATEWAY
    if is_service != (kind == SERVICE_CIDR):
        wanted = SERVICE_CIDR if is_service else CIDR
        raise Refusal(
            f"400-InvalidParameter: a rule of route table {call.name} leads to "
            f"{gateway.type.rpartition(':')[2]} {gateway.name} with destinationType {kind}; it "
            f"must be {wanted}"
        )
    if is_service:
        _refuse_label(call, _destination(rule) or "", gateway)


def _refuse_label(call: Call, label: str, gateway: Resource) -> None:
    offered = services_of(region_of(call.scope))
    enabled: Iterable[str | None] = {
        text(one, "serviceId") for one in objects(gateway.outputs, "services")
    }
    labels = [one.cidr_block for one in offered if one.id in enabled]
    if label not in labels:
        raise Refusal(
            f"400-InvalidParameter: route table {call.name} sends {label!r} to service gateway "
            f"{gateway.name}, which has {', '.join(labels) or 'no service'}; give the "
            "cidrBlock of the gateway's own service"
        )


def reaches_out(world: World, subnet: Resource) -> bool:
    """Whether nodes in `subnet` reach Oracle's services by a NAT, service or internet gateway."""
    if network_rules.has_route(world, subnet, "natgateway", "servicegateway", "drg", "privateip"):
        return True
    is_public = not flag(subnet.outputs, "prohibitPublicIpOnVnic")
    return is_public and network_rules.has_route(world, subnet, "internetgateway")


KINDS = (InternetGateway(), NatGateway(), ServiceGateway(), RouteTable())
