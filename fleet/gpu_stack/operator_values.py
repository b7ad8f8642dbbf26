"""Values of NVIDIA's `gpu-operator` chart, v26.7.0.

Who lands where, and by which key:

| what | selected by |
|---|---|
| operator Deployment | `operator.affinity`; no GPU toleration |
| NFD master, NFD gc | `node-feature-discovery.{master,gc}.affinity`; no GPU toleration |
| NFD worker | `node-feature-discovery.worker.affinity` and tolerations |
| operands (plugin, GFD, DCGM, validator, MIG) | node labels `nvidia.com/gpu.deploy.*`, no value |

The operator puts the deploy labels on nodes where NFD found an NVIDIA card, so keeping NFD's worker
to the GPU pools keeps the operands there too. It also *resets* `nvidia.com/gpu.present` to `false`
on a node whose card NFD has not found yet (labelGPUNodes): select GPU pools by a label of one's
own, never by that one.
Helm merges maps and replaces lists: `tolerations` given here are the only ones.
Sources: NVIDIA/gpu-operator@v26.7.0:deployments/gpu-operator (values.yaml,
templates/{operator,clusterpolicy}.yaml, charts/node-feature-discovery/values.yaml, NFD 0.19),
controllers/{state_manager,object_controls}.go
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fleet.kubernetes.pods import Affinity, EnvVar, ResourceRequirements, Toleration
from fleet.kubernetes.values import key

_NFD = "node-feature-discovery"


@dataclass(frozen=True, kw_only=True, slots=True)
class NfdPlacement:
    """Where one of node feature discovery's three workloads runs and what it asks for."""

    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    resources: ResourceRequirements | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuOperatorValues:
    """The values of the operator; each part of the GPU stack is on or off by name.

    `driver` and `toolkit` are off where the node image brings them. `device_plugin` is off where
    another advertiser of `nvidia.com/gpu` is installed; its validation then falls away by itself.
    `dcgm_service_monitor` needs the Prometheus Operator's definitions. `validator_plugin_env`
    with `WITH_WORKLOAD=false` keeps the validator from taking a GPU on every new node.

    Raises ValueError when NFD is on and its worker has no affinity: it would run on CPU nodes.
    """

    driver: bool = field(metadata=key("driver", "enabled"))
    toolkit: bool = field(metadata=key("toolkit", "enabled"))
    device_plugin: bool = field(metadata=key("devicePlugin", "enabled"))
    daemonset_tolerations: tuple[Toleration, ...] = field(metadata=key("daemonsets", "tolerations"))
    driver_version: str | None = field(default=None, metadata=key("driver", "version"))
    nfd: bool = field(default=True, metadata=key("nfd", "enabled"))
    nfd_worker: NfdPlacement | None = field(default=None, metadata=key(_NFD, "worker"))
    nfd_master: NfdPlacement | None = field(default=None, metadata=key(_NFD, "master"))
    nfd_gc: NfdPlacement | None = field(default=None, metadata=key(_NFD, "gc"))
    operator_affinity: Affinity | None = field(default=None, metadata=key("operator", "affinity"))
    operator_tolerations: tuple[Toleration, ...] | None = field(
        default=None, metadata=key("operator", "tolerations")
    )
    operator_resources: ResourceRequirements | None = field(
        default=None, metadata=key("operator", "resources")
    )
    cdi: bool | None = field(default=None, metadata=key("cdi", "enabled"))
    psa: bool | None = field(default=None, metadata=key("psa", "enabled"))
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
    gfd: bool | None = field(default=None, metadata=key("gfd", "enabled"))
    dcgm: bool | None = field(default=None, metadata=key("dcgm", "enabled"))
    dcgm_exporter: bool | None = field(default=None, metadata=key("dcgmExporter", "enabled"))
    dcgm_service_monitor: bool | None = field(
        default=None, metadata=key("dcgmExporter", "serviceMonitor", "enabled")
    )
    mig_strategy: Literal["none", "single", "mixed"] | None = field(
        default=None, metadata=key("mig", "strategy")
    )
    mig_manager: bool | None = field(default=None, metadata=key("migManager", "enabled"))
    node_status_exporter: bool | None = field(
        default=None, metadata=key("nodeStatusExporter", "enabled")
    )
    validator_plugin_env: tuple[EnvVar, ...] | None = field(
        default=None, metadata=key("validator", "plugin", "env")
    )
    daemonset_priority_class_name: str | None = field(
        default=None, metadata=key("daemonsets", "priorityClassName")
    )
    daemonset_update_strategy: Literal["RollingUpdate", "OnDelete"] | None = field(
        default=None, metadata=key("daemonsets", "updateStrategy")
    )
    daemonset_max_unavailable: str | None = field(
        default=None, metadata=key("daemonsets", "rollingUpdate", "maxUnavailable")
    )

    def __post_init__(self) -> None:
        if self.nfd and (self.nfd_worker is None or self.nfd_worker.affinity is None):
            raise ValueError(
                "node feature discovery is on and its worker has no affinity, so it would run on "
                "CPU nodes too: give nfd_worker an affinity to the GPU pools, or set nfd=False"
            )
