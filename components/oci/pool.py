"""One OKE node pool, with GPUs or without. The autoscaler owns its size.

https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengscalingclusters.htm
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

import pulumi
import pulumi_oci as oci

from components import intent
from components.oci.cluster import OkeCluster, OkeClusterAttributes
from fleet.catalog.oke import NodeImage, newest_gpu_image, newest_image
from fleet.clusters.nodes import LiveSize
from fleet.clusters.oke import CNI_TYPE, OkePool, node_metadata, node_pool_tags, oke_pool
from fleet.config import oke_pools as config
from fleet.gpu_stack.ownership import Ownership

_ENGINE = oci.containerengine


class OkePoolOptions(TypedDict, total=False):
    """The keys of a pool in a stack file, see `fleet.config.oke_pools.OkePool`."""

    shape: str
    ocpus: int | None
    memory_gb: int | None
    min_size: int
    max_size: int
    image_id: str | None
    driver: str | None
    boot_volume_gb: int | None
    availability_domains: Sequence[str] | None
    capacity_reservation_id: str | None
    preemptible: bool
    sharing: Mapping[str, Any] | None
    node_cycling: bool
    eviction_minutes: int
    reserve: Mapping[str, Any]
    labels: Mapping[str, str]
    paused: bool


class GpuNodePool(pulumi.ComponentResource):
    """The node pool."""

    plan: OkePool
    """Labels, taints and allocatable resources of the nodes."""
    node_pool: oci.containerengine.NodePool
    ready: list[pulumi.Resource]
    """The node pool, for lanes to depend on."""

    def __init__(
        self,
        name: str,
        *,
        cluster: OkeCluster | OkeClusterAttributes,
        plan: OkePool | None = None,
        live_size: LiveSize | None = None,
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
        **pool: Unpack[OkePoolOptions],
    ) -> None:
        """Register a node pool from a plan, or from the keywords of a pool in a stack file.

        Without a plan and without `live_size`, updates ignore the size, which the autoscaler sets.
        OKE then resets it to that of the last update when tags, security groups or placement
        change. Pass `live_size` to such an update.
        """
        of = cluster.attributes if isinstance(cluster, OkeCluster) else cluster
        plan = plan if plan is not None else _plan(name, of, pool, live_size)
        super().__init__("gpu-runners:oci:NodePool", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.plan = plan
        self.node_pool = _ENGINE.NodePool(
            name,
            name=plan.logical_name,
            cluster_id=of.id,
            compartment_id=of.compartment_id,
            kubernetes_version=of.version,
            node_shape=plan.shape,
            node_shape_config=(
                {"ocpus": plan.ocpus, "memory_in_gbs": plan.memory_gb}
                if plan.ocpus is not None
                else None
            ),
            node_source_details={
                "source_type": "IMAGE",
                "image_id": plan.image_id or _newest_image(plan, of, self),
                "boot_volume_size_in_gbs": str(plan.boot_volume_gb),
            },
            node_config_details={
                "size": plan.desired_size,
                "nsg_ids": list(of.worker_security_group_ids),
                "placement_configs": _placement(plan, of.worker_subnet_id),
                "node_pool_pod_network_option_details": (
                    {
                        "cni_type": CNI_TYPE,
                        "max_pods_per_node": plan.max_pods,
                        "pod_subnet_ids": [of.pod_subnet_id],
                        "pod_nsg_ids": list(of.pod_security_group_ids),
                    }
                ),
                "freeform_tags": of.tags,
            },
            node_eviction_node_pool_settings={
                "eviction_grace_duration": f"PT{plan.drain_minutes}M",
                # A job that outlasts the drain goes on, and the update fails. After a refresh, the
                # next one tries again. Budgets of other pods must not keep a CPU node for ever.
                # https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengdeletingworkernodes.htm
                "is_force_delete_after_grace_duration": plan.role == "system",
            },
            node_pool_cycling_details=(
                {"is_node_cycling_enabled": True, "maximum_surge": "1", "maximum_unavailable": "0"}
                if plan.node_cycling
                else None
            ),
            initial_node_labels=[
                {"key": key, "value": value} for key, value in plan.labels.items()
            ],
            node_metadata=node_metadata(plan),
            freeform_tags=node_pool_tags(of.tags, plan),
            opts=pulumi.ResourceOptions.merge(
                child,
                pulumi.ResourceOptions(
                    depends_on=list(depends_on),
                    ignore_changes=list(plan.ignore_changes) or None,
                    custom_timeouts=pulumi.CustomTimeouts(
                        update=f"{plan.update_minutes}m", delete=f"{plan.delete_minutes}m"
                    ),
                ),
            ),
        )
        self.ready = [self.node_pool]
        self.register_outputs({"node_pool_id": self.node_pool.id})


def _plan(
    name: str, cluster: OkeClusterAttributes, pool: OkePoolOptions, live: LiveSize | None
) -> OkePool:
    component = f"GpuNodePool {name}"
    spec = intent.read(config.OkePool, component, pool)
    plan = oke_pool(
        cluster.name,
        name,
        spec,
        availability_domains=tuple(cluster.availability_domains),
        owners=Ownership(
            advertiser=cluster.advertiser,
            operator=cluster.operator,
            driver=False,
            toolkit=False,
        ),
    )
    if live is not None:
        return plan.at_live_size(live)
    return replace(plan, ignore_changes=("nodeConfigDetails.size",))


def _newest_image(
    plan: OkePool, cluster: OkeClusterAttributes, parent: pulumi.Resource
) -> pulumi.Output[str]:
    """Look up the newest node image that OKE offers for the cluster's version.

    Raises fleet.catalog.oke.NoNodeImageError if there is none.
    """
    newest = newest_gpu_image if plan.gpu else newest_image
    offered = _ENGINE.get_node_pool_option_output(
        node_pool_option_id="all",
        compartment_id=cluster.compartment_id,
        node_pool_k8s_version=cluster.version,
        opts=pulumi.InvokeOutputOptions(parent=parent),
    )
    return offered.sources.apply(
        lambda sources: (
            newest(
                [NodeImage(name=one.source_name, ocid=one.image_id) for one in sources],
                cluster.version,
            ).ocid
        )
    )


def _placement(
    plan: OkePool, subnet_id: pulumi.Input[str]
) -> list[oci.containerengine.NodePoolNodeConfigDetailsPlacementConfigArgsDict]:
    """Return one placement for each availability domain, in the order of the pool."""
    placements: list[oci.containerengine.NodePoolNodeConfigDetailsPlacementConfigArgsDict] = []
    for domain in plan.availability_domains:
        placements.append({"availability_domain": domain, "subnet_id": subnet_id})
        # A value of `None` would be sent as null.
        if plan.capacity_reservation_id is not None:
            placements[-1]["capacity_reservation_id"] = plan.capacity_reservation_id
        if plan.preemptible:
            placements[-1]["preemptible_node_config"] = {
                "preemption_action": {"type": "TERMINATE", "is_preserve_boot_volume": False}
            }
    return placements
