"""The cluster-autoscaler of one OKE cluster: the add-on, and the policy that lets it change pools.

https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengusingclusterautoscaler_topic-Working_with_Cluster_Autoscaler_as_Cluster_Add-on.htm
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
from pulumi_oci.identity.policy import (
    Policy,
)  # its import takes half a second, so only this module has it

from components.oci.addons import addon
from fleet.catalog.oke import AUTOSCALER_ADDON
from fleet.clusters.oke import OkePlan, autoscaler_configuration, autoscaler_statements


class OkeAutoscaler(pulumi.ComponentResource):
    """Policy for the add-on's workload identity, and the add-on."""

    ready: list[pulumi.Resource]
    """The add-on. Lanes depend on it, because it starts the nodes of empty pools."""

    def __init__(
        self,
        name: str,
        *,
        plan: OkePlan,
        cluster_id: pulumi.Input[str],
        pool_ids: Mapping[str, pulumi.Input[str]],
        depends_on: Sequence[pulumi.Resource] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the autoscaler; `pool_ids` are the OCIDs of the node pools by name."""
        super().__init__("gpu-runners:oci:OkeAutoscaler", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        policy = Policy(
            f"{name}-policy",
            name=f"{plan.name}-autoscaler",
            compartment_id=plan.compartment_id,
            description=f"Lets the cluster-autoscaler of {plan.name} change its node pools",
            statements=pulumi.Output.from_input(cluster_id).apply(
                lambda cluster_id: list(autoscaler_statements(plan, cluster_id))
            ),
            freeform_tags=plan.tags,
            opts=child,
        )
        configuration = pulumi.Output.all(**pool_ids).apply(
            lambda ids: autoscaler_configuration(plan, ids)
        )
        keys = autoscaler_configuration(plan, dict.fromkeys(pool_ids, ""))
        release = addon(
            f"{name}-addon",
            AUTOSCALER_ADDON,
            cluster_id,
            {key: configuration[key] for key in keys},
            pulumi.ResourceOptions.merge(
                child, pulumi.ResourceOptions(depends_on=[policy, *depends_on])
            ),
        )
        self.ready = [release]
        self.register_outputs({"nodes": configuration["nodes"]})
