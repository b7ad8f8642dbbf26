"""The cluster-autoscaler chart: its exact keys, priorities, and least privilege."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from fleet.clusters.autoscaler_values import (
    ClusterAutoscalerValues,
    autoscaler_policy,
    priorities_text,
)
from fleet.kubernetes.pods import Size, Toleration, resources, selector_affinity
from fleet.kubernetes.values import to_values

ON_CPU = selector_affinity([{"gpu-runners/role": "system"}])


def autoscaler(**changes: Any) -> ClusterAutoscalerValues:
    given: dict[str, Any] = {
        "cluster_name": "ci-usw2",
        "aws_region": "us-west-2",
        "image_tag": "v1.35.2",
        "service_account": "cluster-autoscaler",
    }
    return ClusterAutoscalerValues(**{**given, **changes})


def test_every_key_has_the_charts_spelling() -> None:
    values = to_values(
        autoscaler(
            extra_args={"expander": "priority,least-waste", "balance-similar-node-groups": True},
            expander_priorities="10:\n  - x",
            fullname_override="cluster-autoscaler",
            node_selector={"role": "system"},
            affinity=ON_CPU,
            tolerations=(Toleration(key="CriticalAddonsOnly"),),
            resources=resources(Size(cpu_m=100, memory_mib=600)),
            priority_class_name="system-cluster-critical",
            pod_annotations={"a": "b"},
            pod_labels={"c": "d"},
        )
    )
    assert values == {
        "autoDiscovery": {"clusterName": "ci-usw2"},
        "awsRegion": "us-west-2",
        "cloudProvider": "aws",
        "image": {"tag": "v1.35.2"},
        "rbac": {"create": True, "serviceAccount": {"create": True, "name": "cluster-autoscaler"}},
        "extraArgs": {"expander": "priority,least-waste", "balance-similar-node-groups": True},
        "expanderPriorities": "10:\n  - x",
        "replicaCount": 1,
        "fullnameOverride": "cluster-autoscaler",
        "nodeSelector": {"role": "system"},
        "affinity": to_values(ON_CPU),
        "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
        "resources": {
            "requests": {"cpu": "100m", "memory": "600Mi"},
            "limits": {"memory": "600Mi"},
        },
        "priorityClassName": "system-cluster-critical",
        "podAnnotations": {"a": "b"},
        "podLabels": {"c": "d"},
    }


def test_priorities_are_yaml_with_whole_numbers_as_keys_and_expressions_unchanged() -> None:
    spot = r"^eks-t4\.spot-[0-9a-f]{7}-"
    text = priorities_text({10: ["^eks-t4-", "^eks-a100-"], 50: [spot]})
    parsed = yaml.safe_load(text)
    assert parsed == {50: [spot], 10: ["^eks-t4-", "^eks-a100-"]}
    assert re.match(parsed[50][0], "eks-t4.spot-0a1b2c3-node")


@pytest.mark.parametrize(
    "changes",
    [
        {"expander_priorities": "10:\n  - x"},
        {"expander_priorities": "10:\n  - x", "extra_args": {"expander": "least-waste"}},
        {"extra_args": {"expander": "least-waste,priority"}},
    ],
)
def test_the_priority_expander_and_its_priorities_belong_together(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="give both or neither"):
        autoscaler(**changes)


def test_the_policy_changes_only_groups_that_the_cluster_owns() -> None:
    statements = autoscaler_policy("ci-usw2", "aws-us-gov")["Statement"]
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
    assert scale["Resource"].startswith("arn:aws-us-gov:autoscaling:")


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
