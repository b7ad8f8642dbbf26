"""Add-ons that are Deployments: after the first nodes, and the CSI driver with its own role."""

import json

import pulumi
import pulumi_aws as aws

from components.aws.addons import EksAddons
from fleet.catalog.eks import ADDONS_AFTER_NODES
from tests import fleets
from tests.engine import Registered, deploy_both, remembered


@remembered
def made() -> Registered:
    plan = fleets.cluster().platform

    def program() -> None:
        opts = fleets.providers()
        nodes = aws.eks.NodeGroup(
            "nodes",
            cluster_name="ci",
            node_role_arn="role",
            subnet_ids=["subnet"],
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=1, max_size=1, desired_size=1
            ),
        )
        addons = EksAddons("add", plan=plan, cluster_name="ci", depends_on=[nodes], opts=opts)
        pulumi.export("ready", [resource.urn for resource in addons.ready])

    return deploy_both(program)


def test_every_add_on_waits_for_nodes() -> None:
    found = made()
    addons = found.find(aws.eks.Addon)
    assert tuple(one.inputs["addonName"] for one in addons) == ADDONS_AFTER_NODES
    for one in addons:
        assert found.one(aws.eks.NodeGroup).urn in one.depends_on, (
            f"{one.name} stays DEGRADED for 20 minutes without a node, and then fails"
        )


def test_charts_wait_for_every_add_on() -> None:
    found = made()
    assert found.stack_outputs.data["ready"] == [one.urn for one in found.find(aws.eks.Addon)]


def test_the_csi_driver_has_its_role_and_policy_from_the_start() -> None:
    found = made()
    driver = found.one(aws.eks.Addon, "add-aws-ebs-csi-driver")
    (association,) = driver.inputs["podIdentityAssociations"]
    assert association["serviceAccount"] == "ebs-csi-controller-sa"
    role, attached = found.one(aws.iam.Role), found.one(aws.iam.RolePolicyAttachment)
    assert role.urn in driver.property_dependencies["podIdentityAssociations"]
    assert attached.inputs["policyArn"].endswith("/AmazonEBSCSIDriverPolicy")
    assert attached.urn in driver.depends_on, "without its rights the driver crash-loops"
    (statement,) = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
    assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"], "Pod Identity tags sessions"


def test_the_other_add_ons_need_no_role() -> None:
    for one in made().find(aws.eks.Addon):
        has_role = "podIdentityAssociations" in one.inputs
        assert has_role == (one.inputs["addonName"] == "aws-ebs-csi-driver")
