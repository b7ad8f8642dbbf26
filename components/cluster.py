"""One cluster with everything on it, in creation order.

Creation order: network, control plane, node add-ons, CPU nodes, other add-ons, autoscaler and GPU
nodes, GPU stack, controllers, lanes. A destroy runs in reverse, so that a scale set is removed
before the controller that clears its finalizers, and a release before the nodes that run it.
A cloud's components are imported only for a cluster of that cloud, because its SDK takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pulumi

from components.gpu.host_devices import HostDevices
from components.gpu.stack import DevicePlugin, GpuOperator
from components.helm import namespace
from components.platform import Connect, Platform
from components.runners.arc_controller import ArcController
from components.runners.arc_lane import ArcLane
from components.runners.draining import explained
from components.runners.gitlab_lane import GitLabLane
from components.runners.job_budget import job_budget
from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.oke import OkePlan
from fleet.kubernetes.labels import Namespaces
from fleet.plan import ClusterPlan
from fleet.runners.github import GitHubLanePlan
from fleet.runners.lanes import Forge


class RunnerCluster(pulumi.ComponentResource):
    """A cluster of any kind with its pools, GPU stack, GitHub lanes and GitLab lanes."""

    kubeconfig: pulumi.Output[str] | None
    """Kubeconfig with an exec plugin; `None` for an existing cluster."""

    def __init__(
        self,
        name: str,
        *,
        plan: ClusterPlan,
        connect: Connect,
        connect_lanes: Callable[[pulumi.Output[str] | None], pulumi.ProviderResource] | None = None,
        secrets: Mapping[str, pulumi.Output[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register a cluster.

        `connect` builds the Kubernetes provider of a new cluster, and `connect_lanes` that of its
        lanes, by default the same. `secrets` holds the Pulumi secrets that the plan names.
        """
        super().__init__("gpu-runners:index:RunnerCluster", name, None, opts)
        platform = _platform(name, plan, connect, pulumi.ResourceOptions(parent=self))
        self.kubeconfig = platform.kubeconfig
        gpu_stack = _gpu_stack(name, plan, platform.chart_prerequisites, platform.inside)
        namespaces: list[pulumi.Resource] = [
            namespace(
                f"{name}-jobs-{space}",
                space,
                platform.inside,
                depends_on=platform.chart_prerequisites,
                exists=exists,
            )
            for space, exists in plan.job_namespaces.items()
        ]

        forges: dict[Forge, list[pulumi.Resource]] = {
            "github": _github(name, plan, secrets, platform),
            "gitlab": _gitlab(name, plan, platform),
        }
        of_lanes = pulumi.ResourceOptions.merge(
            platform.inside, pulumi.ResourceOptions(transforms=[explained(name)])
        )
        if connect_lanes is not None:
            of_lanes = pulumi.ResourceOptions.merge(
                of_lanes, pulumi.ResourceOptions(providers=[connect_lanes(platform.kubeconfig)])
            )
        for lane in plan.lanes:
            pools = [platform.pools[pool] for pool in lane.pool_names if pool in platform.pools]
            depends_on = [
                *forges[lane.forge],
                *platform.job_prerequisites,
                *gpu_stack,
                *namespaces,
                *pools,
            ]
            label = f"{name}-{lane.forge}-{lane.name}"
            if isinstance(lane, GitHubLanePlan):
                ArcLane(label, plan=lane, depends_on=depends_on, opts=of_lanes)
            else:
                token = secrets[lane.token_secret] if lane.token_secret else None
                GitLabLane(label, plan=lane, token=token, depends_on=depends_on, opts=of_lanes)
        names = [pool.name for pool in plan.pools]
        self.register_outputs(
            {"pools": names}
            if self.kubeconfig is None
            else {"pools": names, "kubeconfig": self.kubeconfig}
        )


def _platform(
    name: str, plan: ClusterPlan, connect: Connect, child: pulumi.ResourceOptions
) -> Platform:
    match plan.platform:
        case EksPlan():
            from components.aws.platform import eks_platform  # noqa: PLC0415 -- see above

            return eks_platform(
                name,
                plan.platform,
                autoscaler=plan.autoscaler,
                protect=plan.protect,
                connect=connect,
                child=child,
            )
        case OkePlan():
            from components.oci.platform import oke_platform  # noqa: PLC0415 -- see above

            return oke_platform(
                name, plan.platform, protect=plan.protect, connect=connect, child=child
            )
        case ExistingPlan():
            # The component has the provider of the cluster, and its children inherit it.
            return Platform(
                kubeconfig=None,
                inside=child,
                chart_prerequisites=[],
                job_prerequisites=[],
                pools={},
            )


def _gpu_stack(
    name: str,
    plan: ClusterPlan,
    depends_on: Sequence[pulumi.Resource],
    inside: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    stack = plan.gpu_stack
    ready: list[pulumi.Resource] = []
    if stack.device_plugin is not None:
        ready += DevicePlugin(
            f"{name}-device-plugin", release=stack.device_plugin, depends_on=depends_on, opts=inside
        ).ready
    if stack.operator is not None:
        ready += GpuOperator(
            f"{name}-gpu-operator", release=stack.operator, depends_on=depends_on, opts=inside
        ).ready
    if plan.host_devices is not None:
        ready += HostDevices(
            f"{name}-devices", plan=plan.host_devices, depends_on=depends_on, opts=inside
        ).ready
    return ready


def _github(
    name: str,
    plan: ClusterPlan,
    secrets: Mapping[str, pulumi.Output[str]],
    platform: Platform,
) -> list[pulumi.Resource]:
    """Register the controller; return what scale sets depend on."""
    github = plan.github
    if github is None:
        return []
    return ArcController(
        f"{name}-arc",
        plan=github.controller,
        private_key=secrets[github.private_key] if github.private_key else None,
        depends_on=platform.chart_prerequisites,
        opts=platform.inside,
    ).ready


def _gitlab(name: str, plan: ClusterPlan, platform: Platform) -> list[pulumi.Resource]:
    """Register the namespace of runner managers and jobs; return what lanes depend on."""
    gitlab = plan.gitlab
    if gitlab is None:
        return []
    space = namespace(
        f"{name}-gitlab-namespace",
        Namespaces.gitlab,
        platform.inside,
        depends_on=platform.chart_prerequisites,
        privileged=gitlab.privileged,
        exists=gitlab.existing_namespace,
    )
    budget = job_budget(
        f"{name}-gitlab-budget", Namespaces.gitlab, platform.inside, depends_on=[space]
    )
    return [space, budget]
