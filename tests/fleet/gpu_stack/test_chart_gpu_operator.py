"""The GPU Operator chart: its exact keys, and what keeps it off CPU nodes."""

from __future__ import annotations

import pytest

from fleet.gpu_stack.operator_values import GpuOperatorValues, NfdPlacement
from fleet.kubernetes.pods import EnvVar, Size, Toleration, resources, selector_affinity
from fleet.kubernetes.values import to_values

GPU_TAINT = Toleration(key="nvidia.com/gpu", effect="NoSchedule")
ON_GPU = selector_affinity([{"gpu-runners/pool": "t4"}, {"gpu-runners/pool": "a100"}])
ON_CPU = selector_affinity([{"gpu-runners/role": "system"}])
TAINT = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


def test_every_key_has_the_charts_spelling() -> None:
    small = resources(Size(cpu_m=10, memory_mib=64))
    values = to_values(
        GpuOperatorValues(
            driver=False,
            toolkit=False,
            device_plugin=True,
            daemonset_tolerations=(GPU_TAINT,),
            nfd_worker=NfdPlacement(affinity=ON_GPU, tolerations=(GPU_TAINT,), resources=small),
            nfd_master=NfdPlacement(affinity=ON_CPU),
            nfd_gc=NfdPlacement(affinity=ON_CPU, tolerations=()),
            operator_affinity=ON_CPU,
            operator_tolerations=(),
            operator_resources=small,
            cdi=True,
            psa=False,
            device_plugin_config="time-slicing",
            device_plugin_config_create=True,
            device_plugin_config_default="default",
            device_plugin_config_data={"default": "{}"},
            gfd=True,
            dcgm=False,
            dcgm_exporter=True,
            dcgm_service_monitor=False,
            mig_strategy="single",
            mig_manager=False,
            node_status_exporter=False,
            validator_plugin_env=(EnvVar(name="WITH_WORKLOAD", value="false"),),
            daemonset_priority_class_name="system-node-critical",
            daemonset_update_strategy="RollingUpdate",
            daemonset_max_unavailable="25%",
        )
    )
    tiny = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "64Mi"}}
    assert values == {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "devicePlugin": {
            "enabled": True,
            "config": {
                "name": "time-slicing",
                "create": True,
                "default": "default",
                "data": {"default": "{}"},
            },
        },
        "daemonsets": {
            "tolerations": TAINT,
            "priorityClassName": "system-node-critical",
            "updateStrategy": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "25%"},
        },
        "nfd": {"enabled": True},
        "node-feature-discovery": {
            "worker": {"affinity": to_values(ON_GPU), "tolerations": TAINT, "resources": tiny},
            "master": {"affinity": to_values(ON_CPU)},
            "gc": {"affinity": to_values(ON_CPU), "tolerations": []},
        },
        "operator": {"affinity": to_values(ON_CPU), "tolerations": [], "resources": tiny},
        "cdi": {"enabled": True},
        "psa": {"enabled": False},
        "gfd": {"enabled": True},
        "dcgm": {"enabled": False},
        "dcgmExporter": {"enabled": True, "serviceMonitor": {"enabled": False}},
        "mig": {"strategy": "single"},
        "migManager": {"enabled": False},
        "nodeStatusExporter": {"enabled": False},
        "validator": {"plugin": {"env": [{"name": "WITH_WORKLOAD", "value": "false"}]}},
    }


@pytest.mark.parametrize("worker", [None, NfdPlacement(tolerations=(GPU_TAINT,))])
def test_a_discovery_worker_that_would_run_on_cpu_nodes_is_refused(
    worker: NfdPlacement | None,
) -> None:
    with pytest.raises(ValueError, match="give nfd_worker an affinity"):
        GpuOperatorValues(
            driver=False,
            toolkit=False,
            device_plugin=False,
            daemonset_tolerations=(GPU_TAINT,),
            nfd_worker=worker,
        )


def test_a_cluster_with_its_own_discovery_needs_no_worker() -> None:
    values = GpuOperatorValues(
        driver=False,
        toolkit=False,
        device_plugin=False,
        daemonset_tolerations=(GPU_TAINT,),
        nfd=False,
    )
    assert to_values(values) == {
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "devicePlugin": {"enabled": False},
        "daemonsets": {"tolerations": TAINT},
        "nfd": {"enabled": False},
    }
