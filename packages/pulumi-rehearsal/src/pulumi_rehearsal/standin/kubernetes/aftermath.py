"""What is wrong in the clusters after an `up` that went well: faults that no API call reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pulumi_rehearsal.standin.kubernetes import clouds, gpu
from pulumi_rehearsal.standin.kubernetes.helm import CHARTS
from pulumi_rehearsal.standin.kubernetes.release import RELEASE, release_of

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World


def world_faults(world: World) -> list[str]:
    """One sentence for each release that says `deployed` and does not do its work."""
    with world.lock:
        return [*_release_faults(world), *_cluster_faults(world)]


def _release_faults(world: World) -> Iterator[str]:
    for thing in world.all(RELEASE):
        release = release_of(thing.inputs, thing.scope)
        chart = CHARTS.get(release.chart)
        if chart is not None:
            yield from chart.faults(release, world)


def _cluster_faults(world: World) -> Iterator[str]:
    for cluster in clouds.clusters(world):
        yield from gpu.unadvertised(world, cluster)
        yield from clouds.faults(world, cluster)
