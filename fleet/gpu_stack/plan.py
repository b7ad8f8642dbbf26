"""The GPU stack of one cluster: NVIDIA's device plugin and GPU Operator, and their chart values.

`fleet.gpu_stack.ownership` decides which of the two installs what.

Where the pods of the `gpu-operator` chart run, and the values that decide it:

| pods | selected by |
|---|---|
| operator Deployment | `operator.affinity`; no GPU toleration |
| NFD master, NFD gc | `node-feature-discovery.{master,gc}.affinity`; no GPU toleration |
| NFD worker | `node-feature-discovery.worker.affinity` and tolerations |
| operands (plugin, GFD, DCGM, validator, MIG) | node labels `nvidia.com/gpu.deploy.*`, no value |

The operator puts the deploy labels on nodes where node feature discovery (NFD) found an NVIDIA
card, so an NFD worker that runs on GPU pools only keeps the operands there too. The operator also
*resets* `nvidia.com/gpu.present` to `false` on a node whose card NFD has not found yet
(labelGPUNodes), so nothing here selects GPU pools by that label.
Helm merges maps and replaces lists: `tolerations` given here are the only ones.
Sources: NVIDIA/gpu-operator@v26.7.0:deployments/gpu-operator (values.yaml,
templates/{operator,clusterpolicy}.yaml, charts/node-feature-discovery/values.yaml, NFD 0.19),
controllers/{state_manager,object_controls}.go;
NVIDIA/k8s-device-plugin@v0.20.0:deployments/helm/nvidia-device-plugin (values.yaml,
templates/_helpers.tpl, templates/daemonset-device-plugin.yml) and README.md (sharing)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.clusters.nodes import ANYWHERE, Placement, Pool, daemonset_placement
from fleet.config.gpu_stack import GpuStack
from fleet.config.stack import Charts
from fleet.gpu_stack.ownership import Ownership
from fleet.kubernetes import labels
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.pods import Affinity, Toleration
from fleet.kubernetes.releases import GPU_STACK_TIMEOUT_S, Release, key, release

_CONFIG_MAP = "device-plugin-configs"


@dataclass(frozen=True, kw_only=True, slots=True)
class DevicePluginValues:
    """Values of the `nvidia-device-plugin` chart, 0.20.0.

    The chart's own node affinity does not fit: one of its labels is set by node feature discovery,
    which is not installed, and the other (`nvidia.com/gpu.present`) is reset by the GPU Operator.

    A node selects one of `configs` by its label `nvidia.com/device-plugin.config`. A node without
    the label uses `default_config`. Without a default, the plugin looks for a config named
    `default`, then for a single config, and otherwise never starts.
    """

    affinity: Affinity | None
    tolerations: tuple[Toleration, ...] | None
    configs: Mapping[str, str] = field(metadata=key("config", "map"))
    default_config: str = field(metadata=key("config", "default"))
    runtime_class_name: str | None
    """`nvidia` where that is not the container runtime's default."""
    priority_class_name: str = "system-node-critical"
    fail_on_init_error: bool = False
    gfd: bool = field(default=False, metadata=key("gfd", "enabled"))
    nfd: bool = field(default=False, metadata=key("nfd", "enabled"))


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuOperatorValues:
    """Values of the `gpu-operator` chart, v26.7.0.

    `device_plugin` is off where another advertiser of `nvidia.com/gpu` is installed; the operator
    then skips its validation. `dcgm_service_monitor` needs the Prometheus Operator's CRDs.
    """

    driver: bool = field(metadata=key("driver", "enabled"))
    toolkit: bool = field(metadata=key("toolkit", "enabled"))
    device_plugin: bool = field(metadata=key("devicePlugin", "enabled"))
    operands: Placement = field(metadata=key("daemonsets"))
    """Tolerations only: the operator itself selects the nodes of its operands."""
    driver_version: str | None = field(default=None, metadata=key("driver", "version"))
    nfd: bool = field(default=True, metadata=key("nfd", "enabled"))
    nfd_worker: Placement = field(metadata=key("node-feature-discovery", "worker"))
    nfd_master: Placement = field(metadata=key("node-feature-discovery", "master"))
    nfd_gc: Placement = field(metadata=key("node-feature-discovery", "gc"))
    operator: Placement
    device_plugin_config: str | None = field(
        default=None, metadata=key("devicePlugin", "config", "name")
    )
    device_plugin_config_create: bool | None = field(
        default=None, metadata=key("devicePlugin", "config", "create")
    )
    device_plugin_config_default: str | None = field(
        default=None, metadata=key("devicePlugin", "config", "default")
    )
    device_plugin_config_data: Mapping[str, str] | None = field(
        default=None, metadata=key("devicePlugin", "config", "data")
    )
    dcgm_exporter: bool = field(metadata=key("dcgmExporter", "enabled"))
    dcgm_service_monitor: bool | None = field(
        default=None, metadata=key("dcgmExporter", "serviceMonitor", "enabled")
    )
    mig_manager: bool = field(default=False, metadata=key("migManager", "enabled"))


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuStackPlan:
    """Releases of the GPU stack; `None` for a chart that the cluster does not need."""

    device_plugin: Release[DevicePluginValues] | None = None
    operator: Release[GpuOperatorValues] | None = None


