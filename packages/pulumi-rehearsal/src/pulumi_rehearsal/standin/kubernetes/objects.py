"""What every Kubernetes object of the stand-in shares: validation, naming, namespace, identity.

A rule of the API server that pulumi-kubernetes answers by a replacement is in `replaced_on`
(pulumi/pulumi-kubernetes provider/pkg/provider/diff.go); one that it does not know of is in
`immutable`, and the update is refused as the API server would refuse it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from pulumi_rehearsal.standin import schema
from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import cluster, grammar, manifest
from pulumi_rehearsal.standin.kubernetes.grammar import Problem
from pulumi_rehearsal.standin.properties import lookup, mapping, strings, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

AUTONAMED: Final = "pulumi.com/autonamed"
"""Annotation of an object that the provider named: pulumi-kubernetes
provider/pkg/metadata/naming.go."""

CREATED_AT: Final = "2026-11-01T00:00:00Z"

NAMED: Final = frozenset({"metadata.name", "metadata.namespace"})
"""Replaces every object: metadataForceNewProperties in pulumi-kubernetes'
provider/pkg/provider/diff.go."""


class KubernetesObject(Kind):
    """An object of the API; subclasses add what is peculiar to their kind."""

    replaced_on: ClassVar[frozenset[str]] = NAMED
    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})
    namespaced: ClassVar[bool] = True
    immutable: ClassVar[frozenset[str]] = frozenset()
    """Paths that the API server refuses to change and the provider does not replace on."""

    def check(self, call: Call, old: Properties | None) -> Properties:
        """Schema of the SDK, then of Kubernetes, then names, labels and the kind's own rules."""
        if found := self.sdk_problems(call.inputs):
            raise Invalid(*found)
        inputs = self._with_metadata(call, old)
        found = [
            *manifest.problems(inputs),
            *self._metadata_problems(inputs),
            *self.object_problems(inputs),
        ]
        if found:
            raise Invalid(*found)
        return inputs

    def name_reason(self, name: str) -> str:
        """Why `metadata.name` is none, or an empty string."""
        return grammar.dns_subdomain(name)

    def sdk_problems(self, inputs: Properties) -> list[Problem]:
        """What the SDK's class would not have let through."""
        return schema.problems(self.token, inputs)

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        """Static rules of the kind."""
        yield from ()

    def relation_problems(self, call: Call, world: World) -> Iterator[str]:
        """Rules of the kind that need the cluster."""
        yield from ()

    def deletes_first(self, logical_name: str, old: Properties, new: Properties) -> bool:
        """A replacement that keeps a given name has to delete first: pulumi-kubernetes
        provider/pkg/provider/provider.go, Diff.
        """  # noqa: D205
        automatic = strings(new, "metadata.annotations").get(AUTONAMED) == "true"
        return not automatic and _place(old) == _place(new)

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Refused without its namespace, under a name that is taken, or by the kind's rules."""
        id = self.identify(call, world)
        cluster.require_alive(world, call.scope, f"{self._word()} {id!r}")
        if world.get(id, self.token, call.scope) is not None:
            raise Refusal(
                f"{self._word()} {id!r} exists already in the cluster: "
                "give the two another metadata.name"
            )
        self._require_place(call, world)
        added: Properties = {"creationTimestamp": CREATED_AT, "uid": _uid(call.hex(32))}
        return id, self._outputs(call.inputs, added)

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Refused where the API server holds the field immutable."""
        cluster.require_alive(world, call.scope, f"{self._word()} {old.id!r}")
        for path in sorted(self.immutable):
            if lookup(old.inputs, path) != lookup(call.inputs, path):
                raise Refusal(
                    f"{self._word()} {old.id!r}: {path} is immutable and the provider does not "
                    "replace on it: give the object a new metadata.name"
                )
        self._require_place(call, world)
        before = mapping(old.outputs, "metadata")
        added = {name: before[name] for name in ("creationTimestamp", "uid") if name in before}
        return self._outputs(call.inputs, added)

    def delete(self, old: Resource, world: World) -> None:
        """Refused where the cluster is gone already."""
        cluster.require_alive(world, old.scope, f"{self._word()} {old.id!r}")

    def identify(self, call: Call, world: World) -> str:
        """`namespace/name`, or the name alone: pulumi-kubernetes provider/pkg/clients."""
        namespace, name = _place(call.inputs)
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
            yield "metadata.namespace", f"{self._word()} belongs to no namespace: leave it out"
        elif namespace is not None and (reason := grammar.dns_label(namespace)):
            yield "metadata.namespace", f"{namespace!r} {reason}"
        labels, annotations = (mapping(inputs, f"metadata.{f}") for f in ("labels", "annotations"))
        yield from grammar.label_problems(labels, "metadata.labels")
        yield from grammar.annotation_problems(annotations, "metadata.annotations")

    def _require_place(self, call: Call, world: World) -> None:
        """The rules that need the cluster: its version's schema, the namespace, the kind's own."""
        version = cluster.kubernetes_version(world, call.scope)
        for path, reason in manifest.problems(call.inputs, version):
            raise Refusal(f"Kubernetes {version}: {self._word()} {path}: {reason}")
        namespace = text(call.inputs, "metadata.namespace")
        if namespace and not cluster.namespace_exists(world, call.scope, namespace):
            raise Refusal(
                f"namespace {namespace!r} does not exist in this cluster: take its name from the "
                "Namespace resource of the same cluster, so that it is made first"
            )
        for reason in self.relation_problems(call, world):
            raise Refusal(f"{self._word()} {text(call.inputs, 'metadata.name')!r}: {reason}")

    def computed_values(self, inputs: Properties) -> Properties:
        """The values of `computed`."""
        return {}

    def _outputs(self, inputs: Properties, added: Properties) -> Properties:
        metadata = {**mapping(inputs, "metadata"), **added}
        return {**inputs, "metadata": metadata, **self.computed_values(inputs)}

    def _word(self) -> str:
        return self.token.rpartition(":")[2]


CLUSTER_SCOPED: Final = frozenset(
    [
        "APIService",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "ComponentStatus",
        "CustomResourceDefinition",
        "DeviceClass",
        "FlowSchema",
        "IPAddress",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ResourceSlice",
        "RuntimeClass",
        "ServiceCIDR",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
    ]
)
"""Built-in kinds that belong to no namespace: `kubectl api-resources --namespaced=false`."""


def any_object(token: str) -> Kind | None:
    """Return a kind for any built-in type: schema and metadata are checked, nothing else.

    Returns `None` for another token, such as a list, a patch, or a type outside the SDK.
    """
    name = token.rpartition(":")[2]
    if name.endswith(("List", "Patch")) or "metadata" not in schema.fields(
        schema.args_class(token) or object
    ):
        return None
    members = {"token": token, "namespaced": name not in CLUSTER_SCOPED}
    return cast("Kind", type(name, (KubernetesObject,), members)())


def _place(inputs: Properties) -> tuple[str | None, Any]:
    return text(inputs, "metadata.namespace"), lookup(inputs, "metadata.name")


def _uid(digits: str) -> str:
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32])
    return "-".join(parts)
