"""One EKS pool: a launch template that EKS accepts, a node group, the autoscaler's tags."""

import base64
import email
from typing import Any

import pulumi_aws as aws
import pytest
import yaml

from components.aws.cluster import EksClusterAttributes
from components.aws.pool import GpuNodeGroup
from fleet.clusters.eks import EksPool
from fleet.clusters.nodes import LiveSize
from tests import fleets
from tests.engine import Registered, deploy_both, remembered

TAGS = {"environment": "test"}
GPU = {"instance_types": ["g4dn.xlarge"]}
EFA = {"instance_types": ["p4d.24xlarge"], "efa": True, "zones": ["us-west-2b"]}
BLOCK = {
    "instance_types": ["p5.48xlarge"],
    "capacity_type": "CAPACITY_BLOCK",
    "capacity_reservation_id": "cr-0123456789abcdef0",
    "zones": ["us-west-2a"],
}


@remembered
def made(plan: EksPool) -> Registered:
    def program() -> None:
        opts = fleets.providers()
        before = aws.eks.Addon("before", cluster_name="ci", addon_name="vpc-cni")
        cluster = EksClusterAttributes(
            name="ci",
            version="1.35",
            subnet_ids={"us-west-2a": "subnet-a", "us-west-2b": "subnet-b"},
            node_role_arn="arn:aws:iam::111122223333:role/node",
            security_group_id="sg-cluster",
            vpc_id="vpc-1",
            tags=TAGS,
        )
        GpuNodeGroup(plan.logical_name, cluster=cluster, plan=plan, depends_on=[before], opts=opts)

    return deploy_both(program)


def group(found: Registered) -> dict[str, Any]:
    return found.one(aws.eks.NodeGroup).inputs


def template(found: Registered) -> dict[str, Any]:
    return found.one(aws.ec2.LaunchTemplate).inputs


