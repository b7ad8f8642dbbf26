"""The cluster-autoscaler of one OKE cluster: the add-on, and the policy that lets it change pools.

https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengusingclusterautoscaler_topic-Working_with_Cluster_Autoscaler_as_Cluster_Add-on.htm
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
from pulumi_oci.identity.policy import Policy  # half a second: not imported anywhere else

from components.oci.addons import addon
from fleet.catalog.oke import AUTOSCALER_ADDON
from fleet.clusters.oke import OkePlan, autoscaler_configuration, autoscaler_statements


@dataclass(frozen=True, kw_only=True)
class OkeAutoscalerArgs:
    """The plan of the cluster, its OCID and those of its pools, and what must come first."""

    plan: OkePlan
    cluster_id: pulumi.Input[str]
    pool_ids: Mapping[str, pulumi.Input[str]]
    after: list[pulumi.Resource] = field(default_factory=list[pulumi.Resource])


class OkeAutoscaler(pulumi.ComponentResource):
    """Policy for the add-on's workload identity, and the add-on."""

    ready: list[pulumi.Resource]
    """What lanes on pools of size zero wait for."""

    def __init__(
        self, name: str, args: OkeAutoscalerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:oci:OkeAutoscaler", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        policy = Policy(
            f"{name}-policy",
            name=f"{plan.name}-autoscaler",
            compartment_id=plan.compartment_id,
            description=f"Lets the cluster-autoscaler of {plan.name} change its node pools",
            statements=pulumi.Output.from_input(args.cluster_id).apply(
                lambda cluster_id: list(autoscaler_statements(plan, cluster_id))
            ),
            freeform_tags=plan.tags,
            opts=child,
        )
        configuration = pulumi.Output.all(**args.pool_ids).apply(
            lambda ids: autoscaler_configuration(plan, ids)
        )
        keys = autoscaler_configuration(plan, dict.fromkeys(args.pool_ids, ""))
        release = addon(
            f"{name}-addon",
            AUTOSCALER_ADDON,
            args.cluster_id,
            {key: configuration[key] for key in keys},
            pulumi.ResourceOptions.merge(
                child, pulumi.ResourceOptions(depends_on=[policy, *args.after])
            ),
        )
        self.ready = [release]
        self.register_outputs({"nodes": configuration["nodes"]})
