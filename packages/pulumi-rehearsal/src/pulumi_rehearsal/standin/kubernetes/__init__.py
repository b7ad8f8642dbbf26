"""The stand-in for Kubernetes: objects, Helm releases and YAML groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pulumi_rehearsal.standin.kubernetes import (
    cluster,
    core,
    gitlab_manager,
    gpu,
    runner_set,
    workloads,
)
from pulumi_rehearsal.standin.kubernetes.chart import HelmChart
from pulumi_rehearsal.standin.kubernetes.cluster import scope
from pulumi_rehearsal.standin.kubernetes.config_group import ConfigGroup
from pulumi_rehearsal.standin.kubernetes.helm import CHARTS, HelmRelease
from pulumi_rehearsal.standin.kubernetes.job_needs import watch
from pulumi_rehearsal.standin.kubernetes.objects import any_object
from pulumi_rehearsal.standin.kubernetes.release import RELEASE, release_of
from pulumi_rehearsal.standin.server import Package

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

__all__ = ["PACKAGE", "scope", "world_faults"]


def world_faults(world: World) -> list[str]:
    """Describe what does not work after a successful `up`, although no API call failed."""
    with world.lock:
        return [
            *_release_faults(world),
            *runner_set.faults(world),
            *gitlab_manager.faults(world),
            *_cluster_faults(world),
        ]


def _release_faults(world: World) -> Iterator[str]:
    for resource in world.all(RELEASE):
        release = release_of(resource.inputs, resource.scope)
        chart = CHARTS.get(release.chart)
        if chart is not None:
            yield from chart.faults(release, world)


def _cluster_faults(world: World) -> Iterator[str]:
    for found in cluster.clusters(world):
        yield from gpu.unadvertised(world, found)
        yield from cluster.faults(world, found)


PACKAGE: Final = Package(
    name="kubernetes",
    kinds=(*core.KINDS, *workloads.KINDS, *runner_set.KINDS, HelmRelease()),
    constructs=(ConfigGroup(), HelmChart()),
    fallback=any_object,
    scope=scope,
    check_up=world_faults,
    watch=watch,
)
