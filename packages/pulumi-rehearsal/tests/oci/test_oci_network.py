"""Networks: what OCI refuses to make and to delete."""

from __future__ import annotations

import pytest
from oci_tenancy import ANYWHERE, DOMAINS
from pulumi_rehearsal.standin.oci import tokens
from pulumi_rehearsal.standin.oci.gateways import reaches_out


def test_ids_have_the_form_of_the_cloud(tenancy):
    vcn = tenancy.vcn()
    kind, realm, region, unique = vcn.id.removeprefix("ocid1.").split(".")
    assert (kind, realm, region, len(unique)) == ("vcn", "oc1", "iad", 60)


def test_two_worlds_give_the_same_ids(tenancy):
    other = type(tenancy)()
    assert tenancy.vcn().id == other.vcn().id


def test_a_vcn_brings_a_route_table_and_a_security_list_and_takes_them_along(tenancy):
    vcn = tenancy.vcn()
    for token, path in (
        (tokens.ROUTE_TABLE, "defaultRouteTableId"),
        (tokens.SECURITY_LIST, "defaultSecurityListId"),
    ):
        assert tenancy.world.get(vcn.outputs[path], token) is not None
    subnet = tenancy.subnet(vcn, "plain", "10.0.0.0/24")
    assert subnet.outputs["routeTableId"] == vcn.outputs["defaultRouteTableId"]
    assert subnet.outputs["securityListIds"] == [vcn.outputs["defaultSecurityListId"]]
    tenancy.delete(subnet)
    tenancy.delete(vcn)
    assert len(tenancy.world) == 0


@pytest.mark.parametrize("block", ["10.0.0.0/8", "10.0.0.0/31", "10.0.0.1/16", "10.0/16"])
def test_a_block_that_oci_does_not_take_is_invalid(tenancy, invalid, block):
    with invalid(r"cidrBlocks\[0\]"):
        tenancy.vcn(block=block)


def test_a_compartment_that_is_no_ocid_is_invalid(tenancy, invalid):
    with invalid("compartmentId: 'ci' is no OCID"):
        tenancy.make(tokens.VCN, "net", cidrBlocks=["10.0.0.0/16"], compartmentId="ci")


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        ({str(number): "x" for number in range(11)}, "11 free-form tags"),
        ({"acme.io/team": "x"}, "without periods and spaces"),
        ({"team": "x" * 257}, "at most 256"),
    ],
)
def test_tags_are_held_to_the_limits(tenancy, invalid, tags, words):
    with invalid(words):
        tenancy.vcn(freeformTags=tags)


def test_a_subnet_outside_its_vcn_is_refused(tenancy, refused):
    with refused("not within 10.0.0.0/16"):
        tenancy.subnet(tenancy.vcn(), "stray", "10.9.0.0/24")


def test_a_subnet_that_overlaps_another_is_refused(tenancy, refused):
    vcn = tenancy.vcn()
    tenancy.subnet(vcn, "first", "10.0.0.0/24")
    with refused("overlaps 10.0.0.0/24 of subnet first"):
        tenancy.subnet(vcn, "second", "10.0.0.128/25")


def test_a_subnet_of_a_vcn_of_another_stack_is_taken_on_trust(tenancy, refused):
    elsewhere = "ocid1.vcn.oc1.iad.aaaaaaaaelsewhere"
    made = tenancy.make(tokens.SUBNET, "s", vcnId=elsewhere, cidrBlock="10.0.0.0/24")
    assert made.outputs["virtualRouterIp"] == "10.0.0.1"
    with refused("'net' is no OCID of a Vcn"):
        tenancy.make(tokens.SUBNET, "t", vcnId="net", cidrBlock="10.0.0.0/24")


def test_a_subnet_in_a_domain_of_another_region_is_refused(tenancy, refused):
    with refused("us-ashburn-1 has no availability domain 'Uocm:PHX-AD-1'"):
        tenancy.subnet(tenancy.vcn(), "s", "10.0.0.0/24", availabilityDomain="Uocm:PHX-AD-1")
    made = tenancy.subnet(
        tenancy.vcn("two"),
        "t",
        "10.0.0.0/24",
        availabilityDomain=DOMAINS[1].replace("Uocm", "xYzA"),
    )
    assert made.id


