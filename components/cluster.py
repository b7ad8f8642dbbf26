"""One cluster with everything on it, and the order in which it comes and goes.

The order is the point. Up: network, control plane, node add-ons, CPU nodes, other add-ons,
autoscaler and GPU nodes, GPU stack, controllers, lanes. Down is the reverse, so that a scale set
goes before the controller that clears its finalizers, and a release before the nodes that run it.
A cloud's components are imported only for a cluster of that cloud: its SDK takes seconds to load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pulumi

from components.gpu.device_plugin import DevicePlugin, DevicePluginArgs
from components.gpu.host_devices import HostDevices, HostDevicesArgs
from components.gpu.operator import GpuOperator, GpuOperatorArgs
from components.helm import namespace
from components.platform import Connect, LiveSize, Platform
from components.runners.arc_controller import ArcController, ArcControllerArgs
from components.runners.arc_lane import ArcLane, ArcLaneArgs
from components.runners.gitlab_lane import GitLabLane, GitLabLaneArgs
from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.oke import OkePlan
from fleet.kubernetes.labels import Namespaces
from fleet.plan import ClusterPlan
from fleet.runners.lanes import LanePlan


@dataclass(frozen=True, kw_only=True)
class RunnerClusterArgs:
    """The plan, the secrets that it names, and how to reach a cluster that is being made."""

    plan: ClusterPlan
    connect: Connect
    secrets: Mapping[str, pulumi.Output[str]] = field(repr=False)
    live: Mapping[str, LiveSize] = field(default_factory=dict[str, LiveSize])
    """Size of the pools that exist already, by pool."""
    images: Mapping[str, str] = field(default_factory=dict[str, str])
    """Node image of each pool that names none, where the cloud wants one named."""


class RunnerCluster(pulumi.ComponentResource):
    """A cluster of any kind with its pools, GPU stack, GitHub lanes and GitLab lanes."""

    kubeconfig: pulumi.Output[str] | None
    """Kubeconfig with an exec plugin; None of a cluster that somebody else made."""

    def __init__(
        self, name: str, args: RunnerClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:index:RunnerCluster", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        platform = _platform(name, args, child)
        self.kubeconfig = platform.kubeconfig
        gpu_stack = _gpu_stack(name, plan, platform.base, platform.inside)
        namespaces: list[pulumi.Resource] = [
            namespace(f"{name}-jobs-{space}", space, platform.inside, after=platform.base)
            for space in plan.job_namespaces
        ]

        def before(lane: LanePlan) -> list[pulumi.Resource]:
            pools = [platform.pools[pool] for pool in lane.pool_names if pool in platform.pools]
            return [*platform.ready, *gpu_stack, *namespaces, *pools]

        _github(name, args, platform.base, before, platform.inside)
        _gitlab(name, args, platform.base, before, platform.inside)
        pools = [pool.name for pool in plan.pools]
        self.register_outputs(
            {"pools": pools}
            if self.kubeconfig is None
            else {"pools": pools, "kubeconfig": self.kubeconfig}
        )


def _platform(name: str, args: RunnerClusterArgs, child: pulumi.ResourceOptions) -> Platform:
    plan = args.plan
    match plan.platform:
        case EksPlan():
            from components.aws.platform import eks_platform  # noqa: PLC0415 -- see above

            return eks_platform(
                name,
                plan.platform,
                autoscaler=plan.autoscaler,
                protect=plan.protect,
                connect=args.connect,
                live=args.live,
                child=child,
            )
        case OkePlan():
            from components.oci.platform import oke_platform  # noqa: PLC0415 -- see above

            return oke_platform(
                name,
                plan.platform,
                protect=plan.protect,
                connect=args.connect,
                live=args.live,
                images=args.images,
                child=child,
            )
        case ExistingPlan():
            # The component was given the provider of the cluster, and its children inherit it.
            return Platform(kubeconfig=None, inside=child, base=[], ready=[], pools={})


def _gpu_stack(
    name: str,
    plan: ClusterPlan,
    after: list[pulumi.Resource],
    inside: pulumi.ResourceOptions,
) -> list[pulumi.Resource]:
    stack = plan.gpu_stack
    ready: list[pulumi.Resource] = []
    if stack.device_plugin is not None:
        ready += DevicePlugin(
            f"{name}-device-plugin",
            DevicePluginArgs(release=stack.device_plugin, after=after),
            inside,
        ).ready
    if stack.operator is not None:
        ready += GpuOperator(
            f"{name}-gpu-operator", GpuOperatorArgs(release=stack.operator, after=after), inside
        ).ready
    if plan.host_devices is not None:
        ready += HostDevices(
            f"{name}-devices", HostDevicesArgs(plan=plan.host_devices, after=after), inside
        ).ready
    return ready


def _github(
    name: str,
    args: RunnerClusterArgs,
    base: list[pulumi.Resource],
    before: Callable[[LanePlan], list[pulumi.Resource]],
    inside: pulumi.ResourceOptions,
) -> None:
    github = args.plan.github
    if github is None:
        return
    controller = ArcController(
        f"{name}-arc",
        ArcControllerArgs(
            plan=github.controller,
            private_key=args.secrets[github.private_key] if github.private_key else None,
            after=base,
        ),
        inside,
    )
    for lane in github.lanes:
        ArcLane(
            lane.logical_name,
            ArcLaneArgs(plan=lane, after=[*controller.ready, *before(lane)]),
            inside,
        )


def _gitlab(
    name: str,
    args: RunnerClusterArgs,
    base: list[pulumi.Resource],
    before: Callable[[LanePlan], list[pulumi.Resource]],
    inside: pulumi.ResourceOptions,
) -> None:
    gitlab = args.plan.gitlab
    if gitlab is None:
        return
    space = namespace(
        f"{name}-gitlab-namespace",
        Namespaces.gitlab,
        inside,
        after=base,
        privileged=gitlab.privileged,
    )
    for lane in gitlab.lanes:
        GitLabLane(
            lane.logical_name,
            GitLabLaneArgs(
                plan=lane,
                token=args.secrets[lane.token_secret] if lane.token_secret else None,
                after=[space, *before(lane)],
            ),
            inside,
        )
