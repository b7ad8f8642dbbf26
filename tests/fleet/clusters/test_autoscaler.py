"""The cluster-autoscaler: its groups by pattern, and the order it tries them in."""

import re
import uuid
from typing import Any

import pytest
import yaml

from fleet.clusters.autoscaler import AutoscalerPlan, autoscaler_policy, priorities, priorities_text
from fleet.clusters.nodes import Pool
from tests.fleet.samples import cluster_of, eks_of, required_labels

POOLS = "clusters.ci.eks.pools"


def autoscaler_of(changes: dict[str, Any] | None = None, name: str = "ci") -> AutoscalerPlan:
    plan = cluster_of(changes, name).autoscaler
    assert plan is not None
    return plan


def group_name(pool: Pool, suffix: str = "0a1b2c3") -> str:
    """The name that EKS gives the Auto Scaling group of a node group."""
    return f"eks-{pool.logical_name}-{suffix}-{uuid.UUID(int=5)}"


def with_pools(*names: str) -> dict[str, Any]:
    return {f"{POOLS}.{name}": {"instance_types": ["g5.xlarge"], "max_size": 1} for name in names}


def test_each_group_is_matched_by_the_pattern_of_its_own_pool_alone() -> None:
    plan = eks_of(with_pools("t4-spot", "t4-deadbee", "spot-t4"))
    patterns = [one for each in priorities(plan, []).values() for one in each]
    assert len(patterns) == len(plan.pools)
    for pool in plan.pools:
        matching = [one for one in patterns if re.search(one, group_name(pool))]
        assert len(matching) == 1, f"{group_name(pool)} belongs to one pool"
        assert pool.logical_name in matching[0]


def test_a_pool_whose_name_ends_like_a_suffix_is_not_taken_for_another() -> None:
    plan = eks_of(with_pools("t4-deadbee"))
    ((own,),) = [
        [one for one in each if "ci-t4-[" in one]
        for each in priorities(plan, []).values()
        if any("ci-t4-[" in one for one in each)
    ]
    longer = next(pool for pool in plan.pools if pool.name == "t4-deadbee")
    assert not re.search(own, group_name(longer))


def rank(found: dict[int, tuple[str, ...]], pool: str) -> int:
    return next(
        number
        for number, patterns in found.items()
        if any(one.startswith(f"^eks-ci-{pool}-[") for one in patterns)
    )


def test_the_pool_that_a_lane_lists_first_is_tried_first() -> None:
    plan = eks_of(with_pools("one", "two", "three"))
    found = priorities(plan, [("three", "one"), ("one", "two"), ("three", "two")])
    assert rank(found, "three") > rank(found, "one") > rank(found, "two")


def test_pools_between_which_no_lane_chooses_are_left_to_the_next_expander() -> None:
    plan = eks_of(with_pools("one", "two", "three"))
    found = priorities(plan, [("one", "two"), ("three",)])
    assert rank(found, "two") == rank(found, "three") == rank(found, "system")
    assert rank(found, "one") > rank(found, "two")


def test_an_order_that_lanes_disagree_on_is_none() -> None:
    plan = eks_of()
    found = priorities(plan, [("t4", "a100"), ("a100", "t4")])
    assert list(found) == [10]
    assert len(found[10]) == len(plan.pools)


def test_a_pool_that_is_not_there_has_no_pattern() -> None:
    found = priorities(eks_of(), [("t4", "gone"), ("gone", "a100")])
    assert not any("gone" in one for each in found.values() for one in each)
    assert rank(found, "t4") > rank(found, "a100")


def test_the_release_carries_the_order_of_the_lanes() -> None:
    lane = {"pools": ["a100", "t4"], "gpus": 1, "max_runners": 1}
    release = autoscaler_of({"clusters.ci.github.lanes.both": lane}).release
    text = release.values["expanderPriorities"]
    found = yaml.safe_load(text)
    assert rank(found, "a100") > rank(found, "t4")
    assert release.values["extraArgs"] == {
        "expander": "priority,least-waste",
        # Else no node of the system pool, and none with a job's scratch space, is ever given back.
        "skip-nodes-with-system-pods": False,
        "skip-nodes-with-local-storage": False,
    }


