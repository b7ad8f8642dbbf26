"""The base class of Kubernetes objects: validation, naming, namespace and id.

`replaced_on` holds the fields that pulumi-kubernetes replaces on (pulumi/pulumi-kubernetes
provider/pkg/provider/diff.go). `immutable` holds other fields that the API server does not change:
such an update is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from pulumi_rehearsal.standin import kubernetes_names as names
from pulumi_rehearsal.standin import schema
from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import arc, arc_templates, cluster, manifest
from pulumi_rehearsal.standin.kubernetes.release import key_set
from pulumi_rehearsal.standin.properties import items, lookup, mapping, strings, text
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

AUTONAMED: Final = "pulumi.com/autonamed"
"""Annotation of an object with an automatic name: pulumi-kubernetes
provider/pkg/metadata/naming.go."""

CREATED_AT: Final = "2026-11-01T00:00:00Z"
DELETED_AT: Final = "2026-11-02T00:00:00Z"

NAMED: Final = frozenset({"metadata.name", "metadata.namespace"})
"""Fields that replace an object of any kind: metadataForceNewProperties in pulumi-kubernetes'
provider/pkg/provider/diff.go."""

CLUSTER_SCOPED: Final = key_set(
    """APIService CSIDriver CSINode CertificateSigningRequest ClusterRole ClusterRoleBinding
    ComponentStatus CustomResourceDefinition DeviceClass FlowSchema IPAddress IngressClass
    MutatingAdmissionPolicy MutatingWebhookConfiguration Namespace Node PersistentVolume
    PriorityClass PriorityLevelConfiguration ResourceSlice RuntimeClass ServiceCIDR StorageClass
    ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
    VolumeAttachment VolumeAttributesClass"""
)
"""Built-in kinds without a namespace: `kubectl api-resources --namespaced=false`."""


FOREGROUND: Final = "foregroundDeletion"

DEFAULT_TIMEOUT_S: Final = 600.0
"""How long pulumi-kubernetes waits for a deletion without custom_timeouts."""


class KubernetesObject(Kind):
    """An object of the API; subclasses add the rules of their kind."""

    replaced_on: ClassVar[frozenset[str]] = NAMED
    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})
    namespaced: ClassVar[bool] = True
    immutable: ClassVar[frozenset[str]] = frozenset()
    """Paths that the API server does not change and the provider does not replace on."""

    def check(self, call: Call, old: Properties | None) -> Properties:
        if found := self.sdk_problems(call.inputs):
            raise Invalid(*found)
        inputs = self._with_metadata(call, old)
        found = [
            *self.schema_problems(inputs, manifest.REFERENCE_VERSION),
            *self._metadata_problems(inputs),
            *self.object_problems(inputs),
        ]
        if found:
            raise Invalid(*found)
        return inputs

    def name_reason(self, name: str) -> str:
        """Return why `metadata.name` is invalid, or an empty string."""
        return names.dns_subdomain(name)

    def sdk_problems(self, inputs: Properties) -> list[Problem]:
        """Check against the SDK's class."""
        return schema.problems(self.token, inputs)

    def schema_problems(self, inputs: Properties, version: str) -> list[Problem]:
        """Check against the API schema of a minor version of Kubernetes."""
        return manifest.problems(inputs, version)

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check the inputs without the cluster."""
        yield from ()

    def relation_problems(self, call: Call, world: World) -> Iterator[str]:
        """Describe why the cluster refuses the object."""
        yield from ()

    def deletes_first(self, logical_name: str, old: Properties, new: Properties) -> bool:
        # Two objects cannot have one name: pulumi-kubernetes provider/pkg/provider/provider.go.
        automatic = strings(new, "metadata.annotations").get(AUTONAMED) == "true"
        return not automatic and _namespace_and_name(old) == _namespace_and_name(new)

    def adopts(self, call: Call) -> bool:
        # pulumi-kubernetes 4.30 and later: provider/pkg/await/await.go, Creation.
        return enabled(call.settings, "upsertExistingObjects")

    def read(self, id: str, scope: str, world: World) -> Resource | None:
        found = world.get(id, self.token, scope) or cluster.outside(world, scope, self.token, id)
        if found is None or not world.jobs.is_terminating(found):
            return found
        metadata = {**mapping(found.outputs, "metadata"), "deletionTimestamp": DELETED_AT}
        return dataclasses.replace(found, outputs={**found.outputs, "metadata": metadata})

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        id = self.identify(call, world)
        cluster.require_alive(world, call.scope, f"{self._noun} {id!r}")
        existing = self.read(id, call.scope, world)
        if existing is not None and self.adopts(call):
            return id, self.update(call, existing, world)
        if existing is not None:
            raise Refusal(
                f"resource {id} was not successfully created by the Kubernetes API server : "
                f'{self._plural} "{lookup(call.inputs, "metadata.name")}" already exists: give one '
                "of the two another metadata.name; or if others made it, read it, or take it over "
                "with upsertExistingObjects of the provider"
            )
        self._refuse(call, world)
        return id, self._outputs(call.inputs, _created(call))

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        cluster.require_alive(world, call.scope, f"{self._noun} {old.id!r}")
        for path in sorted(self.immutable):
            if lookup(old.inputs, path) != lookup(call.inputs, path):
                raise Refusal(
                    f"{self._noun} {old.id!r}: {path} is immutable and the provider does not "
                    "replace on it: give the object a new metadata.name"
                )
        self._refuse(call, world)
        before, created = mapping(old.outputs, "metadata"), _created(call)
        added = {name: before.get(name, value) for name, value in created.items()}
        return self._outputs(call.inputs, added)

    def delete(self, old: Resource, world: World) -> None:
        cluster.require_alive(world, old.scope, f"{self._noun} {old.id!r}")

    def remove(self, old: Resource, world: World, timeout_s: float) -> None:
        # The controller of ARC removes the finalizer of a set's account and roles with the set.
        if arc_templates.CLEANUP in items(old.inputs, "metadata.finalizers"):
            for one in world.all(arc.RUNNER_SET, old.scope):
                same = arc_templates.set_of(one.inputs) == arc_templates.set_of(old.inputs)
                if same and world.jobs.outlasts(one, timeout_s or DEFAULT_TIMEOUT_S):
                    reason = f"jobs still run on {one.type.rpartition(':')[2]} {one.id!r}"
                    raise Refusal(timed_out(old, reason=reason, finalizer=arc_templates.CLEANUP))
        super().remove(old, world, timeout_s)

    def identify(self, call: Call, world: World) -> str:
        # pulumi-kubernetes provider/pkg/clients
        namespace, name = _namespace_and_name(call.inputs)
        return f"{namespace}/{name}" if namespace else str(name)

    def _with_metadata(self, call: Call, old: Properties | None) -> Properties:
        metadata = dict(mapping(call.inputs, "metadata"))
        if metadata.get("name") is None:
            kept = strings(old or {}, "metadata.annotations").get(AUTONAMED) == "true"
            name = text(old or {}, "metadata.name") if kept else None
            metadata["name"] = name or f"{call.name}-{call.hex(8)}"
            annotations = mapping(metadata, "annotations")
            metadata["annotations"] = {**annotations, AUTONAMED: "true"}
        if self.namespaced and not metadata.get("namespace"):
            metadata["namespace"] = "default"
        return {**call.inputs, "metadata": metadata}

    def _metadata_problems(self, inputs: Properties) -> Iterator[Problem]:
        name, namespace = text(inputs, "metadata.name"), text(inputs, "metadata.namespace")
        if name is not None and (reason := self.name_reason(name)):
            yield "metadata.name", f"{name!r} {reason}"
        if namespace is not None and not self.namespaced:
            yield "metadata.namespace", f"{self._noun} has no namespace: leave it out"
        elif namespace is not None and (reason := names.dns_label(namespace)):
            yield "metadata.namespace", f"{namespace!r} {reason}"
        for key, value in mapping(inputs, "metadata.labels").items():
            reason = names.label_key(key)
            if not reason and isinstance(value, str):
                reason = names.label_value(value)
            if reason:
                yield f"metadata.labels.{key}", reason
        for key in mapping(inputs, "metadata.annotations"):
            # The API server validates the keys of annotations in lower case.
            if reason := names.label_key(key.lower()):
                yield f"metadata.annotations.{key}", reason

    def _refuse(self, call: Call, world: World) -> None:
        version = cluster.kubernetes_version(world, call.scope)
        for path, reason in self.schema_problems(call.inputs, version):
            raise Refusal(f"Kubernetes {version}: {self._noun} {path}: {reason}")
        namespace = text(call.inputs, "metadata.namespace")
        if namespace and not cluster.namespace_exists(world, call.scope, namespace):
            raise Refusal(
                f"namespace {namespace!r} does not exist in this cluster: take its name from the "
                "Namespace resource of the same cluster, so that it is made first"
            )
        for reason in self.relation_problems(call, world):
            raise Refusal(f"{self._noun} {text(call.inputs, 'metadata.name')!r}: {reason}")

    def computed_values(self, inputs: Properties) -> Properties:
        """Return the values of the `computed` outputs."""
        return {}

    def _outputs(self, inputs: Properties, added: Properties) -> Properties:
        metadata = {**mapping(inputs, "metadata"), **added}
        return {**inputs, "metadata": metadata, **self.computed_values(inputs)}

    @property
    def _noun(self) -> str:
        return self.token.rpartition(":")[2]

    @property
    def _plural(self) -> str:
        """Return the resource's name in messages of the API server, such as `roles.rbac...`."""
        _, api_version, kind = self.token.split(":")
        noun = kind.lower()
        if noun.endswith("y"):
            plural = f"{noun[:-1]}ies"
        else:
            plural = f"{noun}es" if noun.endswith(("s", "x", "ch")) else f"{noun}s"
        group = api_version.partition("/")[0]
        return plural if group == "core" else f"{plural}.{group}"


