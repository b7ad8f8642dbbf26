"""What checks read: a stack, its plan, and each lane with the pods that it will start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TypeAlias

from fleet.clusters.nodes import Pool
from fleet.config.lanes import Lane
from fleet.config.stack import Cluster, Stack
from fleet.kubernetes.scheduling import Amounts, requests, together
from fleet.plan import ClusterPlan, Plan
from fleet.runners.github import GitHubLanePlan
from fleet.runners.gitlab import GitLabLanePlan
from fleet.runners.lanes import Job, LanePods
from fleet.workloads import Workload, system_workloads

LanePlan: TypeAlias = GitHubLanePlan | GitLabLanePlan


@dataclass(frozen=True, kw_only=True)
class LaneView:
    """One lane: its spec, its plan, its pools in order, and its pods."""

    cluster: ClusterPlan
    spec: Lane
    plan: LanePlan
    pools: tuple[Pool, ...]
    pods: LanePods

    @property
    def path(self) -> str:
        """Path in the stack file."""
        return self.plan.path

    @property
    def job(self) -> Job:
        return self.plan.job

    @cached_property
    def asked(self) -> Amounts:
        """Resources that the pods of one job request of the node that they share."""
        return together(self.pods.on_pool)

    @property
    def max_jobs(self) -> int:
        """Most jobs that the lane runs at once; 0 while it is paused."""
        return self.plan.max_jobs


@dataclass(frozen=True, kw_only=True)
class View:
    """One stack as checks see it; `today` decides which versions are at their end of life."""

    stack: Stack
    plan: Plan
    today: date

    @cached_property
    def lanes(self) -> tuple[LaneView, ...]:
        """Every lane that has a pool, in the order of the file."""
        return tuple(self._lanes())

    def lanes_of(self, cluster: ClusterPlan) -> tuple[LaneView, ...]:
        return self._by_cluster.get(cluster.name, ())

    def placements(self, cluster: ClusterPlan) -> tuple[Workload, ...]:
        """Return the workloads of CPU nodes, one of each placement and size."""
        return self._placements[cluster.name]

    @cached_property
    def _placements(self) -> dict[str, tuple[Workload, ...]]:
        return {cluster.name: tuple(_unlike(cluster)) for cluster in self.plan.clusters}

    def spec_of(self, cluster: ClusterPlan) -> Cluster:
        return self.stack.clusters[cluster.name]

    @cached_property
    def _by_cluster(self) -> dict[str, tuple[LaneView, ...]]:
        found: dict[str, list[LaneView]] = {}
        for lane in self.lanes:
            found.setdefault(lane.cluster.name, []).append(lane)
        return {name: tuple(lanes) for name, lanes in found.items()}

    def _lanes(self) -> Iterator[LaneView]:
        for cluster in self.plan.clusters:
            pools = {pool.name: pool for pool in cluster.pools}
            spec = self.spec_of(cluster)
            for lane in cluster.lanes:
                forge = spec.github if lane.forge == "github" else spec.gitlab
                if forge is None:
                    continue
                yield LaneView(
                    cluster=cluster,
                    spec=forge.lanes[lane.name],
                    plan=lane,
                    pools=tuple(pools[name] for name in lane.pool_names if name in pools),
                    pods=lane.pods,
                )


def _unlike(cluster: ClusterPlan) -> Iterator[Workload]:
    seen: set[object] = set()
    for workload in system_workloads(cluster):
        pod = workload.pod
        key = (pod.affinity, pod.tolerations, tuple(sorted(requests(pod).items())))
        if key not in seen:
            seen.add(key)
            yield workload