@pytest.mark.parametrize(("version", "minor"), [("1.33", "v1.33."), ("1.36", "v1.36.")])
def test_the_image_is_of_the_clusters_minor(version: str, minor: str) -> None:
    plan = autoscaler_of({"clusters.existing.eks.version": version}, name="existing")
    assert plan.release.values["image"]["tag"].startswith(minor)


def test_the_values_of_the_autoscaler_have_the_charts_keys() -> None:
    plan = autoscaler_of()
    values = dict(plan.release.values)
    assert required_labels(values.pop("affinity")) == [{"gpu-runners/role": ["system"]}]
    assert values.pop("extraArgs")
    assert values.pop("expanderPriorities")
    assert set(values.pop("image")) == {"tag"}
    assert plan.service_account == "cluster-autoscaler"
    assert values == {
        "autoDiscovery": {"clusterName": "ci"},
        "awsRegion": "us-west-2",
        "cloudProvider": "aws",
        "rbac": {"create": True, "serviceAccount": {"create": True, "name": "cluster-autoscaler"}},
        "replicaCount": 1,
        "fullnameOverride": "cluster-autoscaler",
        "resources": {
            "requests": {"cpu": "100m", "memory": "600Mi"},
            "limits": {"memory": "600Mi"},
        },
        "priorityClassName": "system-cluster-critical",
    }


def test_priorities_are_yaml_with_whole_numbers_as_keys_and_expressions_unchanged() -> None:
    spot = r"^eks-t4\.spot-[0-9a-f]{7}-"
    text = priorities_text({10: ["^eks-t4-", "^eks-a100-"], 50: [spot]})
    parsed = yaml.safe_load(text)
    assert parsed == {50: [spot], 10: ["^eks-t4-", "^eks-a100-"]}
    assert re.match(parsed[50][0], "eks-t4.spot-0a1b2c3-node")


def test_the_policy_changes_only_groups_that_the_cluster_owns() -> None:
    statements = autoscaler_policy("ci-usw2")["Statement"]
    changing = [
        statement
        for statement in statements
        if any(
            not re.match(r"\w+:(Describe|Get)", action) for action in _listed(statement["Action"])
        )
    ]
    (scale,) = changing
    assert set(scale["Action"]) == {
        "autoscaling:SetDesiredCapacity",
        "autoscaling:TerminateInstanceInAutoScalingGroup",
    }
    assert scale["Condition"] == {
        "StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/ci-usw2": "owned"}
    }
    assert scale["Resource"].startswith("arn:aws:autoscaling:")


def test_the_policy_names_each_action_and_narrows_what_can_be_narrowed() -> None:
    policy = autoscaler_policy("ci-usw2")
    actions = [action for each in policy["Statement"] for action in _listed(each["Action"])]
    assert policy["Version"] == "2012-10-17"
    assert not [action for action in actions if "*" in action]
    assert {each["Effect"] for each in policy["Statement"]} == {"Allow"}
    assert [each["Sid"] for each in policy["Statement"]] == [
        "Describe",
        "DescribeNodeGroups",
        "ScaleOwnGroups",
    ]
    assert policy["Statement"][0]["Resource"] == "*"
    assert set(policy["Statement"][0]["Action"]) == {
        "autoscaling:DescribeAutoScalingGroups",
        "autoscaling:DescribeAutoScalingInstances",
        "autoscaling:DescribeLaunchConfigurations",
        "autoscaling:DescribeScalingActivities",
        "autoscaling:DescribeTags",
        "ec2:DescribeImages",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeLaunchTemplateVersions",
        "ec2:GetInstanceTypesFromInstanceRequirements",
    }
    node_groups = next(
        each for each in policy["Statement"] if each["Action"] == "eks:DescribeNodegroup"
    )
    assert node_groups["Resource"] == "arn:aws:eks:*:*:nodegroup/ci-usw2/*/*"


def _listed(actions: str | list[str]) -> list[str]:
    return [actions] if isinstance(actions, str) else actions
