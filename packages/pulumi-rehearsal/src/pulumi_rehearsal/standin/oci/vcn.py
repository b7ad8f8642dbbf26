"""VCNs and subnets.

OCI creates a VCN with a default route table without rules, and a default security list that allows
SSH in and everything out. They apply to subnets that name none. Replacement: see base.py, and
oracle/terraform-provider-oci internal/service/core/core_vcn_resource.go, core_subnet_resource.go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import network_rules, regions, tokens
from pulumi_rehearsal.standin.oci.base import OciKind, ocid, refuse_while_used, region_of
from pulumi_rehearsal.standin.properties import flag, given, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, conflict, must_exist, spelled
from pulumi_rehearsal.standin.world import World

MAX_SECURITY_LISTS: Final = 5

_DNS_LABEL: Final = r"[A-Za-z][A-Za-z0-9]*"
_DNS_SYNTAX: Final = "letters and digits, beginning with a letter"


class Vcn(OciKind):
    """A network with its default route table, security list and DHCP options."""

    token = tokens.VCN
    id_type = "vcn"
    computed: ClassVar[frozenset[str]] = frozenset(
        {
            "byoipv6cidrBlocks",
            "defaultDhcpOptionsId",
            "defaultRouteTableId",
            "defaultSecurityListId",
            "ipv6cidrBlocks",
            "state",
            "timeCreated",
            "vcnDomainName",
        }
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset({"cidrBlock", "dnsLabel"})
    # The IPv6 inputs have no mark, and the provider's source was not read for them: a change of
    # them is reported as `may replace`.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {
            "cidrBlocks",
            "compartmentId",
            "definedTags",
            "displayName",
            "freeformTags",
            "securityAttributes",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        yield from conflict(inputs, "cidrBlock", "cidrBlocks")
        if not given(inputs, "cidrBlock") and not given(inputs, "cidrBlocks"):
            yield "cidrBlocks", "is missing: a VCN needs an address block"
        for index, block in enumerate(texts(inputs, "cidrBlocks")):
            yield from cidr_problems(block, f"cidrBlocks[{index}]")
        yield from cidr_problems(text(inputs, "cidrBlock"), "cidrBlock")
        yield from spelled(inputs, "dnsLabel", _DNS_LABEL, 15, _DNS_SYNTAX)

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        vcn_id, outputs = super().create(call, world)
        no_rules: Properties = {"routeRules": []}
        for token, path, content in (
            (tokens.ROUTE_TABLE, "defaultRouteTableId", no_rules),
            (tokens.SECURITY_LIST, "defaultSecurityListId", _default_rules(outputs)),
        ):
            made = Resource(
                urn="",
                type=token,
                name=f"{call.name}-default",
                id=text(outputs, path) or "",
                scope=call.scope,
                inputs={},
                outputs={"vcnId": vcn_id, **content},
            )
            world.add(made)
        return vcn_id, outputs

    def compute(self, call: Call, id: str, world: World) -> Properties:
        region = region_of(call.scope)
        label = text(call.inputs, "dnsLabel")
        blocks = blocks_of(call.inputs)
        return {
            "byoipv6cidrBlocks": [],
            "cidrBlock": blocks[0] if blocks else "",
            "cidrBlocks": list(blocks),
            "defaultDhcpOptionsId": ocid("dhcpoptions", region, id),
            "defaultRouteTableId": ocid("routetable", region, id),
            "defaultSecurityListId": ocid("securitylist", region, id),
            "ipv6cidrBlocks": [],
            "vcnDomainName": f"{label}.oraclevcn.com" if label else "",
        }

    def delete(self, old: Resource, world: World) -> None:
        inside = [
            resource
            for token in (
                tokens.SUBNET,
                tokens.INTERNET_GATEWAY,
                tokens.NAT_GATEWAY,
                tokens.SERVICE_GATEWAY,
                tokens.ROUTE_TABLE,
                tokens.SECURITY_LIST,
                tokens.SECURITY_GROUP,
                tokens.CLUSTER,
            )
            for resource in world.where(token, old.scope, vcnId=old.id)
        ]
        refuse_while_used(
            old, (resource for resource in inside if resource.urn), "delete these first"
        )
        for resource in inside:
            world.remove(resource)


class Subnet(OciKind):
    """A subnet, regional unless it has an availability domain."""

    token = tokens.SUBNET
    id_type = "subnet"
    computed: ClassVar[frozenset[str]] = frozenset(
        {
            "ipv6virtualRouterIp",
            "state",
            "subnetDomainName",
            "timeCreated",
            "virtualRouterIp",
            "virtualRouterMac",
        }
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "availabilityDomain",
            "dnsLabel",
            "prohibitInternetIngress",
            "prohibitPublicIpOnVnic",
            "vcnId",
        }
    )
    # ipv4cidrBlocks has no mark, and the provider's source that was read is older than it.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {
            "cidrBlock",
            "compartmentId",
            "definedTags",
            "dhcpOptionsId",
            "displayName",
            "freeformTags",
            "ipv6cidrBlock",
            "ipv6cidrBlocks",
            "routeTableId",
            "securityListIds",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        if not given(inputs, "cidrBlock") and not given(inputs, "ipv4cidrBlocks"):
            yield "cidrBlock", "is missing: a subnet needs an address block"
        yield from cidr_problems(text(inputs, "cidrBlock"), "cidrBlock")
        yield from spelled(inputs, "dnsLabel", _DNS_LABEL, 15, _DNS_SYNTAX)
        count = len(texts(inputs, "securityListIds"))
        if count > MAX_SECURITY_LISTS:
            yield "securityListIds", f"has {count} lists, the limit is {MAX_SECURITY_LISTS}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        inputs = call.inputs
        vcn = network_rules.vcn(world, call.scope, text(inputs, "vcnId"))
        domain = text(inputs, "availabilityDomain")
        region = region_of(call.scope)
        if domain is not None and not regions.has_domain(region, domain):
            raise Refusal(
                f"400-InvalidParameter: {region} has no availability domain {domain!r}; take one "
                f"such as {regions.availability_domains(region)[0]}, or leave it out for a "
                "regional subnet"
            )
        if vcn is None:
            return
        used = [(tokens.ROUTE_TABLE, text(inputs, "routeTableId"))]
        used += [(tokens.SECURITY_LIST, one) for one in texts(inputs, "securityListIds")]
        for token, used_id in used:
            resource = must_exist(world, token, used_id, call.scope, self.error)
            if resource is not None and text(resource.outputs, "vcnId") != vcn.id:
                raise Refusal(
                    f"400-InvalidParameter: {token.rpartition(':')[2]} {resource.name} is in "
                    f"another VCN than subnet {call.name}; take one of VCN {vcn.name}"
                )
        if given(inputs, "dnsLabel") and not given(vcn.outputs, "dnsLabel"):
            raise Refusal(
                f"400-InvalidParameter: subnet {call.name} has a dnsLabel, VCN {vcn.name} has "
                "none: give the VCN one, or leave it out of the subnet"
            )
        self._refuse_block(call, old, vcn, world)

    def compute(self, call: Call, id: str, world: World) -> Properties:
        vcn = world.get(text(call.inputs, "vcnId") or "", tokens.VCN, call.scope)
        inherited = vcn.outputs if vcn else {}
        label, domain = text(call.inputs, "dnsLabel"), text(inherited, "vcnDomainName")
        block = text(call.inputs, "cidrBlock")
        router = str(ipaddress.IPv4Network(block)[1]) if block else ""
        digits = world.fresh_hex(call.urn, 6)
        is_private = flag(call.inputs, "prohibitPublicIpOnVnic") or False
        return {
            "dhcpOptionsId": text(call.inputs, "dhcpOptionsId")
            or text(inherited, "defaultDhcpOptionsId"),
            "ipv6virtualRouterIp": "",
            "prohibitPublicIpOnVnic": is_private,
            "routeTableId": text(call.inputs, "routeTableId")
            or text(inherited, "defaultRouteTableId"),
            "securityListIds": list(texts(call.inputs, "securityListIds"))
            or [text(inherited, "defaultSecurityListId")],
            "subnetDomainName": f"{label}.{domain}" if label and domain else "",
            "virtualRouterIp": router,
            "virtualRouterMac": f"00:00:17:{digits[:2]}:{digits[2:4]}:{digits[4:]}",
        }

    def delete(self, old: Resource, world: World) -> None:
        clusters = [
            resource
            for resource in world.all(tokens.CLUSTER, old.scope)
            if old.id in _subnets_of_cluster(resource)
        ]
        pools = [
            resource
            for resource in world.all(tokens.NODE_POOL, old.scope)
            if old.id in _subnets_of_pool(resource)
        ]
        refuse_while_used(
            old, [*clusters, *pools], "delete these first: each has network interfaces in it"
        )

    def _refuse_block(self, call: Call, old: Resource | None, vcn: Resource, world: World) -> None:
        block = text(call.inputs, "cidrBlock")
        if block is None:
            return
        mine = ipaddress.IPv4Network(block)
        blocks = blocks_of(vcn.outputs)
        if blocks and not any(mine.subnet_of(ipaddress.IPv4Network(one)) for one in blocks):
            raise Refusal(
                f"400-InvalidParameter: cidrBlock {block} is not within {', '.join(blocks)} of "
                f"VCN {vcn.name}; choose a block inside it"
            )
        for sibling in world.where(tokens.SUBNET, call.scope, vcnId=vcn.id):
            other = text(sibling.outputs, "cidrBlock")
            if other is None or (old is not None and sibling.id == old.id):
                continue
            if mine.overlaps(ipaddress.IPv4Network(other)):
                raise Refusal(
                    f"400-InvalidParameter: cidrBlock {block} overlaps {other} of subnet "
                    f"{sibling.name}; give each subnet another block"
                )


def cidr_problems(block: str | None, path: str) -> Iterator[Problem]:
    """Check an address block of a VCN or subnet."""
    if block is None:
        return
    try:
        network = ipaddress.IPv4Network(block)
    except ValueError as error:
        yield path, f"{block!r} is not an IPv4 network: {error}"
        return
    if not 16 <= network.prefixlen <= 30:
        yield path, f"/{network.prefixlen} is outside of OCI's range, /16 to /30"


def blocks_of(vcn: Properties) -> tuple[str, ...]:
    """Return the address blocks of a VCN from cidrBlocks or cidrBlock."""
    single = text(vcn, "cidrBlock")
    return texts(vcn, "cidrBlocks") or ((single,) if single else ())


def _default_rules(vcn: Properties) -> Properties:
    """Return the default rules.

    https://docs.oracle.com/en-us/iaas/Content/Network/Concepts/securitylists.htm
    """
    everywhere = "0.0.0.0/0"
    discovery = {"protocol": "1", "source": everywhere, "icmpOptions": {"type": 3, "code": 4}}
    inside = [
        {"protocol": "1", "source": block, "icmpOptions": {"type": 3}} for block in blocks_of(vcn)
    ]
    ssh = {"protocol": "6", "source": everywhere, "tcpOptions": {"min": 22, "max": 22}}
    return {
        "egressSecurityRules": [{"protocol": "all", "destination": everywhere}],
        "ingressSecurityRules": [ssh, discovery, *inside],
    }


def _subnets_of_cluster(cluster: Resource) -> tuple[str, ...]:
    endpoint = text(cluster.outputs, "endpointConfig.subnetId")
    balancers = texts(cluster.outputs, "options.serviceLbSubnetIds")
    return (*balancers, *((endpoint,) if endpoint else ()))


def _subnets_of_pool(pool: Resource) -> tuple[str, ...]:
    details = "nodeConfigDetails"
    placed = objects(pool.outputs, f"{details}.placementConfigs")
    pods = texts(pool.outputs, f"{details}.nodePoolPodNetworkOptionDetails.podSubnetIds")
    return (*pods, *(text(one, "subnetId") or "" for one in placed))


KINDS = (Vcn(), Subnet())
