"""Values of NVIDIA's `nvidia-device-plugin` chart, 0.20.0: the stand-alone advertiser of GPUs.

The chart selects nodes by labels of node feature discovery or `nvidia.com/gpu.present=true`.
Neither fits a fleet (the first is not installed, the second is reset by the GPU Operator), so
`affinity` is required here and replaces the chart's terms.

A node picks one of `configs` by its label `nvidia.com/device-plugin.config`. A node without the
label takes `default_config`; were that left out, the plugin would look for a config called
`default`, then for a single one, and otherwise never start.
Source: NVIDIA/k8s-device-plugin@v0.20.0:deployments/helm/nvidia-device-plugin (values.yaml,
templates/_helpers.tpl, templates/daemonset-device-plugin.yml) and README.md (sharing)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fleet.kubernetes.pods import GPU, Affinity, ResourceRequirements, Toleration
from fleet.kubernetes.values import key

CONFIG_LABEL = "nvidia.com/device-plugin.config"
DEFAULT_CONFIG = "default"


@dataclass(frozen=True, kw_only=True, slots=True)
class DevicePluginValues:
    """The values of the plugin.

    `configs` maps a config's name to its text (`config_text`). `runtime_class_name` is `nvidia`
    where nvidia is not the container runtime's default. What is None is decided by the plugin:
    the strategy for handing devices over is then the environment.

    Raises ValueError for configs whose default is not among them, and for a default without
    configs.
    """

    affinity: Affinity
    tolerations: tuple[Toleration, ...]
    configs: Mapping[str, str] | None = field(default=None, metadata=key("config", "map"))
    default_config: str | None = field(default=None, metadata=key("config", "default"))
    resources: ResourceRequirements | None = None
    runtime_class_name: str | None = None
    priority_class_name: str | None = None
    device_list_strategy: (
        Literal["envvar", "volume-mounts", "cdi-annotations", "cdi-cri"] | None
    ) = None
    mig_strategy: Literal["none", "single", "mixed"] | None = None
    fail_on_init_error: bool | None = None
    allow_default_namespace: bool | None = None
    gfd: bool = field(default=False, metadata=key("gfd", "enabled"))
    nfd: bool = field(default=False, metadata=key("nfd", "enabled"))

    def __post_init__(self) -> None:
        names = tuple(self.configs or ())
        if (names or self.default_config is not None) and self.default_config not in names:
            raise ValueError(
                f"default_config {self.default_config!r} is not one of configs {names}: name the "
                f"config of nodes that lack the label {CONFIG_LABEL}"
            )


def time_slicing(replicas: int, *, resource: str = GPU) -> dict[str, Any]:
    """A config that advertises each GPU `replicas` times under its own name.

    A request for more than one is refused: two slices may be of one card, so it would not be
    twice the GPU. There is no isolation of memory between slices. Raises ValueError below 2.
    """
    if replicas < 2:
        raise ValueError(f"time slicing into {replicas}: give at least 2, or do not share the GPU")
    return {
        "version": "v1",
        "sharing": {
            "timeSlicing": {
                "renameByDefault": False,
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": resource, "replicas": replicas}],
            }
        },
    }


def exclusive() -> dict[str, Any]:
    """A config that shares nothing; the usual default."""
    return {"version": "v1"}


def config_text(config: Mapping[str, Any]) -> str:
    """The text of a config; JSON, which is YAML."""
    return json.dumps(config, indent=2)
