"""Policies and dynamic groups; what the data sources answer."""

from __future__ import annotations

import pytest
import yaml
from oci_tenancy import COMPARTMENT, DOMAINS, SCOPE, Tenancy
from pulumi_rehearsal.standin.oci import LOOKUPS, tokens
from pulumi_rehearsal.standin.oci.oke_cluster import VERSIONS

OPTION = "oci:ContainerEngine/getNodePoolOption:getNodePoolOption"
KUBECONFIG = "oci:ContainerEngine/getClusterKubeConfig:getClusterKubeConfig"
POOLS = "oci:ContainerEngine/getNodePools:getNodePools"


def policy(tenancy: Tenancy, *statements: str, **inputs: str):
    return tenancy.make(
        tokens.POLICY, "p", **{"description": "d", "statements": list(statements), **inputs}
    )


@pytest.mark.parametrize(
    "statement",
    [
        "Allow any-user to manage cluster-node-pools in tenancy",
        "allow dynamic-group ci-nodes to use vnics in compartment ci",
        "Allow group 'Default'/'Admins' to read all-resources in compartment id ocid1.c.x",
        "Allow service OKE to manage instance-family in compartment a:b where ALL {x = 'y'}",
    ],
)
def test_statements_of_the_grammar_are_taken(tenancy, statement):
    made = policy(tenancy, statement)
    assert made.id.startswith("ocid1.policy.oc1..")
    assert made.outputs["policyHash"]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("any-user may manage cluster-node-pools", "is no statement"),
        ("Allow any-user to own vnics in tenancy", "is no statement"),
        ("Allow any-user to use vnics in tenancy where ALL {x = 'y'", "braces do not match"),
    ],
)
def test_other_statements_are_invalid(tenancy, invalid, statement, words):
    with invalid(words):
        policy(tenancy, statement)


def test_a_policys_name_is_unique_in_its_compartment(tenancy, refused, invalid):
    policy(tenancy, "Allow any-user to use vnics in tenancy", name="ci")
    with refused("Policy 'ci' exists in the compartment"):
        tenancy.make(
            tokens.POLICY,
            "second",
            name="ci",
            description="d",
            statements=["Allow any-user to use vnics in tenancy"],
        )
    with invalid("letters, digits, periods"):
        policy(tenancy, "Allow any-user to use vnics in tenancy", name="my policy")


def test_a_dynamic_group_has_a_rule(tenancy, invalid):
    rule = f"ALL {{instance.compartment.id = '{COMPARTMENT}'}}"
    assert tenancy.make(tokens.DYNAMIC_GROUP, "g", description="d", matchingRule=rule)
    with invalid("is not written as ALL"):
        tenancy.make(tokens.DYNAMIC_GROUP, "h", description="d", matchingRule="everything")


def test_the_domains_of_the_region(tenancy):
    token = "oci:Identity/getAvailabilityDomains:getAvailabilityDomains"
    found = tenancy.look(token, compartmentId=COMPARTMENT)["availabilityDomains"]
    assert [domain["name"] for domain in found] == DOMAINS
    lookup = next(one for one in LOOKUPS if one.token == token)
    elsewhere = lookup.invoke({}, "oci:us-sanjose-1", tenancy.world)["availabilityDomains"]
    assert [domain["name"] for domain in elsewhere] == ["Uocm:US-SANJOSE-1-AD-1"]


def test_a_domain_by_its_number(tenancy, refused):
    token = "oci:Identity/getAvailabilityDomain:getAvailabilityDomain"
    assert tenancy.look(token, adNumber=2)["name"] == DOMAINS[1]
    with refused("us-ashburn-1 has 3 availability domains, no 4"):
        tenancy.look(token, adNumber=4)


def test_images_are_narrowed_by_what_was_asked(tenancy, refused):
    everything = tenancy.look(OPTION, nodePoolOptionId="all", compartmentId=COMPARTMENT)
    assert everything["kubernetesVersions"] == list(VERSIONS)
    assert "VM.GPU.A10.1" in everything["shapes"]
    narrowed = tenancy.look(
        OPTION,
        nodePoolOptionId="all",
        nodePoolK8sVersion="v1.35.2",
        nodePoolOsArch="X86_64",
        nodePoolOsType="OL9",
    )
    names = [source["sourceName"] for source in narrowed["sources"]]
    assert "Oracle-Linux-9.7-Gen2-GPU-2026.06.15-0-OKE-1.35.2-1505" in names
    assert any("OKE" not in name for name in names), "plain images are a trap for a filter"
    assert not any("aarch64" in name or "8.10" in name or "1.34.2" in name for name in names)
    with refused("nodePoolOsArch 'arm64' is none of AARCH64, X86_64"):
        tenancy.look(OPTION, nodePoolOptionId="all", nodePoolOsArch="arm64")
    with refused("does not exist"):
        tenancy.look(OPTION, nodePoolOptionId="ocid1.cluster.x")


def test_shapes_say_what_they_have(tenancy):
    found = tenancy.look("oci:Core/getShapes:getShapes", shape="VM.GPU.A10.2")["shapes"]
    assert [(one["gpus"], one["ocpus"], one["isFlexible"]) for one in found] == [(2, 30, False)]


def test_versions_of_clusters(tenancy):
    token = "oci:ContainerEngine/getClusterOption:getClusterOption"
    assert tenancy.look(token, clusterOptionId="all")["kubernetesVersions"] == list(VERSIONS)


def test_addons_of_a_version(tenancy, refused):
    token = "oci:ContainerEngine/getAddonOptions:getAddonOptions"
    found = tenancy.look(token, kubernetesVersion="v1.35.2", addonName="ClusterAutoscaler")
    assert [one["name"] for one in found["addonOptions"]] == ["ClusterAutoscaler"]
    with refused("'1.35' is none of"):
        tenancy.look(token, kubernetesVersion="1.35")


def test_a_kubeconfig_asks_the_cli_for_a_token(fleet, refused):
    content = fleet.look(KUBECONFIG, clusterId=fleet.cluster.id, tokenVersion="2.0.0")["content"]
    document = yaml.safe_load(content)
    endpoint = fleet.cluster.outputs["endpoints"][0]["publicEndpoint"]
    assert document["clusters"][0]["cluster"]["server"] == f"https://{endpoint}"
    execute = document["users"][0]["user"]["exec"]
    assert (execute["command"], execute["args"][-1]) == ("oci", "us-ashburn-1")
    private = fleet.make_cluster("private", endpointConfig={"subnetId": fleet.endpoint.id})
    with refused("cluster private has no PUBLIC_ENDPOINT"):
        fleet.look(KUBECONFIG, clusterId=private.id)
    assert fleet.look(KUBECONFIG, clusterId=private.id, endpoint="PRIVATE_ENDPOINT")["content"]


def test_node_pools_are_listed_with_their_blocks_as_lists(fleet):
    pool = fleet.system_pool(size=2)
    fleet.pool()
    found = fleet.look(POOLS, compartmentId=COMPARTMENT, clusterId=fleet.cluster.id)
    assert len(found["nodePools"]) == 2
    (named,) = fleet.look(POOLS, compartmentId=COMPARTMENT, name=pool.outputs["name"])["nodePools"]
    assert named["id"] == pool.id
    assert named["nodeConfigDetails"][0]["size"] == 2
    assert named["nodeShapeConfigs"][0]["ocpus"] == 2


def test_the_scope_is_the_region(fleet):
    assert {thing.scope for thing in fleet.world.all()} == {SCOPE}
