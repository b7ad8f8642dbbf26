"""The cluster-autoscaler: an identity that may change its own groups only, then the release."""

import json

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from components.aws.autoscaler import ClusterAutoscaler
from tests import fleets
from tests.engine import Registered, deploy_both, remembered

RELEASE = kubernetes.helm.v3.Release


@remembered
def made() -> Registered:
    plan = fleets.cluster().autoscaler

    def program() -> None:
        opts = fleets.providers()
        dns = aws.eks.Addon("dns", cluster_name="ci", addon_name="coredns")
        autoscaler = ClusterAutoscaler(
            "scale", plan=plan, cluster_name="ci", tags={"a": "b"}, depends_on=[dns], opts=opts
        )
        pulumi.export("ready", [one.urn for one in autoscaler.ready])

    return deploy_both(program)


def test_it_has_its_rights_before_it_starts() -> None:
    found = made()
    release = found.one(RELEASE)
    for needed in (aws.iam.RolePolicy, aws.eks.PodIdentityAssociation, aws.eks.Addon):
        assert found.one(needed).urn in release.depends_on, (
            "Pod Identity reaches only pods that start after the association"
        )
    assert found.one(aws.iam.Role).urn in found.before(release)


def test_its_identity_is_that_of_the_charts_service_account() -> None:
    found = made()
    identity, release = found.one(aws.eks.PodIdentityAssociation), found.one(RELEASE)
    account = release.inputs["values"]["rbac"]["serviceAccount"]
    assert account["create"] is True
    assert identity.inputs["serviceAccount"] == account["name"]
    assert identity.inputs["namespace"] == release.inputs["namespace"] == "kube-system"
    assert identity.inputs["clusterName"] == "ci"
    assert found.one(aws.iam.Role).urn in identity.property_dependencies["roleArn"]


def test_its_role_is_for_pods_and_holds_its_policy() -> None:
    found = made()
    role, policy = found.one(aws.iam.Role), found.one(aws.iam.RolePolicy)
    (trust,) = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
    assert trust["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert trust["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    assert role.urn in policy.property_dependencies["role"]


def test_it_changes_only_groups_of_its_own_cluster() -> None:
    statements = json.loads(made().one(aws.iam.RolePolicy).inputs["policy"])["Statement"]
    changing = [
        one
        for one in statements
        if any(
            not action.partition(":")[2].startswith(("Describe", "Get"))
            for action in ([one["Action"]] if isinstance(one["Action"], str) else one["Action"])
        )
    ]
    assert changing
    for one in changing:
        condition = one["Condition"]["StringEquals"]
        assert condition == {"aws:ResourceTag/k8s.io/cluster-autoscaler/ci": "owned"}


def test_its_minor_version_is_the_clusters() -> None:
    values = made().one(RELEASE).inputs["values"]
    assert values["image"]["tag"].startswith("v1.35."), "it simulates that minor's scheduler"
    assert values["autoDiscovery"]["clusterName"] == "ci"
    assert values["awsRegion"] == "us-west-2"


def test_lanes_wait_for_the_release() -> None:
    found = made()
    assert found.stack_outputs.data["ready"] == [found.one(RELEASE).urn]
