"""Registration of the fleet, one component per cluster, and the outputs of the stack."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import pulumi

from components.cluster import RunnerCluster
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.oke import GPU_IMAGE_DRIVER
from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.oke import OkePlan
from fleet.plan import ClusterPlan
from stacks.live import at_live_sizes
from stacks.load import Loaded
from stacks.providers import cloud_provider, gitlab_provider, kubernetes_provider


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
