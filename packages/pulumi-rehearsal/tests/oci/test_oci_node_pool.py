"""Node pools: shapes, images, capacity, networks, and the live size that is not the stack's."""

from __future__ import annotations

import pytest
from oci_tenancy import DOMAINS, GPU_TAINT, VERSION, Fleet, image, labels, script
from pulumi_rehearsal.standin.oci import KINDS, oke_node_pool_rules, set_node_pool_size, tokens


def source(**inputs):
    given = {"sourceType": "IMAGE", "imageId": image(gpu=True), "bootVolumeSizeInGbs": "400"}
    return {**given, **inputs}


def flex(**inputs):
    return {"nodeShapeConfig": {"ocpus": 2, "memoryInGbs": 16, **inputs}}


def test_a_pool_has_its_nodes_in_turn_over_the_domains(fleet):
    placements = [fleet.placement(0), fleet.placement(1)]
    pool = fleet.system_pool(nodeConfigDetails=fleet.details(3, *placements))
    domains = [node["availabilityDomain"] for node in pool.outputs["nodes"]]
    assert domains == [DOMAINS[0], DOMAINS[1], DOMAINS[0]]
    assert pool.outputs["nodeSources"][0]["sourceName"].endswith("OKE-1.35.2-1505")
    assert pool.id.startswith("ocid1.nodepool.oc1.iad.")


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"nodeSourceDetails": source(bootVolumeSizeInGbs="49")}, "49 is not between 50 and"),
        ({"nodeSourceDetails": source(bootVolumeSizeInGbs="400GB")}, "no whole number of GB"),
        ({"nodeSourceDetails": source(bootVolumeSizeInGbs=400)}, "must be a string"),
        ({"nodeSourceDetails": source(sourceType="BOOT")}, "'BOOT' is none of IMAGE"),
        ({"nodeSourceDetails": None}, "give exactly one of nodeSourceDetails"),
        ({"kubernetesVersion": "1.35.2"}, "with its v"),
        ({"initialNodeLabels": labels(**{"a b": "x"})}, "is no Kubernetes label key"),
        ({"initialNodeLabels": labels(a="x y")}, "is no Kubernetes label value"),
        ({"initialNodeLabels": [*labels(a="x"), *labels(a="y")]}, "'a' is given twice"),
        (
            {"nodeEvictionNodePoolSettings": {"evictionGraceDuration": "30m"}},
            "no ISO 8601 duration such as PT30M",
        ),
        (
            {"nodeEvictionNodePoolSettings": {"evictionGraceDuration": "PT61M"}},
            "more than PT60M",
        ),
        ({"nodePoolCyclingDetails": {"maximumSurge": "one"}}, "neither a number nor a percentage"),
        ({"nodePoolCyclingDetails": {"maximumSurge": 1}}, "must be a string"),
        (
            {"nodePoolCyclingDetails": {"maximumSurge": "0", "maximumUnavailable": "0%"}},
            "no node could ever be cycled",
        ),
        ({"nodePoolCyclingDetails": {"cycleModes": ["REBOOT"]}}, "'REBOOT' is none of"),
    ],
)
def test_what_the_provider_does_not_take_is_invalid(fleet, invalid, inputs, words):
    with invalid(words):
        fleet.pool(**inputs)


@pytest.mark.parametrize("duration", ["PT0M", "PT60M", "PT1H", "PT30M", "PT3600S"])
def test_a_grace_of_up_to_an_hour_is_taken(fleet, duration):
    assert fleet.pool(nodeEvictionNodePoolSettings={"evictionGraceDuration": duration})


def test_nodes_are_neither_newer_nor_much_older_than_the_control_plane(fleet, refused):
    with refused("nodes of v1.36.1 are newer than the control plane of 1.35"):
        fleet.pool(kubernetesVersion="v1.36.1")
    with refused("OKE does not offer Kubernetes v1.35.9"):
        fleet.pool(kubernetesVersion="v1.35.9")
    older = source(imageId=image(gpu=True, version="v1.33.10"))
    assert fleet.pool(kubernetesVersion="v1.33.10", nodeSourceDetails=older)


def test_a_pool_without_a_version_has_the_clusters(fleet):
    assert fleet.pool(kubernetesVersion=None).outputs["kubernetesVersion"] == VERSION


