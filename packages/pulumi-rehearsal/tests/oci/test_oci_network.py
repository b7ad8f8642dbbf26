"""Networks: creation and deletion of VCNs, subnets, gateways, routes and security rules."""

from __future__ import annotations

import pytest
from oci_tenancy import ANYWHERE, DOMAINS
from pulumi_rehearsal.standin.oci import tokens
from pulumi_rehearsal.standin.oci.gateways import reaches_out


def test_ids_are_ocids(tenancy):
    vcn = tenancy.vcn()
    kind, realm, region, unique = vcn.id.removeprefix("ocid1.").split(".")
    assert (kind, realm, region, len(unique)) == ("vcn", "oc1", "iad", 60)


def test_ids_are_the_same_in_each_run(tenancy):
    other = type(tenancy)()
    assert tenancy.vcn().id == other.vcn().id


def test_vcn_has_a_default_route_table_and_security_list(tenancy):
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
def test_invalid_address_block(tenancy, invalid, block):
    with invalid(r"cidrBlocks\[0\]"):
        tenancy.vcn(block=block)


def test_invalid_compartment(tenancy, invalid):
    with invalid("compartmentId: 'ci' is not the OCID"):
        tenancy.make(tokens.VCN, "net", cidrBlocks=["10.0.0.0/16"], compartmentId="ci")


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({str(number): "x" for number in range(11)}, "has 11 free-form tags"),
        ({"acme.io/team": "x"}, "without periods and spaces"),
        ({"team": "x" * 257}, "limit for a tag's value is 256"),
    ],
)
def test_invalid_tags(tenancy, invalid, tags, message):
    with invalid(message):
        tenancy.vcn(freeformTags=tags)


def test_refuse_a_subnet_outside_of_its_vcn(tenancy, refused):
    with refused("not within 10.0.0.0/16"):
        tenancy.subnet(tenancy.vcn(), "stray", "10.9.0.0/24")


def test_refuse_a_subnet_that_overlaps_another(tenancy, refused):
    vcn = tenancy.vcn()
    tenancy.subnet(vcn, "first", "10.0.0.0/24")
    with refused("overlaps 10.0.0.0/24 of subnet first"):
        tenancy.subnet(vcn, "second", "10.0.0.128/25")


def test_existing_vcn_of_a_subnet_is_not_checked(tenancy, refused):
    elsewhere = "ocid1.vcn.oc1.iad.aaaaaaaaelsewhere"
    made = tenancy.make(tokens.SUBNET, "s", vcnId=elsewhere, cidrBlock="10.0.0.0/24")
    assert made.outputs["virtualRouterIp"] == "10.0.0.1"
    with refused("'net' is not the OCID of a Vcn"):
        tenancy.make(tokens.SUBNET, "t", vcnId="net", cidrBlock="10.0.0.0/24")


def test_refuse_a_subnet_in_an_availability_domain_of_another_region(tenancy, refused):
    with refused("us-ashburn-1 has no availability domain 'Uocm:PHX-AD-1'"):
        tenancy.subnet(tenancy.vcn(), "s", "10.0.0.0/24", availabilityDomain="Uocm:PHX-AD-1")
    made = tenancy.subnet(
        tenancy.vcn("two"),
        "t",
        "10.0.0.0/24",
        availabilityDomain=DOMAINS[1].replace("Uocm", "xYzA"),
    )
    assert made.id


def test_refuse_the_route_table_of_another_vcn(network, refused):
    other = network.vcn("other", "10.1.0.0/16")
    with refused("RouteTable private is in another VCN"):
        network.subnet(other, "s", "10.1.0.0/24", routeTableId=network.private_table.id)


def test_refuse_a_dns_label_without_one_of_the_vcn(tenancy, refused):
    with refused("has a dnsLabel, VCN net has none"):
        tenancy.subnet(tenancy.vcn(), "s", "10.0.0.0/24", dnsLabel="s")
    named = tenancy.vcn("named", dnsLabel="ci")
    made = tenancy.subnet(named, "t", "10.0.0.0/24", dnsLabel="t")
    assert made.outputs["subnetDomainName"] == "t.ci.oraclevcn.com"


@pytest.mark.parametrize("attribute", ["internet", "nat", "services"])
def test_refuse_a_second_gateway(network, refused, attribute):
    existing = getattr(network, attribute)
    with refused(f"already has .* {existing.name}, and the limit is one"):
        network.make(existing.type, "second", **{**existing.inputs, "displayName": "second"})


@pytest.mark.parametrize("attribute", ["internet", "nat", "services"])
def test_refuse_deletion_of_a_gateway_in_a_route_table(network, refused, attribute):
    with refused("is in use by RouteTable"):
        network.delete(getattr(network, attribute))


def test_refuse_deletion_of_the_route_table_of_a_subnet(network, refused):
    with refused("RouteTable private is in use by Subnet workers"):
        network.delete(network.private_table)


def test_refuse_deletion_of_a_vcn_with_subnets(network, refused):
    with refused("Vcn net is in use by Subnet endpoint, Subnet workers"):
        network.delete(network.network)


