"""The network of an EKS cluster: a VPC with routes to the internet, or an existing VPC."""

import pulumi
import pulumi_aws as aws
import pytest

from components.aws.network import Network
from fleet.clusters.eks_network import NewNetwork
from tests import fleets
from tests.engine import Registered, Registration, deploy_both, remembered

TAGS = {"environment": "test"}


@remembered
def made(*, zones: str = "ab", nat: str = "one") -> Registered:
    names = [f"us-west-2{letter}" for letter in zones]
    network = {"cidr": "10.0.0.0/16", "zones": names, "nat": nat}
    plan = fleets.cluster({"eks": {"network": network}}).platform.network
    assert isinstance(plan, NewNetwork)
    return deploy_both(
        lambda: Network("net", plan=plan, tags=TAGS, opts=fleets.providers()) and None
    )


def subnets(found: Registered, kind: str) -> dict[str, Registration]:
    every = found.find(aws.ec2.Subnet)
    return {one.inputs["availabilityZone"]: one for one in every if f"-{kind}-" in one.name}


def test_each_zone_has_a_private_and_a_public_subnet_of_the_plan() -> None:
    found = made(zones="abc")
    private, public = subnets(found, "private"), subnets(found, "public")
    assert list(private) == list(public) == ["us-west-2a", "us-west-2b", "us-west-2c"]
    ranges = [one.inputs["cidrBlock"] for one in (*private.values(), *public.values())]
    assert len(set(ranges)) == 6
    assert private["us-west-2a"].inputs["cidrBlock"] == "10.0.0.0/18", "pods take its addresses"
    assert public["us-west-2a"].inputs["cidrBlock"] == "10.0.192.0/24"


def test_load_balancers_find_their_subnets_by_tag() -> None:
    found = made()
    for one in subnets(found, "public").values():
        assert one.inputs["tags"]["kubernetes.io/role/elb"] == "1"
    for one in subnets(found, "private").values():
        assert one.inputs["tags"]["kubernetes.io/role/internal-elb"] == "1"


def test_the_private_endpoint_of_eks_is_found_by_name() -> None:
    vpc = made().one(aws.ec2.Vpc)
    assert vpc.inputs["cidrBlock"] == "10.0.0.0/16"
    assert vpc.inputs["enableDnsHostnames"] is True
    assert vpc.inputs["enableDnsSupport"] is True


@pytest.mark.parametrize(("nat", "gateways"), [("one", 1), ("per-zone", 3)])
def test_nat_gateways_are_as_many_as_asked_for(nat: str, gateways: int) -> None:
    found = made(zones="abc", nat=nat)
    assert len(found.find(aws.ec2.NatGateway)) == len(found.find(aws.ec2.Eip)) == gateways


def test_with_a_gateway_per_zone_no_traffic_crosses_zones() -> None:
    found = made(zones="ab", nat="per-zone")
    for zone in ("us-west-2a", "us-west-2b"):
        way_out = found.one(aws.ec2.Route, f"net-private-{zone}").inputs
        assert way_out["destinationCidrBlock"] == "0.0.0.0/0"
        assert way_out["natGatewayId"] == f"net-nat-{zone}-id"
        assert way_out["routeTableId"] == f"net-private-{zone}-id"
        gateway = found.one(aws.ec2.NatGateway, f"net-nat-{zone}").inputs
        assert gateway["subnetId"] == f"net-public-{zone}-id", "a NAT gateway is in public"


def test_with_one_gateway_every_zone_goes_through_it() -> None:
    found = made(zones="ab", nat="one")
    routes = [found.one(aws.ec2.Route, f"net-private-us-west-2{zone}") for zone in "ab"]
    assert [one.inputs["natGatewayId"] for one in routes] == ["net-nat-us-west-2a-id"] * 2


def test_each_subnet_has_its_own_side_of_the_routes() -> None:
    found = made()
    tables = {
        one.inputs["subnetId"]: one.inputs["routeTableId"]
        for one in found.find(aws.ec2.RouteTableAssociation)
    }
    assert tables == {
        "net-public-us-west-2a-id": "net-public-id",
        "net-public-us-west-2b-id": "net-public-id",
        "net-private-us-west-2a-id": "net-private-us-west-2a-id",
        "net-private-us-west-2b-id": "net-private-us-west-2b-id",
    }
    public = found.one(aws.ec2.Route, "net-public-internet").inputs
    assert (public["gatewayId"], public["routeTableId"]) == ("net-internet-id", "net-public-id")


def test_a_nat_gateway_waits_until_its_subnet_has_a_way_out() -> None:
    found = made(nat="per-zone")
    way_out = found.one(aws.ec2.Route, "net-public-internet").urn
    for zone in ("us-west-2a", "us-west-2b"):
        association = found.one(aws.ec2.RouteTableAssociation, f"net-public-{zone}").urn
        gateway = found.one(aws.ec2.NatGateway, f"net-nat-{zone}")
        assert {way_out, association} <= gateway.depends_on, "EC2 does not try again"
        assert way_out in found.one(aws.ec2.Eip, f"net-nat-{zone}").depends_on


def test_image_layers_do_not_pass_the_nat_gateway() -> None:
    endpoint = made().one(aws.ec2.VpcEndpoint).inputs
    assert endpoint["serviceName"] == "com.amazonaws.us-west-2.s3"
    assert endpoint["vpcEndpointType"] == "Gateway"
    tables = [f"net-private-us-west-2{zone}-id" for zone in "ab"]
    assert endpoint["routeTableIds"] == tables, "every private route table uses it"


def test_every_taggable_resource_has_the_tags() -> None:
    found = made()
    untaggable = {"route", "routeTableAssociation"}
    for one in found.within(found.one("gpu-runners:aws:Network")):
        if one.type.split("/")[1].split(":")[0] not in untaggable:
            assert one.inputs["tags"].items() >= TAGS.items(), one.name


def test_consumers_get_the_private_subnet_of_each_zone() -> None:
    found = made()
    (outputs,) = found.outputs[found.one("gpu-runners:aws:Network").urn]
    expected = {f"us-west-2{zone}": f"net-private-us-west-2{zone}-id" for zone in "ab"}
    assert outputs.data["private_subnet_ids"] == expected
    assert outputs.data["vpc_id"] == "net-vpc-id"


def test_an_existing_vpc_is_not_changed() -> None:
    ids = {"us-west-2a": "subnet-01234567", "us-west-2b": "subnet-89abcdef"}
    network = {"vpc_id": "vpc-0123456789", "subnet_ids": ids, "cidr": None, "zones": None}
    plan = fleets.cluster({"eks": {"network": network}}).platform.network
    ready: list[pulumi.Resource] = []

    def program() -> None:
        ready.extend(Network("net", plan=plan, tags=TAGS, opts=fleets.providers()).ready)

    found = deploy_both(program)
    component = found.one("gpu-runners:aws:Network")
    assert found.children(component) == [], "no resource is created or tagged in an existing VPC"
    assert ready == []
    (outputs,) = found.outputs[component.urn]
    assert outputs.data == {"vpc_id": "vpc-0123456789", "private_subnet_ids": ids}
