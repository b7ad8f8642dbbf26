"""AWS' device plugin for the Elastic Fabric Adapter, which advertises `vpc.amazonaws.com/efa`.

The chart has no `affinity`: it selects nodes by `supportedInstanceLabels`, label keys and the
values that each may have, by default a list of instance types. Both are lists, so the values given
here replace the default and select pools instead. It tolerates only the taints given here.
Source: aws/eks-charts:stable/aws-efa-k8s-device-plugin (values.yaml, templates/daemonset.yaml)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fleet.clusters.nodes import Pool, daemonset_tolerations
from fleet.config.stack import Charts
from fleet.kubernetes import labels
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.pods import Affinity, Toleration, selector_affinity
from fleet.kubernetes.releases import GPU_STACK_TIMEOUT_S, Release, key, release


@dataclass(frozen=True, kw_only=True, slots=True)
class EfaPluginValues:
    """Values of the `aws-efa-k8s-device-plugin` chart, v0.5.30.

    The plugin runs on nodes where a label of `keys` has one of `values`.
    """

    keys: tuple[str, ...] = field(
        default=(labels.POOL_LABEL,), metadata=key("supportedInstanceLabels", "keys")
    )
    values: tuple[str, ...] = field(metadata=key("supportedInstanceLabels", "values"))
    tolerations: tuple[Toleration, ...]

    @property
    def affinity(self) -> Affinity:
        """The node affinity that the chart makes of the labels."""
        return selector_affinity(
            [{labels.POOL_LABEL: name} for name in self.values], in_order=False
        )


def efa_plugin(pools: Sequence[Pool], charts: Charts) -> Release[EfaPluginValues] | None:
    """Return the plugin for the pools with EFA, or `None` for no pools."""
    if not pools:
        return None
    return release(
        "aws-efa-k8s-device-plugin",
        charts,
        name="aws-efa-k8s-device-plugin",
        namespace=Namespaces.efa_plugin,
        timeout_s=GPU_STACK_TIMEOUT_S,
        values=EfaPluginValues(
            values=tuple(pool.name for pool in pools), tolerations=daemonset_tolerations(pools)
        ),
    )
