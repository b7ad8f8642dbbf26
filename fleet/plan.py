"""From a stack's spec to its plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fleet.clusters.autoscaler import AutoscalerPlan, autoscaler_plan
from fleet.clusters.eks import EksPlan, eks_plan
from fleet.clusters.existing import ExistingPlan, existing_plan
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePlan, oke_plan
from fleet.config.github import GitHub
from fleet.config.gitlab import GitLab
from fleet.config.stack import Cluster, Stack
from fleet.gpu_stack.host_devices import HostDevicesPlan, host_devices_plan
from fleet.gpu_stack.ownership import ownership
from fleet.gpu_stack.plan import GpuStackPlan, gpu_stack_plan
from fleet.kubernetes.placement import Placement, system_placement
from fleet.kubernetes.releases import Release
from fleet.runners.access import JobAccess
from fleet.runners.github import (
    ArcControllerPlan,
    GitHubLanePlan,
    arc_controller_plan,
    github_lane_plan,
)
from fleet.runners.gitlab import GitLabLanePlan, gitlab_lane_plan
from fleet.runners.job import Job
from fleet.runners.secrets import ExternalSecret


@dataclass(frozen=True, kw_only=True, slots=True)
class GitHubPlan:
    """GitHub's side of a cluster, and the secret with the App's key."""

    controller: ArcControllerPlan
    private_key: str | None
    """Pulumi secret; None where somebody else makes the Kubernetes Secret."""
    lanes: tuple[GitHubLanePlan, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class GitLabPlan:
    """GitLab's side of a cluster."""

    url: str
    api_token: str | None
    """Pulumi secret with which runners are created."""
    privileged: bool
    """Whether a lane runs privileged jobs, which their namespace must admit."""
    lanes: tuple[GitLabLanePlan, ...]


ClusterKind: TypeAlias = Literal["eks", "oke", "existing"]
PlatformPlan: TypeAlias = EksPlan | OkePlan | ExistingPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterPlan:
    """One cluster and everything on it."""

    name: str
    protect: bool
    platform: PlatformPlan
    """The cluster itself and its pools."""
    autoscaler: AutoscalerPlan | None
    """The chart; None where the platform has an autoscaler of its own, or none."""
    gpu_stack: GpuStackPlan
    host_devices: HostDevicesPlan | None
    github: GitHubPlan | None
    gitlab: GitLabPlan | None

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Every pool, in the order of the file."""
        return self.platform.pools

    @property
    def kind(self) -> ClusterKind:
        """The key of the stack file that says what it is."""
        match self.platform:
            case EksPlan():
                return "eks"
            case OkePlan():
                return "oke"
            case ExistingPlan():
                return "existing"

    def releases(self) -> Iterator[Release]:
        """Every Helm release of the cluster."""
        if self.autoscaler is not None:
            yield self.autoscaler.release
        if isinstance(self.platform, EksPlan) and self.platform.efa_plugin is not None:
            yield self.platform.efa_plugin
        stack = self.gpu_stack
        yield from (one for one in (stack.device_plugin, stack.operator) if one is not None)
        if self.github is not None:
            yield self.github.controller.release
            yield from (lane.release for lane in self.github.lanes)
        if self.gitlab is not None:
            yield from (lane.release for lane in self.gitlab.lanes)

    def jobs(self) -> Iterator[tuple[str, Job]]:
        """Every lane's job with the lane's path."""
        lanes = [*(self.github.lanes if self.github else ())]
        for lane in [*lanes, *(self.gitlab.lanes if self.gitlab else ())]:
            yield lane.path, lane.job

    def accesses(self) -> Iterator[JobAccess]:
        """Rights of lanes whose jobs may deploy into the cluster."""
        lanes = [*(self.github.lanes if self.github else ())]
        for lane in [*lanes, *(self.gitlab.lanes if self.gitlab else ())]:
            if lane.access is not None:
                yield lane.access

    @property
    def job_namespaces(self) -> tuple[str, ...]:
        """Namespaces that this program makes for what jobs deploy."""
        return tuple(dict.fromkeys(name for one in self.accesses() for name in one.made_namespaces))

    def external_secrets(self) -> Iterator[ExternalSecret]:
        """Kubernetes Secrets that somebody else puts into the cluster."""
        if self.github is not None and self.github.controller.external_secret is not None:
            yield self.github.controller.external_secret
        for lane in self.gitlab.lanes if self.gitlab else ():
            if lane.external_secret is not None:
                yield lane.external_secret


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One environment."""

    clusters: tuple[ClusterPlan, ...]


