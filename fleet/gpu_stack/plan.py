"""The GPU stack of one cluster: which charts, with which values; nothing without a GPU pool.

Who owns driver, toolkit and advertiser comes as plain data, see `fleet.gpu_stack.ownership`.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.clusters.nodes import Pool
from fleet.config.gpu_stack import GpuOperator, GpuStack
from fleet.config.stack import Charts
from fleet.gpu_stack.device_plugin_values import (
    DevicePluginValues,
    config_text,
    exclusive,
    time_slicing,
)
from fleet.gpu_stack.operator_values import GpuOperatorValues, NfdPlacement
from fleet.gpu_stack.ownership import Ownership
from fleet.kubernetes import labels as words
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.placement import Placement, daemonset_placement
from fleet.kubernetes.releases import GPU_STACK_TIMEOUT_S, Release, release

_CONFIG_MAP = "device-plugin-configs"


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuStackPlan:
    """Releases of the GPU stack; each is None where the cluster does without it."""

    device_plugin: Release | None
    operator: Release | None


def gpu_stack_plan(
    pools: tuple[Pool, ...],
    spec: GpuStack,
    owners: Ownership,
    charts: Charts,
    *,
    system: Placement,
) -> GpuStackPlan:
    """Derive the GPU stack; a cluster without GPU pools has none. `system` are its CPU nodes."""
    gpu_pools = tuple(pool for pool in pools if pool.gpu is not None)
    if not gpu_pools:
        return GpuStackPlan(device_plugin=None, operator=None)
    configs = _configs(gpu_pools)
    on_gpu = daemonset_placement(gpu_pools)
    return GpuStackPlan(
        device_plugin=(
            _device_plugin(on_gpu, configs, gpu_pools, charts)
            if owners.advertiser == "device_plugin"
            else None
        ),
        operator=(
            _operator(
                spec.operator,
                owners,
                configs,
                default_config=default_config(gpu_pools),
                on_gpu=on_gpu,
                on_system=system,
                charts=charts,
            )
            if spec.operator is not None
            else None
        ),
    )


def _configs(pools: tuple[Pool, ...]) -> dict[str, str]:
    configs = {words.WHOLE_GPUS: config_text(exclusive())}
    for pool in pools:
        if pool.time_slices > 1:
            configs[words.slices(pool.time_slices)] = config_text(time_slicing(pool.time_slices))
    return configs


def default_config(pools: tuple[Pool, ...]) -> str:
    """The config of a node without the label that picks one.

    Nodes that this program makes have the label. Those of an existing cluster share one config, or
    their owner labels them: `fleet.checks.existing`.
    """
    unlabelled = {pool.sharing for pool in pools if words.SHARING_LABEL not in pool.labels}
    return (unlabelled.pop() if len(unlabelled) == 1 else None) or words.WHOLE_GPUS


def _device_plugin(
    on_gpu: Placement, configs: dict[str, str], pools: tuple[Pool, ...], charts: Charts
) -> Release:
    runtime_classes = {pool.runtime_class for pool in pools}
    return release(
        "nvidia-device-plugin",
        charts,
        name="nvidia-device-plugin",
        namespace=Namespaces.device_plugin,
        timeout_s=GPU_STACK_TIMEOUT_S,
        values=DevicePluginValues(
            affinity=on_gpu.affinity,
            tolerations=on_gpu.tolerations,
            configs=configs,
            default_config=default_config(pools),
            runtime_class_name=runtime_classes.pop() if len(runtime_classes) == 1 else None,
            priority_class_name="system-node-critical",
            fail_on_init_error=False,
        ),
    )


def _operator(
    spec: GpuOperator,
    owners: Ownership,
    configs: dict[str, str],
    *,
    default_config: str,
    on_gpu: Placement,
    on_system: Placement,
    charts: Charts,
) -> Release:
    advertises = owners.advertiser == "operator"
    tolerated = on_system.tolerations or None
    nfd_on_system = NfdPlacement(affinity=on_system.affinity, tolerations=tolerated)
    return release(
        "gpu-operator",
        charts,
        name="gpu-operator",
        namespace=Namespaces.operator,
        timeout_s=GPU_STACK_TIMEOUT_S,
        values=GpuOperatorValues(
            driver=owners.driver,
            driver_version=spec.driver_version,
            toolkit=owners.toolkit,
            device_plugin=advertises,
            device_plugin_config=_CONFIG_MAP if advertises else None,
            device_plugin_config_create=True if advertises else None,
            device_plugin_config_default=default_config if advertises else None,
            device_plugin_config_data=configs if advertises else None,
            daemonset_tolerations=on_gpu.tolerations,
            nfd_worker=NfdPlacement(affinity=on_gpu.affinity, tolerations=on_gpu.tolerations),
            nfd_master=nfd_on_system,
            nfd_gc=nfd_on_system,
            operator_affinity=on_system.affinity,
            operator_tolerations=tolerated,
            dcgm_exporter=spec.metrics,
            dcgm_service_monitor=False if spec.metrics else None,
            mig_manager=False,
        ),
    )
