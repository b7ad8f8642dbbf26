"""Node pools: shapes, images, capacity, networks and the live size."""

from __future__ import annotations

import pytest
from oci_tenancy import DOMAINS, GPU_TAINT, VERSION, OkeTenancy, image, labels, script
from pulumi_rehearsal.standin.oci import KINDS, oke_node_pool, set_node_pool_size, tokens


def source(**inputs):
    given = {"sourceType": "IMAGE", "imageId": image(gpu=True), "bootVolumeSizeInGbs": "400"}
    return {**given, **inputs}


def flex(**inputs):
    return {"nodeShapeConfig": {"ocpus": 2, "memoryInGbs": 16, **inputs}}


def test_nodes_are_distributed_over_the_domains(oke):
    placements = [oke.placement(0), oke.placement(1)]
    pool = oke.system_pool(nodeConfigDetails=oke.details(3, *placements))
    domains = [node["availabilityDomain"] for node in pool.outputs["nodes"]]
    assert domains == [DOMAINS[0], DOMAINS[1], DOMAINS[0]]
    assert pool.outputs["nodeSources"][0]["sourceName"].endswith("OKE-1.35.2-1505")
    assert pool.id.startswith("ocid1.nodepool.oc1.iad.")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"nodeSourceDetails": source(bootVolumeSizeInGbs="49")}, "49 is not between 50 and"),
        ({"nodeSourceDetails": source(bootVolumeSizeInGbs="400GB")}, "not a whole number of GB"),
        ({"nodeSourceDetails": source(bootVolumeSizeInGbs=400)}, "must be a string"),
        ({"nodeSourceDetails": source(sourceType="BOOT")}, "'BOOT' is none of IMAGE"),
        ({"nodeSourceDetails": None}, "give exactly one of nodeSourceDetails"),
        ({"kubernetesVersion": "1.35.2"}, "must have the form v1"),
        ({"initialNodeLabels": labels(**{"a b": "x"})}, "is not a valid label key"),
        ({"initialNodeLabels": labels(a="x y")}, "is not a valid label value"),
        ({"initialNodeLabels": [*labels(a="x"), *labels(a="y")]}, "'a' is given twice"),
        (
            {"nodeEvictionNodePoolSettings": {"evictionGraceDuration": "30m"}},
            "not an ISO 8601 duration such as PT30M",
        ),
        (
            {"nodeEvictionNodePoolSettings": {"evictionGraceDuration": "PT61M"}},
            "more than the limit, PT60M",
        ),
        ({"nodePoolCyclingDetails": {"maximumSurge": "one"}}, "neither a number nor a percentage"),
        ({"nodePoolCyclingDetails": {"maximumSurge": 1}}, "must be a string"),
        (
            {"nodePoolCyclingDetails": {"maximumSurge": "0", "maximumUnavailable": "0%"}},
            "no node could be cycled",
        ),
        ({"nodePoolCyclingDetails": {"cycleModes": ["REBOOT"]}}, "'REBOOT' is none of"),
    ],
)
def test_invalid_pool(oke, invalid, inputs, message):
    with invalid(message):
        oke.pool(**inputs)


@pytest.mark.parametrize("duration", ["PT0M", "PT60M", "PT1H", "PT30M", "PT3600S"])
def test_valid_grace_duration(oke, duration):
    assert oke.pool(nodeEvictionNodePoolSettings={"evictionGraceDuration": duration})


def test_refuse_nodes_newer_than_the_control_plane(oke, refused):
    with refused("nodes of v1.36.1 are newer than the control plane of 1.35"):
        oke.pool(kubernetesVersion="v1.36.1")
    with refused("OKE does not offer Kubernetes v1.35.9"):
        oke.pool(kubernetesVersion="v1.35.9")
    older = source(imageId=image(gpu=True, version="v1.33.10"))
    assert oke.pool(kubernetesVersion="v1.33.10", nodeSourceDetails=older)


def test_version_defaults_to_the_clusters(oke):
    assert oke.pool(kubernetesVersion=None).outputs["kubernetesVersion"] == VERSION


