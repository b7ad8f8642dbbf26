"""EC2 routing: route table, route, route table association, VPC endpoint.

Replacement: ForceNew in hashicorp/terraform-provider-aws internal/service/ec2/vpc_route_table.go,
vpc_route.go, vpc_route_table_association.go, vpc_endpoint.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.aws.base import ACCOUNT, AwsKind, dependency_violation, region_of
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import given, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, choice, exactly_one, must_exist
from pulumi_rehearsal.standin.world import World

_DESTINATIONS = ("destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId")
_TARGETS = (
    "carrierGatewayId",
    "coreNetworkArn",
    "egressOnlyGatewayId",
    "gatewayId",
    "localGatewayId",
    "natGatewayId",
    "networkInterfaceId",
    "odbNetworkArn",
    "transitGatewayId",
    "vpcEndpointId",
    "vpcPeeringConnectionId",
)
_GATEWAY_SERVICES = ("s3", "dynamodb")
"""https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html"""


class RouteTable(AwsKind):
    """A route table; its routes are inline or `Route` resources, never both."""

    token = tokens.ROUTE_TABLE
    id_prefix = "rtb"
    arn_type = "route-table"
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "ownerId"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"region", "vpcId"})

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require the VPC, and targets of inline routes in it."""
        network = must_exist(
            world, tokens.VPC, text(call.inputs, "vpcId"), call.scope, "InvalidVpcID.NotFound"
        )
        if network is None:
            return
        for route in objects(call.inputs, "routes"):
            _refuse_foreign_target(world, call.scope, network.id, route)

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"ownerId": ACCOUNT}

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while a gateway endpoint uses it; the provider removes associations itself."""
        users = [
            endpoint
            for endpoint in world.all(tokens.VPC_ENDPOINT, old.scope)
            if old.id in texts(endpoint.outputs, "routeTableIds")
        ]
        dependency_violation(old, users, "delete these first")


class Route(AwsKind):
    """One route of a table."""

    token = tokens.ROUTE
    computed: ClassVar[frozenset[str]] = frozenset({"instanceId", "origin", "state"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({*_DESTINATIONS, "region", "routeTableId"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Require one destination and one target."""
        yield from exactly_one(inputs, _DESTINATIONS)
        yield from exactly_one(inputs, _TARGETS)

    def identify(self, call: Call, world: World) -> str:
        """Return `r-<table>` and a hash."""
        number = int(world.fresh_hex(call.urn, 8), 16)
        return f"r-{text(call.inputs, 'routeTableId')}{number}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require the table and a target in its VPC; refuse a second route to a destination."""
        table = must_exist(
            world,
            tokens.ROUTE_TABLE,
            text(call.inputs, "routeTableId"),
            call.scope,
            "InvalidRouteTableID.NotFound",
        )
        if table is None:
            return
        destination = _destination(call.inputs)
        others = [
            route.outputs
            for route in world.where(tokens.ROUTE, call.scope, routeTableId=table.id)
            if old is None or route.id != old.id
        ]
        inline = [
            {"destinationCidrBlock": text(route, "cidrBlock")}
            for route in objects(table.outputs, "routes")
        ]
        if any(_destination(route) == destination for route in (*others, *inline)):
            raise Refusal(
                f"RouteAlreadyExists: route table {table.id} routes {destination} already; keep "
                "one route for each destination"
            )
        vpc_id = text(table.outputs, "vpcId") or ""
        _refuse_foreign_target(world, call.scope, vpc_id, call.inputs)

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"instanceId": "", "origin": "CreateRoute", "state": "active"}


class RouteTableAssociation(AwsKind):
    """The association of a subnet with a route table."""

    token = tokens.ROUTE_TABLE_ASSOCIATION
    id_prefix = "rtbassoc"
    replaced_on: ClassVar[frozenset[str]] = frozenset({"gatewayId", "region", "subnetId"})

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Require a subnet or a gateway."""
        yield from exactly_one(inputs, ("gatewayId", "subnetId"))

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require both in one VPC; refuse a second table of a subnet."""
        table = must_exist(
            world,
            tokens.ROUTE_TABLE,
            text(call.inputs, "routeTableId"),
            call.scope,
            "InvalidRouteTableID.NotFound",
        )
        subnet = must_exist(
            world,
            tokens.SUBNET,
            text(call.inputs, "subnetId"),
            call.scope,
            "InvalidSubnetID.NotFound",
        )
        if table is None or subnet is None:
            return
        if text(table.outputs, "vpcId") != text(subnet.outputs, "vpcId"):
            raise Refusal(
                f"InvalidParameterValue: route table {table.id} and subnet {subnet.id} belong to "
                "different VPCs; associate a table of the subnet's own VPC"
            )
        for other in world.where(tokens.ROUTE_TABLE_ASSOCIATION, call.scope, subnetId=subnet.id):
            if old is None or other.id != old.id:
                raise Refusal(
                    f"Resource.AlreadyAssociated: subnet {subnet.id} has route table "
                    f"{text(other.outputs, 'routeTableId')} already; a subnet uses one table"
                )


