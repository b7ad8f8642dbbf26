"""Namespaces, Secrets, ConfigMaps, Roles and RoleBindings."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin import kubernetes_names as names
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import arc, cluster, pods
from pulumi_rehearsal.standin.kubernetes.objects import NAMED, KubernetesObject, enabled
from pulumi_rehearsal.standin.kubernetes.release import RELEASE
from pulumi_rehearsal.standin.properties import flag, mapping, strings, text
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

CLUSTER_ROLE: Final = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"

MAX_DATA_BYTES: Final = 1024 * 1024
"""MaxSecretSize, and the same for a ConfigMap: kubernetes/kubernetes pkg/apis/core/types.go."""


class Namespace(KubernetesObject):
    """A namespace; deleting it deletes the objects in it, and only those of the program may be."""

    token: ClassVar[str] = cluster.NAMESPACE
    computed: ClassVar[frozenset[str]] = frozenset({"status"})
    namespaced: ClassVar[bool] = False

    def name_reason(self, name: str) -> str:
        if name in cluster.BUILT_IN_NAMESPACES:
            return "exists in every cluster: use it without creating it"
        return names.dns_label(name)

    def computed_values(self, inputs: Properties) -> Properties:
        return {"status": {"phase": "Active"}}  # the provider waits for it

    def delete(self, old: Resource, world: World) -> None:
        super().delete(old, world)
        contents = [
            resource
            for resource in world.all(scope=old.scope)
            if _namespace_of(resource) == old.id and resource.type != cluster.NAMESPACE
        ]
        sets = [resource.id for resource in contents if resource.type == arc.RUNNER_SET]
        if sets:
            raise Refusal(
                f"namespace {old.id!r} still holds the AutoscalingRunnerSet {sets[0]!r}: deleting "
                "it would delete the set's Secret and roles, without which its finalizer is never "
                "removed. Take the set's namespace from the Namespace resource"
            )
        releases = [resource.id for resource in contents if resource.type == RELEASE]
        if releases:
            raise Refusal(
                f"namespace {old.id!r} still holds the Helm release {releases[0]!r}: deleting it "
                "would delete the release's Secret and orphan the release's objects. Take the "
                "release's namespace from the Namespace resource"
            )
        others = [
            resource
            for scope in cluster.outside_scopes(world, old.scope)
            for resource in world.all(scope=scope)
            if _namespace_of(resource) == old.id
        ]
        if others:
            raise Refusal(
                f"namespace {old.id!r} holds the {others[0].type.rpartition(':')[2]} "
                f"{others[0].name!r}, which the program did not create: deleting the namespace "
                "would delete it. Read the namespace instead of creating it"
            )
        for resource in contents:
            world.remove(resource)
            world.record("deleted", resource, f"deleted with namespace {old.id!r}")


class Secret(KubernetesObject):
    """A Secret; its output `data` includes `stringData`."""

    token: ClassVar[str] = cluster.SECRET
    secret_outputs: ClassVar[frozenset[str]] = frozenset({"data", "stringData"})
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"type", "data", "stringData"}

    def replaces(self, settings: Properties) -> frozenset[str]:
        # pulumi-kubernetes provider/pkg/provider/diff.go
        mutable = {"data", "stringData"} if enabled(settings, "enableSecretMutable") else set[str]()
        return self.replaced_on - mutable

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        for field in ("data", "stringData"):
            yield from _data_problems(inputs, field)
        for key, value in strings(inputs, "data").items():
            if pods.decoded(value) is None:
                yield f"data.{key}", "is not base64: put plain text into stringData"

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        fields = ("data", "stringData")
        if flag(old.inputs, "immutable") and any(
            call.inputs.get(field) != old.inputs.get(field) for field in fields
        ):
            raise Refusal(f"{old.type} {old.id!r} is immutable: give it a new metadata.name")
        return super().update(call, old, world)

    def computed_values(self, inputs: Properties) -> Properties:
        plain = {key: _encoded(value) for key, value in strings(inputs, "stringData").items()}
        data = {**mapping(inputs, "data"), **plain}
        return {"type": text(inputs, "type") or "Opaque", **({"data": data} if data else {})}


class ConfigMap(KubernetesObject):
    """A ConfigMap."""

    token: ClassVar[str] = "kubernetes:core/v1:ConfigMap"
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"data", "binaryData"}

    def replaces(self, settings: Properties) -> frozenset[str]:
        # pulumi-kubernetes provider/pkg/provider/diff.go
        is_mutable = enabled(settings, "enableConfigMapMutable")
        return self.replaced_on - ({"data", "binaryData"} if is_mutable else set[str]())

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        for field in ("data", "binaryData"):
            yield from _data_problems(inputs, field)
        for key in mapping(inputs, "data").keys() & mapping(inputs, "binaryData").keys():
            yield f"data.{key}", "is in binaryData too: a key can have one value only"


class Role(KubernetesObject):
    """A role of one namespace."""

    token: ClassVar[str] = "kubernetes:rbac.authorization.k8s.io/v1:Role"

    def name_reason(self, name: str) -> str:
        return names.path_segment(name)


class RoleBinding(Role):
    """A binding of a role to subjects in one namespace."""

    token: ClassVar[str] = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"roleRef"}

    def relation_problems(self, call: Call, world: World) -> Iterator[str]:
        # The API server accepts a binding to a missing role from an administrator, and the
        # subjects then have no rights. Built-in roles (`view`, `system:...`) always exist.
        kind, name = text(call.inputs, "roleRef.kind"), text(call.inputs, "roleRef.name") or ""
        if kind == "Role":
            namespace = text(call.inputs, "metadata.namespace") or "default"
            if cluster.find_object(world, call.scope, Role.token, namespace, name) is None:
                yield f"roleRef names the Role {name!r}, which is not in namespace {namespace!r}"
        elif not _is_built_in(name) and not any(
            world.get(name, CLUSTER_ROLE, scope) for scope in (call.scope, cluster.OUTSIDE)
        ):
            yield f"roleRef names the ClusterRole {name!r}, which is not in the cluster"


def _is_built_in(cluster_role: str) -> bool:
    return cluster_role in ("cluster-admin", "admin", "edit", "view") or cluster_role.startswith(
        "system:"
    )


def _encoded(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def _data_problems(inputs: Properties, field: str) -> Iterator[Problem]:
    data = mapping(inputs, field)
    for key in data:
        if reason := names.data_key(key):
            yield f"{field}.{key}", reason
    size = sum(len(value.encode()) for value in data.values() if isinstance(value, str))
    if size > MAX_DATA_BYTES:
        yield field, f"holds {size} bytes, the limit is {MAX_DATA_BYTES}"


def _namespace_of(resource: Resource) -> str | None:
    if resource.type == RELEASE:
        return text(resource.inputs, "namespace")
    return text(resource.inputs, "metadata.namespace")


KINDS: Final = (
    Namespace(),
    Secret(),
    ConfigMap(),
    Role(),
    RoleBinding(),
)