def test_refuse_an_unknown_shape(oke, refused):
    with refused("shape 'VM.GPU.A10.3' is not one of the known shapes"):
        oke.pool(nodeShape="VM.GPU.A10.3")


def test_refuse_a_size_of_a_fixed_shape_and_a_flexible_one_without_it(oke, refused):
    with refused("shape VM.GPU.A10.1 has a fixed size: leave nodeShapeConfig out"):
        oke.pool(**flex())
    with refused("flexible shape VM.Standard.E5.Flex requires nodeShapeConfig"):
        oke.system_pool(nodeShapeConfig=None)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"ocpus": 0.5}, "takes 1 to 126 OCPUs, not 0.5 .one OCPU is two vCPU"),
        ({"ocpus": 200}, "takes 1 to 126 OCPUs, not 200"),
        ({"ocpus": 8, "memoryInGbs": 4}, "with 8 OCPUs takes 8 to 512 GB of memory, not 4"),
        ({"ocpus": 1, "memoryInGbs": 128}, "with 1 OCPUs takes 1 to 64 GB of memory, not 128"),
    ],
)
def test_refuse_a_size_outside_of_the_range(oke, refused, sizes, message):
    with refused(message):
        oke.system_pool(**flex(**sizes))


def test_refuse_an_image_of_another_version(oke, refused):
    with refused("is of Kubernetes v1.34.2, the node pool of v1.35.2; take an image"):
        oke.pool(nodeSourceDetails=source(imageId=image(gpu=True, version="v1.34.2")))


def test_refuse_an_image_for_another_processor(oke, refused):
    with refused("take an image without aarch64 in its name"):
        oke.system_pool(nodeSourceDetails=source(imageId=image(arm=True)))
    with refused("take an image with aarch64 in its name"):
        oke.system_pool(nodeShape="VM.Standard.A1.Flex", nodeSourceDetails=source(imageId=image()))
    assert oke.system_pool(
        nodeShape="VM.Standard.A1.Flex", nodeSourceDetails=source(imageId=image(arm=True))
    )


def test_refuse_gpus_without_the_driver_and_the_driver_without_gpus(oke, refused):
    with refused("has no NVIDIA driver for shape VM.GPU.A10.1"):
        oke.pool(nodeSourceDetails=source(imageId=image()))
    with refused("it has no NVIDIA GPU; take an image without GPU in its name"):
        oke.system_pool(nodeSourceDetails=source())
    with refused("shape BM.GPU.MI300X.8 is not valid for image"):
        oke.pool(nodeShape="BM.GPU.MI300X.8")


def test_image_that_is_not_in_the_list_is_not_checked(oke, refused):
    pinned = "ocid1.image.oc1.iad.aaaaaaaapinned"
    assert oke.pool(nodeSourceDetails=source(imageId=pinned))
    with refused("'Oracle-Linux-9' is not the OCID of an image"):
        oke.pool("b", nodeSourceDetails=source(imageId="Oracle-Linux-9"))


def test_refuse_gpus_without_an_endpoint_in_the_vcn(oke, refused):
    legacy = oke.make_cluster("legacy", endpointConfig=None)
    with refused("requires a cluster whose API endpoint is in the VCN"):
        oke.pool(clusterId=legacy.id)


def test_refuse_a_change_to_a_shape_with_gpus(oke, refused):
    pool = oke.system_pool()
    with refused("cannot change from VM.Standard.E5.Flex to VM.GPU.A10.1"):
        oke.change(pool, nodeShape="VM.GPU.A10.1", nodeShapeConfig=None, nodeSourceDetails=source())


def test_refuse_an_availability_domain_of_another_region(oke, refused):
    with refused("us-ashburn-1 has no availability domain 'Uocm:US-ASHBURN-AD-4'"):
        oke.pool(
            nodeConfigDetails=oke.details(
                0, oke.placement(availabilityDomain="Uocm:US-ASHBURN-AD-4")
            )
        )


def preemptible(kind="TERMINATE"):
    return {"preemptibleNodeConfig": {"preemptionAction": {"type": kind}}}