def test_a_shape_that_does_not_exist_is_refused(fleet, refused):
    with refused("the rehearsal knows no shape 'VM.GPU.A10.3'"):
        fleet.pool(nodeShape="VM.GPU.A10.3")


def test_a_fixed_shape_takes_no_size_and_a_flexible_one_needs_it(fleet, refused):
    with refused("shape VM.GPU.A10.1 is fixed and takes no nodeShapeConfig"):
        fleet.pool(**flex())
    with refused("flexible shape VM.Standard.E5.Flex needs nodeShapeConfig"):
        fleet.system_pool(nodeShapeConfig=None)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"ocpus": 0.5}, "takes 1 to 126 OCPUs, not 0.5 .one OCPU is two vCPU"),
        ({"ocpus": 200}, "takes 1 to 126 OCPUs, not 200"),
        ({"ocpus": 8, "memoryInGbs": 4}, "with 8 OCPUs takes 8 to 512 GB of memory, not 4"),
        ({"ocpus": 1, "memoryInGbs": 128}, "with 1 OCPUs takes 1 to 64 GB of memory, not 128"),
    ],
)
def test_a_flexible_shape_is_held_to_its_range(fleet, refused, sizes, words):
    with refused(words):
        fleet.system_pool(**flex(**sizes))


def test_an_image_of_another_version_is_refused(fleet, refused):
    with refused("is of Kubernetes v1.34.2, the node pool of v1.35.2; take an image"):
        fleet.pool(nodeSourceDetails=source(imageId=image(gpu=True, version="v1.34.2")))


def test_an_image_for_another_processor_is_refused(fleet, refused):
    with refused("take an image with no aarch64 in its name"):
        fleet.system_pool(nodeSourceDetails=source(imageId=image(arm=True)))
    with refused("take an image with aarch64 in its name"):
        fleet.system_pool(
            nodeShape="VM.Standard.A1.Flex", nodeSourceDetails=source(imageId=image())
        )
    assert fleet.system_pool(
        nodeShape="VM.Standard.A1.Flex", nodeSourceDetails=source(imageId=image(arm=True))
    )


def test_an_image_with_the_driver_goes_with_gpus_and_only_with_these(fleet, refused):
    with refused("has no NVIDIA driver for shape VM.GPU.A10.1"):
        fleet.pool(nodeSourceDetails=source(imageId=image()))
    with refused("it has no NVIDIA GPU; take an image without GPU in its name"):
        fleet.system_pool(nodeSourceDetails=source())
    with refused("shape BM.GPU.MI300X.8 is not valid for image"):
        fleet.pool(nodeShape="BM.GPU.MI300X.8")


def test_a_pinned_image_that_is_not_in_the_list_is_taken_on_trust(fleet, refused):
    pinned = "ocid1.image.oc1.iad.aaaaaaaapinned"
    assert fleet.pool(nodeSourceDetails=source(imageId=pinned))
    with refused("'Oracle-Linux-9' is no image's OCID"):
        fleet.pool("b", nodeSourceDetails=source(imageId="Oracle-Linux-9"))


def test_gpus_need_an_endpoint_in_the_vcn(fleet, refused):
    legacy = fleet.make_cluster("legacy", endpointConfig=None)
    with refused("needs a cluster whose API endpoint is in the VCN"):
        fleet.pool(clusterId=legacy.id)


def test_a_pool_never_changes_between_shapes_with_and_without_gpus(fleet, refused):
    pool = fleet.system_pool()
    with refused("cannot change between VM.Standard.E5.Flex and VM.GPU.A10.1"):
        fleet.change(
            pool, nodeShape="VM.GPU.A10.1", nodeShapeConfig=None, nodeSourceDetails=source()
        )


def test_a_domain_that_the_region_does_not_have_is_refused(fleet, refused):
    with refused("us-ashburn-1 has no availability domain 'Uocm:US-ASHBURN-AD-4'"):
        fleet.pool(
            nodeConfigDetails=fleet.details(
                0, fleet.placement(availabilityDomain="Uocm:US-ASHBURN-AD-4")
            )
        )


def preemptible(kind="TERMINATE"):
    return {"preemptibleNodeConfig": {"preemptionAction": {"type": kind}}}


