"""EC2 networks: VPC, subnet, internet gateway, Elastic IP, NAT gateway.

Replacement: ForceNew in hashicorp/terraform-provider-aws internal/service/ec2/vpc_.go,
vpc_subnet.go, vpc_internet_gateway.go, ec2_eip.go, vpc_nat_gateway.go.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.aws.base import ACCOUNT, AwsKind, dependency_violation, region_of
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import given, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, choice, conflict, must_exist
from pulumi_rehearsal.standin.world import World


class Vpc(AwsKind):
    """A VPC with its default security group and main route table."""

    token = tokens.VPC
    id_prefix = "vpc"
    arn_type = "vpc"
    computed: ClassVar[frozenset[str]] = frozenset(
        {
            "arn",
            "defaultNetworkAclId",
            "defaultRouteTableId",
            "defaultSecurityGroupId",
            "dhcpOptionsId",
            "mainRouteTableId",
            "ownerId",
        }
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength", "region"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check the CIDR, from /16 to /28, and the tenancy."""
        yield from _cidr_problems(inputs, "cidrBlock", 16, 28)
        yield from choice(inputs, "instanceTenancy", ("default", "dedicated"))
        yield from conflict(inputs, "cidrBlock", "ipv4NetmaskLength")

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Return the ids of what EC2 creates with a VPC."""
        table = f"rtb-{world.fresh_hex(call.urn, 17)}"
        return {
            "defaultNetworkAclId": f"acl-{world.fresh_hex(call.urn, 17)}",
            "defaultRouteTableId": table,
            "defaultSecurityGroupId": f"sg-{world.fresh_hex(call.urn, 17)}",
            "dhcpOptionsId": f"dopt-{world.fresh_hex(call.urn, 17)}",
            "mainRouteTableId": table,
            "ownerId": ACCOUNT,
        }

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while the VPC has resources."""
        users = [
            resource
            for token in (
                tokens.SUBNET,
                tokens.INTERNET_GATEWAY,
                tokens.ROUTE_TABLE,
                tokens.VPC_ENDPOINT,
                tokens.SECURITY_GROUP,
            )
            for resource in world.where(token, old.scope, vpcId=old.id)
        ]
        dependency_violation(old, users, "delete these first")


class Subnet(AwsKind):
    """A subnet in one zone."""

    token = tokens.SUBNET
    id_prefix = "subnet"
    arn_type = "subnet"
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "ownerId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "availabilityZone",
            "availabilityZoneId",
            "cidrBlock",
            "ipv4IpamPoolId",
            "ipv4NetmaskLength",
            "ipv6IpamPoolId",
            "ipv6Native",
            "ipv6NetmaskLength",
            "outpostArn",
            "region",
            "vpcId",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check the CIDR, from /16 to /28, and the zone, by name or by id."""
        yield from _cidr_problems(inputs, "cidrBlock", 16, 28)
        yield from conflict(inputs, "availabilityZone", "availabilityZoneId")
        yield from choice(inputs, "privateDnsHostnameTypeOnLaunch", ("ip-name", "resource-name"))

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require a block in the VPC that overlaps no other subnet, and a zone of the region."""
        vpc = must_exist(
            world, tokens.VPC, text(call.inputs, "vpcId"), call.scope, "InvalidVpcID.NotFound"
        )
        region = region_of(call.scope, call.inputs)
        zone = text(call.inputs, "availabilityZone")
        if zone is not None and not re.fullmatch(f"{re.escape(region)}[a-z]", zone):
            raise Refusal(
                f"InvalidParameterValue: availabilityZone {zone!r} is not a zone of {region}; use "
                f"one such as {region}a"
            )
        block = text(call.inputs, "cidrBlock")
        if vpc is None or block is None or old is not None:
            return
        mine = ipaddress.IPv4Network(block)
        whole = text(vpc.outputs, "cidrBlock")
        if whole is not None and not mine.subnet_of(ipaddress.IPv4Network(whole)):
            raise Refusal(
                f"InvalidSubnet.Range: cidrBlock {block} is not within the VPC's {whole}; use a "
                "part of it"
            )
        for sibling in world.where(tokens.SUBNET, call.scope, vpcId=vpc.id):
            other = text(sibling.outputs, "cidrBlock")
            if other is not None and mine.overlaps(ipaddress.IPv4Network(other)):
                raise Refusal(
                    f"InvalidSubnet.Conflict: cidrBlock {block} overlaps {other} of subnet "
                    f"{sibling.id}; give each subnet another block"
                )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Return the owner and, if the inputs name no zone, a zone."""
        zone = text(call.inputs, "availabilityZone")
        chosen = zone or f"{region_of(call.scope, call.inputs)}a"
        return {"ownerId": ACCOUNT, "availabilityZone": chosen}

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while resources have network interfaces in the subnet."""
        users = [
            *world.where(tokens.NAT_GATEWAY, old.scope, subnetId=old.id),
            *(
                thing
                for thing in world.all(tokens.VPC_ENDPOINT, old.scope)
                if old.id in texts(thing.outputs, "subnetIds")
            ),
            *(
                thing
                for thing in world.all(tokens.CLUSTER, old.scope)
                if old.id in texts(thing.outputs, "vpcConfig.subnetIds")
            ),
            *(
                thing
                for thing in world.all(tokens.NODE_GROUP, old.scope)
                if old.id in texts(thing.outputs, "subnetIds")
            ),
        ]
        dependency_violation(old, users, "delete these first: each keeps network interfaces here")


