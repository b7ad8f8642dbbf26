"""Policies and data sources."""

from __future__ import annotations

import pytest
import yaml
from oci_tenancy import COMPARTMENT, SCOPE, Tenancy
from pulumi_rehearsal.standin.oci import tokens
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
def test_valid_statement(tenancy, statement):
    made = policy(tenancy, statement)
    assert made.id.startswith("ocid1.policy.oc1..")
    assert made.outputs["policyHash"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("any-user may manage cluster-node-pools", "is not a statement"),
        ("Allow any-user to own vnics in tenancy", "is not a statement"),
        ("Allow any-user to use vnics in tenancy where ALL {x = 'y'", "braces do not match"),
    ],
)
def test_invalid_statement(tenancy, invalid, statement, message):
    with invalid(message):
        policy(tenancy, statement)


def test_refuse_a_policy_whose_name_exists(tenancy, refused, invalid):
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


def test_node_pool_options_are_filtered(tenancy, refused):
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
    assert any("OKE" not in name for name in names), "the list contains plain images too"
    assert not any("aarch64" in name or "8.10" in name or "1.34.2" in name for name in names)
    with refused("nodePoolOsArch 'arm64' is none of AARCH64, X86_64"):
        tenancy.look(OPTION, nodePoolOptionId="all", nodePoolOsArch="arm64")
    with refused("does not exist"):
        tenancy.look(OPTION, nodePoolOptionId="ocid1.cluster.x")


def test_kubeconfig(oke, refused):
    content = oke.look(KUBECONFIG, clusterId=oke.cluster.id, tokenVersion="2.0.0")["content"]
    document = yaml.safe_load(content)
    endpoint = oke.cluster.outputs["endpoints"][0]["publicEndpoint"]
    assert document["clusters"][0]["cluster"]["server"] == f"https://{endpoint}"
    execute = document["users"][0]["user"]["exec"]
    assert (execute["command"], execute["args"][-1]) == ("oci", "us-ashburn-1")
    private = oke.make_cluster("private", endpointConfig={"subnetId": oke.endpoint.id})
    with refused("cluster private has no PUBLIC_ENDPOINT"):
        oke.look(KUBECONFIG, clusterId=private.id)
    assert oke.look(KUBECONFIG, clusterId=private.id, endpoint="PRIVATE_ENDPOINT")["content"]


def test_node_pools_have_their_blocks_as_lists(oke):
    pool = oke.system_pool(size=2)
    oke.pool()
    found = oke.look(POOLS, compartmentId=COMPARTMENT, clusterId=oke.cluster.id)
    assert len(found["nodePools"]) == 2
    (named,) = oke.look(POOLS, compartmentId=COMPARTMENT, name=pool.outputs["name"])["nodePools"]
    assert named["id"] == pool.id
    assert named["nodeConfigDetails"][0]["size"] == 2
    assert named["nodeShapeConfigs"][0]["ocpus"] == 2


def test_scope_is_the_region(oke):
    assert {resource.scope for resource in oke.world.all()} == {SCOPE}
