"""An EKS cluster from its plan: network, control plane, add-ons, node groups and autoscaler."""

from __future__ import annotations

import pulumi

from components.aws.addons import EksAddons
from components.aws.autoscaler import ClusterAutoscaler
from components.aws.cluster import EksCluster
from components.aws.network import Network
from components.aws.pool import GpuNodeGroup
from components.gpu.stack import DevicePlugin
from components.platform import Connect, Platform
from fleet.clusters.autoscaler import AutoscalerPlan
from fleet.clusters.eks import EksPlan, EksPool


def eks_platform(
    name: str,
    plan: EksPlan,
    *,
    autoscaler: AutoscalerPlan | None,
    protect: bool,
    connect: Connect,
    child: pulumi.ResourceOptions,
) -> Platform:
    """Register the cluster. GPU node groups come last, because nothing else depends on them."""
    network = Network(
        f"{name}-network",
        plan=plan.network,
        tags=plan.tags,
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=protect or None)),
    )
    cluster = EksCluster(
        f"{name}-eks",
        plan=plan,
        vpc_id=network.vpc_id,
        subnet_ids=network.private_subnet_ids,
        protect=protect,
        opts=child,
    )

    def node_group(pool: EksPool) -> GpuNodeGroup:
        return GpuNodeGroup(
            pool.logical_name,
            cluster=cluster,
            plan=pool,
            depends_on=[*network.ready, *cluster.ready_for_nodes],
            opts=child,
        )

    groups = {pool.name: node_group(pool) for pool in plan.system_pools}
    system_nodes: list[pulumi.Resource] = [group.node_group for group in groups.values()]
    addons = EksAddons(
        f"{name}-addons",
        plan=plan,
        cluster_name=cluster.cluster.name,
        depends_on=system_nodes,
        opts=child,
    )
    kubernetes = connect(f"{name}-kubernetes", cluster.kubeconfig)
    inside = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(providers=[kubernetes]))
    chart_prerequisites = [*system_nodes, *addons.ready]
    job_prerequisites: list[pulumi.Resource] = []
    if autoscaler is not None:
        job_prerequisites += ClusterAutoscaler(
            f"{name}-autoscaler",
            plan=autoscaler,
            cluster_name=cluster.cluster.name,
            tags=plan.tags,
            depends_on=chart_prerequisites,
            opts=inside,
        ).ready
    groups |= {pool.name: node_group(pool) for pool in plan.gpu_pools}
    if plan.efa_plugin is not None:
        job_prerequisites += DevicePlugin(
            f"{name}-efa-plugin",
            release=plan.efa_plugin,
            depends_on=chart_prerequisites,
            opts=inside,
        ).ready
    return Platform(
        kubeconfig=cluster.kubeconfig,
        inside=inside,
        chart_prerequisites=chart_prerequisites,
        job_prerequisites=job_prerequisites,
        pools={pool: group.node_group for pool, group in groups.items()},
    )
