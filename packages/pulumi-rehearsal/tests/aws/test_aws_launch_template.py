"""Launch templates and placement groups, alone and under a node group."""

from __future__ import annotations

import pytest
from aws_account import user_data
from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.kind import Invalid, Refusal

NODE_CONFIG = (
    "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"
    "spec: {instance: {localStorage: {strategy: RAID0}}}\n"
)


def disk(**ebs):
    return {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": ebs}]}


def efa(count, first="efa"):
    return [
        {
            "networkCardIndex": card,
            "deviceIndex": min(card, 1),
            "interfaceType": "efa" if card else first,
        }
        for card in range(count)
    ]


def block(**inputs):
    return {
        "instanceMarketOptions": {"marketType": "capacity-block"},
        "capacityReservationSpecification": {
            "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}
        },
        **inputs,
    }


def test_a_change_makes_another_version(fleet):
    template = fleet.template(**disk(volumeSize=200, volumeType="gp3"))
    assert template.outputs["latestVersion"] == 1
    changed = fleet.change(template, **disk(volumeSize=300, volumeType="gp3"))
    assert changed.outputs["latestVersion"] == 2
    assert changed.outputs["defaultVersion"] == 1


def test_changed_tags_make_no_other_version(fleet):
    changed = fleet.change(fleet.template(), tags={"team": "ci"})
    assert changed.outputs["latestVersion"] == 1


def test_the_default_version_follows_when_asked(fleet):
    template = fleet.template(updateDefaultVersion=True)
    changed = fleet.change(template, description="x")
    assert changed.outputs["defaultVersion"] == 2


def test_a_template_name_is_taken_once(fleet):
    fleet.template("first", name="ci-t4")
    with pytest.raises(Refusal, match="AlreadyExists"):
        fleet.template("second", name="ci-t4")


@pytest.mark.parametrize(
    ("inputs", "path"),
    [
        ({"metadataOptions": {"httpTokens": "yes"}}, "metadataOptions.httpTokens"),
        (disk(volumeType="gp4"), "ebs.volumeType"),
        (disk(volumeType="gp2", throughput=250), "ebs.throughput"),
        (disk(volumeType="gp3", throughput=50), "ebs.throughput"),
        (disk(kmsKeyId="arn:aws:kms:us-west-2:111122223333:key/x"), "ebs.encrypted"),
        ({"tagSpecifications": [{"resourceType": "instances"}]}, "resourceType"),
        ({"networkInterfaces": [{"interfaceType": "ena"}]}, "interfaceType"),
        ({"instanceMarketOptions": {"marketType": "on-demand"}}, "marketType"),
        ({"name": "t4", "namePrefix": "t"}, "namePrefix"),
        ({"name": "x" * 129}, "name"),
    ],
)
def test_what_ec2_does_not_spell_so_is_invalid(fleet, inputs, path):
    with pytest.raises(Invalid, match=path):
        fleet.template(**inputs)


def test_interfaces_and_security_groups_beside_each_other_are_refused(fleet):
    group = fleet.make(tokens.SECURITY_GROUP, "nodes", vpcId=fleet.network.id)
    with pytest.raises(Refusal, match="may not both be given"):
        fleet.template(vpcSecurityGroupIds=[group.id], networkInterfaces=efa(1))


def test_a_placement_group_that_does_not_exist_is_refused(fleet):
    with pytest.raises(Refusal, match=r"InvalidPlacementGroup\.Unknown"):
        fleet.template(placement={"groupName": "nowhere"})


def test_user_data_that_is_no_base64_is_refused(fleet):
    with pytest.raises(Refusal, match="not base64"):
        fleet.template(userData="#!/bin/sh")


def test_user_data_over_16_kib_is_refused(fleet):
    with pytest.raises(Refusal, match="the limit is 16384"):
        fleet.template(userData=user_data("#" * 17_000))


def test_the_first_efa_interface_must_be_of_type_efa(fleet):
    with pytest.raises(Refusal, match="must be of type efa"):
        fleet.template(networkInterfaces=efa(4, first="efa-only"))


def test_efa_interfaces_after_the_first_have_device_index_1(fleet):
    interfaces = [{**one, "deviceIndex": 0} for one in efa(4)]
    with pytest.raises(Refusal, match="deviceIndex 1"):
        fleet.template(networkInterfaces=interfaces)


def test_one_efa_interface_a_network_card(fleet):
    interfaces = [{**one, "networkCardIndex": 0} for one in efa(2)]
    with pytest.raises(Refusal, match="count up from 0"):
        fleet.template(networkInterfaces=interfaces)


def test_a_template_that_does_not_exist_is_refused(fleet):
    with pytest.raises(Refusal, match=r"InvalidLaunchTemplateId\.NotFound"):
        fleet.pool(launchTemplate={"id": "lt-00000000000000000", "version": "1"})
    with pytest.raises(Refusal, match="no launch template is named"):
        fleet.pool(launchTemplate={"name": "nothing", "version": "1"})


def test_a_version_that_does_not_exist_is_refused(fleet):
    with pytest.raises(Refusal, match="has no version 2"):
        fleet.pool(launchTemplate={"id": fleet.template().id, "version": "2"})


@pytest.mark.parametrize(
    ("field", "value"), [("diskSize", 100), ("remoteAccess", {"ec2SshKey": "key"})]
)
def test_what_belongs_into_the_template_is_refused_beside_it(fleet, field, value):
    with pytest.raises(Refusal, match=f"{field} is not allowed with a launch template"):
        fleet.pool(template=fleet.template(), **{field: value})


def test_the_instance_type_in_both_places_is_refused(fleet):
    with pytest.raises(Refusal, match="both in the node group and in the launch template"):
        fleet.pool(template=fleet.template(instanceType="g4dn.xlarge"))


def test_an_image_of_ones_own_beside_an_ami_type_is_refused(fleet):
    template = fleet.template(imageId="ami-0123456789abcdef0")
    with pytest.raises(Refusal, match="amiType must be left out"):
        fleet.pool(template=template)
    with pytest.raises(Refusal, match="releaseVersion must be left out"):
        fleet.pool(template=template, amiType=None, releaseVersion="1.35.0-20261101")
    assert fleet.pool(template=template, amiType=None).outputs["amiType"] == "CUSTOM"


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ({"hibernationOptions": {"configured": True}}, "hibernationOptions"),
        ({"instanceInitiatedShutdownBehavior": "terminate"}, "terminate"),
        ({"instanceMarketOptions": {"marketType": "spot"}}, "capacityType to SPOT"),
        ({"networkInterfaces": [{"subnetId": "subnet-0123456789abcdef0"}]}, "name a subnet"),
    ],
)
def test_what_eks_forbids_in_a_template_is_refused(fleet, inside, message):
    template = fleet.template(**inside)
    with pytest.raises(Refusal, match=message):
        fleet.pool(template=template)


