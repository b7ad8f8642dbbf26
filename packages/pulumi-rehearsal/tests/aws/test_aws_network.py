"""Networks: what EC2 refuses to make and to delete."""

from __future__ import annotations

import pytest
from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.kind import Invalid, Refusal


def test_ids_and_arns_have_the_form_of_the_cloud(account):
    vpc = account.vpc()
    assert vpc.id.startswith("vpc-")
    assert len(vpc.id) == len("vpc-") + 17
    assert vpc.outputs["arn"] == f"arn:aws:ec2:us-west-2:111122223333:vpc/{vpc.id}"
    assert vpc.outputs["ownerId"] == "111122223333"


def test_two_worlds_give_the_same_ids(account):
    other = type(account)()
    assert account.vpc().id == other.vpc().id


def test_a_vpc_block_outside_16_to_28_is_invalid(account):
    with pytest.raises(Invalid, match="/8 is outside"):
        account.vpc(block="10.0.0.0/8")


def test_a_block_with_host_bits_is_invalid(account):
    with pytest.raises(Invalid, match="not an IPv4 network"):
        account.vpc(block="10.0.0.1/16")


def test_a_subnet_outside_its_vpc_is_refused(account):
    with pytest.raises(Refusal, match="not within the VPC"):
        account.subnet(account.vpc(), "stray", "10.9.0.0/24")


def test_a_subnet_that_overlaps_another_is_refused(account):
    vpc = account.vpc()
    account.subnet(vpc, "first", "10.0.0.0/24")
    with pytest.raises(Refusal, match="overlaps"):
        account.subnet(vpc, "second", "10.0.0.128/25")


def test_a_subnet_in_a_zone_of_another_region_is_refused(account):
    with pytest.raises(Refusal, match="not a zone of us-west-2"):
        account.make(
            tokens.SUBNET,
            "s",
            vpcId=account.vpc().id,
            cidrBlock="10.0.0.0/24",
            availabilityZone="eu-west-1a",
        )


def test_a_subnet_of_a_vpc_that_does_not_exist_is_refused(account):
    with pytest.raises(Refusal, match=r"InvalidVpcID\.NotFound"):
        account.make(tokens.SUBNET, "s", vpcId="vpc-00000000000000000", cidrBlock="10.0.0.0/24")


def test_a_vpc_takes_one_internet_gateway(account):
    vpc = account.vpc()
    account.make(tokens.INTERNET_GATEWAY, "first", vpcId=vpc.id)
    with pytest.raises(Refusal, match="can have only one"):
        account.make(tokens.INTERNET_GATEWAY, "second", vpcId=vpc.id)


def test_a_nat_gateway_in_a_subnet_without_a_route_to_the_internet_is_refused(account):
    vpc = account.vpc()
    gateway = account.make(tokens.INTERNET_GATEWAY, "gateway", vpcId=vpc.id)
    subnet = account.subnet(vpc, "public", "10.0.0.0/24")
    eip = account.make(tokens.EIP, "nat")
    with pytest.raises(Refusal, match="no route to an internet gateway"):
        account.make(tokens.NAT_GATEWAY, "nat", subnetId=subnet.id, allocationId=eip.id)
    account.route("public", vpc, [subnet], gatewayId=gateway.id)
    assert account.make(
        tokens.NAT_GATEWAY, "nat", subnetId=subnet.id, allocationId=eip.id
    ).id.startswith("nat-")


def test_a_nat_gateway_in_a_vpc_without_an_internet_gateway_is_refused(account):
    subnet = account.subnet(account.vpc(), "public", "10.0.0.0/24")
    eip = account.make(tokens.EIP, "nat")
    with pytest.raises(Refusal, match="no internet gateway attached"):
        account.make(tokens.NAT_GATEWAY, "nat", subnetId=subnet.id, allocationId=eip.id)


def test_one_address_serves_one_nat_gateway(fleet):
    eip = fleet.nat.inputs["allocationId"]
    with pytest.raises(Refusal, match="one Eip for each NAT gateway"):
        fleet.make(tokens.NAT_GATEWAY, "again", subnetId=fleet.public.id, allocationId=eip)


def test_a_public_nat_gateway_without_an_address_is_invalid(account):
    with pytest.raises(Invalid, match="needs an Eip"):
        account.make(tokens.NAT_GATEWAY, "nat", subnetId="subnet-0123456789abcdef0")


def test_a_route_table_of_another_vpc_cannot_be_associated(account):
    subnet = account.subnet(account.vpc(), "s", "10.0.0.0/24")
    table = account.make(tokens.ROUTE_TABLE, "t", vpcId=account.vpc("other", "10.1.0.0/16").id)
    with pytest.raises(Refusal, match="different VPCs"):
        account.make(tokens.ROUTE_TABLE_ASSOCIATION, "a", subnetId=subnet.id, routeTableId=table.id)


def test_a_subnet_takes_one_route_table(fleet):
    table = fleet.make(tokens.ROUTE_TABLE, "second", vpcId=fleet.network.id)
    with pytest.raises(Refusal, match="a subnet uses one table"):
        fleet.make(
            tokens.ROUTE_TABLE_ASSOCIATION, "x", subnetId=fleet.public.id, routeTableId=table.id
        )


def test_a_route_to_the_internet_gateway_of_another_vpc_is_refused(fleet):
    other = fleet.vpc("other", "10.1.0.0/16")
    gateway = fleet.make(tokens.INTERNET_GATEWAY, "other", vpcId=other.id)
    with pytest.raises(Refusal, match="different networks"):
        fleet.route("stray", fleet.network, [], gatewayId=gateway.id)


