"""An OKE cluster from its plan: network, control plane, pools, add-ons and autoscaler in order."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from components.oci.addons import OkeAddons, OkeAddonsArgs
from components.oci.autoscaler import OkeAutoscaler, OkeAutoscalerArgs
from components.oci.cluster import OkeCluster, OkeClusterArgs
from components.oci.network import OkeNetwork, OkeNetworkArgs
from components.oci.pool import NodePool, NodePoolArgs
from components.platform import Connect, LiveSize, Platform
from fleet.clusters.oke import OkePlan, OkePool


def oke_platform(
    name: str,
    plan: OkePlan,
    *,
    protect: bool,
    connect: Connect,
    live: Mapping[str, LiveSize],
    images: Mapping[str, str],
    child: pulumi.ResourceOptions,
) -> Platform:
    """Register the cluster; `images` are the node images of pools that name none."""
    network = OkeNetwork(
        f"{name}-network",
        OkeNetworkArgs(plan=plan.network, compartment_id=plan.compartment_id, tags=plan.tags),
        pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=protect or None)),
    )
    control = OkeCluster(
        f"{name}-oke",
        OkeClusterArgs(
            plan=plan,
            vcn_id=network.vcn_id,
            subnet_ids=network.subnet_ids,
            security_group_ids=network.security_group_ids,
            protect=protect,
            after=network.ready,
        ),
        child,
    )

    def node_pool(pool: OkePool, after: list[pulumi.Resource]) -> NodePool:
        return NodePool(
            pool.logical_name,
            NodePoolArgs(
                plan=pool,
                cluster=plan,
                cluster_id=control.cluster.id,
                image_id=pool.image_id or images[pool.name],
                worker_subnet_id=network.subnet_ids["worker"],
                pod_subnet_id=network.subnet_ids["pod"],
                worker_security_group_ids=network.security_group_ids["worker"],
                pod_security_group_ids=network.security_group_ids["pod"],
                live=live.get(pool.name),
                after=after,
            ),
            child,
        )

    pools = {pool.name: node_pool(pool, network.ready) for pool in plan.system_pools}
    base: list[pulumi.Resource] = [pool.node_pool for pool in pools.values()]
    addons = OkeAddons(
        f"{name}-addons",
        OkeAddonsArgs(plan=plan, cluster_id=control.cluster.id, after=base),
        child,
    )
    kubernetes = connect(f"{name}-kubernetes", control.kubeconfig)
    inside = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(providers=[kubernetes]))
    # The plugin goes after the last node that needs it.
    before_gpus = [*network.ready, *addons.ready]
    pools |= {pool.name: node_pool(pool, before_gpus) for pool in plan.gpu_pools}
    autoscaler = OkeAutoscaler(
        f"{name}-autoscaler",
        OkeAutoscalerArgs(
            plan=plan,
            cluster_id=control.cluster.id,
            pool_ids={pool: made.node_pool.id for pool, made in pools.items()},
            after=base,
        ),
        child,
    )
    return Platform(
        kubeconfig=control.kubeconfig,
        inside=inside,
        base=base,
        ready=[*addons.ready, *autoscaler.ready],
        pools={pool: made.node_pool for pool, made in pools.items()},
    )