def test_network_is_deleted_in_the_order_of_its_references(network):
    for resource in (
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
        network.delete(resource)
    assert len(network.world) == 0


def test_refuse_a_service_of_another_region(network, refused):
    other = network.vcn("other", "10.1.0.0/16")
    with refused("'ocid1.service.x' is not a service of us-ashburn-1"):
        network.make(
            tokens.SERVICE_GATEWAY,
            "other",
            vcnId=other.id,
            services=[{"serviceId": "ocid1.service.x"}],
        )


def test_refuse_a_destination_type_that_the_gateway_does_not_have(network, refused, invalid):
    label = network.service()["cidrBlock"]
    to_services = {"networkEntityId": network.services.id}
    with invalid("set destinationType to SERVICE_CIDR_BLOCK"):
        network.table(network.network, "a", {"destination": label, **to_services})
    with refused("with destinationType CIDR_BLOCK; it must be SERVICE_CIDR_BLOCK"):
        network.table(network.network, "b", {"destination": ANYWHERE, **to_services})
    with refused("with destinationType SERVICE_CIDR_BLOCK; it must be CIDR_BLOCK"):
        network.table(
            network.network,
            "c",
            {
                "destination": label,
                "destinationType": "SERVICE_CIDR_BLOCK",
                "networkEntityId": network.nat.id,
            },
        )


def test_refuse_a_service_that_the_gateway_does_not_have(network, refused):
    with refused("which has all-iad-services-in-oracle-services-network"):
        network.table(
            network.network,
            "a",
            {
                "destination": "oci-iad-objectstorage",
                "destinationType": "SERVICE_CIDR_BLOCK",
                "networkEntityId": network.services.id,
            },
        )


def test_refuse_a_route_to_a_gateway_of_another_vcn(network, refused):
    other = network.vcn("other", "10.1.0.0/16")
    with refused("gateway nat in another one"):
        network.table(other, "a", {"destination": ANYWHERE, "networkEntityId": network.nat.id})


def test_invalid_second_rule_of_a_destination(network, invalid):
    rule = {"destination": ANYWHERE, "networkEntityId": network.nat.id}
    with invalid("already has a rule"):
        network.table(network.network, "a", rule, rule)


def test_internet_gateway_serves_only_public_addresses(network):
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
    ("direction", "inputs", "message"),
    [
        ("INGRESS", {}, "source: is required in a rule of direction INGRESS"),
        ("EGRESS", {"source": ANYWHERE}, "destination: is required in a rule of direction EGRESS"),
        (
            "EGRESS",
            {"source": ANYWHERE, "destination": ANYWHERE},
            "source: must be left out of a rule of direction EGRESS",
        ),
        ("BOTH", {"source": ANYWHERE}, "'BOTH' is none of EGRESS, INGRESS"),
        ("INGRESS", {"source": ANYWHERE, "protocol": "tcp"}, "6 is TCP, 17 UDP"),
        ("INGRESS", {"source": ANYWHERE, "protocol": 6}, "must be a string"),
        ("INGRESS", {"source": "everyone"}, "correct it or sourceType"),
        ("INGRESS", {"source": ANYWHERE, "sourceType": "NSG"}, "'NSG' is none of CIDR_BLOCK"),
        (
            "INGRESS",
            {"source": ANYWHERE, "sourceType": "NETWORK_SECURITY_GROUP"},
            "is not the OCID of a security group",
        ),
        (
            "EGRESS",
            {"destination": ANYWHERE, "destinationType": "SERVICE_CIDR_BLOCK"},
            "is not a service label",
        ),
        (
            "INGRESS",
            {
                "source": ANYWHERE,
                "protocol": "17",
                "tcpOptions": {"destinationPortRange": {"min": 1, "max": 2}},
            },
            "requires protocol 6",
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
def test_invalid_security_rule(network, invalid, direction, inputs, message):
    with invalid(message):
        network.rule(network.worker_group, "r", direction, **inputs)


def test_refuse_a_rule_for_a_group_of_another_vcn(network, refused):
    foreign = network.group(network.vcn("other", "10.1.0.0/16"), "foreign")
    with refused("foreign is a security group of another VCN"):
        network.rule(
            network.worker_group,
            "r",
            "INGRESS",
            source=foreign.id,
            sourceType="NETWORK_SECURITY_GROUP",
        )


def test_refuse_deletion_of_a_group_in_another_groups_rule(oke, refused):
    with refused("NetworkSecurityGroup workers is in use by NetworkSecurityGroupSecurityRule"):
        oke.delete(oke.worker_group)


def test_refuse_deletion_of_a_group_of_an_endpoint_or_of_nodes(oke, refused):
    with refused("in use by Cluster ci"):
        oke.delete(oke.endpoint_group)
    oke.pool()
    for rule in oke.rules:
        oke.delete(rule)
    with refused("in use by NodePool a10"):
        oke.delete(oke.worker_group)


def test_refuse_deletion_of_a_subnet_of_an_endpoint_or_of_nodes(oke, refused):
    with refused("Subnet endpoint is in use by Cluster ci"):
        oke.delete(oke.endpoint)
    oke.pool()
    with refused("Subnet workers is in use by NodePool a10"):
        oke.delete(oke.workers)


def test_refuse_deletion_of_the_security_list_of_a_subnet(network, refused):
    made = network.make(
        tokens.SECURITY_LIST,
        "list",
        vcnId=network.network.id,
        ingressSecurityRules=[{"protocol": "6", "source": ANYWHERE}],
    )
    network.subnet(network.network, "s", "10.0.64.0/24", securityListIds=[made.id])
    with refused("SecurityList list is in use by Subnet s"):
        network.delete(made)
