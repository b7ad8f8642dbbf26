"""Namespaces, Secrets, ConfigMaps, service accounts and roles."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import cluster, grammar
from pulumi_rehearsal.standin.kubernetes.grammar import Problem
from pulumi_rehearsal.standin.kubernetes.objects import NAMED, KubernetesObject
from pulumi_rehearsal.standin.properties import flag, mapping, objects, strings, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

RELEASE: Final = "kubernetes:helm.sh/v3:Release"

MAX_DATA_BYTES: Final = 1024 * 1024
"""MaxSecretSize, and the same for a ConfigMap: kubernetes/kubernetes pkg/apis/core/types.go."""


class Namespace(KubernetesObject):
    """A namespace; deleting it deletes what is in it."""

    token: ClassVar[str] = cluster.NAMESPACE
    computed: ClassVar[frozenset[str]] = frozenset({"status"})
    namespaced: ClassVar[bool] = False

    def name_reason(self, name: str) -> str:
        """A DNS label, and none of the names that a cluster has by itself."""
        if name in cluster.BUILT_IN_NAMESPACES:
            return "is in every cluster already: use it without creating it"
        return grammar.dns_label(name)

    def computed_values(self, inputs: Properties) -> Properties:
        """Active, as the provider waits for that."""
        return {"status": {"phase": "Active"}}

    def delete(self, old: Resource, world: World) -> None:
        """Refused while a Helm release is in it; other objects go with it."""
        super().delete(old, world)
        tenants = [
            thing
            for thing in world.all(scope=old.scope)
            if _namespace_of(thing) == old.id and thing.type != cluster.NAMESPACE
        ]
        releases = [thing.id for thing in tenants if thing.type == RELEASE]
        if releases:
            raise Refusal(
                f"namespace {old.id!r} still holds the Helm release {releases[0]!r}: deleting it "
                "now would take the release's Secret away and orphan what the release made. "
                "Take the release's namespace from the Namespace resource"
            )
        for thing in tenants:
            world.remove(thing)
            world.record("deleted", thing, f"went with namespace {old.id!r}")


class Secret(KubernetesObject):
    """A Secret; `data` holds everything once it is made."""

    # `data` and `stringData` change in place as every provider of this program sets
    # enableSecretMutable; otherwise pulumi-kubernetes replaces on them (provider/diff.go).
    token: ClassVar[str] = cluster.SECRET
    secret_outputs: ClassVar[frozenset[str]] = frozenset({"data", "stringData"})
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"type"}

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        """Keys, base64, size."""
        for field in ("data", "stringData"):
            yield from _data_problems(inputs, field)
        for key, value in strings(inputs, "data").items():
            if decoded(value) is None:
                yield f"data.{key}", "is not base64: put plain text into stringData"

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """An immutable Secret keeps its data."""
        _require_mutable(call.inputs, old, ("data", "stringData"))
        return super().update(call, old, world)

    def computed_values(self, inputs: Properties) -> Properties:
        """What was given as text arrives in `data`."""
        plain = {key: _encoded(value) for key, value in strings(inputs, "stringData").items()}
        data = {**mapping(inputs, "data"), **plain}
        return {"type": text(inputs, "type") or "Opaque", **({"data": data} if data else {})}


class ConfigMap(KubernetesObject):
    """A ConfigMap; its data is replaced, as no provider here sets enableConfigMapMutable."""

    token: ClassVar[str] = "kubernetes:core/v1:ConfigMap"
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"data", "binaryData"}

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        """Keys and size."""
        for field in ("data", "binaryData"):
            yield from _data_problems(inputs, field)
        for key in mapping(inputs, "data").keys() & mapping(inputs, "binaryData").keys():
            yield f"data.{key}", "is in binaryData too: one key, one value"


class ServiceAccount(KubernetesObject):
    """A service account."""

    token: ClassVar[str] = "kubernetes:core/v1:ServiceAccount"


class Role(KubernetesObject):
    """A role of one namespace."""

    token: ClassVar[str] = "kubernetes:rbac.authorization.k8s.io/v1:Role"

    def name_reason(self, name: str) -> str:
        """Any name that fits into a URL."""
        return grammar.path_segment(name)


class ClusterRole(Role):
    """A role of the whole cluster."""

    token: ClassVar[str] = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
    namespaced: ClassVar[bool] = False


class RoleBinding(Role):
    """Gives a role to subjects in one namespace."""

    token: ClassVar[str] = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"roleRef"}

    def relation_problems(self, call: Call, world: World) -> Iterator[str]:
        """A role that is not there gives no rights, and nothing says so: refused here.

        Roles that the cluster brings along (`view`, `system:...`) are taken for granted.
        """
        kind, name = text(call.inputs, "roleRef.kind"), text(call.inputs, "roleRef.name") or ""
        if kind == "Role":
            namespace = text(call.inputs, "metadata.namespace") or "default"
            if cluster.find_object(world, call.scope, Role.token, namespace, name) is None:
                yield f"roleRef names the Role {name!r}, which is not in namespace {namespace!r}"
        elif not _is_built_in(name) and not world.get(name, ClusterRole.token, call.scope):
            yield f"roleRef names the ClusterRole {name!r}, which is not in the cluster"


class ClusterRoleBinding(RoleBinding):
    """Gives a role to subjects in the whole cluster."""

    token: ClassVar[str] = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"
    namespaced: ClassVar[bool] = False

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        """It can give a ClusterRole only."""
        if text(inputs, "roleRef.kind") not in (None, "ClusterRole"):
            yield "roleRef.kind", "must be 'ClusterRole' in a ClusterRoleBinding"
        for index, subject in enumerate(objects(inputs, "subjects")):
            if subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
                yield f"subjects[{index}].namespace", "is needed for a ServiceAccount"


def _is_built_in(cluster_role: str) -> bool:
    names = ("cluster-admin", "admin", "edit", "view")
    return cluster_role in names or cluster_role.startswith("system:")


def decoded(value: str) -> str | None:
    """The text behind base64, or None where it is none (a Secret may hold bytes: those read '')."""
    try:
        return base64.b64decode(value, validate=True).decode(errors="ignore")
    except binascii.Error:
        return None


def secret_text(secret: Resource, key: str) -> str | None:
    """What a Secret holds under `key`; None where it has no such key."""
    plain = strings(secret.inputs, "stringData").get(key)
    if plain is not None:
        return plain
    value = strings(secret.inputs, "data").get(key)
    return None if value is None else decoded(value)


def _encoded(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def _data_problems(inputs: Properties, field: str) -> Iterator[Problem]:
    data = mapping(inputs, field)
    for key in data:
        if reason := grammar.data_key(key):
            yield f"{field}.{key}", reason
    size = sum(len(value.encode()) for value in data.values() if isinstance(value, str))
    if size > MAX_DATA_BYTES:
        yield field, f"holds {size} bytes, the limit is {MAX_DATA_BYTES}"


def _require_mutable(inputs: Properties, old: Resource, fields: tuple[str, ...]) -> None:
    if flag(old.inputs, "immutable") and any(inputs.get(f) != old.inputs.get(f) for f in fields):
        raise Refusal(f"{old.type} {old.id!r} is immutable: give it a new metadata.name")


def _namespace_of(thing: Resource) -> str | None:
    """Where an object or a release lives."""
    if thing.type == RELEASE:
        return text(thing.inputs, "namespace")
    return text(thing.inputs, "metadata.namespace")


KINDS: Final = (
    Namespace(),
    Secret(),
    ConfigMap(),
    ServiceAccount(),
    Role(),
    ClusterRole(),
    RoleBinding(),
    ClusterRoleBinding(),
)
