"""OKE add-ons that this program configures: Oracle's GPU plugin, if that is the advertiser.

OKE installs the other default add-ons (CoreDNS, KubeProxy, VCN-native networking) by itself. An
Addon resource can configure a default add-on but not remove it. A node label turns the GPU plugin
off instead.
https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengconfiguringclusteraddons.htm
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_oci as oci

from fleet.catalog.oke import GPU_PLUGIN_ADDON
from fleet.clusters.oke import OkePlan, gpu_plugin_configuration

_MINUTES = pulumi.CustomTimeouts(create="30m", update="30m", delete="30m")


class OkeAddons(pulumi.ComponentResource):
    """The settings of Oracle's GPU plugin."""

    ready: list[pulumi.Resource]
    """The add-on, if Oracle's plugin is the advertiser. GPU jobs depend on it."""

    def __init__(
        self,
        name: str,
        *,
        plan: OkePlan,
        cluster_id: pulumi.Input[str],
        depends_on: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpu-runners:oci:OkeAddons", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.ready = []
        if plan.gpu_plugin:
            self.ready.append(
                addon(
                    f"{name}-gpu-plugin",
                    GPU_PLUGIN_ADDON,
                    cluster_id,
                    gpu_plugin_configuration(plan),
                    pulumi.ResourceOptions.merge(
                        child, pulumi.ResourceOptions(depends_on=list(depends_on))
                    ),
                )
            )
        self.register_outputs({"gpu_plugin": plan.gpu_plugin})


def addon(
    name: str,
    addon_name: str,
    cluster_id: pulumi.Input[str],
    configuration: Mapping[str, pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> oci.containerengine.Addon:
    """Register one add-on. Every setting is text; structures are JSON."""
    return oci.containerengine.Addon(
        name,
        addon_name=addon_name,
        cluster_id=cluster_id,
        configurations=[{"key": key, "value": value} for key, value in configuration.items()],
        override_existing=True,
        remove_addon_resources_on_delete=True,
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(custom_timeouts=_MINUTES)),
    )
