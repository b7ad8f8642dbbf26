"""An OKE cluster from its plan: network, control plane, node pools, add-ons and autoscaler."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from components.oci.addons import OkeAddons
from components.oci.autoscaler import OkeAutoscaler
from components.oci.cluster import OkeCluster
from components.oci.network import OkeNetwork
from components.oci.pool import GpuNodePool
from components.platform import Connect, Platform
from fleet.clusters.oke import OkePlan, OkePool


def oke_platform(
    name: str,
    plan: OkePlan,
    *,
    protect: bool,
    connect: Connect,
    child: pulumi.ResourceOptions,
) -> Platform:
    """Register the cluster."""
    network = OkeNetwork(
        f"{name}-network",
        plan=plan.network,
        compartment_id=plan.compartment_id,
        tags=plan.tags,
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=protect or None)),
    )
    cluster = OkeCluster(f"{name}-oke", plan=plan, network=network, protect=protect, opts=child)

    def node_pool(pool: OkePool, depends_on: Sequence[pulumi.Resource]) -> GpuNodePool:
        return GpuNodePool(
            pool.logical_name, cluster=cluster, plan=pool, depends_on=depends_on, opts=child
        )

    pools = {pool.name: node_pool(pool, network.ready) for pool in plan.system_pools}
    system_nodes: list[pulumi.Resource] = [pool.node_pool for pool in pools.values()]
    addons = OkeAddons(
        f"{name}-addons",
        plan=plan,
        cluster_id=cluster.cluster.id,
        depends_on=system_nodes,
        opts=child,
    )
    kubernetes = connect(f"{name}-kubernetes", cluster.kubeconfig)
    inside = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(providers=[kubernetes]))
    # GPU pools depend on the add-on, so that a destroy removes it after the last node that uses it.
    before_gpus = [*network.ready, *addons.ready]
    pools |= {pool.name: node_pool(pool, before_gpus) for pool in plan.gpu_pools}
    autoscaler = OkeAutoscaler(
        f"{name}-autoscaler",
        plan=plan,
        cluster_id=cluster.cluster.id,
        pool_ids={pool: made.node_pool.id for pool, made in pools.items()},
        depends_on=system_nodes,
        opts=child,
    )
    return Platform(
        kubeconfig=cluster.kubeconfig,
        inside=inside,
        chart_prerequisites=system_nodes,
        job_prerequisites=[*addons.ready, *autoscaler.ready],
        pools={pool: made.node_pool for pool, made in pools.items()},
    )