def test_preemptible_nodes_are_vms_without_a_reservation(fleet, refused, invalid):
    assert fleet.pool(nodeConfigDetails=fleet.details(0, fleet.placement(**preemptible())))
    bare_metal = {"nodeShape": "BM.GPU.A10.4"}
    with refused("bare metal shape BM.GPU.A10.4 has no preemptible capacity"):
        fleet.pool(
            "b", nodeConfigDetails=fleet.details(0, fleet.placement(**preemptible())), **bare_metal
        )
    reservation = {"capacityReservationId": "ocid1.capacityreservation.oc1.iad.aaaaaaaareserved"}
    assert fleet.pool("c", nodeConfigDetails=fleet.details(0, fleet.placement(**reservation)))
    with refused("cannot come from a capacity reservation"):
        fleet.pool(
            "d",
            nodeConfigDetails=fleet.details(0, fleet.placement(**preemptible(), **reservation)),
        )
    with invalid("'STOP' is none of TERMINATE"):
        fleet.pool("e", nodeConfigDetails=fleet.details(0, fleet.placement(**preemptible("STOP"))))


def test_a_reservation_is_named_by_its_ocid(fleet, refused):
    named = fleet.placement(capacityReservationId="gpu-reservation")
    with refused("'gpu-reservation' is no OCID of a capacity reservation"):
        fleet.pool(nodeConfigDetails=fleet.details(0, named))


def test_subnets_and_groups_are_of_the_clusters_vcn(fleet, refused):
    other = fleet.vcn("other", "10.1.0.0/16")
    subnet = fleet.subnet(other, "foreign", "10.1.0.0/24")
    with refused("Subnet foreign of the node pool is in VCN"):
        fleet.pool(nodeConfigDetails=fleet.details(0, fleet.placement(subnetId=subnet.id)))
    group = fleet.group(other, "foreign")
    with refused("NetworkSecurityGroup foreign of the node pool is in VCN"):
        fleet.pool(nodeConfigDetails=fleet.details(0, nsgIds=[group.id]))


def test_a_subnet_of_one_domain_serves_that_domain(fleet, refused):
    subnet = fleet.subnet(
        fleet.network,
        "ad2",
        "10.0.64.0/24",
        availabilityDomain=DOMAINS[1],
        routeTableId=fleet.private_table.id,
    )
    with refused("subnet ad2 is of Uocm:US-ASHBURN-AD-2, its placement of Uocm:US-ASHBURN-AD-1"):
        fleet.pool(nodeConfigDetails=fleet.details(0, fleet.placement(subnetId=subnet.id)))
    assert fleet.pool(nodeConfigDetails=fleet.details(0, fleet.placement(1, subnetId=subnet.id)))


def test_the_pods_network_is_the_clusters(fleet, refused):
    native = fleet.make_cluster(
        "native", clusterPodNetworkOptions=[{"cniType": "OCI_VCN_IP_NATIVE"}]
    )
    pods = {"cniType": "OCI_VCN_IP_NATIVE", "podSubnetIds": [fleet.workers.id]}
    with refused("needs nodeConfigDetails.nodePoolPodNetworkOptionDetails with podSubnetIds"):
        fleet.pool("a", clusterId=native.id)
    details = fleet.details(0, nodePoolPodNetworkOptionDetails=pods)
    with refused("cniType OCI_VCN_IP_NATIVE is not the cluster's FLANNEL_OVERLAY"):
        fleet.pool("b", nodeConfigDetails=details)
    assert fleet.pool("c", clusterId=native.id, nodeConfigDetails=details)


def test_cycling_needs_an_enhanced_cluster(fleet, refused):
    basic = fleet.make_cluster("basic", type="BASIC_CLUSTER")
    with refused("node cycling needs an enhanced cluster, basic is a basic one"):
        fleet.pool(clusterId=basic.id, nodePoolCyclingDetails={"isNodeCyclingEnabled": True})


# What keeps nodes from joining


def test_nodes_without_a_way_out_never_join(fleet, refused):
    stranded = fleet.subnet(fleet.network, "stranded", "10.0.64.0/24")
    placed = fleet.details(1, fleet.placement(subnetId=stranded.id))
    with refused("register timeout: nodes in subnet stranded reach neither"):
        fleet.system_pool(nodeConfigDetails=placed)
    empty = fleet.details(0, fleet.placement(subnetId=stranded.id))
    pool = fleet.system_pool(nodeConfigDetails=empty)
    assert any("reach neither" in fault for fault in oke_node_pool_rules.faults(fleet.world, pool))