def any_object(token: str) -> Kind | None:
    """Return a kind for any built-in type: schema and metadata are checked, nothing else.

    Return `None` for another token, such as a list, a patch, or a type outside the SDK.
    """
    name = token.rpartition(":")[2]
    if name.endswith(("List", "Patch")) or "metadata" not in schema.fields(
        schema.args_class(token) or object
    ):
        return None
    members = {"token": token, "namespaced": name not in CLUSTER_SCOPED}
    return cast("Kind", type(name, (KubernetesObject,), members)())


def enabled(settings: Properties, name: str) -> bool:
    """Whether a setting of the provider is on; the SDK sends settings as JSON."""
    return settings.get(name) in (True, "true")


def timed_out(
    old: Resource, running: int = 0, reason: str = "", finalizer: str = FOREGROUND
) -> str:
    """Return the message of a deletion that lasts longer than the provider waits.

    Source: pulumi/pulumi-kubernetes provider/pkg/await/{internal/awaiter.go,condition/deleted.go}.
    """
    if running:
        jobs = "job still runs" if running == 1 else "jobs still run"
        reason = (
            f"{running} {jobs}. It takes no new job and is gone when they end: run the same "
            "command again, and raise custom_timeouts.delete for longer jobs"
        )
    return (
        f"{old.type.rpartition(':')[2]} {old.id!r}: finalizers might be preventing deletion "
        f"({finalizer}): timed out waiting for the condition: {reason}"
    )


def _namespace_and_name(inputs: Properties) -> tuple[str | None, Any]:
    return text(inputs, "metadata.namespace"), lookup(inputs, "metadata.name")


def _created(call: Call) -> Properties:
    """Return the metadata that the API server adds to a new object."""
    return {"creationTimestamp": CREATED_AT, "uid": _uid(call.hex(32))}


def _uid(digits: str) -> str:
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32])
    return "-".join(parts)
