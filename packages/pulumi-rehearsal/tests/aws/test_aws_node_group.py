"""Managed node groups: relations to sizes, role, network, cluster and versions."""

from __future__ import annotations

import re

import pytest
from aws_account import NODE_POLICIES
from pulumi_rehearsal.standin.aws import set_desired_size, tokens
from pulumi_rehearsal.standin.kind import Invalid, Refusal


def live(fleet, pool):
    name = pool.outputs["resources"][0]["autoscalingGroups"][0]["name"]
    group = fleet.look("aws:autoscaling/getGroup:getGroup", name=name)
    return group["desiredCapacity"]


def sizes(low, wanted, high):
    return {"minSize": low, "desiredSize": wanted, "maxSize": high}


def test_a_node_group_makes_an_auto_scaling_group_that_goes_with_it(fleet):
    pool = fleet.pool("t4")
    name = pool.outputs["resources"][0]["autoscalingGroups"][0]["name"]
    hexadecimal = "[0-9a-f]"
    uuid = rf"{hexadecimal}{{8}}(-{hexadecimal}{{4}}){{3}}-{hexadecimal}{{12}}"
    assert re.fullmatch(rf"eks-t4-{hexadecimal}{{7}}-{uuid}", name)
    assert fleet.world.get(name, tokens.AUTO_SCALING_GROUP) is not None
    fleet.delete(pool)
    assert fleet.world.get(name, tokens.AUTO_SCALING_GROUP) is None


def test_a_node_group_is_named_by_the_provider(fleet):
    assert re.fullmatch(r"t4-[0-9a-f]{7}", fleet.pool("t4").outputs["nodeGroupName"])


def test_an_automatic_name_over_63_characters_is_invalid(fleet):
    with pytest.raises(Invalid, match="the limit is 63"):
        fleet.pool("p" * 56)


def test_a_node_group_name_is_taken_once_a_cluster(fleet):
    fleet.pool("first", nodeGroupName="t4")
    with pytest.raises(Refusal, match="ResourceInUseException"):
        fleet.pool("second", nodeGroupName="t4")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("amiType", "AL2023_X86_64_NVIDIA"),
        ("capacityType", "spot"),
        ("taints", [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]),
        ("updateConfig", {"updateStrategy": "FAST", "maxUnavailable": 1}),
        ("updateConfig", {"maxUnavailable": 1, "maxUnavailablePercentage": 10}),
        ("labels", {"nvidia.com/gpu": "not a value"}),
        ("labels", {"kubernetes.io/role": "gpu"}),
        ("labels", {"-bad": "x"}),
        ("taints", [{"key": "k", "effect": "NO_SCHEDULE"}] * 51),
        ("scalingConfig", {"minSize": 0, "desiredSize": 0, "maxSize": 0}),
        (
            "nodeRepairConfig",
            {
                "nodeRepairConfigOverrides": [
                    {
                        "minRepairWaitTimeMins": 10,
                        "nodeMonitoringCondition": "AcceleratedHardwareReady",
                        "nodeUnhealthyReason": "NvidiaXID13Error",
                        "repairAction": "replace",
                    }
                ]
            },
        ),
    ],
)
def test_what_eks_does_not_spell_so_is_invalid(fleet, field, value):
    with pytest.raises(Invalid, match=re.escape(field)):
        fleet.pool(**{field: value})


def test_a_property_that_the_sdk_does_not_have_is_invalid(fleet):
    with pytest.raises(Invalid, match="did you mean 'instanceTypes'"):
        fleet.pool(instanceType="g4dn.xlarge")


def test_the_labels_of_the_program_are_no_reserved_ones(fleet):
    labels = {
        "gpu-runners/pool": "t4",
        "k8s.amazonaws.com/accelerator": "nvidia-t4",
        "nvidia.com/gpu.present": "true",
    }
    assert fleet.pool(labels=labels).outputs["labels"] == labels


def test_min_above_desired_is_refused(fleet):
    with pytest.raises(Refusal, match="Minimum capacity 2 can't be greater than desired size 1"):
        fleet.pool(sizes=(2, 1, 4))


def test_desired_above_max_is_refused(fleet):
    with pytest.raises(Refusal, match="can't be greater than max size"):
        fleet.pool(sizes=(0, 5, 4))


