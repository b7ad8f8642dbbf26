"""What a pod template has to fulfil beyond the schema: extended resources, and what it refers to.

Sources: kubernetes/kubernetes pkg/apis/core/validation/validation.go (requests, limits, extended
resources), pkg/apis/core/v1/defaults.go (an absent request takes the limit's value) and
plugin/pkg/admission/{priority,serviceaccount,runtimeclass} (what is refused at admission).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pulumi_rehearsal.standin.kubernetes import cluster, grammar, manifest
from pulumi_rehearsal.standin.kubernetes.grammar import Problem
from pulumi_rehearsal.standin.kubernetes.release import releases
from pulumi_rehearsal.standin.properties import mapping, objects, text
from pulumi_rehearsal.standin.values import UNKNOWN, Properties

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"
SECRET: Final = cluster.SECRET
SERVICE_ACCOUNT: Final = "kubernetes:core/v1:ServiceAccount"
PRIORITY_CLASS: Final = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
RUNTIME_CLASS: Final = "kubernetes:node.k8s.io/v1:RuntimeClass"
STORAGE_CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"

_BUILT_IN_PRIORITIES: Final = frozenset({"system-node-critical", "system-cluster-critical"})


def spec_problems(spec: Any, version: str = manifest.REFERENCE_VERSION) -> Iterator[Problem]:
    """Everything that is wrong with a pod's `spec` by itself; paths begin below it."""
    if spec is UNKNOWN:
        return
    yield from manifest.pod_problems({} if spec is None else spec, version)
    pod: Properties = {"spec": spec}
    for group in ("initContainers", "containers"):
        for index, container in enumerate(objects(pod, f"spec.{group}")):
            yield from resource_problems(container, f"{group}[{index}].resources")


def resource_problems(container: Properties, path: str) -> Iterator[Problem]:
    """What is wrong with one container's requests and limits."""
    requests, limits = (mapping(container, f"resources.{f}") for f in ("requests", "limits"))
    for field, amounts in (("requests", requests), ("limits", limits)):
        for name, amount in amounts.items():
            if amount is not UNKNOWN and grammar.quantity(amount) is None:
                yield f"{path}.{field}.{name}", "is no quantity, such as 500m or 2Gi"
    for name in requests:
        yield from _pair_problems(name, requests[name], limits.get(name), path)


def _pair_problems(name: str, request: Any, limit: Any, path: str) -> Iterator[Problem]:
    here = f"{path}.requests.{name}"
    extended = "/" in name
    if limit is None:
        if extended:
            yield here, f"{name} is an extended resource: set the limit too, to the same number"
        return
    asked, most = grammar.quantity(request), grammar.quantity(limit)
    if asked is None or most is None:
        return
    if extended and asked != most:
        yield here, f"{name} is an extended resource: request and limit must be the same number"
    elif asked > most:
        yield here, "is more than the limit"


def reference_problems(spec: Properties, namespace: str, scope: str, world: World) -> Iterator[str]:
    """What a pod with that `spec` names that is not in its cluster and namespace."""
    for volume in objects(spec, "volumes"):
        for reference in _references(volume):
            yield from _reference_problems(reference, namespace, scope, world)
    account = text(spec, "serviceAccountName") or "default"
    if account != "default" and not _there(world, scope, SERVICE_ACCOUNT, namespace, account):
        yield f"ServiceAccount {account!r} does not exist in namespace {namespace!r}"
    priority = text(spec, "priorityClassName")
    known = priority in _BUILT_IN_PRIORITIES or world.get(str(priority), PRIORITY_CLASS, scope)
    if priority and not known:
        yield f"PriorityClass {priority!r} does not exist in the cluster"
    runtime = text(spec, "runtimeClassName")
    if runtime and not _runtime_class_exists(runtime, scope, world):
        yield f"RuntimeClass {runtime!r} does not exist in the cluster"
    for pull_secret in objects(spec, "imagePullSecrets"):
        name = str(pull_secret.get("name"))
        if not _there(world, scope, SECRET, namespace, name):
            yield f"image pull Secret {name!r} does not exist in namespace {namespace!r}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reference:
    """A ConfigMap or Secret that a volume takes, and the keys it takes of it."""

    volume: str
    token: str
    name: str
    keys: tuple[str, ...]


def _references(volume: Properties) -> Iterator[_Reference]:
    for source in (volume, *objects(volume, "projected.sources")):
        for field, token in (("configMap", CONFIG_MAP), ("secret", SECRET)):
            taken = mapping(source, field)
            name = text(taken, "name") or text(taken, "secretName")
            if name and not taken.get("optional"):
                keys = tuple(str(item.get("key")) for item in objects(taken, "items"))
                volume_name = str(volume.get("name"))
                yield _Reference(volume=volume_name, token=token, name=name, keys=keys)


def _reference_problems(
    reference: _Reference, namespace: str, scope: str, world: World
) -> Iterator[str]:
    kind = reference.token.rpartition(":")[2]
    there = cluster.find_object(world, scope, reference.token, namespace, reference.name)
    if there is None:
        yield (
            f"volume {reference.volume!r} takes {kind} {reference.name!r}, "
            f"which does not exist in namespace {namespace!r}"
        )
        return
    for key in reference.keys:
        if key not in data_keys(there.inputs):
            yield f"volume {reference.volume!r}: {kind} {reference.name!r} has no key {key!r}"


def _runtime_class_exists(name: str, scope: str, world: World) -> bool:
    """Made by the stack, by NVIDIA's operator, which names its own after itself, or by others."""
    for where in (scope, cluster.OUTSIDE):
        if world.get(name, RUNTIME_CLASS, where) is not None:
            return True
    return name.startswith("nvidia") and any(releases(world, scope, "gpu-operator"))


def data_keys(inputs: Properties) -> frozenset[str]:
    """The keys of a Secret or ConfigMap."""
    fields = (mapping(inputs, name) for name in ("data", "stringData", "binaryData"))
    return frozenset(key for field in fields for key in field)


def _there(world: World, scope: str, token: str, namespace: str, name: str) -> bool:
    return cluster.find_object(world, scope, token, namespace, name) is not None
