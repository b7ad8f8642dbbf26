"""Network security groups with their rules, and security lists.

Replacement: see base.py. The docstrings of a rule have no marks; in oracle/terraform-provider-oci
internal/service/core/core_network_security_group_security_rule_resource.go only the group is
ForceNew.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import gateways, network_rules, tokens
from pulumi_rehearsal.standin.oci.base import OciKind, is_ocid, refuse_while_used
from pulumi_rehearsal.standin.properties import given, lookup, mapping, number, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, between, choice, must_exist
from pulumi_rehearsal.standin.world import World

MAX_RULES: Final = 120
"""https://docs.oracle.com/en-us/iaas/Content/Network/Concepts/networksecuritygroups.htm#limits"""

GROUP: Final = "NETWORK_SECURITY_GROUP"
_TYPES: Final = ("CIDR_BLOCK", GROUP, "SERVICE_CIDR_BLOCK")
_SIDES: Final = {"INGRESS": ("source", "destination"), "EGRESS": ("destination", "source")}
_OPTIONS: Final = {"tcpOptions": ("6",), "udpOptions": ("17",), "icmpOptions": ("1", "58")}


class NetworkSecurityGroup(OciKind):
    """A security group; its rules are separate resources."""

    token = tokens.SECURITY_GROUP
    id_type = "networksecuritygroup"
    computed: ClassVar[frozenset[str]] = frozenset({"state", "timeCreated"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"vcnId"})

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        network_rules.vcn(world, call.scope, text(call.inputs, "vcnId"))

    def delete(self, old: Resource, world: World) -> None:
        rules = (
            rule
            for rule in world.all(tokens.SECURITY_RULE, old.scope)
            if text(rule.outputs, "networkSecurityGroupId") != old.id
            and old.id in (text(rule.outputs, "source"), text(rule.outputs, "destination"))
        )
        clusters = (
            resource
            for resource in world.all(tokens.CLUSTER, old.scope)
            if old.id
            in (
                *texts(resource.outputs, "endpointConfig.nsgIds"),
                *texts(resource.outputs, "options.serviceLbConfig.backendNsgIds"),
            )
        )
        details = "nodeConfigDetails"
        pools = (
            resource
            for resource in world.all(tokens.NODE_POOL, old.scope)
            if old.id
            in (
                *texts(resource.outputs, f"{details}.nsgIds"),
                *texts(resource.outputs, f"{details}.nodePoolPodNetworkOptionDetails.podNsgIds"),
            )
        )
        refuse_while_used(
            old, [*clusters, *pools, *rules], "delete these first, or remove the group from them"
        )


