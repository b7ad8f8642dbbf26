"""One cluster with everything on it, and the order in which it comes and goes.

The order is the point. Up: network, control plane, node add-ons, CPU nodes, other add-ons,
autoscaler and GPU nodes, GPU stack, controllers, lanes. Down is the reverse, so that a scale set
goes before the controller that clears its finalizers, and a release before the nodes that run it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as kubernetes

from components.aws.addons import EksAddons, EksAddonsArgs
from components.aws.autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs
from components.aws.cluster import EksCluster, EksClusterArgs
from components.aws.network import Network, NetworkArgs
from components.aws.pool import LiveSize, NodeGroup, NodeGroupArgs
from components.gpu.device_plugin import DevicePlugin, DevicePluginArgs
from components.gpu.operator import GpuOperator, GpuOperatorArgs
from components.helm import namespace
from components.runners.arc_controller import ArcController, ArcControllerArgs
from components.runners.arc_lane import ArcLane, ArcLaneArgs
from components.runners.gitlab_lane import GitLabLane, GitLabLaneArgs
from fleet.plan.build import ClusterPlan
from fleet.plan.nodes import Pool
from fleet.plan.shares import Job
from fleet.plan.words import Namespaces


@dataclass(frozen=True, kw_only=True)
class RunnerClusterArgs:
    """The plan, the secrets that it names, and how to reach a cluster that is being made."""

    plan: ClusterPlan
    connect: Callable[[str, pulumi.Output[str]], kubernetes.Provider]
    """Builds the Kubernetes provider from a name and a kubeconfig."""
    secrets: Mapping[str, pulumi.Output[str]] = field(repr=False)
    live: Mapping[str, LiveSize] = field(default_factory=dict[str, LiveSize])
    """Size of the pools that exist already, by pool."""


class RunnerCluster(pulumi.ComponentResource):
    """Network, EKS cluster, pools, add-ons, autoscaler, GPU stack, GitHub lanes, GitLab lanes."""

    kubeconfig: pulumi.Output[str]
    """Kubeconfig (JSON) with an exec plugin."""

    def __init__(
        self, name: str, args: RunnerClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:index:RunnerCluster", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        network = Network(
            f"{name}-network",
            NetworkArgs(plan=plan.eks.network, tags=plan.eks.tags),
            pulumi.ResourceOptions(parent=self, protect=plan.protect or None),
        )
        control = EksCluster(
            f"{name}-eks",
            EksClusterArgs(
                plan=plan.eks, subnet_ids=network.private_subnet_ids, protect=plan.protect
            ),
            child,
        )
        self.kubeconfig = control.kubeconfig
        after_network: list[pulumi.Resource] = [*network.ready, *control.ready_for_nodes]

        def node_group(pool: Pool) -> NodeGroup:
            return NodeGroup(
                pool.logical_name,
                NodeGroupArgs(
                    plan=pool,
                    kubernetes_version=plan.eks.version,
                    cluster_name=control.cluster.name,
                    cluster_security_group_id=control.cluster.vpc_config.cluster_security_group_id,
                    vpc_id=network.vpc_id,
                    node_role_arn=control.node_role_arn,
                    subnet_ids=network.private_subnet_ids,
                    live=args.live.get(pool.name),
                    tags=plan.eks.tags,
                    after=after_network,
                ),
                child,
            )

        groups = {pool.name: node_group(pool) for pool in plan.eks.system_pools}
        after_nodes: list[pulumi.Resource] = [group.node_group for group in groups.values()]
        addons = EksAddons(
            f"{name}-addons",
            EksAddonsArgs(plan=plan.eks, cluster_name=control.cluster.name, after=after_nodes),
            child,
        )
        inside = pulumi.ResourceOptions(
            parent=self, providers=[args.connect(f"{name}-kubernetes", control.kubeconfig)]
        )
        base = [*after_nodes, *addons.ready]
        autoscaler = ClusterAutoscaler(
            f"{name}-autoscaler",
            ClusterAutoscalerArgs(
                plan=plan.autoscaler,
                cluster_name=control.cluster.name,
                tags=plan.eks.tags,
                after=base,
            ),
            inside,
        )
        groups |= {pool.name: node_group(pool) for pool in plan.eks.gpu_pools}
        gpu_stack = _gpu_stack(name, plan, base, inside)

        def before(job: Job) -> list[pulumi.Resource]:
            pools = [groups[pool].node_group for pool in job.pools]
            return [*autoscaler.ready, *gpu_stack, *pools]

        _github(name, args, base, before, inside)
        _gitlab(name, args, base, before, inside)
        self.register_outputs({"kubeconfig": self.kubeconfig})


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
    if stack.efa_plugin is not None:
        ready += DevicePlugin(
            f"{name}-efa-plugin", DevicePluginArgs(release=stack.efa_plugin, after=after), inside
        ).ready
    if stack.operator is not None:
        ready += GpuOperator(
            f"{name}-gpu-operator", GpuOperatorArgs(release=stack.operator, after=after), inside
        ).ready
    return ready


def _github(
    name: str,
    args: RunnerClusterArgs,
    base: list[pulumi.Resource],
    before: Callable[[Job], list[pulumi.Resource]],
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
            f"{name}-github-{lane.name}",
            ArcLaneArgs(plan=lane, after=[*controller.ready, *before(lane.job)]),
            inside,
        )


def _gitlab(
    name: str,
    args: RunnerClusterArgs,
    base: list[pulumi.Resource],
    before: Callable[[Job], list[pulumi.Resource]],
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
            f"{name}-gitlab-{lane.name}",
            GitLabLaneArgs(
                plan=lane,
                token=args.secrets[lane.token_secret] if lane.token_secret else None,
                after=[space, *before(lane.job)],
            ),
            inside,
        )