class InternetGateway(AwsKind):
    """An internet gateway; a VPC has at most one."""

    token = tokens.INTERNET_GATEWAY
    id_prefix = "igw"
    arn_type = "internet-gateway"
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "ownerId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"region"})  # vpcId: detach, then attach

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require the VPC; refuse its second internet gateway."""
        vpc = must_exist(
            world, tokens.VPC, text(call.inputs, "vpcId"), call.scope, "InvalidVpcID.NotFound"
        )
        if vpc is None:
            return
        for other in world.where(tokens.INTERNET_GATEWAY, call.scope, vpcId=vpc.id):
            if old is None or other.id != old.id:
                raise Refusal(
                    f"InvalidParameterValue: VPC {vpc.id} has internet gateway {other.id} "
                    "already, and can have only one; use that one"
                )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"ownerId": ACCOUNT}

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while a NAT gateway of the VPC has a public address."""
        vpc_id = text(old.outputs, "vpcId")
        users = [
            nat
            for nat in world.all(tokens.NAT_GATEWAY, old.scope)
            if given(nat.outputs, "allocationId") and _vpc_of_subnet(world, nat) == vpc_id
        ]
        dependency_violation(old, users, "delete these first: they have public addresses")


class Eip(AwsKind):
    """An Elastic IP address."""

    token = tokens.EIP
    id_prefix = "eipalloc"
    arn_type = "elastic-ip"
    computed: ClassVar[frozenset[str]] = frozenset(
        {"allocationId", "arn", "associationId", "publicDns", "publicIp"}
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "address",
            "domain",
            "ipamPoolId",
            "networkBorderGroup",
            "publicIpv4Pool",
            "region",
        }
    )

    def problems(self, inputs: Properties) -> Iterable[Problem]:
        """Require the domain `vpc`: EC2-Classic no longer exists."""
        return choice(inputs, "domain", ("vpc",))

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Return an address of the block for documentation (RFC 5737)."""
        address = f"203.0.113.{1 + int(world.fresh_hex(call.urn, 4), 16) % 254}"
        region = region_of(call.scope, call.inputs)
        return {
            "allocationId": id,
            "associationId": "",
            "publicDns": f"ec2-{address.replace('.', '-')}.{region}.compute.amazonaws.com",
            "publicIp": address,
        }

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while a NAT gateway uses it."""
        for nat in world.where(tokens.NAT_GATEWAY, old.scope, allocationId=old.id):
            raise Refusal(
                f"InvalidIPAddress.InUse: Eip {old.id} is in use by NatGateway {nat.id}; delete "
                "that first"
            )


