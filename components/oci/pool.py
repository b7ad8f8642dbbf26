"""One OKE node pool, with GPUs or without. The autoscaler owns its size.

https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengscalingclusters.htm
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_oci as oci

from components.platform import LiveSize
from fleet.clusters.oke import CNI_TYPE, OkePlan, OkePool, node_metadata, node_pool_tags

_ENGINE = oci.containerengine


@dataclass(frozen=True, kw_only=True)
class NodePoolArgs:
    """The plan of the pool, and what the cluster gives it."""

    plan: OkePool
    cluster: OkePlan
    cluster_id: pulumi.Input[str]
    image_id: pulumi.Input[str]
    worker_subnet_id: pulumi.Input[str]
    pod_subnet_id: pulumi.Input[str]
    worker_security_group_ids: Sequence[pulumi.Input[str]]
    pod_security_group_ids: Sequence[pulumi.Input[str]]
    live: LiveSize | None = None
    """None where the pool does not exist yet."""
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class NodePool(pulumi.ComponentResource):
    """The node pool."""

    node_pool: oci.containerengine.NodePool
    """The raw node pool."""

    def __init__(
        self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:oci:NodePool", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        self.node_pool = _ENGINE.NodePool(
            name,
            name=plan.logical_name,
            cluster_id=args.cluster_id,
            compartment_id=args.cluster.compartment_id,
            kubernetes_version=args.cluster.version,
            node_shape=plan.shape,
            node_shape_config=(
                _ENGINE.NodePoolNodeShapeConfigArgs(ocpus=plan.ocpus, memory_in_gbs=plan.memory_gb)
                if plan.ocpus is not None
                else None
            ),
            node_source_details=_ENGINE.NodePoolNodeSourceDetailsArgs(
                source_type="IMAGE",
                image_id=args.image_id,
                boot_volume_size_in_gbs=str(plan.boot_volume_gb),
            ),
            node_config_details=_ENGINE.NodePoolNodeConfigDetailsArgs(
                size=desired_size(plan, args.live),
                nsg_ids=list(args.worker_security_group_ids),
                placement_configs=_placement(plan, args.worker_subnet_id),
                node_pool_pod_network_option_details=(
                    _ENGINE.NodePoolNodeConfigDetailsNodePoolPodNetworkOptionDetailsArgs(
                        cni_type=CNI_TYPE,
                        max_pods_per_node=plan.max_pods,
                        pod_subnet_ids=[args.pod_subnet_id],
                        pod_nsg_ids=list(args.pod_security_group_ids),
                    )
                ),
                freeform_tags=args.cluster.tags,
            ),
            node_eviction_node_pool_settings=_ENGINE.NodePoolNodeEvictionNodePoolSettingsArgs(
                eviction_grace_duration=plan.eviction_grace,
                # A job that outlasts the grace would keep its node for ever.
                is_force_delete_after_grace_duration=True,
            ),
            node_pool_cycling_details=(
                _ENGINE.NodePoolNodePoolCyclingDetailsArgs(
                    is_node_cycling_enabled=True, maximum_surge="1", maximum_unavailable="0"
                )
                if plan.node_cycling
                else None
            ),
            initial_node_labels=[
                _ENGINE.NodePoolInitialNodeLabelArgs(key=key, value=value)
                for key, value in plan.labels.items()
            ],
            node_metadata=node_metadata(plan),
            freeform_tags=node_pool_tags(args.cluster, plan),
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=args.after)),
        )
        self.register_outputs({"node_pool_id": self.node_pool.id})


def desired_size(plan: OkePool, live: LiveSize | None) -> int:
    """The size to ask for, in nodes: the live one, which the autoscaler moves, within the bounds.

    It is never ignored. The provider sends the whole of nodeConfigDetails when any of it changes
    (tags, security groups, placement), and an ignored size is the one of the last `up`: it would
    scale running jobs in. So a preview may show a size that the autoscaler has already set.
    """
    if live is None:
        return plan.min_size
    return min(max(live.desired_size, plan.min_size), plan.max_size)


def _placement(
    plan: OkePool, subnet_id: pulumi.Input[str]
) -> list[oci.containerengine.NodePoolNodeConfigDetailsPlacementConfigArgs]:
    """One placement for each availability domain, in the pool's order."""
    details = _ENGINE.NodePoolNodeConfigDetailsPlacementConfigArgs
    preemptible = _ENGINE.NodePoolNodeConfigDetailsPlacementConfigPreemptibleNodeConfigArgs
    action = (
        _ENGINE.NodePoolNodeConfigDetailsPlacementConfigPreemptibleNodeConfigPreemptionActionArgs
    )
    return [
        details(
            availability_domain=domain,
            subnet_id=subnet_id,
            capacity_reservation_id=plan.capacity_reservation_id,
            preemptible_node_config=(
                preemptible(
                    preemption_action=action(type="TERMINATE", is_preserve_boot_volume=False)
                )
                if plan.preemptible
                else None
            ),
        )
        for domain in plan.availability_domains
    ]
