"""The control plane of one EKS cluster and what its nodes need to join; it registers no node.

https://docs.aws.amazon.com/eks/latest/userguide/clusters.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from fleet.catalog.eks import ADDONS_BEFORE_NODES
from fleet.clusters.eks import LOG_RETENTION_DAYS, LOG_TYPES, EksPlan, kubeconfig_user
from fleet.config.gpu_stack import Advertiser

_CLUSTER_ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
_CLUSTER_POLICY = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
_NODE_POLICIES = {
    "worker": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy",
    "registry": "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
    "cni": "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy",
}


@dataclass(frozen=True, kw_only=True)
class EksClusterAttributes:
    """Attributes of an EKS cluster that a node group needs, of any origin.

    The plain attributes decide what a node group registers, so they cannot be Outputs.
    """

    name: str
    version: str
    """Kubernetes minor version, like "1.35"."""
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Private subnet by availability zone."""
    node_role_arn: pulumi.Input[str]
    security_group_id: pulumi.Input[str] | None = None
    """Cluster security group; needed for EFA only."""
    vpc_id: pulumi.Input[str] | None = None
    """VPC; needed for EFA only."""
    advertiser: Advertiser = "device_plugin"
    """Owner of `nvidia.com/gpu`. The fair share of a node leaves room for its pods."""
    operator: bool = False
    """Whether the GPU Operator runs in the cluster. Its pods take part of a node."""
    tags: dict[str, str] = field(default_factory=dict[str, str])
    id: pulumi.Input[str] | None = None
    """Name of the cluster as an Output, so that the engine orders its node groups after it."""


class EksCluster(pulumi.ComponentResource):
    """Log group, roles, cluster, access entries, and the add-ons that nodes need to be Ready."""

    cluster: aws.eks.Cluster
    attributes: EksClusterAttributes
    """Attributes that node groups need."""
    kubeconfig: pulumi.Output[str]
    """Kubeconfig (JSON) with an exec plugin; secret, because it names the endpoint and CA."""
    ready_for_nodes: list[pulumi.Resource]
    """Prerequisites of the first node: add-ons and the policies of the node role."""

    def __init__(
        self,
        name: str,
        *,
        plan: EksPlan,
        vpc_id: pulumi.Input[str],
        subnet_ids: Mapping[str, pulumi.Input[str]],
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the control plane in `subnet_ids`, the private subnets by zone."""
        super().__init__("gpu-runners:aws:EksCluster", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        logs = aws.cloudwatch.LogGroup(
            f"{name}-logs",
            name=f"/aws/eks/{plan.name}/cluster",
            retention_in_days=LOG_RETENTION_DAYS,
            tags=plan.tags,
            opts=child,
        )
        role = service_role(f"{name}-control-plane", "eks.amazonaws.com", plan.tags, child)
        attached = aws.iam.RolePolicyAttachment(
            f"{name}-control-plane", role=role.name, policy_arn=_CLUSTER_POLICY, opts=child
        )
        self.cluster = aws.eks.Cluster(
            f"{name}-cluster",
            name=plan.name,
            role_arn=role.arn,
            version=plan.version,
            # An Args class, because a typed dict would send null for an absent list.
            vpc_config=aws.eks.ClusterVpcConfigArgs(
                subnet_ids=list(subnet_ids.values()),
                endpoint_private_access=True,
                endpoint_public_access=bool(plan.allow),
                public_access_cidrs=list(plan.allow) or None,
            ),
            access_config={
                "authentication_mode": "API",
                # The principal that runs `pulumi up` also installs the charts.
                "bootstrap_cluster_creator_admin_permissions": True,
            },
            upgrade_policy={"support_type": "STANDARD"},
            enabled_cluster_log_types=list(LOG_TYPES),
            bootstrap_self_managed_addons=False,  # the add-ons below install them
            tags=plan.tags,
            opts=pulumi.ResourceOptions.merge(
                child,
                pulumi.ResourceOptions(depends_on=[attached, logs], protect=protect or None),
            ),
        )
        for admin in plan.admins:
            # Named by principal, so that the removal of one admin changes no other entry.
            label = admin.partition("::")[2].replace(":", "-")
            _grant_admin(f"{name}-admin-{label}", self.cluster.name, admin, plan.tags, child)
        self.ready_for_nodes = [
            aws.eks.Addon(
                f"{name}-{addon}",
                cluster_name=self.cluster.name,
                addon_name=addon,
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="OVERWRITE",
                tags=plan.tags,
                opts=child,
            )
            for addon in ADDONS_BEFORE_NODES
        ]
        node_role = service_role(f"{name}-node", "ec2.amazonaws.com", plan.tags, child)
        self.ready_for_nodes += [
            aws.iam.RolePolicyAttachment(
                f"{name}-node-{purpose}", role=node_role.name, policy_arn=policy, opts=child
            )
            for purpose, policy in _NODE_POLICIES.items()
        ]
        self.attributes = EksClusterAttributes(
            name=plan.name,
            version=plan.version,
            subnet_ids=subnet_ids,
            node_role_arn=node_role.arn,
            security_group_id=self.cluster.vpc_config.cluster_security_group_id,
            vpc_id=vpc_id,
            tags=plan.tags,
            id=self.cluster.name,
        )
        self.kubeconfig = pulumi.Output.secret(_kubeconfig(plan, self.cluster))
        self.register_outputs({"name": self.cluster.name, "kubeconfig": self.kubeconfig})


def service_role(
    name: str,
    service: str,
    tags: dict[str, str],
    opts: pulumi.ResourceOptions,
    *actions: str,
) -> aws.iam.Role:
    """Register a role for one AWS service; `actions` are trusted besides `sts:AssumeRole`."""
    trust = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": service},
                "Action": ["sts:AssumeRole", *actions],
            }
        ],
    }
    return aws.iam.Role(name, assume_role_policy=json.dumps(trust), tags=tags, opts=opts)


def _grant_admin(
    name: str,
    cluster_name: pulumi.Input[str],
    principal: str,
    tags: dict[str, str],
    child: pulumi.ResourceOptions,
) -> None:
    entry = aws.eks.AccessEntry(
        name, cluster_name=cluster_name, principal_arn=principal, tags=tags, opts=child
    )
    aws.eks.AccessPolicyAssociation(
        name,
        cluster_name=cluster_name,
        principal_arn=entry.principal_arn,
        policy_arn=_CLUSTER_ADMIN,
        access_scope={"type": "cluster"},
        opts=child,
    )


def _kubeconfig(plan: EksPlan, cluster: aws.eks.Cluster) -> pulumi.Output[str]:
    return pulumi.Output.json_dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": plan.name,
                    "cluster": {
                        "server": cluster.endpoint,
                        "certificate-authority-data": cluster.certificate_authority.data,
                    },
                }
            ],
            "users": [{"name": plan.name, "user": kubeconfig_user(plan)}],
            "contexts": [{"name": plan.name, "context": {"cluster": plan.name, "user": plan.name}}],
            "current-context": plan.name,
        }
    )