def test_an_instance_profile_in_a_template_is_refused(fleet):
    template = fleet.template(iamInstanceProfile={"name": "node"})
    with pytest.raises(Refusal, match="EKS creates the instance profile"):
        fleet.pool(template=template)


def test_a_security_group_of_another_vpc_in_a_template_is_refused(fleet):
    other = fleet.vpc("other", "10.1.0.0/16")
    group = fleet.make(tokens.SECURITY_GROUP, "stray", vpcId=other.id)
    template = fleet.template(vpcSecurityGroupIds=[group.id])
    with pytest.raises(Refusal, match="use a group of the subnets' VPC"):
        fleet.pool(template=template)


def test_security_groups_without_the_clusters_own_are_warned_of(fleet):
    own = fleet.cluster.outputs["vpcConfig"]["clusterSecurityGroupId"]
    group = fleet.make(tokens.SECURITY_GROUP, "nodes", vpcId=fleet.network.id)
    fleet.pool("both", template=fleet.template("both", vpcSecurityGroupIds=[own, group.id]))
    assert not fleet.warnings()
    fleet.pool("one", template=fleet.template("one", vpcSecurityGroupIds=[group.id]))
    assert any("reaches the kubelets only if" in detail for detail in fleet.warnings())


def test_user_data_with_a_node_config_is_taken(fleet):
    template = fleet.template(userData=user_data(NODE_CONFIG))
    assert (
        fleet.pool(template=template).outputs["launchTemplate"]["name"]
        == (template.outputs["name"])
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("IyEvYmluL3NoCg==", "not a MIME multi-part archive"),
        (user_data("a: [b"), "is not YAML"),
        (user_data("apiVersion: node.eks.aws/v1\nkind: NodeConfig"), "v1alpha1"),
        (user_data(NODE_CONFIG.replace("RAID0", "RAID5")), "RAID5"),
        (user_data(NODE_CONFIG, kind="application/json"), "no program on the node reads"),
    ],
)
def test_user_data_that_a_node_cannot_read_is_refused(fleet, data, message):
    template = fleet.template(userData=data)
    with pytest.raises(Refusal, match=message):
        fleet.pool(template=template)