def test_a_subnet_takes_the_route_table_of_its_own_vcn(network, refused):
    other = network.vcn("other", "10.1.0.0/16")
    with refused("RouteTable private is of another VCN"):
        network.subnet(other, "s", "10.1.0.0/24", routeTableId=network.private_table.id)


def test_a_name_in_the_dns_needs_one_of_the_vcn(tenancy, refused):
    with refused("has a dnsLabel, VCN net has none"):
        tenancy.subnet(tenancy.vcn(), "s", "10.0.0.0/24", dnsLabel="s")
    named = tenancy.vcn("named", dnsLabel="ci")
    made = tenancy.subnet(named, "t", "10.0.0.0/24", dnsLabel="t")
    assert made.outputs["subnetDomainName"] == "t.ci.oraclevcn.com"


@pytest.mark.parametrize("attribute", ["internet", "nat", "services"])
def test_a_vcn_takes_one_gateway_of_a_kind(network, refused, attribute):
    there = getattr(network, attribute)
    with refused(f"{there.name} already, and takes one"):
        network.make(there.type, "second", **{**there.inputs, "displayName": "second"})


@pytest.mark.parametrize("attribute", ["internet", "nat", "services"])
def test_a_gateway_in_a_route_table_is_not_deleted(network, refused, attribute):
    with refused("is in use by RouteTable"):
        network.delete(getattr(network, attribute))


def test_a_route_table_of_a_subnet_is_not_deleted(network, refused):
    with refused("RouteTable private is in use by Subnet workers"):
        network.delete(network.private_table)


def test_a_vcn_with_subnets_is_not_deleted(network, refused):
    with refused("Vcn net is in use by Subnet endpoint, Subnet workers"):
        network.delete(network.network)


def test_a_network_is_deleted_in_the_order_of_its_references(network):
    for thing in (
        network.endpoint,
        network.workers,
        network.public_table,
        network.private_table,
        network.internet,
        network.nat,
        network.services,
        network.endpoint_group,
        network.worker_group,
        network.network,
    ):
        network.delete(thing)
    assert len(network.world) == 0


def test_a_service_gateway_leads_to_services_of_the_region_only(network, refused):
    other = network.vcn("other", "10.1.0.0/16")
    with refused("'ocid1.service.x' is no service of us-ashburn-1"):
        network.make(
            tokens.SERVICE_GATEWAY,
            "other",
            vcnId=other.id,
            services=[{"serviceId": "ocid1.service.x"}],
        )


def test_a_route_to_a_service_gateway_is_of_its_type(network, refused, invalid):
    label = network.service()["cidrBlock"]
    to_services = {"networkEntityId": network.services.id}
    with invalid("set destinationType to SERVICE_CIDR_BLOCK"):
        network.table(network.network, "a", {"destination": label, **to_services})
    with refused("with destinationType CIDR_BLOCK; such a gateway takes SERVICE_CIDR_BLOCK"):
        network.table(network.network, "b", {"destination": ANYWHERE, **to_services})
    with refused("with destinationType SERVICE_CIDR_BLOCK; such a gateway takes CIDR_BLOCK"):
        network.table(
            network.network,
            "c",
            {
                "destination": label,
                "destinationType": "SERVICE_CIDR_BLOCK",
                "networkEntityId": network.nat.id,
            },
        )


def test_a_route_names_a_label_that_its_service_gateway_serves(network, refused):
    with refused("serves all-iad-services-in-oracle-services-network"):
        network.table(
            network.network,
            "a",
            {
                "destination": "oci-iad-objectstorage",
                "destinationType": "SERVICE_CIDR_BLOCK",
                "networkEntityId": network.services.id,
            },
        )


def test_a_route_to_a_gateway_of_another_vcn_is_refused(network, refused):
    other = network.vcn("other", "10.1.0.0/16")
    with refused("nat is a gateway of another VCN"):
        network.table(other, "a", {"destination": ANYWHERE, "networkEntityId": network.nat.id})


def test_a_destination_has_one_rule(network, invalid):
    rule = {"destination": ANYWHERE, "networkEntityId": network.nat.id}
    with invalid("has a rule already"):
        network.table(network.network, "a", rule, rule)


