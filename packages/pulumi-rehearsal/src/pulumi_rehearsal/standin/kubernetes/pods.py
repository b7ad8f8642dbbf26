"""Rules for a pod's spec beyond its schema: resources, references and image names.

Sources: kubernetes/kubernetes pkg/apis/core/validation/validation.go (requests, limits, extended
resources), pkg/apis/core/v1/defaults.go (an absent request takes the limit's value) and
plugin/pkg/admission/{priority,serviceaccount,runtimeclass} (what is refused at admission);
distribution/reference normalize.go (the first part of an image name is a registry if it holds a dot
or a colon, or is `localhost`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pulumi_rehearsal.standin import kubernetes_names as names
from pulumi_rehearsal.standin.kubernetes import cluster, manifest
from pulumi_rehearsal.standin.kubernetes.release import releases
from pulumi_rehearsal.standin.properties import mapping, objects, strings, text
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.values import UNKNOWN, Properties

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"
SERVICE_ACCOUNT: Final = "kubernetes:core/v1:ServiceAccount"
PRIORITY_CLASS: Final = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
RUNTIME_CLASS: Final = "kubernetes:node.k8s.io/v1:RuntimeClass"

_BUILT_IN_PRIORITIES: Final = frozenset({"system-node-critical", "system-cluster-critical"})


def spec_problems(spec: Any, version: str = manifest.REFERENCE_VERSION) -> Iterator[Problem]:
    """Check a pod's `spec` without its cluster; paths are relative to it."""
    if spec is UNKNOWN:
        return
    yield from manifest.pod_problems({} if spec is None else spec, version)
    pod: Properties = {"spec": spec}
    for group in ("initContainers", "containers"):
        for index, container in enumerate(objects(pod, f"spec.{group}")):
            yield from resource_problems(container, f"{group}[{index}].resources")


def resource_problems(container: Properties, path: str) -> Iterator[Problem]:
    """Check one container's requests and limits."""
    requests, limits = (mapping(container, f"resources.{f}") for f in ("requests", "limits"))
    for field, amounts in (("requests", requests), ("limits", limits)):
        for name, amount in amounts.items():
            if amount is not UNKNOWN and names.quantity(amount) is None:
                yield f"{path}.{field}.{name}", "is not a quantity, such as 500m or 2Gi"
    for name in requests:
        yield from _request_problems(name, requests[name], limits.get(name), path)


def reference_problems(spec: Properties, namespace: str, scope: str, world: World) -> Iterator[str]:
    """Describe objects that the pod refers to and that its cluster and namespace do not have."""
    for volume in objects(spec, "volumes"):
        for reference in _references(volume):
            yield from _volume_problems(reference, namespace, scope, world)
    account = text(spec, "serviceAccountName") or "default"
    if account != "default" and not _exists(world, scope, SERVICE_ACCOUNT, namespace, account):
        yield f"ServiceAccount {account!r} does not exist in namespace {namespace!r}"
    priority = text(spec, "priorityClassName")
    if priority and not (
        priority in _BUILT_IN_PRIORITIES
        or _exists_unnamespaced(world, scope, PRIORITY_CLASS, priority)
    ):
        yield f"PriorityClass {priority!r} does not exist in the cluster"
    runtime = text(spec, "runtimeClassName")
    if runtime and not (
        _exists_unnamespaced(world, scope, RUNTIME_CLASS, runtime)
        # NVIDIA's operator creates its own classes.
        or (runtime.startswith("nvidia") and any(releases(world, scope, "gpu-operator")))
    ):
        yield f"RuntimeClass {runtime!r} does not exist in the cluster"
    for pull_secret in objects(spec, "imagePullSecrets"):
        name = str(pull_secret.get("name"))
        if not _exists(world, scope, cluster.SECRET, namespace, name):
            yield f"image pull Secret {name!r} does not exist in namespace {namespace!r}"


def secrets_of(spec: Properties) -> Iterator[str]:
    """Yield the names of the Secrets that a pod mounts."""
    for volume in objects(spec, "volumes"):
        for reference in _references(volume):
            if reference.token == cluster.SECRET:
                yield reference.name


