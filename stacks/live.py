"""What exists already and decides how a change must be made: the sizes of the pools.

Also what a cloud names only in a list that moves with time: the newest node images.
"""

from __future__ import annotations

import pulumi

from components.platform import LiveSize
from fleet.catalog.oke import NodeImage, newest_gpu_image, newest_image
from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.oke import OkePlan
from fleet.kubernetes import labels as words
from fleet.plan import PlatformPlan


def live_sizes(plan: PlatformPlan, provider: pulumi.ProviderResource) -> dict[str, LiveSize]:
    """Size of each pool as it is now; a pool that is not there is absent.

    Read at once and not as an Output: whether a pool's size is ignored must be known when it is
    registered (see `components.aws.pool.desired_size`).
    """
    match plan:
        case EksPlan():
            return _auto_scaling_groups(plan, provider)
        case OkePlan():
            return _node_pools(plan, provider)
        case ExistingPlan():
            return {}


def newest_images(plan: PlatformPlan, provider: pulumi.ProviderResource) -> dict[str, str]:
    """Newest node image of each OKE pool that pins none, by pool.

    Raises fleet.catalog.oke.NoNodeImageError where OKE offers none for the cluster's version.
    """
    if not isinstance(plan, OkePlan) or all(pool.image_id for pool in plan.pools):
        return {}
    import pulumi_oci as oci  # noqa: PLC0415 -- only for a cluster of this cloud

    offered = oci.containerengine.get_node_pool_option(
        node_pool_option_id="all",
        compartment_id=plan.compartment_id,
        node_pool_k8s_version=plan.version,
        opts=pulumi.InvokeOptions(provider=provider),
    )
    images = [NodeImage(name=one.source_name, ocid=one.image_id) for one in offered.sources]
    return {
        pool.name: (newest_gpu_image if pool.gpu else newest_image)(images, plan.version).ocid
        for pool in plan.pools
        if pool.image_id is None
    }


def _node_pools(plan: OkePlan, provider: pulumi.ProviderResource) -> dict[str, LiveSize]:
    import pulumi_oci as oci  # noqa: PLC0415 -- only for a cluster of this cloud

    found = oci.containerengine.get_node_pools(
        compartment_id=plan.compartment_id,
        states=["ACTIVE", "UPDATING", "NEEDS_ATTENTION"],
        opts=pulumi.InvokeOptions(provider=provider),
    ).node_pools
    sizes = {one.name: one.node_config_details[0].size for one in found if one.node_config_details}
    return {
        pool.name: LiveSize(min_size=None, max_size=None, desired_size=sizes[pool.logical_name])
        for pool in plan.pools
        if pool.logical_name in sizes
    }


def _auto_scaling_groups(plan: EksPlan, provider: pulumi.ProviderResource) -> dict[str, LiveSize]:
    import pulumi_aws as aws  # noqa: PLC0415 -- only for a cluster of this cloud

    options = pulumi.InvokeOptions(provider=provider)
    found: dict[str, LiveSize] = {}
    for pool in plan.pools:
        # The data source aws_autoscaling_groups goes by this name in the SDK.
        groups = aws.autoscaling.get_ami_ids(
            filters=[
                aws.autoscaling.GetAmiIdsFilterArgs(name=f"tag:{key}", values=[value])
                for key, value in (
                    ("eks:cluster-name", plan.name),
                    (
                        f"k8s.io/cluster-autoscaler/node-template/label/{words.POOL_LABEL}",
                        pool.name,
                    ),
                )
            ],
            opts=options,
        )
        if groups.names:
            # While a pool is replaced two stand side by side: the one that runs jobs counts.
            group = max(
                (aws.autoscaling.get_group(name=name, opts=options) for name in groups.names),
                key=lambda one: one.desired_capacity,
            )
            found[pool.name] = LiveSize(
                min_size=group.min_size,
                max_size=group.max_size,
                desired_size=group.desired_capacity,
            )
    return found
