"""Workloads, the classes that pods name, network policies and custom resource definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import images, pods
from pulumi_rehearsal.standin.kubernetes.arc_definitions import RUNNER_SET
from pulumi_rehearsal.standin.kubernetes.grammar import Problem, below
from pulumi_rehearsal.standin.kubernetes.objects import NAMED, KubernetesObject
from pulumi_rehearsal.standin.properties import (
    flag,
    lookup,
    mapping,
    number,
    objects,
    strings,
    text,
)

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

_CRON_FIELD: Final = re.compile(r"(\*|[0-9A-Za-z]+(-[0-9A-Za-z]+)?)(/[0-9]+)?")

MAX_USER_PRIORITY: Final = 1_000_000_000
"""HighestUserDefinablePriority: kubernetes/kubernetes pkg/apis/scheduling/types.go."""


class Workload(KubernetesObject):
    """Something with a pod template at `pod_path`."""

    pod_path: ClassVar[str] = "spec.template"

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        """The pod template by itself, and that the selector selects it."""
        path = f"{self.pod_path}.spec"
        for inner, reason in pods.spec_problems(lookup(inputs, path)):
            yield below(path, inner), reason
        selected = strings(inputs, "spec.selector.matchLabels")
        labels = mapping(inputs, f"{self.pod_path}.metadata.labels")
        for key, value in selected.items():
            if labels.get(key) != value and isinstance(labels.get(key), str | None):
                yield f"{self.pod_path}.metadata.labels", f"must hold {key!r} as the selector does"

    def relation_problems(self, call: Call, world: World) -> Iterator[str]:
        """What the pods refer to has to be there, or they never become ready."""
        spec = mapping(call.inputs, f"{self.pod_path}.spec")
        namespace = text(call.inputs, "metadata.namespace") or "default"
        yield from pods.reference_problems(spec, namespace, call.scope, world)
        yield from images.problems(images.of_pod(spec), call.scope, world)


class Deployment(Workload):
    """A Deployment."""

    token: ClassVar[str] = "kubernetes:apps/v1:Deployment"
    computed: ClassVar[frozenset[str]] = frozenset({"status"})
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"spec.selector"}

    def computed_values(self, inputs: Properties) -> Properties:
        """All replicas are there."""
        replicas = number(inputs, "spec.replicas")
        count = 1 if replicas is None else replicas
        return {"status": {"availableReplicas": count, "readyReplicas": count, "replicas": count}}


class DaemonSet(Workload):
    """A DaemonSet."""

    token: ClassVar[str] = "kubernetes:apps/v1:DaemonSet"
    computed: ClassVar[frozenset[str]] = frozenset({"status"})
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"spec.selector"}

    def computed_values(self, inputs: Properties) -> Properties:
        """Nobody counted the nodes."""
        return {"status": {"observedGeneration": 1}}


class Job(Workload):
    """A Job; its template never changes in place."""

    token: ClassVar[str] = "kubernetes:batch/v1:Job"
    computed: ClassVar[frozenset[str]] = frozenset({"status"})
    replaced_on: ClassVar[frozenset[str]] = NAMED | {
        "spec.completions",
        "spec.parallelism",
        "spec.selector",
        "spec.template",
    }

    def computed_values(self, inputs: Properties) -> Properties:
        """The provider waits until it has succeeded."""
        return {"status": {"succeeded": 1}}


class CronJob(Workload):
    """A CronJob."""

    token: ClassVar[str] = "kubernetes:batch/v1:CronJob"
    computed: ClassVar[frozenset[str]] = frozenset({"status"})
    pod_path: ClassVar[str] = "spec.jobTemplate.spec.template"

    def name_reason(self, name: str) -> str:
        """At most 52 characters, as the Job's name gets a suffix of eleven."""
        if len(name) > 52:
            return f"has {len(name)} characters, the limit for a CronJob is 52"
        return super().name_reason(name)

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        """The schedule has five fields."""
        yield from super().object_problems(inputs)
        schedule = text(inputs, "spec.schedule")
        if schedule is not None and not _is_schedule(schedule):
            yield "spec.schedule", "must have five fields, such as '*/10 * * * *'"

    def computed_values(self, inputs: Properties) -> Properties:
        """It has not run yet."""
        return {"status": {}}