def data_keys(inputs: Properties) -> frozenset[str]:
    """Return the keys of a Secret or ConfigMap."""
    fields = (mapping(inputs, name) for name in ("data", "stringData", "binaryData"))
    return frozenset(key for field in fields for key in field)


def decoded(value: str) -> str | None:
    """Decode base64 and drop bytes that are not UTF-8; `None` if the value is not base64."""
    try:
        return base64.b64decode(value, validate=True).decode(errors="ignore")
    except binascii.Error:
        return None


def secret_text(inputs: Properties, key: str) -> str | None:
    """Return the value of a Secret's key as text; `None` if it has no such key."""
    plain = strings(inputs, "stringData").get(key)
    if plain is not None:
        return plain
    value = strings(inputs, "data").get(key)
    return None if value is None else decoded(value)


def images_of(spec: Properties) -> Iterator[str]:
    """Yield the images of a pod's containers and volumes; an empty text for an absent one."""
    for group in ("initContainers", "containers"):
        for container in objects(spec, group):
            yield text(container, "image") or ""
    for volume in objects(spec, "volumes"):
        yield text(volume, "image.reference") or ""


def image_problems(images: Iterable[str], scope: str, world: World) -> Iterator[str]:
    """Describe each short image name in a cluster whose nodes accept only qualified names."""
    refusing = [one for one in cluster.node_groups(world, scope) if one.refuses_short_names]
    if not refusing:
        return
    for image in dict.fromkeys(images):
        if image and not has_registry(image):
            yield (
                f"image {image!r} is not fully qualified, and CRI-O on node pool "
                f"{refusing[0].name!r} refuses short names (OKE, Kubernetes 1.34 and later): name "
                "the registry, such as docker.io/library/..."
            )


def has_registry(image: str) -> bool:
    """Whether the image's name begins with a registry."""
    registry, separator, _ = image.partition("/")
    return bool(separator) and (registry == "localhost" or "." in registry or ":" in registry)


def _request_problems(name: str, request: Any, limit: Any, path: str) -> Iterator[Problem]:
    here = f"{path}.requests.{name}"
    extended = "/" in name
    if limit is None:
        if extended:
            yield here, f"{name} is an extended resource: set the limit too, to the same number"
        return
    requested, limited = names.quantity(request), names.quantity(limit)
    if requested is None or limited is None:
        return
    if extended and requested != limited:
        yield here, f"{name} is an extended resource: request and limit must be the same number"
    elif requested > limited:
        yield here, "is more than the limit"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reference:
    """A ConfigMap or Secret that a volume mounts, and the keys that it projects."""

    volume: str
    token: str
    name: str
    keys: tuple[str, ...]


def _references(volume: Properties) -> Iterator[_Reference]:
    for source in (volume, *objects(volume, "projected.sources")):
        for field, token in (("configMap", CONFIG_MAP), ("secret", cluster.SECRET)):
            mounted = mapping(source, field)
            name = text(mounted, "name") or text(mounted, "secretName")
            if name and not mounted.get("optional"):
                keys = tuple(str(item.get("key")) for item in objects(mounted, "items"))
                volume_name = str(volume.get("name"))
                yield _Reference(volume=volume_name, token=token, name=name, keys=keys)


def _volume_problems(
    reference: _Reference, namespace: str, scope: str, world: World
) -> Iterator[str]:
    kind = reference.token.rpartition(":")[2]
    found = cluster.find_object(world, scope, reference.token, namespace, reference.name)
    if found is None:
        yield (
            f"volume {reference.volume!r} mounts {kind} {reference.name!r}, "
            f"which does not exist in namespace {namespace!r}"
        )
        return
    for key in reference.keys:
        if key not in data_keys(found.inputs):
            yield f"volume {reference.volume!r}: {kind} {reference.name!r} has no key {key!r}"


def _exists(world: World, scope: str, token: str, namespace: str, name: str) -> bool:
    return cluster.find_object(world, scope, token, namespace, name) is not None


def _exists_unnamespaced(world: World, scope: str, token: str, name: str) -> bool:
    found = world.get(name, token, scope) or cluster.outside(world, scope, token, name)
    return found is not None
