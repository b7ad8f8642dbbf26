"""The VPC of one EKS cluster. An existing VPC stays unchanged; the component returns its IDs.

https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
"""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from fleet.clusters.eks_network import ExistingNetwork, NewNetwork, Zone


class Network(pulumi.ComponentResource):
    """VPC, internet gateway, S3 endpoint; per zone a public and a private subnet with routes."""

    vpc_id: pulumi.Output[str]
    private_subnet_ids: dict[str, pulumi.Output[str]]
    """Subnet of the nodes, by zone."""
    ready: list[pulumi.Resource]
    """Routes to the internet. Nodes depend on them, because they must reach EKS to join."""

    def __init__(
        self,
        name: str,
        *,
        plan: NewNetwork | ExistingNetwork,
        tags: dict[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpu-runners:aws:Network", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        match plan:
            case ExistingNetwork(vpc_id=vpc_id, subnet_ids=subnet_ids):
                self.vpc_id = pulumi.Output.from_input(vpc_id)
                self.private_subnet_ids = {
                    zone: pulumi.Output.from_input(subnet) for zone, subnet in subnet_ids.items()
                }
                self.ready = []
            case NewNetwork():
                self._make(name, plan, tags, child)
        self.register_outputs(
            {"vpc_id": self.vpc_id, "private_subnet_ids": self.private_subnet_ids}
        )

    def _make(
        self, name: str, plan: NewNetwork, tags: dict[str, str], child: pulumi.ResourceOptions
    ) -> None:
        vpc = aws.ec2.Vpc(
            f"{name}-vpc",
            cidr_block=plan.cidr,
            enable_dns_hostnames=True,  # nodes resolve the private endpoint of EKS by name
            enable_dns_support=True,
            tags={**tags, "Name": name},
            opts=child,
        )
        internet = aws.ec2.InternetGateway(
            f"{name}-internet", vpc_id=vpc.id, tags={**tags, "Name": name}, opts=child
        )
        public_routes = aws.ec2.RouteTable(
            f"{name}-public", vpc_id=vpc.id, tags={**tags, "Name": f"{name}-public"}, opts=child
        )
        internet_route = aws.ec2.Route(
            f"{name}-public-internet",
            route_table_id=public_routes.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=child,
        )
        self.vpc_id = vpc.id
        self.private_subnet_ids = {}
        self.ready = []
        private_tables: list[pulumi.Output[str]] = []
        gateway: aws.ec2.NatGateway | None = None
        for zone in plan.zones:
            public, association = _public_subnet(
                name, zone, vpc_id=vpc.id, routes=public_routes.id, tags=tags, child=child
            )
            if gateway is None or plan.nat_per_zone:
                gateway = _nat_gateway(
                    name,
                    zone,
                    subnet_id=public.id,
                    depends_on=[internet_route, association],
                    tags=tags,
                    child=child,
                )
            private, routes, ready = _private_subnet(
                name, zone, vpc_id=vpc.id, nat_gateway_id=gateway.id, tags=tags, child=child
            )
            self.private_subnet_ids[zone.name] = private.id
            self.ready += ready
            private_tables.append(routes.id)
        aws.ec2.VpcEndpoint(
            f"{name}-s3",
            vpc_id=vpc.id,
            # ECR keeps image layers in S3. Pulls through this endpoint bypass the NAT gateway.
            service_name=f"com.amazonaws.{plan.region}.s3",
            vpc_endpoint_type="Gateway",
            route_table_ids=private_tables,
            tags={**tags, "Name": f"{name}-s3"},
            opts=child,
        )


def _public_subnet(
    name: str,
    zone: Zone,
    *,
    vpc_id: pulumi.Input[str],
    routes: pulumi.Input[str],
    tags: dict[str, str],
    child: pulumi.ResourceOptions,
) -> tuple[aws.ec2.Subnet, aws.ec2.RouteTableAssociation]:
    label = f"{name}-public-{zone.name}"
    subnet = aws.ec2.Subnet(
        label,
        vpc_id=vpc_id,
        availability_zone=zone.name,
        cidr_block=zone.public_cidr,
        tags={**tags, "Name": label, "kubernetes.io/role/elb": "1"},
        opts=child,
    )
    association = aws.ec2.RouteTableAssociation(
        label, route_table_id=routes, subnet_id=subnet.id, opts=child
    )
    return subnet, association


def _nat_gateway(
    name: str,
    zone: Zone,
    *,
    subnet_id: pulumi.Input[str],
    depends_on: Sequence[pulumi.Resource],
    tags: dict[str, str],
    child: pulumi.ResourceOptions,
) -> aws.ec2.NatGateway:
    label = f"{name}-nat-{zone.name}"
    # EC2 fails a gateway whose subnet has no route to the internet yet, and does not retry.
    routed = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=depends_on))
    address = aws.ec2.Eip(label, domain="vpc", tags={**tags, "Name": label}, opts=routed)
    return aws.ec2.NatGateway(
        label,
        allocation_id=address.id,
        subnet_id=subnet_id,
        tags={**tags, "Name": label},
        opts=routed,
    )


def _private_subnet(
    name: str,
    zone: Zone,
    *,
    vpc_id: pulumi.Input[str],
    nat_gateway_id: pulumi.Input[str],
    tags: dict[str, str],
    child: pulumi.ResourceOptions,
) -> tuple[aws.ec2.Subnet, aws.ec2.RouteTable, list[pulumi.Resource]]:
    label = f"{name}-private-{zone.name}"
    subnet = aws.ec2.Subnet(
        label,
        vpc_id=vpc_id,
        availability_zone=zone.name,
        cidr_block=zone.private_cidr,
        tags={**tags, "Name": label, "kubernetes.io/role/internal-elb": "1"},
        opts=child,
    )
    table = aws.ec2.RouteTable(label, vpc_id=vpc_id, tags={**tags, "Name": label}, opts=child)
    route = aws.ec2.Route(
        label,
        route_table_id=table.id,
        destination_cidr_block="0.0.0.0/0",
        nat_gateway_id=nat_gateway_id,
        opts=child,
    )
    association = aws.ec2.RouteTableAssociation(
        label, route_table_id=table.id, subnet_id=subnet.id, opts=child
    )
    return subnet, table, [route, association]