class VpcEndpoint(AwsKind):
    """A VPC endpoint: a gateway (S3, DynamoDB) or an interface."""

    token = tokens.VPC_ENDPOINT
    id_prefix = "vpce"
    arn_type = "vpc-endpoint"
    computed: ClassVar[frozenset[str]] = frozenset(
        {
            "arn",
            "cidrBlocks",
            "dnsEntries",
            "networkInterfaceIds",
            "ownerId",
            "prefixListId",
            "requesterManaged",
            "state",
        }
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "dnsOptions.privateDnsPreference",
            "dnsOptions.privateDnsSpecifiedDomains",
            "region",
            "resourceConfigurationArn",
            "serviceName",
            "serviceNetworkArn",
            "serviceRegion",
            "vpcEndpointType",
            "vpcId",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check type and address family, and the properties that belong to one type."""
        yield from choice(
            inputs,
            "vpcEndpointType",
            ("Gateway", "GatewayLoadBalancer", "Interface", "Resource", "ServiceNetwork"),
        )
        yield from choice(inputs, "ipAddressType", ("dualstack", "ipv4", "ipv6"))
        if (text(inputs, "vpcEndpointType") or "Gateway") == "Gateway":
            for path in ("privateDnsEnabled", "securityGroupIds", "subnetIds"):
                if given(inputs, path):
                    yield path, "a gateway endpoint has routeTableIds only: leave it out"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require a service of the region, and tables, subnets and groups of the VPC."""
        network = must_exist(
            world, tokens.VPC, text(call.inputs, "vpcId"), call.scope, "InvalidVpcID.NotFound"
        )
        region = region_of(call.scope, call.inputs)
        service = text(call.inputs, "serviceName")
        kind = text(call.inputs, "vpcEndpointType") or "Gateway"
        if service is not None and service.startswith("com.amazonaws."):
            expected = f"com.amazonaws.{region}."
            if not service.startswith(expected):
                raise Refusal(
                    f"InvalidServiceName: {service} is not a service of {region}; its name begins "
                    f"with {expected}"
                )
            if kind == "Gateway" and service.removeprefix(expected) not in _GATEWAY_SERVICES:
                raise Refusal(
                    f"InvalidParameter: {service} has no gateway endpoint, only S3 and DynamoDB "
                    "have one; set vpcEndpointType to Interface"
                )
        if network is None:
            return
        for path, token in (
            ("routeTableIds", tokens.ROUTE_TABLE),
            ("subnetIds", tokens.SUBNET),
            ("securityGroupIds", tokens.SECURITY_GROUP),
        ):
            for used_id in texts(call.inputs, path):
                other = must_exist(world, token, used_id, call.scope, "InvalidParameter")
                if other is not None and text(other.outputs, "vpcId") != network.id:
                    raise Refusal(
                        f"InvalidParameter: {path} names {used_id}, which is not in VPC "
                        f"{network.id}; name those of the endpoint's own VPC"
                    )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        interfaces = [
            f"eni-{world.fresh_hex(call.urn, 17)}" for _ in texts(call.inputs, "subnetIds")
        ]
        return {
            "cidrBlocks": [],
            "dnsEntries": [],
            "networkInterfaceIds": interfaces,
            "ownerId": ACCOUNT,
            "prefixListId": f"pl-{world.fresh_hex(call.urn, 8)}",
            "requesterManaged": False,
            "state": "available",
            "vpcEndpointType": text(call.inputs, "vpcEndpointType") or "Gateway",
        }


def _destination(route: Properties) -> str | None:
    return next((found for path in _DESTINATIONS if (found := text(route, path))), None)


def _refuse_foreign_target(world: World, scope: str, vpc_id: str, route: Properties) -> None:
    gateway = text(route, "gatewayId")
    if gateway is not None and re.match(r"igw-", gateway):
        found = must_exist(
            world, tokens.INTERNET_GATEWAY, gateway, scope, "InvalidInternetGatewayID.NotFound"
        )
        if found is not None and text(found.outputs, "vpcId") != vpc_id:
            raise Refusal(
                f"InvalidParameterValue: internet gateway {gateway} and the route table belong to "
                "different networks; use the gateway of the table's own VPC"
            )
    nat = must_exist(
        world,
        tokens.NAT_GATEWAY,
        text(route, "natGatewayId"),
        scope,
        "InvalidNatGatewayID.NotFound",
    )
    if nat is None:
        return
    subnet = world.get(text(nat.outputs, "subnetId") or "", tokens.SUBNET, scope)
    if subnet is not None and text(subnet.outputs, "vpcId") != vpc_id:
        raise Refusal(
            f"InvalidParameterValue: NAT gateway {nat.id} is in another VPC than the route table; "
            "use one of the table's own VPC"
        )


KINDS = (RouteTable(), Route(), RouteTableAssociation(), VpcEndpoint())