class NetworkSecurityGroupSecurityRule(OciKind):
    """One rule of a group."""

    token = tokens.SECURITY_RULE
    state = ""
    computed: ClassVar[frozenset[str]] = frozenset({"isValid", "timeCreated"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"networkSecurityGroupId"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        yield from choice(inputs, "direction", _SIDES)
        yield from _protocol_problems(inputs)
        for side in ("source", "destination"):
            yield from choice(inputs, f"{side}Type", _TYPES)
        direction = text(inputs, "direction")
        if direction in _SIDES:
            wanted, unwanted = _SIDES[direction]
            if not given(inputs, wanted):
                yield wanted, f"is required in a rule of direction {direction}"
            if given(inputs, unwanted):
                yield unwanted, f"must be left out of a rule of direction {direction}"
            yield from _peer_problems(inputs, wanted)

    def identify(self, call: Call, world: World) -> str:
        # A rule has no OCID, because it is part of its group.
        return world.fresh_hex(call.urn, 6).upper()

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        inputs = call.inputs
        group_id = text(inputs, "networkSecurityGroupId")
        group = must_exist(world, tokens.SECURITY_GROUP, group_id, call.scope, self.error)
        if group is None:
            return
        for side in ("source", "destination"):
            if text(inputs, f"{side}Type") != GROUP:
                continue
            peer = must_exist(
                world, tokens.SECURITY_GROUP, text(inputs, side), call.scope, self.error
            )
            if peer is not None and text(peer.outputs, "vcnId") != text(group.outputs, "vcnId"):
                raise Refusal(
                    f"400-InvalidParameter: {side} {peer.name} is a security group of another VCN "
                    f"than {group.name}; give one of the same VCN"
                )
        if old is not None:
            return
        rules = world.where(self.token, call.scope, networkSecurityGroupId=group.id)
        if len(rules) >= MAX_RULES:
            raise Refusal(
                f"400-LimitExceeded: security group {group.name} has {MAX_RULES} rules, which is "
                "the limit; merge some"
            )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"isValid": True}


class SecurityList(OciKind):
    """A list of rules for all interfaces of a subnet."""

    token = tokens.SECURITY_LIST
    id_type = "securitylist"
    computed: ClassVar[frozenset[str]] = frozenset({"state", "timeCreated"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"vcnId"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        for field, side in (
            ("egressSecurityRules", "destination"),
            ("ingressSecurityRules", "source"),
        ):
            for index, rule in enumerate(objects(inputs, field)):
                found = [*_protocol_problems(rule), *_peer_problems(rule, side)]
                found += choice(rule, f"{side}Type", ("CIDR_BLOCK", "SERVICE_CIDR_BLOCK"))
                for path, reason in found:
                    yield f"{field}[{index}].{path}", reason

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        network_rules.vcn(world, call.scope, text(call.inputs, "vcnId"))

    def delete(self, old: Resource, world: World) -> None:
        users = (
            subnet
            for subnet in world.all(tokens.SUBNET, old.scope)
            if old.id in texts(subnet.outputs, "securityListIds")
        )
        refuse_while_used(old, users, "remove it from these, or delete them first")


def _protocol_problems(rule: Properties) -> Iterator[Problem]:
    """Check a rule as the API describes it in AddSecurityRuleDetails."""
    protocol = text(rule, "protocol")
    if protocol is None:
        return
    if protocol != "all" and not (protocol.isdigit() and int(protocol) <= 255):
        yield (
            "protocol",
            f"{protocol!r} must be 'all' or a protocol's number as a string: 6 is TCP, 17 UDP, "
            "1 ICMP",
        )
    for path, allowed in _OPTIONS.items():
        if mapping(rule, path) and protocol not in allowed:
            yield path, f"requires protocol {' or '.join(allowed)}, this rule has {protocol!r}"
    for path in ("tcpOptions", "udpOptions"):
        for ports in ("destinationPortRange", "sourcePortRange", ""):
            here = f"{path}.{ports}" if ports else path
            yield from _port_problems(rule, here)


def _port_problems(rule: Properties, path: str) -> Iterator[Problem]:
    for end in ("min", "max"):
        yield from between(rule, f"{path}.{end}", 1, 65535)
    low, high = number(rule, f"{path}.min"), number(rule, f"{path}.max")
    if low is not None and high is not None and low > high:
        yield f"{path}.min", f"{low} is above max {high}"


def _peer_problems(rule: Properties, side: str) -> Iterator[Problem]:
    value = text(rule, side)
    kind = text(rule, f"{side}Type") or "CIDR_BLOCK"
    if value is None or lookup(rule, f"{side}Type") not in (None, *_TYPES):
        return
    if kind == GROUP and not is_ocid(value, "networksecuritygroup"):
        yield side, f"{value!r} is not the OCID of a security group"
    if kind == "SERVICE_CIDR_BLOCK" and not gateways.is_service_label(value):
        yield side, f"{value!r} is not a service label: give the cidrBlock of core.getServices"
    if kind == "CIDR_BLOCK":
        try:
            ipaddress.ip_network(value)
        except ValueError:
            yield side, f"{value!r} is not an address block: correct it or {side}Type"


KINDS = (NetworkSecurityGroup(), NetworkSecurityGroupSecurityRule(), SecurityList())
