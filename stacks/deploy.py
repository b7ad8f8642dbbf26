"""One stack: its configuration, one component per cluster, and its outputs.

This is the only module that reads `pulumi.Config`.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi

from components.cluster import RunnerCluster
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.oke import GPU_IMAGE_DRIVER
from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.oke import OkePlan
from fleet.findings import StackFileError
from fleet.load import Fleet, load
from fleet.plan import ClusterPlan
from stacks.live import at_live_sizes
from stacks.providers import (
    cloud_provider,
    gitlab_provider,
    kubernetes_provider,
    lane_provider,
)

PROJECT = "gpu-runners"


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A fleet without errors, and the secrets that it names."""

    fleet: Fleet
    secrets: Mapping[str, pulumi.Output[str]] = field(repr=False)


def from_config() -> Loaded:
    """Load the current stack.

    Raises pulumi.RunError with every error of the stack file, before anything is registered. The
    engine prints it without a traceback.
    """
    config = pulumi.Config(PROJECT)
    text = config.get("stack")
    source = f"Pulumi.{pulumi.get_stack()}.yaml"
    if text is None:
        raise pulumi.RunError(
            f"{source}: has no {PROJECT}:stack.\n"
            f"    Copy the one of Pulumi.staging.yaml and change it; README.md explains each key."
        )
    try:
        fleet = load(
            _data(text),
            source=source,
            has_secret=lambda name: config.get_secret(name) is not None,
        )
    except StackFileError as error:
        raise pulumi.RunError(str(error)) from None
    for warning in fleet.warnings:
        pulumi.log.warn(str(warning))
    secrets = {name: config.require_secret(name) for name in fleet.secret_names}
    return Loaded(fleet=fleet, secrets=secrets)


def _data(text: str) -> object:
    """Decode the value of the key. The engine passes a map as JSON, and a scalar as its text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def deploy(loaded: Loaded) -> dict[str, RunnerCluster]:
    """Register every cluster of the fleet."""
    exempt_from_garbage_collection()
    return {plan.name: _cluster(plan, loaded) for plan in loaded.fleet.plan.clusters}


def exempt_from_garbage_collection() -> None:
    """Exempt from Python's garbage collection what lives until the end of the program.

    A full collection visits a million objects of the SDKs and every pending future. That takes a
    quarter of a second each time, and a large fleet causes many of them.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 1_000)


def _cluster(plan: ClusterPlan, loaded: Loaded) -> RunnerCluster:
    cloud = cloud_provider(plan.platform)
    providers: list[pulumi.ProviderResource] = [cloud]
    if plan.gitlab is not None and plan.gitlab.api_token is not None:
        providers.append(
            gitlab_provider(plan.name, plan.gitlab, loaded.secrets[plan.gitlab.api_token])
        )
    return RunnerCluster(
        plan.name,
        plan=replace(plan, platform=at_live_sizes(plan.platform, cloud)),
        connect=kubernetes_provider,
        connect_lanes=lambda kubeconfig: lane_provider(plan.platform, kubeconfig),
        secrets=loaded.secrets,
        opts=pulumi.ResourceOptions(providers=providers),
    )


def export(loaded: Loaded, clusters: dict[str, RunnerCluster]) -> None:
    """Export kubeconfigs, the labels and tags that jobs name, and versions."""
    pulumi.export(
        "kubeconfigs",
        {
            name: cluster.kubeconfig
            for name, cluster in clusters.items()
            if cluster.kubeconfig is not None
        },
    )
    pulumi.export("lanes", {plan.name: _lanes(plan) for plan in loaded.fleet.plan.clusters})
    pulumi.export("versions", {plan.name: _versions(plan) for plan in loaded.fleet.plan.clusters})


def _lanes(plan: ClusterPlan) -> dict[str, Any]:
    return {
        forge: {lane.name: {key: list(lane.labels)} for lane in plan.lanes if lane.forge == forge}
        for forge, key in (("github", "runs-on"), ("gitlab", "tags"))
    }


def _versions(plan: ClusterPlan) -> dict[str, Any]:
    return {
        **_platform_versions(plan),
        "charts": {one.chart.rpartition("/")[2]: one.version for one in plan.releases},
        "gpus": {pool.name: pool.gpu for pool in plan.pools if pool.gpu is not None},
    }


def _platform_versions(plan: ClusterPlan) -> dict[str, Any]:
    match plan.platform:
        case EksPlan(version=version, pools=pools):
            return {
                "kubernetes": version,
                "ami_releases": {pool.name: pool.release_version for pool in pools},
                "nvidia_driver_at_least": KUBERNETES_VERSIONS[version].nvidia_driver,
            }
        case OkePlan(version=version):
            return {"kubernetes": version, "nvidia_driver_at_least": GPU_IMAGE_DRIVER}
        case ExistingPlan(drivers=drivers):
            return {"nvidia_drivers": drivers}
