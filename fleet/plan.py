"""Derive the plan of a stack: what each cluster consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from fleet.clusters.autoscaler import AutoscalerPlan, autoscaler_plan
from fleet.clusters.eks import EksPlan, eks_plan
from fleet.clusters.existing import ExistingPlan, existing_plan
from fleet.clusters.nodes import Placement, Pool, system_placement
from fleet.clusters.oke import OkePlan, oke_plan
from fleet.config.github import GitHub
from fleet.config.gitlab import GitLab
from fleet.config.stack import Charts, Cluster, Stack
from fleet.gpu_stack.host_devices import HostDevicesPlan, host_devices_plan
from fleet.gpu_stack.ownership import ownership
from fleet.gpu_stack.plan import GpuStackPlan, gpu_stack_plan
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.releases import Release
from fleet.runners.github import (
    ArcControllerPlan,
    GitHubLanePlan,
    arc_controller_plan,
    github_lane_plan,
)
from fleet.runners.gitlab import GitLabLanePlan, gitlab_lane_plan
from fleet.runners.lanes import ExternalSecret, JobAccess

Lane: TypeAlias = GitHubLanePlan | GitLabLanePlan
PlatformPlan: TypeAlias = EksPlan | OkePlan | ExistingPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class GitHubPlan:
    """The ARC controller of a cluster and its scale sets."""

    controller: ArcControllerPlan
    private_key: str | None
    """Pulumi secret with the App's key; `None` if the Kubernetes Secret exists already."""
    lanes: tuple[GitHubLanePlan, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class GitLabPlan:
    """The GitLab runners of a cluster."""

    url: str
    api_token: str | None
    """Pulumi secret with the token that creates runners."""
    existing_namespace: bool
    """Whether the lanes' namespace exists, so that this program neither makes nor deletes it."""
    privileged: bool
    """Whether a lane runs privileged jobs, which their namespace must admit."""
    lanes: tuple[GitLabLanePlan, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterPlan:
    """One cluster and everything on it."""

    name: str
    protect: bool
    platform: PlatformPlan
    """The cluster itself and its pools."""
    autoscaler: AutoscalerPlan | None
    """The chart; `None` on OKE, which has an add-on, and in existing clusters."""
    gpu_stack: GpuStackPlan
    host_devices: HostDevicesPlan | None
    github: GitHubPlan | None
    gitlab: GitLabPlan | None

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Every pool, in the order of the stack file."""
        return self.platform.pools

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """Every lane: those of GitHub, then those of GitLab."""
        return (
            *(self.github.lanes if self.github is not None else ()),
            *(self.gitlab.lanes if self.gitlab is not None else ()),
        )

    @property
    def releases(self) -> tuple[Release[Any], ...]:
        """Every Helm release of the cluster."""
        releases = (
            self.autoscaler.release if self.autoscaler is not None else None,
            self.gpu_stack.device_plugin,
            self.gpu_stack.operator,
            *self.platform.releases,
            self.github.controller.release if self.github is not None else None,
            *(lane.release for lane in self.lanes),
        )
        return tuple(one for one in releases if one is not None)

    @property
    def accesses(self) -> tuple[JobAccess, ...]:
        """Rights of the lanes whose jobs may deploy into the cluster."""
        return tuple(lane.access for lane in self.lanes if lane.access is not None)

    @property
    def job_namespaces(self) -> dict[str, bool]:
        """Namespaces into which jobs deploy, and whether each exists before the first `up`."""
        made = {name for one in self.accesses for name in one.made_namespaces}
        return {name: name not in made for one in self.accesses for name in one.namespaces}

    @property
    def existing_namespaces(self) -> dict[str, bool]:
        """Namespaces that this program does not make, and whether each runs privileged pods."""
        found = {name: False for name, exists in self.job_namespaces.items() if exists}
        if self.github is not None and self.github.controller.existing_namespace:
            controller = self.github.controller
            found[controller.runner_namespace] = controller.privileged_runners
        if self.gitlab is not None and self.gitlab.existing_namespace:
            found[Namespaces.gitlab] = self.gitlab.privileged
        return found

    @property
    def external_secrets(self) -> tuple[ExternalSecret, ...]:
        """Kubernetes Secrets that this program does not create, each once."""
        found = (lane.external_secret for lane in self.lanes)
        return tuple(dict.fromkeys(one for one in found if one is not None))


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One environment."""

    clusters: tuple[ClusterPlan, ...]


def build(stack: Stack) -> Plan:
    """Return the plan of a stack.

    The stack may still break rules. A lane is planned on those of its pools that exist, and is
    left out if none does, so that checks can judge the rest of the stack.
    """
    return Plan(
        clusters=tuple(
            _cluster(name, cluster, platform, stack)
            for name, cluster in stack.clusters.items()
            if (platform := _platform(name, cluster, stack)) is not None
        )
    )


def _platform(name: str, cluster: Cluster, stack: Stack) -> PlatformPlan | None:
    """Return the cluster, or `None` if the stack file declares none of the three kinds."""
    tags = {**stack.tags, "gpu-runners/cluster": name}
    owners = ownership(cluster.gpu_stack, cluster.default_advertiser)
    if cluster.eks is not None:
        return eks_plan(name, cluster.eks, owners, tags, stack.charts)
    if cluster.oke is not None:
        return oke_plan(name, cluster.oke, owners, tags)
    if cluster.existing is not None:
        return existing_plan(name, cluster.existing, owners)
    return None


def _cluster(name: str, cluster: Cluster, platform: PlatformPlan, stack: Stack) -> ClusterPlan:
    charts = stack.charts
    system = system_placement(platform.pools)
    github = _github(cluster.github, platform, system, charts) if cluster.github else None
    gitlab = _gitlab(cluster.gitlab, platform, system, charts) if cluster.gitlab else None
    lanes = (*(github.lanes if github else ()), *(gitlab.lanes if gitlab else ()))
    owners = ownership(cluster.gpu_stack, cluster.default_advertiser)
    return ClusterPlan(
        name=name,
        protect=stack.protect,
        platform=platform,
        autoscaler=(
            autoscaler_plan(platform, [lane.pool_names for lane in lanes], system, charts)
            if isinstance(platform, EksPlan)
            else None
        ),
        gpu_stack=gpu_stack_plan(platform.pools, cluster.gpu_stack, owners, charts, system=system),
        host_devices=host_devices_plan(platform.pools),
        github=github,
        gitlab=gitlab,
    )


def _known(platform: PlatformPlan, names: tuple[str, ...]) -> tuple[Pool, ...]:
    pools = {pool.name: pool for pool in platform.pools}
    return tuple(pools[name] for name in names if name in pools)


def _github(
    github: GitHub, platform: PlatformPlan, system: Placement, charts: Charts
) -> GitHubPlan:
    controller = arc_controller_plan(github, system, charts, privileged=github.privileged)
    return GitHubPlan(
        controller=controller,
        private_key=github.app.private_key.secret if github.app is not None else None,
        lanes=tuple(
            github_lane_plan(
                name,
                lane,
                cluster=platform.name,
                pools=pools,
                controller=controller,
                charts=charts,
            )
            for name, lane in github.lanes.items()
            if (pools := _known(platform, lane.pools))
        ),
    )


def _gitlab(
    gitlab: GitLab, platform: PlatformPlan, system: Placement, charts: Charts
) -> GitLabPlan:
    return GitLabPlan(
        url=gitlab.url,
        api_token=gitlab.api_token.secret if gitlab.api_token is not None else None,
        existing_namespace=gitlab.uses_existing_namespace,
        privileged=any(lane.privileged for lane in gitlab.lanes.values()),
        lanes=tuple(
            gitlab_lane_plan(
                name,
                lane,
                cluster=platform.name,
                pools=pools,
                url=gitlab.url,
                system=system,
                charts=charts,
            )
            for name, lane in gitlab.lanes.items()
            if (pools := _known(platform, lane.pools))
        ),
    )
