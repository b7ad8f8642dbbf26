"""Clusters: versions, endpoints, types and deletion."""

from __future__ import annotations

import pytest
from pulumi_rehearsal.standin.oci import tokens


def with_endpoint(oke, subnet, **inputs):
    return {"endpointConfig": {"subnetId": subnet.id, **inputs}}


def test_public_cluster_has_a_public_and_a_private_endpoint(oke):
    (endpoint,) = oke.cluster.outputs["endpoints"]
    assert endpoint["publicEndpoint"].startswith("198.18.")
    assert endpoint["privateEndpoint"].startswith("10.0.0.")
    assert endpoint["publicEndpoint"].endswith(":6443")
    assert endpoint["kubernetes"] == ""
    assert oke.cluster.id.startswith("ocid1.cluster.oc1.iad.")
    assert oke.cluster.outputs["availableKubernetesUpgrades"] == ["v1.36.1"]


def test_private_cluster_has_no_public_endpoint(oke):
    made = oke.make_cluster("private", **with_endpoint(oke, oke.endpoint))
    (endpoint,) = made.outputs["endpoints"]
    assert endpoint["publicEndpoint"] == ""
    assert endpoint["privateEndpoint"]


def test_clusters_have_different_addresses(oke):
    clusters = [oke.cluster] + [oke.make_cluster(f"ci-{number}") for number in range(8)]
    endpoints = [cluster.outputs["endpoints"][0] for cluster in clusters]
    for name in ("publicEndpoint", "privateEndpoint"):
        assert len({endpoint[name] for endpoint in endpoints}) == 9, name


@pytest.mark.parametrize("version", ["1.35.2", "v1.35", "1.35"])
def test_invalid_version(oke, invalid, version):
    with invalid("must have the form v1.36.1"):
        oke.make_cluster("other", kubernetesVersion=version)


def test_refuse_a_version_that_oke_does_not_offer(oke, refused):
    with refused("OKE does not offer Kubernetes v1.29.1; it offers v1.33.10, v1.34.2"):
        oke.make_cluster("other", kubernetesVersion="v1.29.1")


def test_refuse_a_downgrade_or_an_upgrade_by_two_minors(oke, refused):
    old = oke.make_cluster("old", kubernetesVersion="v1.34.2")
    with refused("one minor at a time, so not from v1.34.2 to v1.36.1; apply v1.35.2 first"):
        oke.change(old, kubernetesVersion="v1.36.1")
    with refused("cannot be downgraded from v1.34.2"):
        oke.change(old, kubernetesVersion="v1.33.10")
    changed = oke.change(old, kubernetesVersion="v1.35.2")
    assert changed.outputs["availableKubernetesUpgrades"] == ["v1.36.1"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"type": "ENHANCED"}, "'ENHANCED' is none of BASIC_CLUSTER, ENHANCED_CLUSTER"),
        ({"clusterPodNetworkOptions": [{"cniType": "CALICO"}]}, "'CALICO' is none of FLANNEL"),
        (
            {"options": {"kubernetesNetworkConfig": {"podsCidr": "10.244.0.0"}, "x": 1}},
            "has no property 'x'",
        ),
        (
            {
                "options": {
                    "kubernetesNetworkConfig": {
                        "podsCidr": "10.244.0.0/16",
                        "servicesCidr": "10.244.0.0/17",
                    }
                }
            },
            "overlaps podsCidr",
        ),
    ],
)
def test_invalid_cluster(oke, invalid, inputs, message):
    with invalid(message):
        oke.make_cluster("other", **inputs)


def test_refuse_a_public_endpoint_in_a_private_subnet(oke, refused):
    with refused("subnet workers allows no public address"):
        oke.make_cluster("a", **with_endpoint(oke, oke.workers, isPublicIpEnabled=True, nsgIds=[]))
    stranded = oke.subnet(
        oke.network, "stranded", "10.0.64.0/28", routeTableId=oke.private_table.id
    )
    with refused("endpoint subnet stranded has no route to an internet gateway"):
        oke.make_cluster("b", **with_endpoint(oke, stranded, isPublicIpEnabled=True))


def test_refuse_a_private_endpoint_without_a_route(oke, refused):
    bare = oke.subnet(oke.network, "bare", "10.0.64.0/28")
    with refused("endpoint subnet bare has no route:"):
        oke.make_cluster("other", **with_endpoint(oke, bare))


def test_refuse_an_endpoint_in_another_vcn(oke, refused):
    other = oke.vcn("other", "10.1.0.0/16")
    with refused("Subnet endpoint of the endpoint of cluster a is in VCN"):
        oke.make_cluster("a", vcnId=other.id)
    foreign = oke.group(other, "foreign")
    with refused("NetworkSecurityGroup foreign of the endpoint"):
        oke.make_cluster("b", **with_endpoint(oke, oke.endpoint, nsgIds=[foreign.id]))


def test_existing_network_is_not_checked(oke):
    made = oke.make_cluster(
        "elsewhere",
        vcnId="ocid1.vcn.oc1.iad.aaaaaaaavcn",
        endpointConfig={
            "subnetId": "ocid1.subnet.oc1.iad.aaaaaaaasubnet",
            "isPublicIpEnabled": True,
            "nsgIds": ["ocid1.networksecuritygroup.oc1.iad.aaaaaaaagroup"],
        },
    )
    assert made.outputs["endpoints"][0]["publicEndpoint"]


def test_refuse_features_of_enhanced_clusters_in_a_basic_one(oke, refused):
    discovery = {"openIdConnectDiscovery": {"isOpenIdConnectDiscoveryEnabled": True}}
    with refused("options.openIdConnectDiscovery requires an enhanced cluster"):
        oke.make_cluster("basic", type="BASIC_CLUSTER", options=discovery)
    made = oke.make_cluster("enhanced", options=discovery)
    assert made.outputs["openIdConnectDiscoveryEndpoint"].startswith("https://")
    with refused("an enhanced cluster cannot become a basic one"):
        oke.change(oke.cluster, type="BASIC_CLUSTER")


def test_refuse_deletion_of_a_cluster_with_node_pools(oke, refused):
    pool = oke.pool()
    with refused("Cluster ci is in use by NodePool a10"):
        oke.delete(oke.cluster)
    oke.delete(pool)
    oke.delete(oke.cluster)
    assert oke.world.find(tokens.CLUSTER) is None


def test_refuse_deletion_of_a_vcn_with_a_cluster(oke, refused):
    with refused("Cluster ci"):
        oke.delete(oke.network)


def test_refuse_load_balancers_in_another_vcn(oke, refused):
    other = oke.vcn("other", "10.1.0.0/16")
    subnet = oke.subnet(other, "balancers", "10.1.0.0/24", routeTableId=oke.table(other, "none").id)
    with refused("Subnet balancers of cluster other is in VCN"):
        oke.make_cluster("other", options={"serviceLbSubnetIds": [subnet.id]})