def test_raising_min_above_the_size_sent_is_refused_whatever_the_autoscaler_did(fleet):
    pool = fleet.pool(sizes=(0, 0, 8))
    set_desired_size(fleet.world, "ci", "t4", 5)
    with pytest.raises(Refusal, match=r"desired size 0.*the group has 5 nodes now"):
        fleet.change(pool, scalingConfig=sizes(2, 0, 8))


def test_a_raised_minimum_with_the_live_size_removes_no_node(fleet):
    pool = fleet.pool(sizes=(0, 0, 8))
    set_desired_size(fleet.world, "ci", "t4", 5)
    fleet.change(pool, scalingConfig=sizes(2, 5, 8))
    assert live(fleet, pool) == 5
    assert not fleet.warnings()


def test_raising_min_above_the_live_size_with_the_desired_size_starts_nodes(fleet):
    pool = fleet.pool(sizes=(0, 0, 8))
    fleet.change(pool, scalingConfig=sizes(2, 2, 8))
    assert live(fleet, pool) == 2


def test_a_raised_max_sends_the_stale_desired_size_and_kills_running_nodes(fleet):
    pool = fleet.pool(sizes=(0, 0, 8))
    set_desired_size(fleet.world, "ci", "t4", 5)
    fleet.change(pool, scalingConfig=sizes(0, 0, 16))
    assert live(fleet, pool) == 0
    assert any(
        detail.startswith("scaled in 5 nodes under running jobs") for detail in fleet.warnings()
    )


def test_a_change_of_labels_alone_sends_no_size(fleet):
    pool = fleet.pool(sizes=(0, 0, 8))
    set_desired_size(fleet.world, "ci", "t4", 5)
    changed = fleet.change(pool, labels={"team": "ci"})
    assert live(fleet, pool) == 5
    assert changed.outputs["scalingConfig"]["desiredSize"] == 5
    assert not fleet.warnings()


def test_the_autoscaler_stays_between_min_and_max(fleet):
    fleet.pool(sizes=(1, 1, 4))
    with pytest.raises(ValueError, match="outside 1 to 4"):
        set_desired_size(fleet.world, "ci", "t4", 5)


def test_the_autoscaler_names_one_group(fleet):
    fleet.pool("t4")
    with pytest.raises(ValueError, match="matches none"):
        set_desired_size(fleet.world, "ci", "a100", 1)


def test_a_new_release_replaces_running_nodes_with_a_warning(fleet):
    pool = fleet.pool(sizes=(0, 0, 8), releaseVersion="1.35.0-20261001")
    fleet.change(pool, releaseVersion="1.35.0-20261101")
    assert not fleet.warnings()
    set_desired_size(fleet.world, "ci", "t4", 3)
    fleet.change(pool, releaseVersion="1.35.1-20261115")
    assert any(detail.startswith("rolled 3 nodes") for detail in fleet.warnings())


def test_a_node_role_that_does_not_exist_is_refused(fleet):
    with pytest.raises(Refusal, match=r"does not exist \(yet\)"):
        fleet.pool(nodeRoleArn="arn:aws:iam::111122223333:role/nobody")


def test_a_node_role_that_does_not_trust_ec2_is_refused(fleet):
    role = fleet.role("wrong", "eks.amazonaws.com", *NODE_POLICIES)
    with pytest.raises(Refusal, match=r"ec2\.amazonaws\.com"):
        fleet.pool(nodeRoleArn=role.outputs["arn"])


@pytest.mark.parametrize("missing", NODE_POLICIES)
def test_a_node_role_without_one_of_its_policies_is_refused(fleet, missing):
    rest = [policy for policy in NODE_POLICIES if policy != missing]
    role = fleet.role("bare", "ec2.amazonaws.com", *rest)
    with pytest.raises(Refusal, match=missing):
        fleet.pool(nodeRoleArn=role.outputs["arn"])


def test_the_network_policy_may_be_the_add_ons_own(fleet):
    role = fleet.role("bare", "ec2.amazonaws.com", *NODE_POLICIES[:2])
    pods = fleet.role("cni", "pods.eks.amazonaws.com", actions=("sts:AssumeRole", "sts:TagSession"))
    fleet.make(
        tokens.POD_IDENTITY_ASSOCIATION,
        "cni",
        clusterName="ci",
        namespace="kube-system",
        serviceAccount="aws-node",
        roleArn=pods.outputs["arn"],
    )
    assert fleet.pool(nodeRoleArn=role.outputs["arn"]).id.startswith("ci:")


