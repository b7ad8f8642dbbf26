"""An EKS cluster from its plan: network, control plane, add-ons, pools and autoscaler in order."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from components.aws.addons import EksAddons, EksAddonsArgs
from components.aws.autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs
from components.aws.cluster import EksCluster, EksClusterArgs
from components.aws.network import Network, NetworkArgs
from components.aws.pool import NodeGroup, NodeGroupArgs
from components.gpu.device_plugin import DevicePlugin, DevicePluginArgs
from components.platform import Connect, LiveSize, Platform
from fleet.clusters.autoscaler import AutoscalerPlan
from fleet.clusters.eks import EksPlan, EksPool


def eks_platform(
    name: str,
    plan: EksPlan,
    *,
    autoscaler: AutoscalerPlan | None,
    protect: bool,
    connect: Connect,
    live: Mapping[str, LiveSize],
    child: pulumi.ResourceOptions,
) -> Platform:
    """Register the cluster; GPU pools come last, since nothing of the cluster runs on them."""
    network = Network(
        f"{name}-network",
        NetworkArgs(plan=plan.network, tags=plan.tags),
        pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=protect or None)),
    )
    control = EksCluster(
        f"{name}-eks",
        EksClusterArgs(plan=plan, subnet_ids=network.private_subnet_ids, protect=protect),
        child,
    )
    after_network: list[pulumi.Resource] = [*network.ready, *control.ready_for_nodes]

    def node_group(pool: EksPool) -> NodeGroup:
        return NodeGroup(
            pool.logical_name,
            NodeGroupArgs(
                plan=pool,
                kubernetes_version=plan.version,
                cluster_name=control.cluster.name,
                cluster_security_group_id=control.cluster.vpc_config.cluster_security_group_id,
                vpc_id=network.vpc_id,
                node_role_arn=control.node_role_arn,
                subnet_ids=network.private_subnet_ids,
                live=live.get(pool.name),
                tags=plan.tags,
                after=after_network,
            ),
            child,
        )

    groups = {pool.name: node_group(pool) for pool in plan.system_pools}
    after_nodes: list[pulumi.Resource] = [group.node_group for group in groups.values()]
    addons = EksAddons(
        f"{name}-addons",
        EksAddonsArgs(plan=plan, cluster_name=control.cluster.name, after=after_nodes),
        child,
    )
    kubernetes = connect(f"{name}-kubernetes", control.kubeconfig)
    inside = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(providers=[kubernetes]))
    base = [*after_nodes, *addons.ready]
    ready: list[pulumi.Resource] = []
    if autoscaler is not None:
        ready += ClusterAutoscaler(
            f"{name}-autoscaler",
            ClusterAutoscalerArgs(
                plan=autoscaler, cluster_name=control.cluster.name, tags=plan.tags, after=base
            ),
            inside,
        ).ready
    groups |= {pool.name: node_group(pool) for pool in plan.gpu_pools}
    if plan.efa_plugin is not None:
        ready += DevicePlugin(
            f"{name}-efa-plugin", DevicePluginArgs(release=plan.efa_plugin, after=base), inside
        ).ready
    return Platform(
        kubeconfig=control.kubeconfig,
        inside=inside,
        base=base,
        ready=ready,
        pools={pool: group.node_group for pool, group in groups.items()},
    )
