"""The check of inputs against the installed SDK."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi_rehearsal.standin import schema
from pulumi_rehearsal.standin.values import UNKNOWN

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
POOL: dict[str, Any] = {
    "clusterName": "ci",
    "nodeRoleArn": UNKNOWN,
    "scalingConfig": {"minSize": 0, "maxSize": 2, "desiredSize": UNKNOWN},
    "subnetIds": ["subnet-1", UNKNOWN],
}
JOB = {"template": {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}]}}}


def test_right_inputs_have_no_problems() -> None:
    assert schema.problems(NODE_GROUP, POOL) == []


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        ({"instanceType": ["a"]}, "instanceType", "did you mean 'instanceTypes'?"),
        ({"clusterName": None}, "clusterName", "needs 'clusterName', which is missing"),
        ({"diskSize": "20"}, "diskSize", "is a string, must be a whole number"),
        ({"diskSize": 2.5}, "diskSize", "is a number, must be a whole number"),
        ({"diskSize": True}, "diskSize", "is true or false, must be a whole number"),
        ({"forceUpdateVersion": 1}, "forceUpdateVersion", "must be true or false"),
        ({"version": 1.35}, "version", "is a number, must be a string"),
        ({"subnetIds": "subnet-1"}, "subnetIds", "is a string, must be a list"),
        ({"subnetIds": ["a", 3]}, "subnetIds[1]", "is a whole number, must be a string"),
        ({"labels": {"a": 1}}, "labels.a", "is a whole number, must be a string"),
        ({"labels": ["a"]}, "labels", "is a list, must be a mapping"),
        ({"taints": [{"key": "a"}]}, "taints[0].effect", "needs 'effect', which is missing"),
        (
            {"scalingConfig": {"minSize": 0, "maxSize": 2, "desiredSize": 0, "size": 1}},
            "scalingConfig.size",
            "NodeGroupScalingConfig has no property 'size'",
        ),
    ],
)
def test_a_wrong_input_is_named_by_path_and_class(
    change: dict[str, Any], path: str, words: str
) -> None:
    ((found_path, reason),) = schema.problems(NODE_GROUP, {**POOL, **change})
    assert found_path == path
    assert words in reason


def test_every_problem_of_a_resource_is_in_one_message() -> None:
    wrong = {**POOL, "instanceType": "a", "diskSize": "20", "clusterName": None}
    assert {path for path, _ in schema.problems(NODE_GROUP, wrong)} == {
        "instanceType",
        "diskSize",
        "clusterName",
    }


def test_values_are_never_repeated() -> None:
    wrong = {**POOL, "diskSize": "hunter2", "labels": "hunter2", "taints": [{"hunter2": {}}]}
    assert "hunter2" not in " ".join(
        reason for path, reason in schema.problems(NODE_GROUP, wrong) if "taints" not in path
    )


@pytest.mark.parametrize(
    ("policy", "fits"),
    [("{}", True), ({"Version": "2012-10-17", "Statement": []}, True), (3, False)],
)
def test_a_union_takes_each_of_its_types(policy: object, fits: bool) -> None:
    found = schema.problems("aws:iam/role:Role", {"assumeRolePolicy": policy})
    assert (found == []) is fits


def test_kubernetes_objects_are_checked_to_the_leaf() -> None:
    token = "kubernetes:batch/v1:Job"
    assert schema.problems(token, {"spec": JOB}) == []
    wrong = {"template": {"spec": {"containers": [{"name": "a", "imag": "b"}]}}}
    ((path, reason),) = schema.problems(token, {"spec": wrong})
    assert path == "spec.template.spec.containers[0].imag"
    assert "did you mean 'image'?" in reason


def test_a_literal_must_be_met() -> None:
    ((path, reason),) = schema.problems("kubernetes:core/v1:Namespace", {"kind": "Pod"})
    assert (path, reason) == ("kind", "is a string, must be 'Namespace'")


def test_helm_values_are_the_charts_own_business() -> None:
    values = {"a": {"b": [1, None, {"c": True}]}}
    release = {"chart": "x", "values": values}
    assert schema.problems("kubernetes:helm.sh/v3:Release", release) == []


@pytest.mark.parametrize(
    "token",
    ["aws:eks/nodeGroup:NodeGroups", "aws:eks/pool:Pool", "no-such-package:index/x:X"],
)
def test_a_type_that_the_sdk_does_not_have_is_a_problem(token: str) -> None:
    assert schema.problems(token, {}) == [("", f"the installed SDK has no resource type {token!r}")]