def test_refuse_preemptible_bare_metal_or_reserved_nodes(oke, refused, invalid):
    assert oke.pool(nodeConfigDetails=oke.details(0, oke.placement(**preemptible())))
    bare_metal = {"nodeShape": "BM.GPU.A10.4"}
    with refused("bare metal shape BM.GPU.A10.4 has no preemptible capacity"):
        oke.pool(
            "b", nodeConfigDetails=oke.details(0, oke.placement(**preemptible())), **bare_metal
        )
    reservation = {"capacityReservationId": "ocid1.capacityreservation.oc1.iad.aaaaaaaareserved"}
    assert oke.pool("c", nodeConfigDetails=oke.details(0, oke.placement(**reservation)))
    with refused("cannot come from a capacity reservation"):
        oke.pool(
            "d",
            nodeConfigDetails=oke.details(0, oke.placement(**preemptible(), **reservation)),
        )
    with invalid("'STOP' is none of TERMINATE"):
        oke.pool("e", nodeConfigDetails=oke.details(0, oke.placement(**preemptible("STOP"))))


def test_refuse_a_reservation_that_is_not_an_ocid(oke, refused):
    named = oke.placement(capacityReservationId="gpu-reservation")
    with refused("'gpu-reservation' is not the OCID of a capacity reservation"):
        oke.pool(nodeConfigDetails=oke.details(0, named))


def test_refuse_subnets_and_groups_of_another_vcn(oke, refused):
    other = oke.vcn("other", "10.1.0.0/16")
    subnet = oke.subnet(other, "foreign", "10.1.0.0/24")
    with refused("Subnet foreign of the node pool is in VCN"):
        oke.pool(nodeConfigDetails=oke.details(0, oke.placement(subnetId=subnet.id)))
    group = oke.group(other, "foreign")
    with refused("NetworkSecurityGroup foreign of the node pool is in VCN"):
        oke.pool(nodeConfigDetails=oke.details(0, nsgIds=[group.id]))


def test_refuse_a_subnet_of_another_availability_domain(oke, refused):
    subnet = oke.subnet(
        oke.network,
        "ad2",
        "10.0.64.0/24",
        availabilityDomain=DOMAINS[1],
        routeTableId=oke.private_table.id,
    )
    with refused("subnet ad2 is in Uocm:US-ASHBURN-AD-2, its placement in Uocm:US-ASHBURN-AD-1"):
        oke.pool(nodeConfigDetails=oke.details(0, oke.placement(subnetId=subnet.id)))
    assert oke.pool(nodeConfigDetails=oke.details(0, oke.placement(1, subnetId=subnet.id)))


def test_refuse_another_pod_network_than_the_clusters(oke, refused):
    native = oke.make_cluster("native", clusterPodNetworkOptions=[{"cniType": "OCI_VCN_IP_NATIVE"}])
    pods = {"cniType": "OCI_VCN_IP_NATIVE", "podSubnetIds": [oke.workers.id]}
    with refused("requires nodeConfigDetails.nodePoolPodNetworkOptionDetails.podSubnetIds"):
        oke.pool("a", clusterId=native.id)
    details = oke.details(0, nodePoolPodNetworkOptionDetails=pods)
    with refused("cniType is OCI_VCN_IP_NATIVE, the cluster's FLANNEL_OVERLAY"):
        oke.pool("b", nodeConfigDetails=details)
    assert oke.pool("c", clusterId=native.id, nodeConfigDetails=details)


def test_refuse_cycling_in_a_basic_cluster(oke, refused):
    basic = oke.make_cluster("basic", type="BASIC_CLUSTER")
    with refused("node cycling requires an enhanced cluster, basic is a basic one"):
        oke.pool(clusterId=basic.id, nodePoolCyclingDetails={"isNodeCyclingEnabled": True})


# Nodes that cannot join the cluster


def test_refuse_nodes_without_a_route_to_a_gateway(oke, refused):
    stranded = oke.subnet(oke.network, "stranded", "10.0.64.0/24")
    placed = oke.details(1, oke.placement(subnetId=stranded.id))
    with refused("register timeout: nodes in subnet stranded reach neither"):
        oke.system_pool(nodeConfigDetails=placed)
    empty = oke.details(0, oke.placement(subnetId=stranded.id))
    pool = oke.system_pool(nodeConfigDetails=empty)
    assert any("reach neither" in fault for fault in oke_node_pool.faults(oke.world, pool))


