"""The device plugin of AWS' Elastic Fabric Adapter: a chart that only EKS pools with EFA need."""

from __future__ import annotations

from collections.abc import Iterable

from fleet.clusters.eks_pools import EksPool
from fleet.config.stack import Charts
from fleet.gpu_stack.efa_values import EfaPluginValues
from fleet.kubernetes import labels as words
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.placement import daemonset_tolerations
from fleet.kubernetes.releases import GPU_STACK_TIMEOUT_S, Release, release


def efa_plugin(pools: Iterable[EksPool], charts: Charts) -> Release | None:
    """Derive the plugin; None for pools without EFA."""
    with_efa = tuple(pool for pool in pools if pool.efa_interfaces)
    if not with_efa:
        return None
    return release(
        "aws-efa-k8s-device-plugin",
        charts,
        name="aws-efa-k8s-device-plugin",
        namespace=Namespaces.efa_plugin,
        timeout_s=GPU_STACK_TIMEOUT_S,
        values=EfaPluginValues(
            labels=(words.POOL_LABEL,),
            values=tuple(pool.name for pool in with_efa),
            tolerations=daemonset_tolerations(with_efa),
        ),
    )
