"""EFA: network interfaces, security group and placement group of one node group.

https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from components.aws.cluster import EksClusterAttributes
from fleet.clusters.eks import EksPool


class Interconnect:
    """The parts of a launch template for EFA. Not a component, because it belongs to one pool."""

    interfaces: list[aws.ec2.LaunchTemplateNetworkInterfaceArgsDict]
    placement: aws.ec2.LaunchTemplatePlacementArgsDict

    def __init__(
        self,
        name: str,
        plan: EksPool,
        *,
        cluster: EksClusterAttributes,
        child: pulumi.ResourceOptions,
    ) -> None:
        tags = cluster.tags
        group = aws.ec2.PlacementGroup(f"{name}-efa", strategy="cluster", tags=tags, opts=child)
        security = aws.ec2.SecurityGroup(
            f"{name}-efa",
            description="EFA traffic between the nodes of one pool",
            vpc_id=cluster.vpc_id,
            # OS-bypass traffic needs every protocol, to and from the group itself.
            ingress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
            egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
            tags={**tags, "Name": f"{name}-efa"},
            opts=child,
        )
        self.placement = {"group_name": group.name}
        # EKS attaches no security group of its own when the template has interfaces.
        own = cluster.security_group_id
        groups = [*([own] if own is not None else ()), security.id]
        self.interfaces = [
            {
                "network_card_index": index % plan.network_cards,
                "device_index": 0 if index == 0 else 1,
                # Only the first interface carries IP traffic and takes an address of the subnet.
                "interface_type": "efa" if index == 0 else "efa-only",
                "security_groups": groups,
                "delete_on_termination": "true",
            }
            for index in range(plan.efa_interfaces)
        ]