@pytest.mark.parametrize("port", [6443, 12250])
def test_refuse_nodes_without_an_ingress_rule_of_the_endpoint(oke, refused, port):
    for rule in oke.rules:
        if rule.inputs["tcpOptions"]["destinationPortRange"]["min"] == port:
            oke.delete(rule)
    with refused(f"no rule of the API endpoint allows TCP {port} from the nodes in subnet workers"):
        oke.system_pool()


def test_refuse_nodes_without_an_egress_rule(oke, refused):
    closed = oke.make(tokens.SECURITY_LIST, "closed", vcnId=oke.network.id)
    subnet = oke.subnet(
        oke.network,
        "closed",
        "10.0.64.0/24",
        routeTableId=oke.private_table.id,
        securityListIds=[closed.id],
    )
    placed = oke.details(1, oke.placement(subnetId=subnet.id))
    with refused("no rule allows the nodes in subnet closed to reach the API endpoint by TCP 6443"):
        oke.system_pool(nodeConfigDetails=placed)
    oke.rule(
        oke.worker_group,
        "out",
        "EGRESS",
        destination=oke.endpoint_group.id,
        destinationType="NETWORK_SECURITY_GROUP",
    )
    assert oke.system_pool(nodeConfigDetails=placed)


def test_ingress_rule_may_have_an_address_block():
    oke = OkeTenancy()
    for rule in oke.rules:
        oke.delete(rule)
    oke.rule(
        oke.endpoint_group,
        "workers",
        "INGRESS",
        protocol="6",
        source="10.0.16.0/20",
        tcpOptions={"destinationPortRange": {"min": 6000, "max": 13000}},
    )
    assert oke.system_pool()


# Metadata


def test_warn_of_a_volume_that_the_script_does_not_grow(oke):
    metadata = {"user_data": script(GPU_TAINT, grow=False), "kubelet-extra-args": GPU_TAINT}
    oke.pool(nodeMetadata=metadata)
    assert ["keeps 47 GB" in warning for warning in oke.warnings()] == [True]
    oke.system_pool()
    assert len(oke.warnings()) == 1


# Changes


def test_warn_of_a_change_for_new_nodes_only(oke):
    pool = oke.system_pool(size=2)
    oke.change(pool, initialNodeLabels=labels(team="a"))
    assert "initialNodeLabels changed for new nodes only: 2 nodes stay" in oke.warnings()[0]


def test_warn_of_a_change_that_replaces_nodes_under_running_jobs(oke):
    pool = oke.system_pool(size=2, nodePoolCyclingDetails={"isNodeCyclingEnabled": True})
    oke.change(pool, nodeMetadata={"user_data": script()})
    assert oke.warnings() == [
        "replaces 2 nodes under running pods: nodeMetadata changed, and cycling is enabled"
    ]


def test_change_outside_of_the_node_details_keeps_the_live_size(oke):
    pool = oke.system_pool()
    set_node_pool_size(oke.world, "ci", "system", 3)
    changed = oke.change(pool, freeformTags={"team": "a"})
    assert changed.outputs["nodeConfigDetails"]["size"] == 3
    assert len(changed.outputs["nodes"]) == 3
    assert oke.warnings() == []


def test_change_in_the_node_details_sends_the_size_too(oke):
    pool = oke.system_pool()
    set_node_pool_size(oke.world, "ci", "system", 3)
    changed = oke.change(pool, nodeConfigDetails={**oke.details(1), "freeformTags": {"team": "a"}})
    assert changed.outputs["nodeConfigDetails"]["size"] == 1
    assert "scaled in 2 nodes under running pods" in oke.warnings()[0]


def test_warn_of_the_deletion_of_a_managed_pool(oke):
    pool = oke.pool()
    oke.system_pool()
    oke.policy()
    oke.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")
    oke.delete(pool)
    assert any("still manages it" in warning for warning in oke.warnings())


def test_pool_has_an_automatic_name(oke):
    kind = next(kind for kind in KINDS if kind.token == tokens.NODE_POOL)
    assert kind.is_automatic(oke.pool().outputs["name"], "a10")
