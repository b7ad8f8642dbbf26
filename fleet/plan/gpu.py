"""The GPU stack of one cluster: which charts, with which values; nothing without a GPU pool.

On EKS the AL2023 NVIDIA image owns driver and toolkit. The operator's toolkit would point
containerd at a runtime that the image does not define, and the nodes would turn NotReady
(https://github.com/METR/hawk/pull/273), so both are off. One chart advertises `nvidia.com/gpu`.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.charts.device_plugin import (
    DevicePluginValues,
    config_text,
    exclusive,
    time_slicing,
)
from fleet.charts.efa_plugin import EfaPluginValues
from fleet.charts.gpu_operator import GpuOperatorValues, NfdPlacement
from fleet.charts.pods import pool_affinity
from fleet.plan import words
from fleet.plan.nodes import Pool, daemonset_tolerations
from fleet.plan.releases import GPU_STACK_TIMEOUT_S, Release, release
from fleet.plan.words import Namespaces
from fleet.spec.gpu_stack import Advertiser, GpuOperator, GpuStack
from fleet.spec.stack import Charts

GPU_NODES = pool_affinity(words.ROLE_LABEL, ("gpu",))
SYSTEM_NODES = pool_affinity(words.ROLE_LABEL, ("system",))

_CONFIG_MAP = "device-plugin-configs"


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuStackPlan:
    """Releases of the GPU stack; each is None where the cluster does without it."""

    device_plugin: Release | None
    operator: Release | None
    efa_plugin: Release | None


def gpu_stack_plan(pools: tuple[Pool, ...], spec: GpuStack, charts: Charts) -> GpuStackPlan:
    """Derive the GPU stack; a cluster without GPU pools has none."""
    gpu_pools = tuple(pool for pool in pools if pool.gpu is not None)
    if not gpu_pools:
        return GpuStackPlan(device_plugin=None, operator=None, efa_plugin=None)
    configs = _configs(gpu_pools)
    return GpuStackPlan(
        device_plugin=(
            _device_plugin(gpu_pools, configs, charts)
            if spec.advertiser == "device_plugin"
            else None
        ),
        operator=(
            _operator(gpu_pools, configs, spec.operator, spec.advertiser, charts)
            if spec.operator is not None
            else None
        ),
        efa_plugin=_efa_plugin(gpu_pools, charts),
    )


def _configs(pools: tuple[Pool, ...]) -> dict[str, str]:
    configs = {words.WHOLE_GPUS: config_text(exclusive())}
    for pool in pools:
        if pool.time_slices > 1:
            configs[words.slices(pool.time_slices)] = config_text(time_slicing(pool.time_slices))
    return configs


def _device_plugin(pools: tuple[Pool, ...], configs: dict[str, str], charts: Charts) -> Release:
    return release(
        "nvidia-device-plugin",
        charts,
        name="nvidia-device-plugin",
        namespace=Namespaces.device_plugin,
        timeout_s=GPU_STACK_TIMEOUT_S,
        values=DevicePluginValues(
            affinity=GPU_NODES,
            tolerations=daemonset_tolerations(pools),
            configs=configs,
            default_config=words.WHOLE_GPUS,
            priority_class_name="system-node-critical",
            fail_on_init_error=False,
        ),
    )


def _operator(
    pools: tuple[Pool, ...],
    configs: dict[str, str],
    spec: GpuOperator,
    advertiser: Advertiser,
    charts: Charts,
) -> Release:
    tolerations = daemonset_tolerations(pools)
    advertises = advertiser == "operator"
    on_system = NfdPlacement(affinity=SYSTEM_NODES)
    return release(
        "gpu-operator",
        charts,
        name="gpu-operator",
        namespace=Namespaces.operator,
        timeout_s=GPU_STACK_TIMEOUT_S,
        values=GpuOperatorValues(
            driver=False,
            toolkit=False,
            device_plugin=advertises,
            device_plugin_config=_CONFIG_MAP if advertises else None,
            device_plugin_config_create=True if advertises else None,
            device_plugin_config_default=words.WHOLE_GPUS if advertises else None,
            device_plugin_config_data=configs if advertises else None,
            daemonset_tolerations=tolerations,
            nfd_worker=NfdPlacement(affinity=GPU_NODES, tolerations=tolerations),
            nfd_master=on_system,
            nfd_gc=on_system,
            operator_affinity=SYSTEM_NODES,
            dcgm_exporter=spec.metrics,
            dcgm_service_monitor=False if spec.metrics else None,
            mig_manager=False,
        ),
    )


def _efa_plugin(pools: tuple[Pool, ...], charts: Charts) -> Release | None:
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
