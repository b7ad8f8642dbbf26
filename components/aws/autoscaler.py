"""The cluster-autoscaler of one EKS cluster: its identity and its release.

https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from components.aws.cluster import service_role
from components.helm import install
from fleet.clusters.autoscaler import AutoscalerPlan


@dataclass(frozen=True, kw_only=True)
class ClusterAutoscalerArgs:
    """The plan, the cluster's name once it exists, and what must come first."""

    plan: AutoscalerPlan
    cluster_name: pulumi.Input[str]
    tags: dict[str, str] = field(default_factory=dict[str, str])
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class ClusterAutoscaler(pulumi.ComponentResource):
    """Role and policy, their Pod Identity association, and the release."""

    ready: list[pulumi.Resource]
    """What lanes on pools of size zero wait for."""

    def __init__(
        self, name: str, args: ClusterAutoscalerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:aws:ClusterAutoscaler", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        role = service_role(
            f"{name}-role", "pods.eks.amazonaws.com", args.tags, child, "sts:TagSession"
        )
        policy = aws.iam.RolePolicy(
            f"{name}-policy", role=role.name, policy=json.dumps(plan.policy), opts=child
        )
        identity = aws.eks.PodIdentityAssociation(
            f"{name}-identity",
            cluster_name=args.cluster_name,
            namespace=plan.release.namespace,
            service_account=plan.service_account,
            role_arn=role.arn,
            tags=args.tags,
            opts=child,
        )
        release = install(
            f"{name}-release", plan.release, child, after=[policy, identity, *args.after]
        )
        self.ready = [release]
        self.register_outputs({"version": plan.release.version})
