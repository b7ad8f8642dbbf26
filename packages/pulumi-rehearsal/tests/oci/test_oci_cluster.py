"""Clusters: versions, endpoints, types, and what their deletion needs."""

from __future__ import annotations

import pytest
from pulumi_rehearsal.standin.oci import tokens


def with_endpoint(fleet, subnet, **inputs):
    return {"endpointConfig": {"subnetId": subnet.id, **inputs}}


def test_a_public_cluster_has_a_public_and_a_private_endpoint(fleet):
    (endpoint,) = fleet.cluster.outputs["endpoints"]
    assert endpoint["publicEndpoint"].startswith("198.18.")
    assert endpoint["privateEndpoint"].startswith("10.0.0.")
    assert endpoint["publicEndpoint"].endswith(":6443")
    assert endpoint["kubernetes"] == ""
    assert fleet.cluster.id.startswith("ocid1.cluster.oc1.iad.")
    assert fleet.cluster.outputs["availableKubernetesUpgrades"] == ["v1.36.1"]


def test_a_private_cluster_has_no_public_endpoint(fleet):
    made = fleet.make_cluster("private", **with_endpoint(fleet, fleet.endpoint))
    (endpoint,) = made.outputs["endpoints"]
    assert endpoint["publicEndpoint"] == ""
    assert endpoint["privateEndpoint"]


def test_no_two_clusters_have_one_address(fleet):
    clusters = [fleet.cluster] + [fleet.make_cluster(f"ci-{number}") for number in range(8)]
    endpoints = [cluster.outputs["endpoints"][0] for cluster in clusters]
    for name in ("publicEndpoint", "privateEndpoint"):
        assert len({endpoint[name] for endpoint in endpoints}) == 9, name


@pytest.mark.parametrize("version", ["1.35.2", "v1.35", "1.35"])
def test_a_version_without_its_v_or_patch_is_invalid(fleet, invalid, version):
    with invalid("is not written as v1.36.1, with its v"):
        fleet.make_cluster("other", kubernetesVersion=version)


def test_a_version_that_is_not_offered_is_refused(fleet, refused):
    with refused("OKE does not offer Kubernetes v1.29.1; it has v1.33.10, v1.34.2"):
        fleet.make_cluster("other", kubernetesVersion="v1.29.1")


def test_a_control_plane_goes_up_one_minor_at_a_time_and_never_back(fleet, refused):
    old = fleet.make_cluster("old", kubernetesVersion="v1.34.2")
    with refused("up one minor at a time, from v1.34.2 not to v1.36.1; apply v1.35.2 first"):
        fleet.change(old, kubernetesVersion="v1.36.1")
    with refused("cannot go back from v1.34.2"):
        fleet.change(old, kubernetesVersion="v1.33.10")
    changed = fleet.change(old, kubernetesVersion="v1.35.2")
    assert changed.outputs["availableKubernetesUpgrades"] == ["v1.36.1"]


@pytest.mark.parametrize(
    ("inputs", "words"),
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
def test_what_the_provider_does_not_take_is_invalid(fleet, invalid, inputs, words):
    with invalid(words):
        fleet.make_cluster("other", **inputs)


def test_a_public_endpoint_needs_a_public_subnet_and_a_way_to_the_internet(fleet, refused):
    with refused("subnet workers allows none"):
        fleet.make_cluster(
            "a", **with_endpoint(fleet, fleet.workers, isPublicIpEnabled=True, nsgIds=[])
        )
    stranded = fleet.subnet(
        fleet.network, "stranded", "10.0.64.0/28", routeTableId=fleet.private_table.id
    )
    with refused("endpoint subnet stranded has no route to an internet gateway"):
        fleet.make_cluster("b", **with_endpoint(fleet, stranded, isPublicIpEnabled=True))


def test_a_private_endpoint_needs_some_route(fleet, refused):
    bare = fleet.subnet(fleet.network, "bare", "10.0.64.0/28")
    with refused("endpoint subnet bare has no route at all"):
        fleet.make_cluster("other", **with_endpoint(fleet, bare))


def test_an_endpoint_in_another_vcn_is_refused(fleet, refused):
    other = fleet.vcn("other", "10.1.0.0/16")
    with refused("Subnet endpoint of the endpoint of cluster a is in VCN"):
        fleet.make_cluster("a", vcnId=other.id)
    foreign = fleet.group(other, "foreign")
    with refused("NetworkSecurityGroup foreign of the endpoint"):
        fleet.make_cluster("b", **with_endpoint(fleet, fleet.endpoint, nsgIds=[foreign.id]))


def test_an_existing_network_is_taken_on_trust(fleet):
    made = fleet.make_cluster(
        "elsewhere",
        vcnId="ocid1.vcn.oc1.iad.aaaaaaaavcn",
        endpointConfig={
            "subnetId": "ocid1.subnet.oc1.iad.aaaaaaaasubnet",
            "isPublicIpEnabled": True,
            "nsgIds": ["ocid1.networksecuritygroup.oc1.iad.aaaaaaaagroup"],
        },
    )
    assert made.outputs["endpoints"][0]["publicEndpoint"]


def test_features_of_enhanced_clusters_are_refused_on_basic_ones(fleet, refused):
    discovery = {"openIdConnectDiscovery": {"isOpenIdConnectDiscoveryEnabled": True}}
    with refused("options.openIdConnectDiscovery needs an enhanced cluster"):
        fleet.make_cluster("basic", type="BASIC_CLUSTER", options=discovery)
    made = fleet.make_cluster("enhanced", options=discovery)
    assert made.outputs["openIdConnectDiscoveryEndpoint"].startswith("https://")
    with refused("an enhanced cluster cannot become a basic one"):
        fleet.change(fleet.cluster, type="BASIC_CLUSTER")


def test_a_cluster_with_node_pools_is_not_deleted(fleet, refused):
    pool = fleet.pool()
    with refused("Cluster ci is in use by NodePool a10"):
        fleet.delete(fleet.cluster)
    fleet.delete(pool)
    fleet.delete(fleet.cluster)
    assert fleet.world.find(tokens.CLUSTER) is None


def test_a_vcn_with_a_cluster_is_not_deleted(fleet, refused):
    with refused("Cluster ci"):
        fleet.delete(fleet.network)


def test_load_balancers_stand_in_the_clusters_vcn(fleet, refused):
    other = fleet.vcn("other", "10.1.0.0/16")
    subnet = fleet.subnet(
        other, "balancers", "10.1.0.0/24", routeTableId=fleet.table(other, "none").id
    )
    with refused("Subnet balancers of cluster other is in VCN"):
        fleet.make_cluster("other", options={"serviceLbSubnetIds": [subnet.id]})
