"""The cluster-autoscaler of one EKS cluster: its identity and its release.

https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from components.aws.cluster import service_role
from components.helm import install
from fleet.clusters.autoscaler import AutoscalerPlan


class ClusterAutoscaler(pulumi.ComponentResource):
    """Role and policy, their Pod Identity association, and the release."""

    ready: list[pulumi.Resource]
    """The release. Lanes depend on it, because it starts the nodes of empty pools."""

    def __init__(
        self,
        name: str,
        *,
        plan: AutoscalerPlan,
        cluster_name: pulumi.Input[str],
        tags: dict[str, str] | None = None,
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpu-runners:aws:ClusterAutoscaler", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = service_role(
            f"{name}-role", "pods.eks.amazonaws.com", tags or {}, child, "sts:TagSession"
        )
        policy = aws.iam.RolePolicy(
            f"{name}-policy", role=role.name, policy=json.dumps(plan.policy), opts=child
        )
        identity = aws.eks.PodIdentityAssociation(
            f"{name}-identity",
            cluster_name=cluster_name,
            namespace=plan.release.namespace,
            service_account=plan.service_account,
            role_arn=role.arn,
            tags=tags,
            opts=child,
        )
        release = install(
            f"{name}-release", plan.release, child, depends_on=[policy, identity, *depends_on]
        )
        self.ready = [release]
        self.register_outputs({"version": plan.release.version})