def test_the_taint_is_spelled_as_eks_spells_it() -> None:
    taints = group(made(fleets.pool(**GPU)))["taints"]
    assert taints == [{"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}], (
        "EKS takes NO_SCHEDULE where Kubernetes says NoSchedule"
    )


def test_a_replaced_group_is_created_before_the_old_one_is_deleted() -> None:
    """The diff says so; a name of its own would let EKS refuse the second group."""
    registered = made(fleets.pool(**GPU)).one(aws.eks.NodeGroup)
    assert not registered.delete_before_replace
    assert not {"nodeGroupName", "nodeGroupNamePrefix"} & registered.inputs.keys()


def test_a_roll_waits_for_jobs_and_is_never_forced() -> None:
    """Nodes drain one after the other, each for at most 15 minutes."""
    found = made(fleets.pool(**GPU, max_size=8))
    assert group(found)["updateConfig"] == {"maxUnavailable": 1}
    assert "forceUpdateVersion" not in group(found), "forced, EKS ends the jobs after 15 minutes"
    assert found.one(aws.eks.NodeGroup).timeouts == {"update": "180m"}


def test_a_cpu_pool_has_no_taint() -> None:
    found = made(fleets.pool(instance_types=["m6i.large"]))
    assert group(found).get("taints", []) == []
    assert group(found)["labels"]["gpu-runners/role"] == "system"
    assert group(found)["amiType"] == "AL2023_x86_64_STANDARD"


def test_labels_tie_the_pool_to_lanes_and_device_plugin() -> None:
    plan = fleets.pool(**GPU, sharing={"time_slicing": 2}, labels={"team": "vision"})
    labels = group(made(plan))["labels"]
    assert labels == {
        "team": "vision",
        "gpu-runners/pool": "this",
        "gpu-runners/role": "gpu",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/device-plugin.config": "time-slicing-2",
        "k8s.amazonaws.com/accelerator": labels["k8s.amazonaws.com/accelerator"],
    }


def test_the_template_leaves_to_the_group_what_eks_allows_once_only() -> None:
    found = made(fleets.pool(**GPU))
    forbidden = {"instanceType", "imageId", "iamInstanceProfile", "keyName"}
    assert not forbidden & set(template(found)), "EKS refuses them beside its own"
    assert not {"diskSize", "remoteAccess"} & set(group(found)), "EKS refuses them with a template"
    assert group(found)["instanceTypes"] == ["g4dn.xlarge"]


def test_the_group_follows_a_numbered_version_of_the_template() -> None:
    found = made(fleets.pool(**GPU))
    assert group(found)["launchTemplate"] == {"id": "ci-this-id", "version": "3"}
    assert found.one(aws.ec2.LaunchTemplate).urn in found.one(aws.eks.NodeGroup).depends_on


def test_nodes_answer_only_to_imds_v2_and_not_to_pods() -> None:
    options = template(made(fleets.pool(**GPU)))["metadataOptions"]
    assert options["httpEndpoint"] == "enabled"
    assert options["httpTokens"] == "required"
    assert options["httpPutResponseHopLimit"] == 1, "one hop more and a job has the node's role"


def test_the_root_volume_is_an_encrypted_gp3() -> None:
    (mapping,) = template(made(fleets.pool(**GPU, disk_gib=300)))["blockDeviceMappings"]
    assert mapping["deviceName"] == "/dev/xvda", "another name adds a second, empty disk"
    assert mapping["ebs"]["volumeSize"] == 300
    assert mapping["ebs"]["volumeType"] == "gp3"
    assert mapping["ebs"]["encrypted"] == "true"
    assert mapping["ebs"]["deleteOnTermination"] == "true"


def test_user_data_is_a_mime_message_that_nodeadm_reads() -> None:
    user_data = template(made(fleets.pool(**GPU)))["userData"]
    message = email.message_from_bytes(base64.b64decode(user_data, validate=True))
    assert message.get_content_type() == "multipart/mixed", "EKS adds its own part to this one"
    (part,) = message.get_payload()
    assert part.get_content_type() == "application/node.eks.aws"
    config = yaml.safe_load(part.get_payload())
    assert (config["apiVersion"], config["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
    assert config["spec"] == {"instance": {"localStorage": {"strategy": "RAID0"}}}


@pytest.mark.parametrize(
    "spec",
    [{"instance_types": ["m6i.large"]}, {**GPU, "instance_store": "unused"}],
    ids=["no disks", "disks left alone"],
)
def test_without_instance_store_there_is_no_user_data(spec: dict[str, Any]) -> None:
    assert "userData" not in template(made(fleets.pool(**spec)))


def test_a_capacity_block_is_named_in_template_and_group() -> None:
    found = made(fleets.pool(**BLOCK))
    target = template(found)["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": "cr-0123456789abcdef0"}
    assert template(found)["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert group(found)["capacityType"] == "CAPACITY_BLOCK"


def test_a_reservation_of_on_demand_capacity_has_no_market() -> None:
    spec = {**BLOCK, "capacity_type": "ON_DEMAND"}
    found = made(fleets.pool(**spec))
    assert "capacityReservationSpecification" in template(found)
    assert "instanceMarketOptions" not in template(found)


@pytest.mark.parametrize("capacity", ["ON_DEMAND", "SPOT"])
def test_spot_is_a_matter_of_the_group(capacity: str) -> None:
    found = made(fleets.pool(**GPU, capacity_type=capacity))
    assert group(found)["capacityType"] == capacity
    assert "instanceMarketOptions" not in template(found), "EKS refuses spot in a template"
    assert "capacityReservationSpecification" not in template(found)


def test_efa_has_an_interface_for_each_card() -> None:
    found = made(fleets.pool(**EFA))
    interfaces = template(found)["networkInterfaces"]
    assert [one["networkCardIndex"] for one in interfaces] == [0, 1, 2, 3]
    assert [one["deviceIndex"] for one in interfaces] == [0, 1, 1, 1]
    assert [one["interfaceType"] for one in interfaces] == ["efa", *["efa-only"] * 3], (
        "only the first interface carries IP traffic and takes an address"
    )
    for one in interfaces:
        assert one["securityGroups"] == ["sg-cluster", "ci-this-efa-id"], (
            "with interfaces in the template EKS adds no group, so nodes could not join"
        )


def test_efa_nodes_have_a_cluster_placement_group_and_may_reach_each_other() -> None:
    found = made(fleets.pool(**EFA))
    placement = found.one(aws.ec2.PlacementGroup)
    assert placement.inputs["strategy"] == "cluster"
    assert placement.urn in found.one(aws.ec2.LaunchTemplate).property_dependencies["placement"]
    security = found.one(aws.ec2.SecurityGroup).inputs
    for rules in (security["ingress"], security["egress"]):
        (rule,) = rules
        assert rule["self"] is True, "OS-bypass traffic passes within the group only"
        assert rule["protocol"] == "-1"
        assert "cidrBlocks" not in rule


def test_without_efa_eks_makes_the_interfaces() -> None:
    found = made(fleets.pool(instance_types=["p4d.24xlarge"]))
    assert not {"networkInterfaces", "placement"} & set(template(found))
    assert found.find(aws.ec2.PlacementGroup) == found.find(aws.ec2.SecurityGroup) == []


def test_a_pool_uses_only_the_subnets_of_its_zones() -> None:
    assert group(made(fleets.pool(**EFA)))["subnetIds"] == ["subnet-b"]
    assert group(made(fleets.pool(**GPU)))["subnetIds"] == ["subnet-a", "subnet-b"]


def test_the_image_is_pinned() -> None:
    found = made(fleets.pool(**GPU, release_version="1.35.2-20260714"))
    assert group(found)["releaseVersion"] == "1.35.2-20260714", (
        "an unpinned image rolls nodes under running jobs"
    )
    assert group(found)["version"] == "1.35"
    assert group(found)["amiType"] == "AL2023_x86_64_NVIDIA"
    assert group(made(fleets.pool(**GPU)))["releaseVersion"].startswith("1.35.")


@pytest.mark.parametrize("repair", [True, False])
def test_broken_nodes_are_repaired_where_wanted(repair: bool) -> None:
    found = made(fleets.pool(**GPU, node_repair=repair))
    assert group(found)["nodeRepairConfig"] == {"enabled": repair}


def test_an_update_takes_one_node_at_a_time() -> None:
    assert group(made(fleets.pool(**GPU)))["updateConfig"] == {"maxUnavailable": 1}


def test_the_group_tags_describe_a_node_for_the_autoscaler() -> None:
    plan = fleets.pool(**GPU, sharing={"time_slicing": 2})
    found = made(plan)
    tags = found.find(aws.autoscaling.Tag)
    assert {one.inputs["tag"]["key"]: one.inputs["tag"]["value"] for one in tags} == (
        plan.autoscaling_tags
    )
    template_of_node = "k8s.io/cluster-autoscaler/node-template"
    assert plan.autoscaling_tags[f"{template_of_node}/resources/nvidia.com/gpu"] == "2"
    assert plan.autoscaling_tags[f"{template_of_node}/taint/nvidia.com/gpu"] == "true:NoSchedule"
    for one in tags:
        assert one.inputs["tag"]["propagateAtLaunch"] is False
        assert one.inputs["autoscalingGroupName"] == "eks-ci-this-1a2b3c4-0000", (
            "EKS generates the name"
        )


def test_nodes_wait_for_what_makes_them_ready() -> None:
    found = made(fleets.pool(**GPU))
    assert found.one(aws.eks.Addon, "before").urn in found.one(aws.eks.NodeGroup).depends_on


def test_instances_and_volumes_carry_the_tags() -> None:
    found = made(fleets.pool(**GPU))
    specifications = template(found)["tagSpecifications"]
    assert {one["resourceType"] for one in specifications} == {"instance", "volume"}
    for one in specifications:
        assert one["tags"] == {**TAGS, "Name": "ci-this"}
    assert group(found)["tags"] == template(found)["tags"] == TAGS


IGNORED = ["scalingConfig.desiredSize"]


@pytest.mark.parametrize(
    ("bounds", "live", "expected", "ignored"),
    [
        pytest.param((0, 4), None, 0, IGNORED, id="a new pool starts at its minimum of zero"),
        pytest.param((2, 4), None, 2, IGNORED, id="a new pool starts at its minimum"),
        pytest.param((0, 4), (0, 4, 3), 3, IGNORED, id="same bounds: left to the autoscaler"),
        pytest.param((0, 4), (0, 4, 0), 0, IGNORED, id="same bounds at zero"),
        pytest.param((3, 4), (0, 4, 1), 3, None, id="minimum raised above the size"),
        pytest.param((1, 4), (0, 4, 3), 3, None, id="minimum raised below the size"),
        pytest.param((1, 4), (0, 4, 0), 1, None, id="minimum raised from nothing"),
        pytest.param((0, 4), (2, 4, 2), 2, None, id="minimum lowered: no job is scaled in"),
        pytest.param((0, 2), (0, 4, 3), 2, None, id="maximum lowered below the size"),
        pytest.param((0, 8), (0, 4, 4), 4, None, id="maximum raised"),
        pytest.param((5, 8), (0, 4, 4), 5, None, id="both raised over the size"),
    ],
)
def test_desired_size(
    bounds: tuple[int, int],
    live: tuple[int, int, int] | None,
    expected: int,
    ignored: list[str] | None,
) -> None:
    low, high = bounds
    plan = fleets.pool(**GPU, min_size=low, max_size=high)
    if live is not None:
        size = LiveSize(min_size=live[0], max_size=live[1], desired_size=live[2])
        plan = plan.at_live_size(size)
    assert (plan.desired_size, list(plan.ignore_changes) or None) == (expected, ignored)


@pytest.mark.parametrize(
    ("live", "scaling", "ignored"),
    [
        (None, (1, 8, 1), ("scalingConfig.desiredSize",)),
        (LiveSize(min_size=1, max_size=8, desired_size=5), (1, 8, 5), IGNORED),
        (LiveSize(min_size=0, max_size=8, desired_size=0), (1, 8, 1), ()),
    ],
    ids=["new", "unchanged", "raised minimum"],
)
def test_the_autoscaler_owns_the_size_until_the_bounds_move(
    live: LiveSize | None, scaling: tuple[int, int, int], ignored: list[str]
) -> None:
    plan = fleets.pool(**GPU, min_size=1)
    found = made(plan if live is None else plan.at_live_size(live))
    low, high, desired = scaling
    sent = group(found)["scalingConfig"]
    assert sent == {"minSize": low, "maxSize": high, "desiredSize": desired}
    assert found.one(aws.eks.NodeGroup).ignore_changes == tuple(ignored), (
        "only the camelCase path is understood; with min above desired EKS refuses the update"
    )
