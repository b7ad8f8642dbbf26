"""What runs in a cluster besides jobs: the DaemonSets of GPU nodes, and what lives on CPU nodes.

Each is read out of the values of its release, or of the add-on's configuration, as PodSpec.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fleet.clusters.eks import EksPlan
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePlan, gpu_plugin_configuration
from fleet.kubernetes.scheduling import PodSpec
from fleet.plan import ClusterPlan
from fleet.runners.gitlab import GitLabLanePlan

_NFD = "node-feature-discovery"


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """One workload: its name in messages, the place that brings it, and its pod."""

    name: str
    path: str
    pod: PodSpec
    replicas: int = 1


def daemonsets(cluster: ClusterPlan, pool: Pool) -> Iterator[Workload]:
    """The DaemonSets of this program that a pool's nodes need to offer what they have."""
    path = f"clusters.{cluster.name}.gpu_stack"
    if pool.gpu is not None:
        yield from _gpu_daemonsets(cluster, path)
    if isinstance(cluster.platform, EksPlan) and cluster.platform.efa_plugin is not None:
        names = {one.name for one in cluster.platform.pools if one.efa_interfaces}
        if pool.name in names:
            yield Workload(
                name="the EFA device plugin",
                path=f"{pool.path}.efa",
                pod=_by_labels(cluster.platform.efa_plugin.values),
            )
    if cluster.host_devices is not None:
        for daemonset in cluster.host_devices.daemonsets:
            if daemonset.name == f"host-devices-{pool.name}":
                yield Workload(
                    name="the plugin of its host devices",
                    path=f"{pool.path}.devices",
                    pod=daemonset.pod["spec"],
                )


def _gpu_daemonsets(cluster: ClusterPlan, path: str) -> Iterator[Workload]:
    stack = cluster.gpu_stack
    if stack.device_plugin is not None:
        yield Workload(
            name="NVIDIA's device plugin",
            path=f"{path}.advertiser",
            pod=_pod(stack.device_plugin.values),
        )
    if stack.operator is not None:
        values = stack.operator.values
        # Its operands go where NFD's worker found a card.
        yield Workload(
            name="the GPU Operator's operands",
            path=f"{path}.operator",
            pod=_pod(values["daemonsets"]),
        )
        yield Workload(
            name="the worker of node feature discovery",
            path=f"{path}.operator",
            pod=_pod(values[_NFD]["worker"]),
        )
    if isinstance(cluster.platform, OkePlan) and cluster.platform.gpu_plugin:
        configuration = gpu_plugin_configuration(cluster.platform)
        yield Workload(
            name="Oracle's device plugin",
            path=f"{path}.advertiser",
            pod=_pod({"tolerations": json.loads(configuration["tolerations"])}),
        )


def system_workloads(cluster: ClusterPlan) -> Iterator[Workload]:
    """What must always have a CPU node to live on."""
    path = f"clusters.{cluster.name}"
    if cluster.autoscaler is not None:
        values = cluster.autoscaler.release.values
        yield Workload(name="the cluster-autoscaler", path=path, pod=_pod(values))
    if cluster.gpu_stack.operator is not None:
        values = cluster.gpu_stack.operator.values
        operator = f"{path}.gpu_stack.operator"
        yield Workload(name="the GPU Operator", path=operator, pod=_pod(values["operator"]))
        for part in ("master", "gc"):
            yield Workload(
                name=f"node feature discovery's {part}",
                path=operator,
                pod=_pod(values[_NFD][part]),
            )
    if cluster.github is not None:
        values = cluster.github.controller.release.values
        yield Workload(name="ARC's controller", path=f"{path}.github", pod=_pod(values))
        for lane in cluster.github.lanes:
            yield Workload(
                name="the listener of the lane",
                path=lane.path,
                pod=lane.release.values["listenerTemplate"]["spec"],
            )
    for lane in cluster.gitlab.lanes if cluster.gitlab is not None else ():
        yield Workload(
            name="the runner manager of the lane",
            path=lane.path,
            pod=_pod(lane.release.values),
            replicas=_managers(lane),
        )


def _managers(lane: GitLabLanePlan) -> int:
    values = lane.release.values
    return values["hpa"]["maxReplicas"] if "hpa" in values else values["replicas"]


def _pod(values: Mapping[str, Any]) -> PodSpec:
    """A chart's placement and resources as a pod."""
    return {
        "containers": [{"resources": values.get("resources")}],
        "nodeSelector": values.get("nodeSelector"),
        "affinity": values.get("affinity"),
        "tolerations": values.get("tolerations"),
    }


def _by_labels(values: Mapping[str, Any]) -> PodSpec:
    """The EFA plugin's chart selects nodes by label keys and the values that each may have."""
    labels = values["supportedInstanceLabels"]
    terms = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": labels["values"]}]}
        for key in labels["keys"]
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {**_pod(values), "affinity": {"nodeAffinity": required}}
