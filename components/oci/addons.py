"""OKE add-ons that this program sets: Oracle's GPU plugin, where that is the advertiser.

The other default add-ons (CoreDNS, KubeProxy, VCN-native networking) are OKE's own affair. An
Addon can set one of them up, but not take it away: a node label turns the GPU plugin off.
https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengconfiguringclusteraddons.htm
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_oci as oci

from fleet.catalog.oke import GPU_PLUGIN_ADDON
from fleet.clusters.oke import OkePlan, gpu_plugin_configuration

_MINUTES = pulumi.CustomTimeouts(create="30m", update="30m", delete="30m")


@dataclass(frozen=True, kw_only=True)
class OkeAddonsArgs:
    """The plan of the cluster, its OCID once it exists, and its first nodes."""

    plan: OkePlan
    cluster_id: pulumi.Input[str]
    after: list[pulumi.Resource]


class OkeAddons(pulumi.ComponentResource):
    """The settings of Oracle's GPU plugin."""

    ready: list[pulumi.Resource]
    """What GPU jobs wait for."""

    def __init__(
        self, name: str, args: OkeAddonsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:oci:OkeAddons", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.ready = []
        if args.plan.gpu_plugin:
            self.ready.append(
                addon(
                    f"{name}-gpu-plugin",
                    GPU_PLUGIN_ADDON,
                    args.cluster_id,
                    gpu_plugin_configuration(args.plan),
                    pulumi.ResourceOptions.merge(
                        child, pulumi.ResourceOptions(depends_on=args.after)
                    ),
                )
            )
        self.register_outputs({"gpu_plugin": args.plan.gpu_plugin})


def addon(
    name: str,
    addon_name: str,
    cluster_id: pulumi.Input[str],
    configuration: Mapping[str, pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> oci.containerengine.Addon:
    """Register one add-on; its settings are text, structures as JSON."""
    return oci.containerengine.Addon(
        name,
        addon_name=addon_name,
        cluster_id=cluster_id,
        configurations=[
            oci.containerengine.AddonConfigurationArgs(key=key, value=value)
            for key, value in configuration.items()
        ],
        override_existing=True,
        remove_addon_resources_on_delete=True,
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(custom_timeouts=_MINUTES)),
    )
