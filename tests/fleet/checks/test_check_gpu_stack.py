"""One advertiser of GPUs, a known driver, and settings that take effect."""

import dataclasses
from typing import Any

import pytest

from fleet.plan import ClusterPlan
from tests.fleet.checks.planted import cards, existing_of, found, planted, with_pool, with_values
from tests.fleet.samples import every_key

LANES = {"gpu": {"pools": ["gpu"], "gpus": 1}}


def test_a_pool_with_two_advertisers_is_an_error_with_both() -> None:
    def plant(cluster: ClusterPlan) -> ClusterPlan:
        operator = with_values(cluster.gpu_stack.operator, device_plugin=True)
        return dataclasses.replace(
            cluster, gpu_stack=dataclasses.replace(cluster.gpu_stack, operator=operator)
        )

    findings = planted("one-advertiser", every_key(), "ci", plant)
    assert [finding.path for finding in findings] == [
        "clusters.ci.eks.pools.t4",
        "clusters.ci.eks.pools.a100",
    ]
    assert "by NVIDIA's device plugin and the GPU Operator" in findings[0].message


def test_oracles_plugin_runs_unless_a_label_keeps_it_off() -> None:
    def plant(cluster: ClusterPlan) -> ClusterPlan:
        labels = dict(cluster.pools[1].labels)
        del labels["oci.oraclecloud.com/disable-gpu-device-plugin"]
        return with_pool(cluster, "a10", labels=labels)

    (finding,) = planted("one-advertiser", every_key(), "oci", plant)
    assert "by NVIDIA's device plugin and Oracle's device plugin" in finding.message


def test_a_pool_without_an_advertiser_is_an_error() -> None:
    def plant(cluster: ClusterPlan) -> ClusterPlan:
        gpu_stack = dataclasses.replace(cluster.gpu_stack, device_plugin=None)
        return dataclasses.replace(cluster, gpu_stack=gpu_stack)

    findings = planted("one-advertiser", every_key(), "ci", plant)
    assert len(findings) == 2
    assert "no device plugin advertises its GPUs" in findings[0].message
    assert "gpu_stack.advertiser" in findings[0].remedy


def test_gpu_nodes_without_a_known_driver_are_a_warning() -> None:
    silent = cards()
    del silent["driver"]
    (finding,) = found("driver-unknown", existing_of({"gpu": silent}, LANES))
    assert (finding.severity, finding.path) == ("warning", "clusters.site.existing.pools.gpu")
    assert "nvidia-smi" in finding.message
    operator = {"gpu_stack": {"operator": {"driver": True, "toolkit": True}}}
    assert not found("driver-unknown", existing_of({"gpu": silent}, LANES, **operator))
    assert not found("driver-unknown", existing_of({"gpu": cards()}, LANES))


@pytest.mark.parametrize(
    ("gpu_stack", "says"),
    [
        ({"advertiser": "device_plugin"}, "has advertiser"),
        ({"advertiser": "operator", "operator": {}}, "has advertiser and operator"),
        ({"operator": {}}, "has operator"),
        ({"advertiser": "provider"}, None),
        ({}, None),
    ],
)
def test_a_gpu_stack_needs_a_gpu_pool(gpu_stack: dict[str, Any], says: str | None) -> None:
    lanes = {"plain": {"pools": ["cpu"], "cpu": 1, "memory": "1Gi"}}
    findings = found("gpu-stack-unused", existing_of({"cpu": {}}, lanes, gpu_stack=gpu_stack))
    assert len(findings) == (says is not None)
    if says:
        assert (findings[0].severity, findings[0].path) == ("warning", "clusters.site.gpu_stack")
        assert findings[0].message.startswith(says)
    with_gpus = existing_of({"cpu": {}, "gpu": cards()}, lanes, gpu_stack=gpu_stack)
    assert not found("gpu-stack-unused", with_gpus)
