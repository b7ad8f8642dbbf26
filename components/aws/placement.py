"""EFA: the network interfaces, security group and placement group of a pool that talks over it.

https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from fleet.clusters.eks import EksPool


class Interconnect:
    """What a launch template needs for EFA; not a component, as it is part of one pool."""

    interfaces: list[aws.ec2.LaunchTemplateNetworkInterfaceArgs]
    placement: aws.ec2.LaunchTemplatePlacementArgs

    def __init__(
        self,
        name: str,
        plan: EksPool,
        *,
        vpc_id: pulumi.Input[str],
        cluster_security_group_id: pulumi.Input[str],
        tags: dict[str, str],
        child: pulumi.ResourceOptions,
    ) -> None:
        group = aws.ec2.PlacementGroup(f"{name}-efa", strategy="cluster", tags=tags, opts=child)
        security = aws.ec2.SecurityGroup(
            f"{name}-efa",
            description="EFA traffic between the nodes of one pool",
            vpc_id=vpc_id,
            # OS-bypass traffic needs every protocol, to and from the group itself.
            ingress=[
                aws.ec2.SecurityGroupIngressArgs(protocol="-1", from_port=0, to_port=0, self=True)
            ],
            egress=[
                aws.ec2.SecurityGroupEgressArgs(protocol="-1", from_port=0, to_port=0, self=True)
            ],
            tags={**tags, "Name": f"{name}-efa"},
            opts=child,
        )
        self.placement = aws.ec2.LaunchTemplatePlacementArgs(group_name=group.name)
        # With interfaces in the template EKS attaches no security group of its own.
        groups = [cluster_security_group_id, security.id]
        self.interfaces = [
            aws.ec2.LaunchTemplateNetworkInterfaceArgs(
                network_card_index=index % plan.network_cards,
                device_index=0 if index == 0 else 1,
                # Only the first carries IP traffic; the others take no address of the subnet.
                interface_type="efa" if index == 0 else "efa-only",
                security_groups=groups,
                delete_on_termination="true",
            )
            for index in range(plan.efa_interfaces)
        ]
