"""Deployments, DaemonSets and custom resource definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import arc, gitlab_manager, pods
from pulumi_rehearsal.standin.kubernetes.objects import (
    DEFAULT_TIMEOUT_S,
    NAMED,
    KubernetesObject,
    timed_out,
)
from pulumi_rehearsal.standin.properties import lookup, mapping, number, objects, strings, text
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

_POD: Final = "spec.template.spec"


class Workload(KubernetesObject):
    """An object with a pod template."""

    computed: ClassVar[frozenset[str]] = frozenset({"status"})
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"spec.selector"}

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        for path, reason in pods.spec_problems(lookup(inputs, _POD)):
            yield f"{_POD}.{path}" if path else _POD, reason
        labels = mapping(inputs, "spec.template.metadata.labels")
        for key, value in strings(inputs, "spec.selector.matchLabels").items():
            if labels.get(key) != value and isinstance(labels.get(key), str | None):
                yield "spec.template.metadata.labels", f"must hold {key!r} as the selector does"

    def relation_problems(self, call: Call, world: World) -> Iterator[str]:
        spec = mapping(call.inputs, _POD)
        namespace = text(call.inputs, "metadata.namespace") or "default"
        yield from pods.reference_problems(spec, namespace, call.scope, world)
        yield from pods.image_problems(pods.images_of(spec), call.scope, world)


class Deployment(Workload):
    """A Deployment, all of whose replicas become ready."""

    token: ClassVar[str] = gitlab_manager.MANAGER

    def relation_problems(self, call: Call, world: World) -> Iterator[str]:
        yield from super().relation_problems(call, world)
        if gitlab_manager.is_manager(call.inputs):
            yield from gitlab_manager.problems(call.inputs, call.scope, world)

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        id, outputs = super().create(call, world)
        gitlab_manager.started(call.resource(id, outputs), world)
        return id, outputs

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        outputs = super().update(call, old, world)
        if lookup(old.inputs, "spec.template") != lookup(call.inputs, "spec.template"):
            gitlab_manager.started(call.resource(old.id, outputs), world)
        return outputs

    def remove(self, old: Resource, world: World, timeout_s: float) -> None:
        gitlab_manager.terminate(old, world)  # in the foreground: with its pods
        if count := world.jobs.wait(old, timeout_s or DEFAULT_TIMEOUT_S):
            raise Refusal(timed_out(old, count))

    def computed_values(self, inputs: Properties) -> Properties:
        replicas = number(inputs, "spec.replicas")
        count = 1 if replicas is None else replicas
        return {"status": {"availableReplicas": count, "readyReplicas": count, "replicas": count}}


class DaemonSet(Workload):
    """A DaemonSet; the numbers in its status are left out."""

    token: ClassVar[str] = "kubernetes:apps/v1:DaemonSet"

    def computed_values(self, inputs: Properties) -> Properties:
        return {"status": {"observedGeneration": 1}}


class CustomResourceDefinition(KubernetesObject):
    """A definition, established at once."""

    token: ClassVar[str] = arc.DEFINITION
    computed: ClassVar[frozenset[str]] = frozenset({"status"})
    namespaced: ClassVar[bool] = False
    # kubernetes/kubernetes staging/src/k8s.io/apiextensions-apiserver
    # pkg/apis/apiextensions/validation/validation.go
    immutable: ClassVar[frozenset[str]] = frozenset(
        {"spec.group", "spec.names.plural", "spec.scope"}
    )

    def sdk_problems(self, inputs: Properties) -> list[Problem]:
        # YAML has `x-kubernetes-...` in the schema where the SDK has underscores.
        found = super().sdk_problems(inputs)
        return [problem for problem in found if "openAPIV3Schema" not in problem[0]]

    def delete(self, old: Resource, world: World) -> None:
        super().delete(old, world)
        sets = world.all(arc.RUNNER_SET, old.scope)
        if sets and text(old.inputs, "spec.names.kind") == arc.RUNNER_SET.rpartition(":")[2]:
            raise Refusal(
                f"definition {old.id!r}: deleting it deletes {sets[0].id!r} and every other set. "
                "Make the controller depend on the definitions, and the sets on the controller"
            )

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        plural, group = text(inputs, "spec.names.plural"), text(inputs, "spec.group")
        name = text(inputs, "metadata.name")
        if plural and group and name is not None and name != f"{plural}.{group}":
            yield "metadata.name", f"must be {f'{plural}.{group}'!r}"
        stored = [version for version in objects(inputs, "spec.versions") if version.get("storage")]
        if len(stored) != 1:
            yield "spec.versions", "exactly one version must have storage: true"

    def computed_values(self, inputs: Properties) -> Properties:
        return {"status": {"conditions": [{"type": "Established", "status": "True"}]}}


KINDS: Final = (Deployment(), DaemonSet(), CustomResourceDefinition())