def test_efa_on_a_type_without_it_is_refused(fleet):
    template = fleet.template(networkInterfaces=efa(1))
    with pytest.raises(Refusal, match=r"instance type g4dn\.xlarge has none"):
        fleet.pool(template=template)


def test_efa_with_more_interfaces_than_network_cards_is_refused(fleet):
    template = fleet.template(networkInterfaces=efa(8))
    with pytest.raises(Refusal, match=r"8 EFA interfaces.*has 4"):
        fleet.pool(template=template, instanceTypes=["p4d.24xlarge"])


def test_efa_in_one_zone_is_taken(fleet):
    group = fleet.make(tokens.PLACEMENT_GROUP, "efa", strategy="cluster")
    template = fleet.template(networkInterfaces=efa(4), placement={"groupName": group.id})
    with pytest.raises(Refusal, match="a cluster placement group is in one zone"):
        fleet.pool(template=template, instanceTypes=["p4d.24xlarge"])
    one_zone = fleet.private_ids[:1]
    pool = fleet.pool(template=template, instanceTypes=["p4d.24xlarge"], subnetIds=one_zone)
    assert pool.outputs["status"] == "ACTIVE"


def test_a_capacity_block_without_its_market_type_is_refused(fleet):
    with pytest.raises(Refusal, match="go together"):
        fleet.pool(template=fleet.template(), capacityType="CAPACITY_BLOCK")


def test_a_block_market_without_the_capacity_type_is_refused(fleet):
    with pytest.raises(Refusal, match="go together"):
        fleet.pool(template=fleet.template(**block()))


def test_a_capacity_block_without_its_reservation_is_refused(fleet):
    template = fleet.template(**block(capacityReservationSpecification=None))
    with pytest.raises(Refusal, match="needs the reservation"):
        fleet.pool(template=template, capacityType="CAPACITY_BLOCK")


def test_a_capacity_block_over_two_zones_is_refused(fleet):
    template = fleet.template(**block())
    with pytest.raises(Refusal, match="a capacity block is in one zone"):
        fleet.pool(template=template, capacityType="CAPACITY_BLOCK")
    pool = fleet.pool(
        template=template, capacityType="CAPACITY_BLOCK", subnetIds=fleet.private_ids[:1]
    )
    assert pool.outputs["capacityType"] == "CAPACITY_BLOCK"


def test_a_capacity_block_without_a_template_is_refused(fleet):
    with pytest.raises(Refusal, match="needs a launch template"):
        fleet.pool(capacityType="CAPACITY_BLOCK", subnetIds=fleet.private_ids[:1])


def test_a_template_under_a_node_group_is_not_deleted(fleet):
    template = fleet.template()
    pool = fleet.pool(template=template)
    with pytest.raises(Refusal, match="Ec2LaunchTemplateNotFound"):
        fleet.delete(template)
    fleet.delete(pool)
    fleet.delete(template)


def test_a_security_group_of_nodes_is_not_deleted(fleet):
    group = fleet.make(tokens.SECURITY_GROUP, "nodes", vpcId=fleet.network.id)
    fleet.pool(template=fleet.template(vpcSecurityGroupIds=[group.id]))
    with pytest.raises(Refusal, match="in use by NodeGroup"):
        fleet.delete(group)


def test_a_placement_group_in_a_template_is_not_deleted(fleet):
    group = fleet.make(tokens.PLACEMENT_GROUP, "efa", strategy="cluster")
    fleet.template(placement={"groupName": group.id})
    with pytest.raises(Refusal, match="in use by LaunchTemplate"):
        fleet.delete(group)


def test_a_partition_count_is_for_partitions(fleet):
    with pytest.raises(Invalid, match="does not apply to strategy 'cluster'"):
        fleet.make(tokens.PLACEMENT_GROUP, "efa", strategy="cluster", partitionCount=2)
