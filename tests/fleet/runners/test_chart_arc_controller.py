"""The ARC controller chart: its exact keys."""

from __future__ import annotations

from typing import Any

import pytest

from fleet.kubernetes.pods import Size, Toleration, resources, selector_affinity
from fleet.kubernetes.values import to_values
from fleet.runners.arc_controller import ArcControllerValues

ON_CPU = selector_affinity([{"gpu-runners/role": "system"}])


def test_every_key_has_the_charts_spelling() -> None:
    values = to_values(
        ArcControllerValues(
            service_account="arc-controller",
            log_format="json",
            runner_max_concurrent_reconciles=10,
            watch_single_namespace="arc-runners",
            metrics_controller_manager_addr=":8080",
            metrics_listener_addr=":8080",
            metrics_listener_endpoint="/metrics",
            resources=resources(Size(cpu_m=100, memory_mib=128)),
            node_selector={"role": "system"},
            affinity=ON_CPU,
            tolerations=(Toleration(key="CriticalAddonsOnly"),),
            priority_class_name="system-cluster-critical",
            labels={"a": "b"},
            pod_labels={"c": "d"},
            pod_annotations={"e": "f"},
        )
    )
    assert values == {
        "serviceAccount": {"name": "arc-controller"},
        "replicaCount": 1,
        "flags": {
            "logLevel": "info",
            "logFormat": "json",
            "updateStrategy": "eventual",
            "runnerMaxConcurrentReconciles": 10,
            "watchSingleNamespace": "arc-runners",
        },
        "metrics": {
            "controllerManagerAddr": ":8080",
            "listenerAddr": ":8080",
            "listenerEndpoint": "/metrics",
        },
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "128Mi"},
        },
        "nodeSelector": {"role": "system"},
        "affinity": to_values(ON_CPU),
        "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
        "priorityClassName": "system-cluster-critical",
        "labels": {"a": "b"},
        "podLabels": {"c": "d"},
        "podAnnotations": {"e": "f"},
    }


def test_by_default_metrics_are_off_and_a_change_waits_for_running_jobs() -> None:
    values = to_values(ArcControllerValues(service_account="arc-controller"))
    assert "metrics" not in values
    assert values["flags"]["updateStrategy"] == "eventual"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"service_account": "default"}, "give an account of its own"),
        ({"service_account": ""}, "give an account of its own"),
        ({"metrics_listener_addr": ":8080"}, "given in part"),
    ],
)
def test_what_the_chart_refuses_or_half_does_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ArcControllerValues(**{"service_account": "arc-controller", **changes})