class StorageClass(KubernetesObject):
    """A class of volumes."""

    token: ClassVar[str] = pods.STORAGE_CLASS
    namespaced: ClassVar[bool] = False
    replaced_on: ClassVar[frozenset[str]] = NAMED | {"parameters", "provisioner"}
    # kubernetes/kubernetes pkg/apis/storage/validation/validation.go, ValidateStorageClassUpdate
    immutable: ClassVar[frozenset[str]] = frozenset({"reclaimPolicy", "volumeBindingMode"})


class PriorityClass(KubernetesObject):
    """A class of pod priority."""

    token: ClassVar[str] = pods.PRIORITY_CLASS
    namespaced: ClassVar[bool] = False
    # kubernetes/kubernetes pkg/apis/scheduling/validation/validation.go
    immutable: ClassVar[frozenset[str]] = frozenset({"value", "preemptionPolicy"})

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        """The system's names and numbers are the system's."""
        if (text(inputs, "metadata.name") or "").startswith("system-"):
            yield "metadata.name", "the prefix 'system-' is reserved"
        if (number(inputs, "value") or 0) > MAX_USER_PRIORITY:
            yield "value", f"must be at most {MAX_USER_PRIORITY}"

    def relation_problems(self, call: Call, world: World) -> Iterator[str]:
        """There is one default at most."""
        others = world.where(self.token, call.scope, globalDefault=True)
        mine = text(call.inputs, "metadata.name")
        if flag(call.inputs, "globalDefault") and any(other.id != mine for other in others):
            yield f"{others[0].id!r} is the cluster's default already"


class RuntimeClass(KubernetesObject):
    """A class of container runtime."""

    token: ClassVar[str] = pods.RUNTIME_CLASS
    namespaced: ClassVar[bool] = False
    # kubernetes/kubernetes pkg/apis/node/validation/validation.go
    immutable: ClassVar[frozenset[str]] = frozenset({"handler"})


class NetworkPolicy(KubernetesObject):
    """A network policy."""

    token: ClassVar[str] = "kubernetes:networking.k8s.io/v1:NetworkPolicy"


class CustomResourceDefinition(KubernetesObject):
    """A kind that the cluster learns."""

    token: ClassVar[str] = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
    computed: ClassVar[frozenset[str]] = frozenset({"status"})
    namespaced: ClassVar[bool] = False
    # kubernetes/kubernetes staging/src/k8s.io/apiextensions-apiserver
    # pkg/apis/apiextensions/validation/validation.go
    immutable: ClassVar[frozenset[str]] = frozenset(
        {"spec.group", "spec.names.plural", "spec.scope"}
    )

    def sdk_problems(self, inputs: Properties) -> list[Problem]:
        """Without the schema in it: YAML says `x-kubernetes-...` where the SDK has underscores."""
        found = super().sdk_problems(inputs)
        return [problem for problem in found if "openAPIV3Schema" not in problem[0]]

    def delete(self, old: Resource, world: World) -> None:
        """Refused while ARC's sets exist: the cluster would delete them with their definition."""
        super().delete(old, world)
        sets = world.all(RUNNER_SET, old.scope)
        if sets and text(old.inputs, "spec.names.kind") == RUNNER_SET.rpartition(":")[2]:
            raise Refusal(
                f"definition {old.id!r}: deleting it deletes {sets[0].id!r} and every other set. "
                "Make the controller depend on the definitions, and the sets on the controller"
            )

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        """Its name is made of its parts, and one version is stored."""
        plural, group = text(inputs, "spec.names.plural"), text(inputs, "spec.group")
        name = text(inputs, "metadata.name")
        if plural and group and name is not None and name != f"{plural}.{group}":
            yield "metadata.name", f"must be {f'{plural}.{group}'!r}"
        stored = [version for version in objects(inputs, "spec.versions") if version.get("storage")]
        if len(stored) != 1:
            yield "spec.versions", "exactly one version must have storage: true"

    def computed_values(self, inputs: Properties) -> Properties:
        """Established, as the provider waits for that."""
        conditions = [{"type": "Established", "status": "True"}]
        return {"status": {"conditions": conditions}}


def _is_schedule(schedule: str) -> bool:
    fields = schedule.split()
    parts = (part for field in fields for part in field.split(","))
    return len(fields) == 5 and all(_CRON_FIELD.fullmatch(part) for part in parts)


KINDS: Final = (
    Deployment(),
    DaemonSet(),
    Job(),
    CronJob(),
    StorageClass(),
    PriorityClass(),
    RuntimeClass(),
    NetworkPolicy(),
    CustomResourceDefinition(),
)
