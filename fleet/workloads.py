"""The pods of a cluster other than jobs: DaemonSets of GPU nodes, and controllers on CPU nodes.

Each pod is read from the typed values of the release, or from the settings of the add-on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.clusters.eks import EksPlan
from fleet.clusters.nodes import Placement, Pool
from fleet.clusters.oke import OkePlan
from fleet.kubernetes.pods import Container, PodSpec, ResourceRequirements
from fleet.kubernetes.scheduling import Scheduled
from fleet.plan import ClusterPlan
from fleet.runners.github import GitHubLanePlan
from fleet.runners.gitlab import GitLabLanePlan


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """One workload: its name in messages, the stack file's path that causes it, and its pod."""

    name: str
    path: str
    pod: PodSpec
    replicas: int = 1


def daemonsets(cluster: ClusterPlan, pool: Pool) -> Iterator[Workload]:
    """Yield the DaemonSets that the nodes of a pool need to advertise what they have."""
    if pool.gpu is not None:
        yield from _gpu_daemonsets(cluster)
    platform = cluster.platform
    if isinstance(platform, EksPlan) and platform.efa_plugin is not None:
        values = platform.efa_plugin.typed_values
        if pool.name in values.values:
            yield Workload(name="the EFA device plugin", path=f"{pool.path}.efa", pod=_pod(values))
    for daemonset in cluster.host_devices.daemonsets if cluster.host_devices is not None else ():
        if daemonset.pool == pool.name:
            yield Workload(
                name="the device plugin of its host devices",
                path=f"{pool.path}.devices",
                pod=daemonset.template.spec,
            )


def _gpu_daemonsets(cluster: ClusterPlan) -> Iterator[Workload]:
    stack, path = cluster.gpu_stack, f"clusters.{cluster.name}.gpu_stack"
    if stack.device_plugin is not None:
        pod = _pod(stack.device_plugin.typed_values)
        yield Workload(name="NVIDIA's device plugin", path=f"{path}.advertiser", pod=pod)
    if stack.operator is not None:
        values = stack.operator.typed_values
        for name, placement in (
            # The operator's operands run where NFD's worker found a card.
            ("the GPU Operator's operands", values.operands),
            ("the worker of node feature discovery", values.nfd_worker),
        ):
            yield Workload(name=name, path=f"{path}.operator", pod=_pod(placement))
    platform = cluster.platform
    if isinstance(platform, OkePlan) and platform.gpu_plugin:
        pod = _pod(Placement(tolerations=platform.gpu_plugin_tolerations))
        yield Workload(name="Oracle's device plugin", path=f"{path}.advertiser", pod=pod)


def system_workloads(cluster: ClusterPlan) -> Iterator[Workload]:
    """Yield the workloads that always need a CPU node to run on."""
    path = f"clusters.{cluster.name}"
    if cluster.autoscaler is not None:
        values = cluster.autoscaler.release.typed_values
        yield Workload(name="the cluster-autoscaler", path=path, pod=_pod(values, values.resources))
    if cluster.gpu_stack.operator is not None:
        values = cluster.gpu_stack.operator.typed_values
        for name, placement in (
            ("the GPU Operator", values.operator),
            ("node feature discovery's master", values.nfd_master),
            ("node feature discovery's gc", values.nfd_gc),
        ):
            yield Workload(name=name, path=f"{path}.gpu_stack.operator", pod=_pod(placement))
    if cluster.github is not None:
        values = cluster.github.controller.release.typed_values
        yield Workload(
            name="ARC's controller", path=f"{path}.github", pod=_pod(values, values.resources)
        )
    for lane in cluster.lanes:
        yield _lane_workload(lane)


def _lane_workload(lane: GitHubLanePlan | GitLabLanePlan) -> Workload:
    if isinstance(lane, GitHubLanePlan):
        return Workload(
            name="the listener of the lane",
            path=lane.path,
            pod=lane.release.typed_values.listener_template.spec,
        )
    values = lane.release.typed_values
    return Workload(
        name="the runner manager of the lane",
        path=lane.path,
        pod=_pod(values, values.resources),
        replicas=values.hpa.max_replicas if values.hpa is not None else values.replicas,
    )


def _pod(values: Scheduled, resources: ResourceRequirements | None = None) -> PodSpec:
    """Return the pod of a chart that has `values` and one container."""
    return PodSpec(
        containers=(Container(name="main", resources=resources),),
        affinity=values.affinity,
        tolerations=values.tolerations,
    )
