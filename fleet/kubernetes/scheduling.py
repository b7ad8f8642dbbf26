"""The scheduler's rules for one pod and one empty node: requests, node affinity, taints.

Units: millicores of `cpu`, MiB of `memory` and `ephemeral-storage`, counts of everything else.
Sources: kubernetes/kubernetes pkg/scheduler/framework/plugins/{noderesources,nodeaffinity,
tainttoleration}; effective requests with init containers and sidecars:
https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias

from fleet.clusters.nodes import Node, Pool
from fleet.gpu_stack.host_devices import device_resource
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.pods import GPU_RESOURCE, Affinity, Container, PodSpec, Toleration

Amounts: TypeAlias = Counter[str]
"""Amount by resource name; a missing resource counts as 0."""

CPU, MEMORY, DISK, PODS = "cpu", "memory", "ephemeral-storage", "pods"


class Scheduled(Protocol):
    """A pod, or the part of chart values that decides on which nodes its pods run."""

    @property
    def affinity(self) -> Affinity | None: ...
    @property
    def tolerations(self) -> tuple[Toleration, ...] | None: ...


def offer(pool: Pool, node: Node) -> Amounts:
    """Return what an empty node has for jobs, without its DaemonSets and the pool's reserve."""
    free = node.free
    return Counter(
        {
            CPU: free.cpu_m,
            MEMORY: free.memory_mib,
            DISK: free.disk_mib,
            PODS: node.pods,
            GPU_RESOURCE: node.advertised,
            **{device_resource(device): count for device, count in pool.devices.items()},
        }
    )


def requests(pod: PodSpec) -> Amounts:
    """Return what the scheduler counts for a pod: its requests, and one of the node's `pods`.

    An init container runs at the same time as the sidecars that started before it.
    """
    running: Counter[str] = Counter()
    for container in pod.containers:
        running.update(_container(container))
    sidecars: Counter[str] = Counter()
    starting: Counter[str] = Counter()
    for container in pod.init_containers or ():
        amounts = _container(container)
        if container.restart_policy == "Always":
            sidecars.update(amounts)
            starting |= sidecars
        else:
            starting |= amounts + sidecars
    total = (running + sidecars) | starting
    total[PODS] = 1
    return total


def together(pods: Iterable[PodSpec]) -> Amounts:
    """Return the sum of the requests of several pods on one node."""
    total: Counter[str] = Counter()
    for pod in pods:
        total.update(requests(pod))
    return total


def copies(requested: Amounts, has: Amounts) -> tuple[int, str]:
    """Return how many times a request fits, and the resource that runs out first.

    If several run out together, a GPU is named before CPU, memory and disk, because a lane's
    shares of those follow from its GPUs.
    """
    count, _, name = min(
        (max(0, has[name]) // amount, "/" not in name, name)
        for name, amount in requested.items()
        if amount > 0
    )
    return count, name


def lacking(requested: Amounts, has: Amounts) -> tuple[str, ...]:
    """Return the requested resources that exceed what the node has."""
    return tuple(name for name, amount in requested.items() if 0 < amount > has[name])


def untolerated(pod: Scheduled, taints: Iterable[Taint]) -> tuple[Taint, ...]:
    """Return the taints that keep a pod off a node; `PreferNoSchedule` keeps no pod off."""
    tolerated = {(one.key, one.effect) for one in pod.tolerations or ()}
    return tuple(
        taint
        for taint in taints
        if taint.effect != "PreferNoSchedule" and (taint.key, taint.effect) not in tolerated
    )


def selects(pod: Scheduled, labels: Mapping[str, str]) -> bool:
    """Return whether a pod's required node affinity admits a node with those labels."""
    return pod.affinity is None or any(
        all(labels.get(one.key) in one.values for one in term.match_expressions)
        for term in pod.affinity.required
    )


def _container(container: Container) -> Amounts:
    resources = container.resources
    if resources is None:
        return Counter()
    size = resources.requests
    return Counter(
        {
            CPU: size.cpu_m,
            MEMORY: size.memory_mib,
            DISK: size.disk_mib,
            **resources.extended,
        }
    )
