"""The EFA plugin chart: its exact keys, and the nodes it runs on."""

from __future__ import annotations

import pytest

from fleet.gpu_stack.efa_values import EfaPluginValues
from fleet.kubernetes.pods import Size, Toleration, resources
from fleet.kubernetes.values import to_values

GPU_TAINT = Toleration(key="nvidia.com/gpu", effect="NoSchedule")


def test_every_key_has_the_charts_spelling_and_the_plugin_is_tied_to_pools() -> None:
    values = to_values(
        EfaPluginValues(
            labels=("gpu-runners/pool",),
            values=("a100",),
            tolerations=(GPU_TAINT,),
            resources=resources(Size(cpu_m=10, memory_mib=20)),
            image_repository="mirror.example/efa",
        )
    )
    assert values == {
        "supportedInstanceLabels": {"keys": ["gpu-runners/pool"], "values": ["a100"]},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "resources": {
            "requests": {"cpu": "10m", "memory": "20Mi"},
            "limits": {"memory": "20Mi"},
        },
        "image": {"repository": "mirror.example/efa"},
    }


@pytest.mark.parametrize(("labels", "values"), [((), ("a100",)), (("gpu-runners/pool",), ())])
def test_a_plugin_for_no_node_is_refused(labels: tuple[str, ...], values: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="would run on no node"):
        EfaPluginValues(labels=labels, values=values, tolerations=(GPU_TAINT,))
