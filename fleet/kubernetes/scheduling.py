"""The scheduler's rules for one pod and one empty node: requests, selectors, taints.

Amounts: millicores of `cpu`, MiB of `memory` and `ephemeral-storage`, whole numbers of everything
else. Pods are Kubernetes' PodSpec as data, in its own spelling.
Sources: kubernetes/kubernetes pkg/scheduler/framework/plugins/{noderesources,nodeaffinity,
tainttoleration}; effective requests with init containers and sidecars:
https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from fleet.clusters.nodes import Node, Pool
from fleet.gpu_stack.host_device_pods import device_resource
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.pods import GPU
from fleet.kubernetes.resources import parse_cpu, parse_memory_mib

PodSpec: TypeAlias = Mapping[str, Any]
Amounts: TypeAlias = Counter[str]
"""A resource that is not there counts as none."""

CPU, MEMORY, DISK, PODS = "cpu", "memory", "ephemeral-storage", "pods"


def offer(pool: Pool, node: Node) -> Amounts:
    """What an empty node has for jobs: its DaemonSets and the pool's reserve are taken off."""
    free = node.free
    return Counter(
        {
            CPU: free.cpu_m,
            MEMORY: free.memory_mib,
            DISK: free.disk_mib,
            PODS: node.pods,
            GPU: node.advertised,
            **{device_resource(device): count for device, count in pool.devices.items()},
        }
    )


def requests(pod: PodSpec) -> Amounts:
    """What the scheduler counts for a pod; every pod takes one of the node's pods too.

    An init container runs alone, beside the sidecars that started before it.
    """
    running: Counter[str] = Counter()
    for container in pod["containers"]:
        running.update(_container(container))
    sidecars: Counter[str] = Counter()
    starting: Counter[str] = Counter()
    for container in pod.get("initContainers") or ():
        asked = _container(container)
        if container.get("restartPolicy") == "Always":
            sidecars.update(asked)
            starting |= sidecars
        else:
            starting |= asked + sidecars
    total = (running + sidecars) | starting
    total.update({name: _amount(name, value) for name, value in _map(pod.get("overhead")).items()})
    total[PODS] = 1
    return total


def together(pods: Iterable[PodSpec]) -> Amounts:
    """What several pods take from the node that they share."""
    total: Counter[str] = Counter()
    for pod in pods:
        total.update(requests(pod))
    return total


def copies(asked: Amounts, has: Amounts) -> tuple[int, str]:
    """How many times a request fits, and the resource that runs out first.

    Of several that do, a GPU is named before CPU, memory and disk, which are shared out by it.
    """
    count, _, name = min(
        (max(0, has[name]) // amount, "/" not in name, name)
        for name, amount in asked.items()
        if amount > 0
    )
    return count, name


def lacking(asked: Amounts, has: Amounts) -> tuple[str, ...]:
    """Resources of which a node has less than is asked; one that nobody asks for is no matter."""
    return tuple(name for name, amount in asked.items() if 0 < amount > has[name])


def untolerated(pod: PodSpec, taints: Iterable[Taint]) -> tuple[Taint, ...]:
    """Taints that keep a pod off a node; `PreferNoSchedule` keeps nothing off."""
    tolerations: Sequence[Mapping[str, Any]] = pod.get("tolerations") or ()
    return tuple(
        taint
        for taint in taints
        if taint.effect != "PreferNoSchedule"
        and not any(_tolerates(toleration, taint) for toleration in tolerations)
    )


def selects(pod: PodSpec, labels: Mapping[str, str]) -> bool:
    """Whether a pod's node selector and required node affinity admit a node with those labels."""
    selector = _map(pod.get("nodeSelector"))
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = _map(_map(pod.get("affinity")).get("nodeAffinity"))
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_term(term, labels) for term in required["nodeSelectorTerms"])


def _term(term: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """A term without conditions admits nothing."""
    conditions: Sequence[Mapping[str, Any]] = term.get("matchExpressions") or ()
    return bool(conditions) and all(_condition(one, labels) for one in conditions)


def _condition(condition: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value = labels.get(condition["key"])
    match condition["operator"]:
        case "In":
            return value in condition["values"]
        case "NotIn":
            return value not in condition["values"]
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case other:
            raise ValueError(f"node affinity has the operator {other!r}, which no chart here uses")


def _tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    key, effect = toleration.get("key"), toleration.get("effect")
    if effect and effect != taint.effect:
        return False
    if key and key != taint.key:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(key) and (toleration.get("value") or "") == taint.value


def _container(container: Mapping[str, Any]) -> Amounts:
    """A resource that only has a limit is requested as much."""
    resources = _map(container.get("resources"))
    asked = {**_map(resources.get("limits")), **_map(resources.get("requests"))}
    return Counter({name: _amount(name, value) for name, value in asked.items()})


@lru_cache(maxsize=4096)
def _amount(name: str, value: str | int) -> int:
    if name == CPU:
        return parse_cpu(str(value))
    if name in (MEMORY, DISK):
        return parse_memory_mib(str(value))
    return int(value)


def _map(value: Any) -> Mapping[str, Any]:
    return value or {}