def test_a_public_address_decides_whether_the_internet_gateway_is_a_way_out(network):
    assert reaches_out(network.world, network.workers)
    private = network.subnet(
        network.network,
        "shut",
        "10.0.64.0/24",
        routeTableId=network.public_table.id,
        prohibitPublicIpOnVnic=True,
    )
    assert not reaches_out(network.world, private)


@pytest.mark.parametrize(
    ("direction", "inputs", "words"),
    [
        ("INGRESS", {}, "source: a rule of direction INGRESS needs its source"),
        ("EGRESS", {"source": ANYWHERE}, "destination: a rule of direction EGRESS needs"),
        ("EGRESS", {"source": ANYWHERE, "destination": ANYWHERE}, "takes no source"),
        ("BOTH", {"source": ANYWHERE}, "'BOTH' is none of EGRESS, INGRESS"),
        ("INGRESS", {"source": ANYWHERE, "protocol": "tcp"}, "6 is TCP, 17 UDP"),
        ("INGRESS", {"source": ANYWHERE, "protocol": 6}, "must be a string"),
        ("INGRESS", {"source": "everyone"}, "set sourceType to what it is"),
        ("INGRESS", {"source": ANYWHERE, "sourceType": "NSG"}, "'NSG' is none of CIDR_BLOCK"),
        (
            "INGRESS",
            {"source": ANYWHERE, "sourceType": "NETWORK_SECURITY_GROUP"},
            "is no OCID of a security group",
        ),
        (
            "EGRESS",
            {"destination": ANYWHERE, "destinationType": "SERVICE_CIDR_BLOCK"},
            "is no service label",
        ),
        (
            "INGRESS",
            {
                "source": ANYWHERE,
                "protocol": "17",
                "tcpOptions": {"destinationPortRange": {"min": 1, "max": 2}},
            },
            "goes with protocol 6",
        ),
        (
            "INGRESS",
            {
                "source": ANYWHERE,
                "protocol": "6",
                "tcpOptions": {"destinationPortRange": {"min": 9, "max": 2}},
            },
            "9 is above max 2",
        ),
        (
            "INGRESS",
            {
                "source": ANYWHERE,
                "protocol": "6",
                "tcpOptions": {"destinationPortRange": {"min": 0, "max": 2}},
            },
            "0 is not between 1 and 65535",
        ),
    ],
)
def test_a_rule_names_its_side_in_the_right_words(network, invalid, direction, inputs, words):
    with invalid(words):
        network.rule(network.worker_group, "r", direction, **inputs)


def test_a_rule_about_a_group_of_another_vcn_is_refused(network, refused):
    foreign = network.group(network.vcn("other", "10.1.0.0/16"), "foreign")
    with refused("foreign is a security group of another VCN"):
        network.rule(
            network.worker_group,
            "r",
            "INGRESS",
            source=foreign.id,
            sourceType="NETWORK_SECURITY_GROUP",
        )


def test_a_group_that_a_rule_of_another_names_is_not_deleted(fleet, refused):
    with refused("NetworkSecurityGroup workers is in use by NetworkSecurityGroupSecurityRule"):
        fleet.delete(fleet.worker_group)


def test_a_group_of_an_endpoint_or_of_nodes_is_not_deleted(fleet, refused):
    with refused("in use by Cluster ci"):
        fleet.delete(fleet.endpoint_group)
    fleet.pool()
    for rule in fleet.rules:
        fleet.delete(rule)
    with refused("in use by NodePool a10"):
        fleet.delete(fleet.worker_group)


def test_a_subnet_of_an_endpoint_or_of_nodes_is_not_deleted(fleet, refused):
    with refused("Subnet endpoint is in use by Cluster ci"):
        fleet.delete(fleet.endpoint)
    fleet.pool()
    with refused("Subnet workers is in use by NodePool a10"):
        fleet.delete(fleet.workers)


def test_a_security_list_of_a_subnet_is_not_deleted(network, refused):
    made = network.make(
        tokens.SECURITY_LIST,
        "list",
        vcnId=network.network.id,
        ingressSecurityRules=[{"protocol": "6", "source": ANYWHERE}],
    )
    network.subnet(network.network, "s", "10.0.64.0/24", securityListIds=[made.id])
    with refused("SecurityList list is in use by Subnet s"):
        network.delete(made)
