"""What checks read: a stack, its plan, and each lane's spec and plan side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from fleet.clusters.nodes import Pool
from fleet.config.github import GitHub, GitHubLane
from fleet.config.gitlab import GitLab, GitLabLane
from fleet.config.stack import Cluster, Stack
from fleet.kubernetes.scheduling import Amounts, requests, together
from fleet.plan import ClusterPlan, Plan
from fleet.runners.github import GitHubLanePlan
from fleet.runners.gitlab import GitLabLanePlan
from fleet.runners.lanes import Job, LanePods
from fleet.workloads import Workload, system_workloads

_Spec = TypeVar("_Spec", GitHubLane, GitLabLane)
_Plan = TypeVar("_Plan", GitHubLanePlan, GitLabLanePlan)
_Forge = TypeVar("_Forge", GitHub, GitLab)


@dataclass(frozen=True, kw_only=True)
class _LaneView(Generic[_Spec, _Plan, _Forge]):
    """One lane: its model in the stack file, and its plan."""

    cluster: ClusterPlan
    forge: _Forge
    """The `github` or `gitlab` of the cluster in the stack file."""
    spec: _Spec
    plan: _Plan

    @property
    def path(self) -> str:
        """Path in the stack file."""
        return self.plan.path

    @property
    def job(self) -> Job:
        return self.plan.job

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Its pools, in order of preference."""
        return self.plan.pools

    @property
    def pods(self) -> LanePods:
        return self.plan.pods

    @property
    def max_jobs(self) -> int:
        """Maximum number of jobs that the lane runs at once; 0 while it is paused."""
        return self.plan.max_jobs

    @cached_property
    def requests(self) -> Amounts:
        """Resources that the pods of one job request of the node that they share."""
        return together(self.pods.on_pool)


GitHubLaneView: TypeAlias = _LaneView[GitHubLane, GitHubLanePlan, GitHub]
GitLabLaneView: TypeAlias = _LaneView[GitLabLane, GitLabLanePlan, GitLab]
LaneView: TypeAlias = GitHubLaneView | GitLabLaneView


@dataclass(frozen=True, kw_only=True)
class View:
    """One stack as checks see it; `today` decides which versions are at their end of life."""

    stack: Stack
    plan: Plan
    today: date

    def spec_of(self, cluster: ClusterPlan) -> Cluster:
        return self.stack.clusters[cluster.name]

    @cached_property
    def lanes(self) -> tuple[LaneView, ...]:
        """Every lane that has a pool: by cluster, those of GitHub first."""
        return tuple(lane for cluster in self.plan.clusters for lane in self.lanes_of(cluster))

    @cached_property
    def github_lanes(self) -> tuple[GitHubLaneView, ...]:
        """The lanes of GitHub in every cluster."""
        return tuple(
            lane for cluster in self.plan.clusters for lane in self._by_cluster[cluster.name][0]
        )

    @cached_property
    def gitlab_lanes(self) -> tuple[GitLabLaneView, ...]:
        """The lanes of GitLab in every cluster."""
        return tuple(
            lane for cluster in self.plan.clusters for lane in self._by_cluster[cluster.name][1]
        )

    def lanes_of(self, cluster: ClusterPlan) -> tuple[LaneView, ...]:
        github, gitlab = self._by_cluster[cluster.name]
        return (*github, *gitlab)

    def placements(self, cluster: ClusterPlan) -> tuple[Workload, ...]:
        """Return the workloads of CPU nodes, one of each placement and size."""
        return self._placements[cluster.name]

    @cached_property
    def _placements(self) -> dict[str, tuple[Workload, ...]]:
        return {cluster.name: tuple(_distinct(cluster)) for cluster in self.plan.clusters}

    @cached_property
    def _by_cluster(self) -> dict[str, tuple[list[GitHubLaneView], list[GitLabLaneView]]]:
        return {
            cluster.name: (
                [
                    _LaneView(cluster=cluster, forge=github, spec=github.lanes[one.name], plan=one)
                    for one in (cluster.github.lanes if cluster.github is not None else ())
                    if (github := self.spec_of(cluster).github) is not None
                ],
                [
                    _LaneView(cluster=cluster, forge=gitlab, spec=gitlab.lanes[one.name], plan=one)
                    for one in (cluster.gitlab.lanes if cluster.gitlab is not None else ())
                    if (gitlab := self.spec_of(cluster).gitlab) is not None
                ],
            )
            for cluster in self.plan.clusters
        }


def _distinct(cluster: ClusterPlan) -> Iterator[Workload]:
    seen: set[object] = set()
    for workload in system_workloads(cluster):
        pod = workload.pod
        key = (pod.affinity, pod.tolerations, tuple(sorted(requests(pod).items())))
        if key not in seen:
            seen.add(key)
            yield workload