def test_a_subnet_of_another_vpc_than_the_cluster_is_refused(fleet):
    other = fleet.subnet(fleet.vpc("other", "10.1.0.0/16"), "stray", "10.1.0.0/24")
    with pytest.raises(Refusal, match="use subnets of the cluster's VPC"):
        fleet.pool(subnetIds=[other.id])


def test_what_is_no_subnet_is_refused(fleet):
    with pytest.raises(Refusal, match=r"InvalidSubnetID\.NotFound"):
        fleet.pool(subnetIds=["private-a"])


def test_nodes_in_a_subnet_without_a_way_out_never_join(fleet):
    closed = fleet.subnet(fleet.network, "closed", "10.0.3.0/24")
    with pytest.raises(Refusal, match="no route out"):
        fleet.pool(sizes=(1, 1, 2), subnetIds=[closed.id])
    assert fleet.pool("empty", subnetIds=[closed.id]).outputs["status"] == "ACTIVE"


def test_nodes_before_the_network_add_ons_never_become_ready(fleet):
    fleet.delete(fleet.world.get("ci:kube-proxy"))
    with pytest.raises(Refusal, match="no add-on kube-proxy"):
        fleet.system_pool()


def test_a_cluster_with_self_managed_add_ons_needs_no_others_for_nodes(fleet):
    fleet.make_cluster("own", bootstrapSelfManagedAddons=None)
    assert fleet.system_pool(clusterName="own").id.startswith("own:")


def test_node_repair_without_its_agent_is_warned_of(fleet):
    fleet.pool("first", nodeRepairConfig={"enabled": True})
    assert any("eks-node-monitoring-agent" in detail for detail in fleet.warnings())


def test_node_repair_with_its_agent_is_not_warned_of(fleet):
    fleet.addon("eks-node-monitoring-agent")
    fleet.pool("first", nodeRepairConfig={"enabled": True})
    assert not fleet.warnings()


def test_nodes_newer_than_the_control_plane_are_refused(fleet):
    with pytest.raises(Refusal, match="newer than the control plane"):
        fleet.pool(version="1.36")


def test_nodes_far_older_than_the_control_plane_are_refused(fleet):
    with pytest.raises(Refusal, match="more than 3 minors older"):
        fleet.pool(version="1.31")


def test_nodes_do_not_go_back(fleet):
    pool = fleet.pool(version="1.35")
    with pytest.raises(Refusal, match="cannot go back"):
        fleet.change(pool, version="1.34")


def test_a_release_of_another_minor_is_refused(fleet):
    with pytest.raises(Refusal, match=r"not for Kubernetes 1\.35"):
        fleet.pool(releaseVersion="1.34.2-20261101")


def test_what_is_no_release_is_refused(fleet):
    with pytest.raises(Refusal, match="not an AMI release"):
        fleet.pool(releaseVersion="latest")


def test_bottlerocket_releases_have_their_own_numbers(fleet):
    pool = fleet.pool(amiType="BOTTLEROCKET_x86_64_NVIDIA", releaseVersion="1.50.0-abcd1234")
    assert pool.outputs["releaseVersion"] == "1.50.0-abcd1234"


def test_amazon_linux_2_is_gone(fleet):
    with pytest.raises(Refusal, match="use an AL2023 type"):
        fleet.pool(amiType="AL2_x86_64_GPU")


def test_a_gpu_image_on_a_type_without_gpu_is_refused(fleet):
    with pytest.raises(Refusal, match="has no NVIDIA GPU"):
        fleet.pool(instanceTypes=["m6i.large"])


def test_an_image_for_another_processor_is_refused(fleet):
    with pytest.raises(Refusal, match="for another architecture"):
        fleet.pool(instanceTypes=["g5g.xlarge"])
    pool = fleet.pool("arm", amiType="AL2023_ARM_64_NVIDIA", instanceTypes=["g5g.xlarge"])
    assert pool.outputs["status"] == "ACTIVE"
