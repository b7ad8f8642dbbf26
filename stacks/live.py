"""What exists already and decides how a change must be made: the sizes of the pools."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from components.aws.pool import LiveSize
from fleet.plan import words
from fleet.plan.eks import EksPlan


def live_sizes(plan: EksPlan, provider: aws.Provider) -> dict[str, LiveSize]:
    """Size of each pool's Auto Scaling group as it is now; a pool that is not there is absent.

    Read at once and not as an Output: whether a pool's size is ignored must be known when it is
    registered (see `components.aws.pool.desired_size`).
    """
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
            group = aws.autoscaling.get_group(name=groups.names[0], opts=options)
            found[pool.name] = LiveSize(
                min_size=group.min_size,
                max_size=group.max_size,
                desired_size=group.desired_capacity,
            )
    return found