@pytest.mark.parametrize("port", [6443, 12250])
def test_nodes_that_the_endpoint_does_not_let_in_never_join(fleet, refused, port):
    for rule in fleet.rules:
        if rule.inputs["tcpOptions"]["destinationPortRange"]["min"] == port:
            fleet.delete(rule)
    with refused(
        f"no rule lets the workers of subnet workers in to the API endpoint by TCP {port}"
    ):
        fleet.system_pool()


def test_nodes_that_are_not_let_out_never_join(fleet, refused):
    closed = fleet.make(tokens.SECURITY_LIST, "closed", vcnId=fleet.network.id)
    subnet = fleet.subnet(
        fleet.network,
        "closed",
        "10.0.64.0/24",
        routeTableId=fleet.private_table.id,
        securityListIds=[closed.id],
    )
    placed = fleet.details(1, fleet.placement(subnetId=subnet.id))
    with refused("no rule lets the workers in subnet closed out to the API endpoint by TCP 6443"):
        fleet.system_pool(nodeConfigDetails=placed)
    fleet.rule(
        fleet.worker_group,
        "out",
        "EGRESS",
        destination=fleet.endpoint_group.id,
        destinationType="NETWORK_SECURITY_GROUP",
    )
    assert fleet.system_pool(nodeConfigDetails=placed)


def test_a_block_in_a_rule_lets_a_subnet_in_as_well():
    fleet = Fleet()
    for rule in fleet.rules:
        fleet.delete(rule)
    fleet.rule(
        fleet.endpoint_group,
        "workers",
        "INGRESS",
        protocol="6",
        source="10.0.16.0/20",
        tcpOptions={"destinationPortRange": {"min": 6000, "max": 13000}},
    )
    assert fleet.system_pool()


# Metadata


def test_a_larger_volume_that_nobody_grows_is_warned_of(fleet):
    metadata = {"user_data": script(GPU_TAINT, grow=False), "kubelet-extra-args": GPU_TAINT}
    fleet.pool(nodeMetadata=metadata)
    assert ["stays at 47 GB" in warning for warning in fleet.warnings()] == [True]
    fleet.system_pool()
    assert len(fleet.warnings()) == 1


# Life


def test_a_change_of_what_nodes_are_made_of_reaches_new_ones_only(fleet):
    pool = fleet.system_pool(size=2)
    fleet.change(pool, initialNodeLabels=labels(team="a"))
    assert "initialNodeLabels changed for new nodes only: 2 nodes stay" in fleet.warnings()[0]


def test_a_pool_that_cycles_does_so_under_running_jobs(fleet):
    pool = fleet.system_pool(size=2, nodePoolCyclingDetails={"isNodeCyclingEnabled": True})
    fleet.change(pool, nodeMetadata={"user_data": script()})
    assert fleet.warnings() == ["cycles 2 nodes under running jobs: nodeMetadata changed"]


def test_a_change_beside_the_node_details_leaves_the_live_size(fleet):
    pool = fleet.system_pool()
    set_node_pool_size(fleet.world, "ci", "system", 3)
    changed = fleet.change(pool, freeformTags={"team": "a"})
    assert changed.outputs["nodeConfigDetails"]["size"] == 3
    assert len(changed.outputs["nodes"]) == 3
    assert fleet.warnings() == []


def test_a_change_within_the_node_details_sends_the_size_too(fleet):
    pool = fleet.system_pool()
    set_node_pool_size(fleet.world, "ci", "system", 3)
    changed = fleet.change(
        pool, nodeConfigDetails={**fleet.details(1), "freeformTags": {"team": "a"}}
    )
    assert changed.outputs["nodeConfigDetails"]["size"] == 1
    assert "scaled in 2 nodes under running jobs" in fleet.warnings()[0]


def test_a_pool_that_an_autoscaler_still_manages_is_deleted_with_a_warning(fleet):
    pool = fleet.pool()
    fleet.system_pool()
    fleet.policy()
    fleet.autoscaler(nodes=f"0:4:{pool.id}", authType="workload")
    fleet.delete(pool)
    assert any("still manages it" in warning for warning in fleet.warnings())


def test_a_second_pool_of_one_logical_name_gets_its_own_automatic_name(fleet):
    kind = next(kind for kind in KINDS if kind.token == tokens.NODE_POOL)
    assert kind.is_automatic(fleet.pool().outputs["name"], "a10")
