"""One EKS managed node group, with GPUs or without. The autoscaler owns its desired size.

https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from components.aws.placement import Interconnect
from components.platform import LiveSize
from fleet.catalog.eks import AMI_TYPES, TAINT_EFFECTS
from fleet.clusters.eks import EksPool, user_data


@dataclass(frozen=True, kw_only=True)
class NodeGroupArgs:
    """The plan of the pool, and what the cluster gives it."""

    plan: EksPool
    kubernetes_version: str
    cluster_name: pulumi.Input[str]
    cluster_security_group_id: pulumi.Input[str]
    vpc_id: pulumi.Input[str]
    node_role_arn: pulumi.Input[str]
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Private subnet by zone."""
    live: LiveSize | None = None
    """None where the pool does not exist yet."""
    tags: dict[str, str] = field(default_factory=dict[str, str])
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class NodeGroup(pulumi.ComponentResource):
    """Launch template, node group, and the tags of its Auto Scaling group."""

    node_group: aws.eks.NodeGroup
    """The raw node group."""

    def __init__(
        self, name: str, args: NodeGroupArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:aws:NodeGroup", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        template = _launch_template(name, args, child)
        desired, ignored = desired_size(plan, args.live)
        self.node_group = aws.eks.NodeGroup(
            name,
            cluster_name=args.cluster_name,
            version=args.kubernetes_version,
            release_version=plan.release_version,
            ami_type=plan.ami_type,
            capacity_type=plan.capacity_type,
            instance_types=list(plan.instance_types),
            node_role_arn=args.node_role_arn,
            subnet_ids=[args.subnet_ids[zone] for zone in plan.zones],
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
                id=template.id,
                # Not $Latest: the number makes a change of the template visible in a preview.
                version=template.latest_version.apply(str),
            ),
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=plan.min_size, max_size=plan.max_size, desired_size=desired
            ),
            update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
            node_repair_config=aws.eks.NodeGroupNodeRepairConfigArgs(enabled=plan.node_repair),
            labels=plan.labels,
            taints=[
                aws.eks.NodeGroupTaintArgs(
                    key=taint.key, value=taint.value, effect=TAINT_EFFECTS[taint.effect]
                )
                for taint in plan.taints
            ],
            tags=args.tags,
            opts=pulumi.ResourceOptions.merge(
                child, pulumi.ResourceOptions(depends_on=args.after, ignore_changes=ignored)
            ),
        )
        group = self.node_group.resources[0].autoscaling_groups[0].name
        # EKS copies no tag of the node group to the group that the autoscaler reads.
        for key, value in plan.autoscaling_tags.items():
            aws.autoscaling.Tag(
                f"{name}-{_short(key)}",
                autoscaling_group_name=group,
                tag=aws.autoscaling.TagTagArgs(key=key, value=value, propagate_at_launch=False),
                opts=child,
            )
        self.register_outputs({"node_group_name": self.node_group.node_group_name})


def desired_size(plan: EksPool, live: LiveSize | None) -> tuple[int, list[str] | None]:
    """The size to ask for, in nodes, and the properties to ignore.

    The autoscaler moves the size, so a difference is ignored while the bounds stay as they are.
    When the bounds move, EKS takes all three numbers at once and refuses min > desired: the live
    size is sent, held within the new bounds, so that no running job is scaled in.
    Source: https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2508.
    """
    # Only the camelCase path is understood below the top level.
    ignored = ["scalingConfig.desiredSize"]
    if live is None:
        return plan.min_size, ignored
    if (live.min_size, live.max_size) == (plan.min_size, plan.max_size):
        return live.desired_size, ignored
    return min(max(live.desired_size, plan.min_size), plan.max_size), None


def _short(key: str) -> str:
    """A tag key as part of a resource name: what follows the autoscaler's own prefix."""
    return key.removeprefix("k8s.io/cluster-autoscaler/").removeprefix("node-template/")


def _launch_template(
    name: str, args: NodeGroupArgs, child: pulumi.ResourceOptions
) -> aws.ec2.LaunchTemplate:
    plan = args.plan
    interconnect = (
        Interconnect(
            name,
            plan,
            vpc_id=args.vpc_id,
            cluster_security_group_id=args.cluster_security_group_id,
            tags=args.tags,
            child=child,
        )
        if plan.efa_interfaces
        else None
    )
    reservation = plan.capacity_reservation_id
    return aws.ec2.LaunchTemplate(
        name,
        block_device_mappings=[
            aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
                device_name=AMI_TYPES[plan.ami_type].root_device,
                ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                    volume_size=plan.disk_gib,
                    volume_type="gp3",
                    encrypted="true",
                    delete_on_termination="true",
                ),
            )
        ],
        metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
            http_endpoint="enabled",
            http_tokens="required",
            http_put_response_hop_limit=1,  # pods have Pod Identity, not the node's role
        ),
        capacity_reservation_specification=(
            aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(
                capacity_reservation_target=(
                    aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
                        capacity_reservation_id=reservation
                    )
                )
            )
            if reservation is not None
            else None
        ),
        instance_market_options=(
            aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block")
            if plan.capacity_type == "CAPACITY_BLOCK"
            else None
        ),
        network_interfaces=interconnect.interfaces if interconnect else None,
        placement=interconnect.placement if interconnect else None,
        user_data=user_data(plan),
        tag_specifications=[
            aws.ec2.LaunchTemplateTagSpecificationArgs(
                resource_type=kind, tags={**args.tags, "Name": name}
            )
            for kind in ("instance", "volume")
        ],
        tags=args.tags,
        opts=child,
    )