def build(stack: Stack) -> Plan:
    """Derive the plan of a stack.

    The stack may still break rules: a lane is planned on those of its pools that exist, and left
    out when none does, so that checks see as much of it as there is.
    """
    return Plan(
        clusters=tuple(
            _cluster(name, cluster, platform, stack)
            for name, cluster in stack.clusters.items()
            if (platform := _platform(name, cluster, stack)) is not None
        )
    )


def _platform(name: str, spec: Cluster, stack: Stack) -> PlatformPlan | None:
    """The cluster of the kind that the file names; None where it names none."""
    tags = {**stack.tags, "gpu-runners/cluster": name}
    if spec.eks is not None:
        return eks_plan(name, spec.eks, ownership(spec), tags, stack.charts)
    if spec.oke is not None:
        return oke_plan(name, spec.oke, ownership(spec), tags)
    if spec.existing is not None:
        return existing_plan(name, spec.existing, ownership(spec))
    return None


def _cluster(name: str, spec: Cluster, platform: PlatformPlan, stack: Stack) -> ClusterPlan:
    pools = {pool.name: pool for pool in platform.pools}
    system = system_placement(platform.pools)
    github = _github(name, spec.github, pools, system, stack) if spec.github is not None else None
    gitlab = _gitlab(name, spec.gitlab, pools, system, stack) if spec.gitlab is not None else None
    lanes = [*(github.lanes if github else ()), *(gitlab.lanes if gitlab else ())]
    return ClusterPlan(
        name=name,
        protect=stack.protect,
        platform=platform,
        autoscaler=(
            autoscaler_plan(platform, [lane.job.pools for lane in lanes], system, stack.charts)
            if isinstance(platform, EksPlan)
            else None
        ),
        gpu_stack=gpu_stack_plan(
            platform.pools, spec.gpu_stack, ownership(spec), stack.charts, system=system
        ),
        host_devices=host_devices_plan(platform.pools),
        github=github,
        gitlab=gitlab,
    )


def _known(names: tuple[str, ...], pools: dict[str, Pool]) -> tuple[Pool, ...]:
    return tuple(pools[name] for name in names if name in pools)


def _github(
    cluster: str, spec: GitHub, pools: dict[str, Pool], system: Placement, stack: Stack
) -> GitHubPlan:
    return GitHubPlan(
        controller=arc_controller_plan(spec, system, stack.charts),
        private_key=spec.app.private_key.secret if spec.app is not None else None,
        lanes=tuple(
            github_lane_plan(
                name,
                lane,
                path=f"clusters.{cluster}.github.lanes.{name}",
                pools=known,
                system=system,
                github=spec,
                charts=stack.charts,
            )
            for name, lane in spec.lanes.items()
            if (known := _known(lane.pools, pools))
        ),
    )


def _gitlab(
    cluster: str, spec: GitLab, pools: dict[str, Pool], system: Placement, stack: Stack
) -> GitLabPlan:
    return GitLabPlan(
        url=spec.url,
        api_token=spec.api_token.secret if spec.api_token is not None else None,
        privileged=any(lane.privileged for lane in spec.lanes.values()),
        lanes=tuple(
            gitlab_lane_plan(
                name,
                lane,
                cluster=cluster,
                path=f"clusters.{cluster}.gitlab.lanes.{name}",
                pools=known,
                system=system,
                gitlab=spec,
                charts=stack.charts,
            )
            for name, lane in spec.lanes.items()
            if (known := _known(lane.pools, pools))
        ),
    )