def gpu_stack_plan(
    pools: tuple[Pool, ...],
    stack: GpuStack = GpuStack(),  # noqa: B008 -- frozen
    owners: Ownership = Ownership(),  # noqa: B008 -- frozen
    charts: Charts = Charts(),  # noqa: B008 -- frozen
    *,
    system: Placement = ANYWHERE,
) -> GpuStackPlan:
    """Return the GPU stack of a cluster, which is empty if none of `pools` has GPUs.

    Deployments of the GPU Operator run on `system`.
    """
    gpu_pools = tuple(pool for pool in pools if pool.gpu is not None)
    if not gpu_pools:
        return GpuStackPlan()
    return GpuStackPlan(
        device_plugin=(
            _device_plugin(gpu_pools, charts) if owners.advertiser == "device_plugin" else None
        ),
        operator=(
            _operator(
                gpu_pools,
                owners,
                system=system,
                metrics=stack.operator.metrics,
                driver_version=stack.operator.driver_version,
                charts=charts,
            )
            if stack.operator is not None
            else None
        ),
    )


def _configs(pools: tuple[Pool, ...]) -> dict[str, str]:
    """Return the text of each device plugin config; JSON, which is YAML."""
    configs: dict[str, dict[str, Any]] = {labels.WHOLE_GPUS: {"version": "v1"}}
    for pool in pools:
        if pool.time_slices > 1:
            configs[labels.slices(pool.time_slices)] = time_slicing(pool.time_slices)
    return {name: json.dumps(config, indent=2) for name, config in configs.items()}


def time_slicing(replicas: int) -> dict[str, Any]:
    """Return a device plugin config that advertises each GPU `replicas` times.

    The plugin refuses a request for more than one slice: two slices may be of one card, which is
    not twice the GPU. Memory is not isolated between slices.
    """
    return {
        "version": "v1",
        "sharing": {
            "timeSlicing": {
                "renameByDefault": False,
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": labels.GPU_RESOURCE, "replicas": replicas}],
            }
        },
    }


def default_config(pools: tuple[Pool, ...]) -> str:
    """Return the device plugin config of nodes without the label that selects one.

    Nodes that this program creates have the label. The nodes of an existing cluster share one
    config, or the cluster's owner labels them: the check `sharing-config` verifies it.
    """
    unlabelled = {pool.sharing for pool in pools if labels.SHARING_LABEL not in pool.labels}
    return (unlabelled.pop() if len(unlabelled) == 1 else None) or labels.WHOLE_GPUS


def _device_plugin(pools: tuple[Pool, ...], charts: Charts) -> Release[DevicePluginValues]:
    runtime_classes = {pool.runtime_class for pool in pools}
    placement = daemonset_placement(pools)
    return release(
        "nvidia-device-plugin",
        charts,
        name="nvidia-device-plugin",
        namespace=Namespaces.device_plugin,
        timeout_s=GPU_STACK_TIMEOUT_S,
        values=DevicePluginValues(
            affinity=placement.affinity,
            tolerations=placement.tolerations,
            configs=_configs(pools),
            default_config=default_config(pools),
            runtime_class_name=runtime_classes.pop() if len(runtime_classes) == 1 else None,
        ),
    )


def _operator(
    pools: tuple[Pool, ...],
    owners: Ownership,
    *,
    system: Placement,
    metrics: bool,
    driver_version: str | None,
    charts: Charts,
) -> Release[GpuOperatorValues]:
    advertises = owners.advertiser == "operator"
    placement = daemonset_placement(pools)
    return release(
        "gpu-operator",
        charts,
        name="gpu-operator",
        namespace=Namespaces.operator,
        timeout_s=GPU_STACK_TIMEOUT_S,
        values=GpuOperatorValues(
            driver=owners.driver,
            driver_version=driver_version,
            toolkit=owners.toolkit,
            device_plugin=advertises,
            device_plugin_config=_CONFIG_MAP if advertises else None,
            device_plugin_config_create=True if advertises else None,
            device_plugin_config_default=default_config(pools) if advertises else None,
            device_plugin_config_data=_configs(pools) if advertises else None,
            operands=Placement(tolerations=placement.tolerations),
            nfd_worker=placement,
            nfd_master=system,
            nfd_gc=system,
            operator=system,
            dcgm_exporter=metrics,
            dcgm_service_monitor=False if metrics else None,
        ),
    )
