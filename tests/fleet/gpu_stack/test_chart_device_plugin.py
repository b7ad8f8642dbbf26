"""The device plugin chart: its exact keys, named configs and their default."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from fleet.gpu_stack.device_plugin_values import (
    DEFAULT_CONFIG,
    DevicePluginValues,
    config_text,
    exclusive,
    time_slicing,
)
from fleet.kubernetes.pods import Size, Toleration, resources, selector_affinity
from fleet.kubernetes.values import to_values

ON_GPU = selector_affinity([{"gpu-runners/pool": "t4"}, {"gpu-runners/pool": "a100"}])
GPU_TAINT = Toleration(key="nvidia.com/gpu", effect="NoSchedule")


def plugin(**changes: Any) -> DevicePluginValues:
    return DevicePluginValues(**{"affinity": ON_GPU, "tolerations": (GPU_TAINT,), **changes})


def test_every_key_has_the_charts_spelling() -> None:
    values = to_values(
        plugin(
            configs={"default": "{}", "slices-2": "{}"},
            default_config="default",
            resources=resources(Size(cpu_m=50, memory_mib=64)),
            runtime_class_name="nvidia",
            priority_class_name="system-node-critical",
            device_list_strategy="envvar",
            mig_strategy="none",
            fail_on_init_error=False,
            allow_default_namespace=False,
        )
    )
    assert values == {
        "affinity": to_values(ON_GPU),
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "config": {"map": {"default": "{}", "slices-2": "{}"}, "default": "default"},
        "resources": {
            "requests": {"cpu": "50m", "memory": "64Mi"},
            "limits": {"memory": "64Mi"},
        },
        "runtimeClassName": "nvidia",
        "priorityClassName": "system-node-critical",
        "deviceListStrategy": "envvar",
        "migStrategy": "none",
        "failOnInitError": False,
        "allowDefaultNamespace": False,
        "gfd": {"enabled": False},
        "nfd": {"enabled": False},
    }


def test_without_sharing_there_is_no_config_and_no_discovery() -> None:
    assert set(to_values(plugin())) == {"affinity", "tolerations", "gfd", "nfd"}


@pytest.mark.parametrize(
    "changes",
    [
        {"configs": {"slices-2": "{}"}},
        {"configs": {"slices-2": "{}"}, "default_config": "default"},
        {"default_config": "default"},
    ],
    ids=["no default", "a default that is not there", "a default without configs"],
)
def test_nodes_without_the_label_need_a_config_that_exists(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"nvidia\.com/device-plugin\.config"):
        plugin(**changes)


def test_a_time_slicing_config_is_yaml_that_the_plugin_reads() -> None:
    document = yaml.safe_load(config_text(time_slicing(4)))
    assert document == {
        "version": "v1",
        "sharing": {
            "timeSlicing": {
                "renameByDefault": False,
                "failRequestsGreaterThanOne": True,
                "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
            }
        },
    }


def test_the_usual_default_shares_nothing() -> None:
    assert yaml.safe_load(config_text(exclusive())) == {"version": "v1"}
    assert DEFAULT_CONFIG == "default", "the name that the plugin looks for by itself"


def test_slicing_a_gpu_into_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        time_slicing(1)
