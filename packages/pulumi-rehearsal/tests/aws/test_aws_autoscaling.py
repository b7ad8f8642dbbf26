"""Auto Scaling groups: tags for the autoscaler, and the lookups of live sizes."""

from __future__ import annotations

import pytest
from pulumi_rehearsal.standin.aws import set_desired_size, tokens
from pulumi_rehearsal.standin.kind import Invalid, Refusal

GROUPS = "aws:autoscaling/getAmiIds:getAmiIds"
GROUP = "aws:autoscaling/getGroup:getGroup"
TEMPLATE = "k8s.io/cluster-autoscaler/node-template/"


def group_name(pool):
    return pool.outputs["resources"][0]["autoscalingGroups"][0]["name"]


def tag(fleet, pool, key, value, name="tag"):
    return fleet.make(
        tokens.AUTO_SCALING_TAG,
        name,
        autoscalingGroupName=pool if isinstance(pool, str) else group_name(pool),
        tag={"key": key, "value": value, "propagateAtLaunch": False},
    )


def tags_of(fleet, pool):
    group = fleet.look(GROUP, name=group_name(pool))
    return {one["key"]: one["value"] for one in group["tags"]}


def test_a_tag_is_seen_on_its_group_and_goes_with_the_resource(fleet):
    pool = fleet.pool()
    key = f"{TEMPLATE}resources/nvidia.com/gpu"
    made = tag(fleet, pool, key, "1")
    assert made.id == f"{group_name(pool)},{key}"
    assert tags_of(fleet, pool)[key] == "1"
    fleet.change(made, tag={"key": key, "value": "2", "propagateAtLaunch": False})
    assert tags_of(fleet, pool)[key] == "2"
    fleet.delete(made)
    assert key not in tags_of(fleet, pool)


def test_a_tag_on_a_group_that_does_not_exist_is_refused(fleet):
    with pytest.raises(Refusal, match="does not exist"):
        tag(fleet, "eks-nothing", f"{TEMPLATE}label/pool", "t4")


def test_a_tag_may_be_deleted_after_its_group(fleet):
    pool = fleet.pool()
    made = tag(fleet, pool, f"{TEMPLATE}label/pool", "t4")
    fleet.delete(pool)
    fleet.delete(made)


def test_a_tag_belongs_to_one_resource(fleet):
    pool = fleet.pool()
    tag(fleet, pool, f"{TEMPLATE}label/pool", "t4")
    with pytest.raises(Refusal, match="would undo the other"):
        tag(fleet, pool, f"{TEMPLATE}label/pool", "t4", name="again")


def test_a_group_takes_50_tags(fleet):
    pool = fleet.pool()
    for index in range(45):
        tag(fleet, pool, f"key-{index}", "x", name=f"tag-{index}")
    with pytest.raises(Refusal, match="more than 50 tags"):
        tag(fleet, pool, "key-45", "x", name="tag-45")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("taint/nvidia.com/gpu", "true:NoSchedule"),
        ("taint/nvidia.com/gpu", ":NoExecute"),
        ("label/gpu-runners/pool", "t4"),
        ("resources/ephemeral-storage", "180Gi"),
        ("resources/cpu", "3920m"),
        ("autoscaling-options/scaledownunneededtime", "10m0s"),
    ],
)
def test_what_the_autoscaler_reads_is_taken(fleet, key, value):
    assert tag(fleet, fleet.pool(), TEMPLATE + key, value).id


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("taint/nvidia.com/gpu", "true:NO_SCHEDULE", "write <value>:NoSchedule"),
        ("taint/nvidia.com/gpu", "true", "write <value>:NoSchedule"),
        ("resources/memory", "14 GiB", "not a Kubernetes quantity"),
        ("label/pool", "not a value", "not a Kubernetes label value"),
        ("labels/pool", "t4", "none of autoscaling-options"),
        ("label/", "t4", "has no label"),
        ("autoscaling-options/scaledowntime", "10m", "scaledownunneededtime"),
    ],
)
def test_what_the_autoscaler_does_not_read_is_invalid(fleet, key, value, message):
    with pytest.raises(Invalid, match=message):
        tag(fleet, "eks-t4", TEMPLATE + key, value)


def test_groups_are_found_by_the_tags_that_eks_sets(fleet):
    pool, other = fleet.pool("t4"), fleet.pool("a100")
    mine = {"name": "tag:eks:nodegroup-name", "values": [pool.outputs["nodeGroupName"]]}
    cluster = {"name": "tag:eks:cluster-name", "values": ["ci"]}
    found = fleet.look(GROUPS, filters=[cluster, mine])
    assert found["names"] == [group_name(pool)]
    assert found["arns"][0].endswith(f"autoScalingGroupName/{group_name(pool)}")
    everything = fleet.look(GROUPS, filters=[cluster])["names"]
    assert sorted(everything) == sorted([group_name(pool), group_name(other)])


def test_no_group_is_an_empty_answer(fleet):
    wanted = {"name": "tag:eks:cluster-name", "values": ["other"]}
    assert fleet.look(GROUPS, filters=[wanted])["names"] == []


def test_a_filter_that_aws_does_not_know_is_refused(fleet):
    fleet.pool()
    with pytest.raises(Refusal, match="none of tag-key"):
        fleet.look(GROUPS, filters=[{"name": "cluster", "values": ["ci"]}])


def test_the_live_size_is_the_autoscalers(fleet):
    pool = fleet.pool(sizes=(0, 0, 8))
    set_desired_size(fleet.world, "ci", group_name(pool), 3)
    group = fleet.look(GROUP, name=group_name(pool))
    assert (group["minSize"], group["desiredCapacity"], group["maxSize"]) == (0, 3, 8)


def test_a_group_that_does_not_exist_is_refused(fleet):
    with pytest.raises(Refusal, match="does not exist"):
        fleet.look(GROUP, name="eks-nothing")
