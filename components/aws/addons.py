"""EKS add-ons that run as Deployments. They need a node, so they follow the system node groups.

https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
"""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from components.aws.cluster import service_role
from fleet.catalog.eks import ADDONS_AFTER_NODES
from fleet.clusters.eks import EksPlan

_EBS_CSI = "aws-ebs-csi-driver"
_EBS_CSI_POLICY = "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"


class EksAddons(pulumi.ComponentResource):
    """The role of the EBS CSI driver, and one add-on for each of `ADDONS_AFTER_NODES`."""

    ready: list[pulumi.Resource]
    """The add-ons. Charts depend on them because their pods need DNS."""

    def __init__(
        self,
        name: str,
        *,
        plan: EksPlan,
        cluster_name: pulumi.Input[str],
        depends_on: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the add-ons; `depends_on` are the system node groups."""
        super().__init__("gpu-runners:aws:EksAddons", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = service_role(
            f"{name}-ebs-csi", "pods.eks.amazonaws.com", plan.tags, child, "sts:TagSession"
        )
        attached = aws.iam.RolePolicyAttachment(
            f"{name}-ebs-csi", role=role.name, policy_arn=_EBS_CSI_POLICY, opts=child
        )
        after_nodes = pulumi.ResourceOptions(depends_on=[*depends_on, attached])
        self.ready = [
            aws.eks.Addon(
                f"{name}-{addon}",
                cluster_name=cluster_name,
                addon_name=addon,
                pod_identity_associations=(
                    [{"service_account": "ebs-csi-controller-sa", "role_arn": role.arn}]
                    if addon == _EBS_CSI
                    else None
                ),
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="OVERWRITE",
                tags=plan.tags,
                opts=pulumi.ResourceOptions.merge(child, after_nodes),
            )
            for addon in ADDONS_AFTER_NODES
        ]
        self.register_outputs({"addons": list(ADDONS_AFTER_NODES)})