class NatGateway(AwsKind):
    """A NAT gateway."""

    token = tokens.NAT_GATEWAY
    id_prefix = "nat"
    computed: ClassVar[frozenset[str]] = frozenset(
        {"associationId", "networkInterfaceId", "publicIp"}
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "allocationId",
            "connectivityType",
            "privateIp",
            "region",
            "secondaryPrivateIpAddressCount",
            "subnetId",
        }
    )
    # availabilityMode, availabilityZoneAddresses and vpcId (regional NAT gateways) are newer
    # than the schema that was read, so that a change of them may replace.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {"secondaryAllocationIds", "secondaryPrivateIpAddresses", "tags"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Require an Elastic IP for a public gateway, and none for a private one."""
        yield from choice(inputs, "connectivityType", ("public", "private"))
        yield from choice(inputs, "availabilityMode", ("zonal", "regional"))
        if text(inputs, "connectivityType") == "private":
            if given(inputs, "allocationId"):
                yield "allocationId", "a private NAT gateway has no address: leave it out"
        elif not given(inputs, "allocationId") and not given(inputs, "availabilityMode"):
            yield "allocationId", "a public NAT gateway needs an Eip: give its id"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require that the subnet of a public gateway has a route to an internet gateway."""
        subnet = must_exist(
            world,
            tokens.SUBNET,
            text(call.inputs, "subnetId"),
            call.scope,
            "InvalidSubnetID.NotFound",
        )
        allocation = text(call.inputs, "allocationId")
        must_exist(world, tokens.EIP, allocation, call.scope, "InvalidAllocationID.NotFound")
        if subnet is None or old is not None or text(call.inputs, "connectivityType") == "private":
            return
        for other in world.where(tokens.NAT_GATEWAY, call.scope, allocationId=allocation):
            raise Refusal(
                f"Resource.AlreadyAssociated: Eip {allocation} belongs to NatGateway {other.id}; "
                "allocate one Eip for each NAT gateway"
            )
        vpc_id = text(subnet.outputs, "vpcId")
        if world.find(tokens.INTERNET_GATEWAY, call.scope, vpcId=vpc_id) is None:
            raise Refusal(
                f"InvalidParameterValue: VPC {vpc_id} has no internet gateway attached; make the "
                "NAT gateway depend on it"
            )
        if not _routes_to_internet(world, subnet):
            raise Refusal(
                f"NAT gateway in subnet {subnet.id}, whose route table has no route to an "
                "internet gateway: it would pass no traffic; put it in a public subnet, and make "
                "it depend on that subnet's route and route table association"
            )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        eip = world.get(text(call.inputs, "allocationId") or "", tokens.EIP, call.scope)
        return {
            "associationId": f"eipassoc-{world.fresh_hex(call.urn, 17)}",
            "networkInterfaceId": f"eni-{world.fresh_hex(call.urn, 17)}",
            "publicIp": text(eip.outputs, "publicIp") if eip else "",
            "connectivityType": text(call.inputs, "connectivityType") or "public",
        }


def _cidr_problems(inputs: Properties, path: str, widest: int, narrowest: int) -> Iterator[Problem]:
    block = text(inputs, path)
    if block is None:
        return
    try:
        network = ipaddress.IPv4Network(block)
    except ValueError as error:
        yield path, f"{block!r} is not an IPv4 network: {error}"
        return
    if not widest <= network.prefixlen <= narrowest:
        yield path, f"/{network.prefixlen} is outside the range of EC2, /{widest} to /{narrowest}"


def _vpc_of_subnet(world: World, nat: Resource) -> str | None:
    subnet = world.get(text(nat.outputs, "subnetId") or "", tokens.SUBNET, nat.scope)
    return text(subnet.outputs, "vpcId") if subnet else None


def routes_of(world: World, subnet: Resource) -> Iterator[Properties]:
    """Return the routes of the subnet's route tables, with the inline ones."""
    for association in world.where(
        tokens.ROUTE_TABLE_ASSOCIATION, subnet.scope, subnetId=subnet.id
    ):
        table_id = text(association.outputs, "routeTableId") or ""
        table = world.get(table_id, tokens.ROUTE_TABLE, subnet.scope)
        yield from objects(table.outputs, "routes") if table else ()
        for route in world.where(tokens.ROUTE, subnet.scope, routeTableId=table_id):
            yield route.outputs


def _routes_to_internet(world: World, subnet: Resource) -> bool:
    targets = (text(route, "gatewayId") or "" for route in routes_of(world, subnet))
    return any(target.startswith("igw-") for target in targets)


KINDS = (Vpc(), Subnet(), InternetGateway(), Eip(), NatGateway())