def test_a_route_to_the_nat_gateway_of_another_vpc_is_refused(fleet):
    with pytest.raises(Refusal, match="another VPC than the route table"):
        fleet.route("stray", fleet.vpc("other", "10.1.0.0/16"), [], natGatewayId=fleet.nat.id)


def test_a_destination_is_routed_once(account):
    vpc = account.vpc()
    gateway = account.make(tokens.INTERNET_GATEWAY, "gateway", vpcId=vpc.id)
    table = account.route("first", vpc, [], gatewayId=gateway.id)
    with pytest.raises(Refusal, match="RouteAlreadyExists"):
        account.make(
            tokens.ROUTE,
            "again",
            routeTableId=table.id,
            destinationCidrBlock="0.0.0.0/0",
            gatewayId=gateway.id,
        )


def test_a_route_needs_one_target(account):
    with pytest.raises(Invalid, match="give exactly one of"):
        account.make(tokens.ROUTE, "r", routeTableId="rtb-1", destinationCidrBlock="0.0.0.0/0")


def test_a_gateway_endpoint_of_another_region_is_refused(account):
    with pytest.raises(Refusal, match="not a service of us-west-2"):
        account.make(
            tokens.VPC_ENDPOINT,
            "s3",
            vpcId=account.vpc().id,
            serviceName="com.amazonaws.eu-west-1.s3",
        )


def test_a_gateway_endpoint_of_a_service_that_has_none_is_refused(account):
    with pytest.raises(Refusal, match="has no gateway endpoint"):
        account.make(
            tokens.VPC_ENDPOINT,
            "ecr",
            vpcId=account.vpc().id,
            serviceName="com.amazonaws.us-west-2.ecr.api",
        )


def test_an_endpoint_with_a_route_table_of_another_vpc_is_refused(account):
    table = account.make(tokens.ROUTE_TABLE, "t", vpcId=account.vpc("other", "10.1.0.0/16").id)
    with pytest.raises(Refusal, match="not in VPC"):
        account.make(
            tokens.VPC_ENDPOINT,
            "s3",
            vpcId=account.vpc().id,
            serviceName="com.amazonaws.us-west-2.s3",
            routeTableIds=[table.id],
        )


def test_a_vpc_with_subnets_is_not_deleted(account):
    vpc = account.vpc()
    subnet = account.subnet(vpc, "s", "10.0.0.0/24")
    with pytest.raises(Refusal, match=f"DependencyViolation.*{subnet.id}"):
        account.delete(vpc)
    account.delete(subnet)
    account.delete(vpc)
    assert len(account.world) == 0


def test_an_internet_gateway_with_mapped_addresses_is_not_deleted(fleet):
    gateway = fleet.world.find(tokens.INTERNET_GATEWAY)
    with pytest.raises(Refusal, match="they have public addresses"):
        fleet.delete(gateway)


def test_an_address_in_use_is_not_deleted(fleet):
    with pytest.raises(Refusal, match=r"InvalidIPAddress\.InUse"):
        fleet.delete(fleet.world.find(tokens.EIP))


def test_a_subnet_with_a_nat_gateway_or_a_cluster_is_not_deleted(fleet):
    with pytest.raises(Refusal, match="in use by NatGateway"):
        fleet.delete(fleet.public)
    with pytest.raises(Refusal, match="in use by Cluster ci"):
        fleet.delete(fleet.private[0])


def test_a_security_group_name_is_taken_once_a_vpc(account):
    vpc = account.vpc()
    account.make(tokens.SECURITY_GROUP, "first", vpcId=vpc.id, name="nodes")
    with pytest.raises(Refusal, match=r"InvalidGroup\.Duplicate"):
        account.make(tokens.SECURITY_GROUP, "second", vpcId=vpc.id, name="nodes")
    other = account.vpc("other", "10.1.0.0/16")
    account.make(tokens.SECURITY_GROUP, "third", vpcId=other.id, name="nodes")


def test_a_security_group_in_a_vpc_that_the_stack_did_not_make_is_taken_on_trust(account):
    group = account.make(tokens.SECURITY_GROUP, "g", vpcId="vpc-0123456789abcdef0")
    assert group.id.startswith("sg-")
    with pytest.raises(Refusal, match=r"InvalidVpcID\.NotFound"):
        account.make(tokens.SECURITY_GROUP, "h", vpcId="net")


def test_a_security_group_name_may_not_look_like_an_id(account):
    with pytest.raises(Invalid, match="not beginning with 'sg-'"):
        account.make(tokens.SECURITY_GROUP, "g", vpcId=account.vpc().id, name="sg-nodes")


def test_the_first_port_of_a_rule_is_not_above_the_last(account):
    rule = {"protocol": "tcp", "fromPort": 443, "toPort": 80, "cidrBlocks": ["10.0.0.0/16"]}
    with pytest.raises(Invalid, match="443 is above toPort 80"):
        account.make(tokens.SECURITY_GROUP, "g", ingress=[rule])


def test_more_than_50_tags_are_invalid(account):
    with pytest.raises(Invalid, match="51 tags"):
        account.make(
            tokens.VPC, "v", cidrBlock="10.0.0.0/16", tags={f"k{i}": "" for i in range(51)}
        )


def test_a_tag_key_of_aws_is_invalid(account):
    with pytest.raises(Invalid, match="are reserved"):
        account.make(tokens.VPC, "v", cidrBlock="10.0.0.0/16", tags={"aws:team": "x"})


def test_changed_tags_show_in_all_tags(account):
    vpc = account.vpc()
    changed = account.change(vpc, tags={"team": "ci"})
    assert changed.outputs["tagsAll"] == {"team": "ci"}
    assert changed.outputs["arn"] == vpc.outputs["arn"]
