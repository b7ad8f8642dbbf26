"""The IAM actions that Pulumi needs for each AWS resource type of the fleet.

The actions are those that hashicorp/terraform-provider-aws (wrapped by pulumi-aws) calls for a type
(internal/service/*). Their existence and the condition keys that they support are from
https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Actions:
    """IAM actions of one resource type."""

    read: tuple[str, ...] = ()
    make: tuple[str, ...] = ()
    """Actions on a resource that does not exist yet, and so has no tag."""
    change: tuple[str, ...] = ()
    """Actions on an existing resource; all EC2 actions support `aws:ResourceTag`."""


_EKS_TAGS = ("eks:TagResource", "eks:UntagResource")

ACTIONS: Mapping[str, Actions] = {
    "aws:autoscaling/tag:Tag": Actions(
        read=("autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeTags"),
        change=("autoscaling:CreateOrUpdateTags", "autoscaling:DeleteTags"),
    ),
    "aws:cloudwatch/logGroup:LogGroup": Actions(
        read=("logs:DescribeLogGroups", "logs:ListTagsForResource"),
        make=("logs:CreateLogGroup", "logs:PutRetentionPolicy", "logs:TagResource"),
        change=("logs:DeleteLogGroup", "logs:DeleteRetentionPolicy", "logs:UntagResource"),
    ),
    "aws:ec2/eip:Eip": Actions(
        read=("ec2:DescribeAddresses", "ec2:DescribeAddressesAttribute"),
        make=("ec2:AllocateAddress",),
        change=("ec2:DisassociateAddress", "ec2:ReleaseAddress"),
    ),
    "aws:ec2/internetGateway:InternetGateway": Actions(
        read=("ec2:DescribeInternetGateways",),
        make=("ec2:CreateInternetGateway",),
        change=(
            "ec2:AttachInternetGateway",
            "ec2:DeleteInternetGateway",
            "ec2:DetachInternetGateway",
        ),
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": Actions(
        read=("ec2:DescribeLaunchTemplates", "ec2:DescribeLaunchTemplateVersions"),
        make=("ec2:CreateLaunchTemplate",),
        change=(
            "ec2:CreateLaunchTemplateVersion",
            "ec2:DeleteLaunchTemplate",
            "ec2:ModifyLaunchTemplate",
        ),
    ),
    "aws:ec2/natGateway:NatGateway": Actions(
        read=("ec2:DescribeNatGateways",),
        make=("ec2:CreateNatGateway",),
        change=("ec2:DeleteNatGateway",),
    ),
    "aws:ec2/placementGroup:PlacementGroup": Actions(
        read=("ec2:DescribePlacementGroups",),
        make=("ec2:CreatePlacementGroup",),
        change=("ec2:DeletePlacementGroup",),
    ),
    "aws:ec2/route:Route": Actions(
        read=("ec2:DescribeRouteTables",),
        change=("ec2:CreateRoute", "ec2:DeleteRoute", "ec2:ReplaceRoute"),
    ),
    "aws:ec2/routeTable:RouteTable": Actions(
        read=("ec2:DescribeRouteTables",),
        make=("ec2:CreateRouteTable",),
        change=("ec2:DeleteRouteTable", "ec2:DisassociateRouteTable"),
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Actions(
        read=("ec2:DescribeRouteTables",),
        change=(
            "ec2:AssociateRouteTable",
            "ec2:DisassociateRouteTable",
            "ec2:ReplaceRouteTableAssociation",
        ),
    ),
    "aws:ec2/securityGroup:SecurityGroup": Actions(
        read=(
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeSecurityGroupRules",
            "ec2:DescribeSecurityGroups",
        ),
        make=("ec2:CreateSecurityGroup",),
        # IAM checks these on the security group. It checks the new rule only if the rule has tags
        # (IAM user guide, reference_policies_examples_ec2_securitygroups-vpc).
        change=(
            "ec2:AuthorizeSecurityGroupEgress",
            "ec2:AuthorizeSecurityGroupIngress",
            "ec2:DeleteSecurityGroup",
            "ec2:RevokeSecurityGroupEgress",
            "ec2:RevokeSecurityGroupIngress",
        ),
    ),
    "aws:ec2/subnet:Subnet": Actions(
        read=("ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"),
        make=("ec2:CreateSubnet",),
        change=("ec2:DeleteSubnet", "ec2:ModifySubnetAttribute"),
    ),
    "aws:ec2/vpc:Vpc": Actions(
        read=(
            "ec2:DescribeNetworkAcls",
            "ec2:DescribeRouteTables",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeVpcAttribute",
            "ec2:DescribeVpcs",
        ),
        make=("ec2:CreateVpc",),
        change=("ec2:DeleteVpc", "ec2:ModifyVpcAttribute"),
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Actions(
        read=("ec2:DescribePrefixLists", "ec2:DescribeVpcEndpoints"),
        make=("ec2:CreateVpcEndpoint",),
        change=("ec2:DeleteVpcEndpoints", "ec2:ModifyVpcEndpoint"),
    ),
    "aws:eks/accessEntry:AccessEntry": Actions(
        read=("eks:DescribeAccessEntry",),
        make=("eks:CreateAccessEntry", *_EKS_TAGS),
        change=("eks:DeleteAccessEntry", "eks:UpdateAccessEntry"),
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Actions(
        read=("eks:ListAssociatedAccessPolicies",),
        change=("eks:AssociateAccessPolicy", "eks:DisassociateAccessPolicy"),
    ),
    "aws:eks/addon:Addon": Actions(
        read=("eks:DescribeAddon", "eks:DescribePodIdentityAssociation"),
        make=("eks:CreateAddon", "eks:CreatePodIdentityAssociation", *_EKS_TAGS),
        change=(
            "eks:DeleteAddon",
            "eks:DeletePodIdentityAssociation",
            "eks:UpdateAddon",
            "eks:UpdatePodIdentityAssociation",
        ),
    ),
    "aws:eks/cluster:Cluster": Actions(
        read=("eks:DescribeCluster", "eks:DescribeUpdate"),
        make=("eks:CreateCluster", *_EKS_TAGS),
        change=("eks:DeleteCluster", "eks:UpdateClusterConfig", "eks:UpdateClusterVersion"),
    ),
    "aws:eks/nodeGroup:NodeGroup": Actions(
        # EKS checks that the caller may start instances from the launch template.
        read=("eks:DescribeNodegroup", "eks:DescribeUpdate"),
        make=("ec2:RunInstances", "eks:CreateNodegroup", *_EKS_TAGS),
        change=(
            "eks:DeleteNodegroup",
            "eks:UpdateNodegroupConfig",
            "eks:UpdateNodegroupVersion",
        ),
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Actions(
        read=("eks:DescribePodIdentityAssociation", "eks:ListPodIdentityAssociations"),
        make=("eks:CreatePodIdentityAssociation", *_EKS_TAGS),
        change=("eks:DeletePodIdentityAssociation", "eks:UpdatePodIdentityAssociation"),
    ),
    "aws:iam/role:Role": Actions(
        read=(
            "iam:GetRole",
            "iam:ListAttachedRolePolicies",
            "iam:ListInstanceProfilesForRole",
            "iam:ListRolePolicies",
        ),
        make=("iam:CreateRole", "iam:TagRole"),
        change=(
            "iam:DeleteRole",
            "iam:UntagRole",
            "iam:UpdateAssumeRolePolicy",
            "iam:UpdateRole",
        ),
    ),
    "aws:iam/rolePolicy:RolePolicy": Actions(
        read=("iam:GetRolePolicy",),
        change=("iam:DeleteRolePolicy", "iam:PutRolePolicy"),
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Actions(
        read=("iam:ListAttachedRolePolicies",),
        change=("iam:AttachRolePolicy", "iam:DetachRolePolicy"),
    ),
}
"""By type token of pulumi-aws, for every type that `components/aws` registers."""

WITHOUT_RESOURCE = frozenset(
    {
        "autoscaling:DescribeAutoScalingGroups",
        "autoscaling:DescribeTags",
        "logs:DescribeLogGroups",
    }
)
"""Reading actions without resource-level permissions, other than those of EC2."""


def reading(service: str) -> tuple[str, ...]:
    """Return all reading actions of a service, sorted."""
    return _of(service, (action for one in ACTIONS.values() for action in one.read))


def making(service: str) -> tuple[str, ...]:
    """Return all creating actions of a service, sorted."""
    return _of(service, (action for one in ACTIONS.values() for action in one.make))


def changing(service: str) -> tuple[str, ...]:
    """Return all changing and deleting actions of a service, sorted."""
    return _of(service, (action for one in ACTIONS.values() for action in one.change))


def _of(service: str, actions: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({one for one in actions if one.startswith(f"{service}:")}))
