"""The live sizes of pools, which decide how an update must set them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pulumi

from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.nodes import LiveSize
from fleet.clusters.oke import OkePlan
from fleet.kubernetes import labels
from fleet.plan import PlatformPlan


def at_live_sizes(plan: PlatformPlan, provider: pulumi.ProviderResource) -> PlatformPlan:
    """Return the plan with the desired sizes of the next update.

    The sizes are read at once and not as Outputs: whether a pool's size is ignored must be known
    when the pool is registered.
    """
    match plan:
        case EksPlan():
            live = _auto_scaling_groups(plan, provider)
        case OkePlan():
            live = _node_pools(plan, provider)
        case ExistingPlan():
            return plan
    pools = (
        pool.at_live_size(live[pool.name]) if pool.name in live else pool for pool in plan.pools
    )
    return replace(plan, pools=tuple(pools))


def _node_pools(plan: OkePlan, provider: pulumi.ProviderResource) -> Mapping[str, LiveSize]:
    import pulumi_oci as oci  # noqa: PLC0415 -- only for a cluster of this cloud

    found = oci.containerengine.get_node_pools(
        compartment_id=plan.compartment_id,
        states=["ACTIVE", "UPDATING", "NEEDS_ATTENTION"],
        opts=pulumi.InvokeOptions(provider=provider),
    ).node_pools
    sizes = {one.name: one.node_config_details[0].size for one in found if one.node_config_details}
    return {
        pool.name: LiveSize(desired_size=sizes[pool.logical_name])
        for pool in plan.pools
        if pool.logical_name in sizes
    }


def _auto_scaling_groups(
    plan: EksPlan, provider: pulumi.ProviderResource
) -> Mapping[str, LiveSize]:
    import pulumi_aws as aws  # noqa: PLC0415 -- only for a cluster of this cloud

    options = pulumi.InvokeOptions(provider=provider)
    pool_tag = f"k8s.io/cluster-autoscaler/node-template/label/{labels.POOL_LABEL}"
    found: dict[str, LiveSize] = {}
    for pool in plan.pools:
        # The data source aws_autoscaling_groups has this name in the SDK.
        groups = aws.autoscaling.get_ami_ids(
            filters=[
                aws.autoscaling.GetAmiIdsFilterArgs(name=f"tag:{key}", values=[value])
                for key, value in (("eks:cluster-name", plan.name), (pool_tag, pool.name))
            ],
            opts=options,
        )
        if groups.names:
            # Two groups exist while a pool is replaced. The larger one runs the jobs.
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
