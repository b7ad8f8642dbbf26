"""GPU Operator and device plugin: a namespace that admits their pods, then one awaited release."""

from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pytest

from components.gpu.stack import DevicePlugin, GpuOperator
from fleet.kubernetes.releases import Release
from tests import fleets
from tests.engine import Registered, deploy_both, remembered

RELEASE = kubernetes.helm.v3.Release
NAMESPACE = kubernetes.core.v1.Namespace
EFA = {"instance_types": ["p4d.24xlarge"], "max_size": 1, "efa": True, "zones": ["us-west-2a"]}


def planned(chart: str, **changes: Any) -> Release:
    plan = fleets.cluster({"eks": {"pools": {"efa": EFA}}, **changes})
    stack = plan.gpu_stack
    release = {
        "gpu-operator": stack.operator,
        "nvidia-device-plugin": stack.device_plugin,
        "aws-efa-k8s-device-plugin": plan.platform.efa_plugin,
    }[chart]
    assert release is not None
    return release


@remembered
def made(release: Release) -> Registered:
    def program() -> None:
        opts = fleets.providers()
        dns = aws.eks.Addon("dns", cluster_name="ci", addon_name="coredns")
        component = GpuOperator if release.chart == "gpu-operator" else DevicePlugin
        made = component("gpu", release=release, depends_on=[dns], opts=opts)
        pulumi.export("ready", [one.urn for one in made.ready])

    return deploy_both(program)


CHARTS = pytest.mark.parametrize(
    "chart", ["gpu-operator", "nvidia-device-plugin", "aws-efa-k8s-device-plugin"]
)


@CHARTS
def test_the_namespace_admits_pods_that_mount_the_host(chart: str) -> None:
    found = made(planned(chart))
    space = found.one(NAMESPACE).inputs["metadata"]
    assert space["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert found.one(RELEASE).inputs["namespace"] == space["name"]


@CHARTS
def test_the_release_waits_for_namespace_and_cluster(chart: str) -> None:
    found = made(planned(chart))
    needed = {found.one(NAMESPACE).urn, found.one(aws.eks.Addon).urn}
    assert found.one(RELEASE).depends_on >= needed
    assert found.one(aws.eks.Addon).urn in found.one(NAMESPACE).depends_on, "pods need DNS to start"


@CHARTS
def test_a_large_fleet_has_time_to_roll_and_is_not_rolled_back(chart: str) -> None:
    sent = made(planned(chart)).one(RELEASE).inputs
    assert sent["timeout"] >= 1800
    assert sent["atomic"] is False, "a rollback in the middle leaves nodes of both versions"
    assert not sent.get("skipAwait"), "lanes wait for a ready GPU stack"


def test_on_nvidia_images_the_operator_owns_neither_driver_nor_toolkit() -> None:
    values = made(planned("gpu-operator")).one(RELEASE).inputs["values"]
    assert values["driver"]["enabled"] is False
    assert values["toolkit"]["enabled"] is False, (
        "its runtime is one that the image does not define, and nodes turn NotReady"
    )
    assert values["devicePlugin"]["enabled"] is False, "the stand-alone plugin advertises"


def test_jobs_wait_for_the_release() -> None:
    found = made(planned("nvidia-device-plugin"))
    assert found.stack_outputs.data["ready"] == [found.one(RELEASE).urn]
    found = made(planned("gpu-operator"))
    assert found.stack_outputs.data["ready"] == [found.one(RELEASE).urn]
