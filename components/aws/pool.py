"""One EKS managed node group, with GPUs or without. The autoscaler owns its desired size.

https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

import pulumi
import pulumi_aws as aws

from components import intent
from components.aws.cluster import EksCluster, EksClusterAttributes
from components.aws.placement import Interconnect
from fleet.catalog.eks import AMI_TYPES, KUBERNETES_VERSIONS, TAINT_EFFECTS
from fleet.clusters.eks import EksPool, eks_pool, user_data
from fleet.clusters.nodes import LiveSize
from fleet.config import pools as config
from fleet.gpu_stack.ownership import Ownership


class EksPoolOptions(TypedDict, total=False):
    """The keys of a pool in a stack file, see `fleet.config.pools.EksPool`."""

    instance_types: Sequence[str]
    min_size: int
    max_size: int
    capacity_type: str
    capacity_reservation_id: str | None
    ami_type: str | None
    release_version: str | None
    disk_gib: int
    instance_store: str
    zones: Sequence[str] | None
    sharing: Mapping[str, Any] | None
    efa: bool
    node_repair: bool
    reserve: Mapping[str, Any]
    labels: Mapping[str, str]
    paused: bool


class GpuNodeGroup(pulumi.ComponentResource):
    """Launch template, node group, and the tags of its Auto Scaling group."""

    plan: EksPool
    """Labels, taints and allocatable resources of the nodes."""
    node_group: aws.eks.NodeGroup
    ready: list[pulumi.Resource]
    """The node group, for lanes to depend on."""

    def __init__(
        self,
        name: str,
        *,
        cluster: EksCluster | EksClusterAttributes,
        plan: EksPool | None = None,
        live_size: LiveSize | None = None,
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
        **pool: Unpack[EksPoolOptions],
    ) -> None:
        """Register a node group from a plan, or from the keywords of a pool in a stack file.

        Pass `live_size` when the bounds of an existing node group change: EKS refuses a minimum
        above its desired size.
        """
        of = cluster.attributes if isinstance(cluster, EksCluster) else cluster
        plan = plan if plan is not None else _plan(name, of, pool, live_size)
        super().__init__("gpu-runners:aws:NodeGroup", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.plan = plan
        template = _launch_template(name, plan, of, child)
        self.node_group = aws.eks.NodeGroup(
            name,
            cluster_name=of.name if of.id is None else of.id,
            version=of.version,
            release_version=plan.release_version,
            ami_type=plan.ami_type,
            capacity_type=plan.capacity_type,
            instance_types=list(plan.instance_types),
            node_role_arn=of.node_role_arn,
            subnet_ids=[of.subnet_ids[zone] for zone in plan.zones],
            launch_template={
                "id": template.id,
                # A number instead of $Latest, so that a preview shows a change of the template.
                "version": template.latest_version.apply(str),
            },
            scaling_config={
                "min_size": plan.min_size,
                "max_size": plan.max_size,
                "desired_size": plan.desired_size,
            },
            # Without force_update_version: a job that outlasts the drain fails the update and goes
            # on. After a refresh, the next update tries again.
            update_config={"max_unavailable": 1},
            node_repair_config={"enabled": plan.node_repair},
            labels=plan.labels,
            taints=[
                {"key": taint.key, "value": taint.value, "effect": TAINT_EFFECTS[taint.effect]}
                for taint in plan.taints
            ],
            tags=of.tags,
            opts=pulumi.ResourceOptions.merge(
                child,
                pulumi.ResourceOptions(
                    depends_on=list(depends_on),
                    ignore_changes=list(plan.ignore_changes) or None,
                    custom_timeouts=pulumi.CustomTimeouts(update=f"{plan.update_minutes}m"),
                ),
            ),
        )
        group = self.node_group.resources[0].autoscaling_groups[0].name
        # EKS does not copy tags of the node group to its Auto Scaling group.
        for key, value in plan.autoscaling_tags.items():
            aws.autoscaling.Tag(
                f"{name}-{_short(key)}",
                autoscaling_group_name=group,
                tag={"key": key, "value": value, "propagate_at_launch": False},
                opts=child,
            )
        self.ready = [self.node_group]
        self.register_outputs({"node_group_name": self.node_group.node_group_name})


def _plan(
    name: str, cluster: EksClusterAttributes, pool: EksPoolOptions, live: LiveSize | None
) -> EksPool:
    component = f"GpuNodeGroup {name}"
    spec = intent.read(config.EksPool, component, pool)
    mistakes = [
        f"  zones: names {zone}, for which the cluster has no subnet.\n"
        f"    Use some of {', '.join(cluster.subnet_ids)}, or add the subnet to the cluster."
        for zone in spec.zones or ()
        if zone not in cluster.subnet_ids
    ]
    if cluster.version not in KUBERNETES_VERSIONS:
        mistakes.append(
            f"  cluster.version: is {cluster.version}, for which no AMI release is pinned.\n"
            f"    Use one of {', '.join(KUBERNETES_VERSIONS)}, in quotes."
        )
    if spec.efa and (cluster.vpc_id is None or cluster.security_group_id is None):
        mistakes.append(
            "  efa: is on, but the cluster has no vpc_id or security_group_id.\n"
            "    Give both to the cluster attributes, or turn efa off."
        )
    if mistakes:
        raise intent.InvalidArguments(component, mistakes)
    plan = eks_pool(
        cluster.name,
        name,
        spec,
        version=cluster.version,
        zones=tuple(cluster.subnet_ids),
        owners=Ownership(
            advertiser=cluster.advertiser,
            operator=cluster.operator,
            driver=False,
            toolkit=False,
        ),
    )
    return plan if live is None else plan.at_live_size(live)


def _short(key: str) -> str:
    """Return a tag key without the autoscaler's own prefixes, as part of a resource name."""
    return key.removeprefix("k8s.io/cluster-autoscaler/").removeprefix("node-template/")


def _launch_template(
    name: str, plan: EksPool, cluster: EksClusterAttributes, child: pulumi.ResourceOptions
) -> aws.ec2.LaunchTemplate:
    interconnect = (
        Interconnect(name, plan, cluster=cluster, child=child) if plan.efa_interfaces else None
    )
    reservation = plan.capacity_reservation_id
    return aws.ec2.LaunchTemplate(
        name,
        block_device_mappings=[
            {
                "device_name": AMI_TYPES[plan.ami_type].root_device,
                "ebs": {
                    "volume_size": plan.disk_gib,
                    "volume_type": "gp3",
                    "encrypted": "true",
                    "delete_on_termination": "true",
                },
            }
        ],
        metadata_options={
            "http_endpoint": "enabled",
            "http_tokens": "required",
            "http_put_response_hop_limit": 1,  # pods use Pod Identity, not the node's role
        },
        capacity_reservation_specification=(
            {"capacity_reservation_target": ({"capacity_reservation_id": reservation})}
            if reservation is not None
            else None
        ),
        instance_market_options=(
            {"market_type": "capacity-block"} if plan.capacity_type == "CAPACITY_BLOCK" else None
        ),
        network_interfaces=interconnect.interfaces if interconnect else None,
        placement=interconnect.placement if interconnect else None,
        user_data=user_data(plan),
        tag_specifications=[
            {"resource_type": kind, "tags": {**cluster.tags, "Name": name}}
            for kind in ("instance", "volume")
        ],
        tags=cluster.tags,
        opts=child,
    )
