"""ARC's custom resource AutoscalingRunnerSet: one scale set at GitHub.

Sources (actions/actions-runner-controller, tag gha-runner-scale-set-0.14.2):
controllers/actions.github.com/autoscalingrunnerset_controller.go (finalizer; name, labels and URL
are sent to GitHub at creation only; a set of another minor version is deleted),
apis/actions.github.com/v1alpha1/autoscalingrunnerset_types.go. Time-outs:
pulumi/pulumi-kubernetes provider/pkg/await/{await.go,internal/awaiter.go,condition/deleted.go}.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource, Unfinished
from pulumi_rehearsal.standin.kubernetes import arc, arc_templates, cluster, pods, waits
from pulumi_rehearsal.standin.kubernetes.objects import (
    DEFAULT_TIMEOUT_S,
    KubernetesObject,
    timed_out,
)
from pulumi_rehearsal.standin.kubernetes.release import Release, releases
from pulumi_rehearsal.standin.properties import (
    given,
    items,
    lookup,
    mapping,
    objects,
    strings,
    text,
)
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

ROLE: Final = "kubernetes:rbac.authorization.k8s.io/v1:Role"
ROLE_BINDING: Final = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
STORAGE_CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"

FINALIZER: Final = "autoscalingrunnerset.actions.github.com/finalizer"
OUTDATED: Final = "Outdated"
"""Phase of a set without a listener, which ARC 0.14 never leaves: issues 4595 and 4596 there."""

SET_ID: Final = "runner-scale-set-id"

MAX_SET_NAME: Final = 45

SECRET_KEYS: Final = (
    frozenset({"github_token"}),
    frozenset({"github_app_id", "github_app_installation_id", "github_app_private_key"}),
)

Account = tuple[str, str]
"""Namespace and name of a ServiceAccount."""

_READ_AT_CREATION: Final = ("githubConfigUrl", "runnerScaleSetLabels")
"""Fields that the controller sends only once; it does change a set's name and runner group."""

_PROTECTED: Final = (pods.SERVICE_ACCOUNT, ROLE, ROLE_BINDING)


class RunnerSet(KubernetesObject):
    """A scale set; its controller registers it at GitHub and starts its listener."""

    token: ClassVar[str] = arc.RUNNER_SET
    computed: ClassVar[frozenset[str]] = frozenset({"status"})

    def sdk_problems(self, inputs: Properties) -> list[Problem]:
        return []  # the SDK has no class for it

    def schema_problems(self, inputs: Properties, version: str) -> list[Problem]:
        here = "spec.template.spec"
        found = pods.spec_problems(lookup(inputs, here), version)
        return [(f"{here}.{path}" if path else here, reason) for path, reason in found]

    def object_problems(self, inputs: Properties) -> Iterator[Problem]:
        for field in ("githubConfigUrl", "githubConfigSecret"):
            if not given(inputs, f"spec.{field}"):
                yield f"spec.{field}", "is missing"
        name = set_name(inputs)
        if len(name) > MAX_SET_NAME:
            reason = f"{name!r} has {len(name)} characters, the limit is {MAX_SET_NAME}"
            yield "spec.runnerScaleSetName", reason

    def relation_problems(self, call: Call, world: World) -> Iterator[str]:
        yield from relation_problems(call.inputs, call.scope, world)

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        name = arc.definition_name("autoscalingrunnersets")
        if world.get(name, arc.DEFINITION, call.scope) is None:
            kind, version = "AutoscalingRunnerSet", arc_templates.API_VERSION
            raise Refusal(
                f"creation of resource {self.identify(call, world)} failed because the Kubernetes "
                "API server reported that the apiVersion for this resource does not exist. Verify "
                "that any required CRDs have been created: no matches for kind "
                f'"{kind}" in version "{version}"'
            )
        id, outputs = super().create(call, world)
        return id, self._started(outputs, call, world)

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        for reason in update_problems(old.inputs, call.inputs):
            raise Refusal(f"{self._noun} {old.id!r}: {reason}")
        outdated = text(old.outputs, "status.phase") == OUTDATED
        return self._started(super().update(call, old, world), call, world, outdated=outdated)

    def delete(self, old: Resource, world: World) -> None:
        super().delete(old, world)
        for reason in removal_problems(old.inputs, old.scope, world):
            raise Refusal(timed_out(old, reason=reason, finalizer=FINALIZER))

    def remove(self, old: Resource, world: World, timeout_s: float) -> None:
        # The controller stops the listener, and removes the finalizer when no runner is busy.
        if waits.deletes_dependents_first(old.inputs):
            world.jobs.kill(
                old,
                "its set is deleted in the foreground, so Kubernetes deletes the pod of the job "
                "before the controller can wait for it: set the annotation "
                f"{waits.DELETION_POLICY}: background",
            )
        world.jobs.terminate(old)
        if count := world.jobs.wait(old, timeout_s or DEFAULT_TIMEOUT_S):
            raise Refusal(timed_out(old, count, finalizer=FINALIZER))

    def _started(
        self, outputs: Properties, call: Call, world: World, *, outdated: bool = False
    ) -> Properties:
        """Return the outputs after the controller has registered the set and started its listener.

        Raises `Unfinished` if the set waits for a condition that never comes true.
        """
        reasons = list(start_problems(call.inputs, call.scope, world))
        metadata = mapping(outputs, "metadata")
        annotations = mapping(metadata, "annotations")
        status: Properties = {}
        if not reasons:
            annotations = {**annotations, SET_ID: str(int(str(metadata["uid"])[:4], 16))}
            status = {"currentRunners": 0, "phase": OUTDATED if outdated else "Running"}
        metadata = {**metadata, "annotations": annotations}
        outputs = {**outputs, "metadata": metadata, "status": status}
        for condition in waits.unmet(outputs):
            reason = "; ".join(reasons) or f"{condition} never comes true"
            id = self.identify(call, world)
            message = f"{self._noun} {id!r}: timed out waiting for the condition: {reason}"
            raise Unfinished(message, id=id, outputs=outputs)
        return outputs


def set_name(found: Properties) -> str:
    """Return the name of the set at GitHub."""
    return text(found, "spec.runnerScaleSetName") or text(found, "metadata.name") or ""


def set_id(found: Properties) -> str:
    """Return the id of the object."""
    return f"{_namespace(found)}/{text(found, 'metadata.name')}"


def faults(world: World) -> Iterator[str]:
    """Describe scale sets that exist, but take no job, after an `up` that succeeded."""
    for one in world.all(arc.RUNNER_SET):
        if world.jobs.is_terminating(one):
            yield (
                f"AutoscalingRunnerSet {one.id!r} is being deleted and disappears when its job "
                "ends: no job gets a runner of it. Wait until it is gone, and create it again"
            )
        elif one.urn:  # of another one the roles are not known
            for reason in start_problems(one.inputs, one.scope, world):
                yield f"AutoscalingRunnerSet {one.id!r} does not start: {reason}"
            if text(one.outputs, "status.phase") == OUTDATED:
                yield (
                    f"AutoscalingRunnerSet {one.id!r} is {OUTDATED}: the controller stopped its "
                    "listener, and no update starts it again. Replace the set"
                )
            yield from _stuck(one, world)


def outdate(world: World, name: str) -> None:
    """Let the controller give up a set, as it does when its runners exit with code 7."""
    for one in world.all(arc.RUNNER_SET):
        if one.id.rpartition("/")[2] == name:
            status = {**mapping(one.outputs, "status"), "phase": OUTDATED}
            world.replace(dataclasses.replace(one, outputs={**one.outputs, "status": status}))


def _stuck(runner_set: Resource, world: World) -> Iterator[str]:
    """Describe accounts and roles that were deleted although their set stays."""
    for kind in _PROTECTED:
        for one in world.gone(kind):
            if (
                one.scope == runner_set.scope
                and arc_templates.set_of(one.inputs) == arc_templates.set_of(runner_set.inputs)
                and arc_templates.CLEANUP in items(one.inputs, "metadata.finalizers")
                and world.get(one.id, kind, one.scope) is None
            ):
                yield (
                    f"{kind.rpartition(':')[2]} {one.id!r} was deleted, but AutoscalingRunnerSet "
                    f"{runner_set.id!r} stays, and the controller removes the finalizer "
                    f"{arc_templates.CLEANUP} only with the set: the deletion never ends. Give the "
                    "set another name with such a change, so that all its objects are replaced"
                )


def relation_problems(
    found: Properties, scope: str, world: World, own_account: str = ""
) -> Iterator[str]:
    """Describe what makes the set fail that other objects or GitHub determine.

    `own_account` is a ServiceAccount that is created together with the set.
    """
    yield from _duplicate_problems(found, scope, world)
    yield from _pod_problems(found, scope, world, own_account)


def start_problems(
    found: Properties,
    scope: str,
    world: World,
    *,
    accounts: Collection[Account] | None = None,
    secret_keys: frozenset[str] | None = None,
) -> Iterator[str]:
    """Describe why no controller starts the set, so that its `status.phase` stays empty.

    `accounts` and `secret_keys` are given for a set whose RoleBinding and Secret do not exist yet;
    else they are read from the cluster.
    """
    if accounts is None:
        accounts = _manager_accounts(found, scope, world)
    yield from _controller_problems(found, scope, world, accounts)
    keys = _secret_keys(found, scope, world) if secret_keys is None else secret_keys
    name = text(found, "spec.githubConfigSecret")
    if keys is None:
        yield f"githubConfigSecret {name!r} does not exist in namespace {_namespace(found)!r}"
    elif not any(wanted <= keys for wanted in SECRET_KEYS):
        choices = " or ".join(" + ".join(sorted(wanted)) for wanted in SECRET_KEYS)
        yield f"githubConfigSecret {name or ''!r} lacks the keys {choices}"


def update_problems(before: Properties, after: Properties) -> Iterator[str]:
    """Describe changes that have no effect on a set that is registered already."""
    for field in _READ_AT_CREATION:
        path = f"spec.{field}"
        if (lookup(before, path) or None) != (lookup(after, path) or None):
            yield (
                f"{field} is sent to GitHub only when the set is created, and stays as it is after "
                "an upgrade: give the set with the new value another metadata.name, or replace it"
            )


def removal_problems(
    found: Properties, scope: str, world: World, secret_keys: frozenset[str] | None = None
) -> Iterator[str]:
    """Describe why the controller, which needs the set's Secret, never removes its finalizer."""
    finalizer = "the finalizer of the AutoscalingRunnerSet would never be removed"
    if not any(releases(world, scope, arc.CONTROLLER)):
        yield (
            f"its controller was deleted, so {finalizer}: make the scale set depend on the "
            "controller"
        )
    elif not cluster.has_room_for_pods(world, scope):
        yield (
            f"the cluster has no node left on which its controller runs, so {finalizer}: make "
            "the scale sets depend on the system node group"
        )
    if secret_keys is None and _secret_keys(found, scope, world) is None:
        yield (
            "its githubConfigSecret was deleted, so the controller cannot deregister the set "
            f"and {finalizer}: make the scale set depend on the Secret"
        )


def _manager_accounts(found: Properties, scope: str, world: World) -> list[Account]:
    """Return the accounts to which the set's RoleBinding gives rights in its namespace."""
    name = strings(found, "metadata.annotations").get(arc_templates.MANAGER_BINDING, "")
    binding = cluster.find_object(world, scope, ROLE_BINDING, _namespace(found), name)
    subjects = () if binding is None else objects(binding.inputs, "subjects")
    return [(str(one.get("namespace")), str(one.get("name"))) for one in subjects]


def _controller_problems(
    found: Properties, scope: str, world: World, accounts: Collection[Account]
) -> Iterator[str]:
    known = {account_of(other): other for other in releases(world, scope, arc.CONTROLLER)}
    controllers = [known[account] for account in accounts if account in known]
    if not controllers:
        wanted = " or ".join("/".join(account) for account in accounts) or "*/*"
        others = ", ".join("/".join(account) for account in known) or "none"
        yield (
            f"no controller runs in this cluster with the account {wanted} (controllers: {others})"
            ": install the controller first, and name its account in controllerServiceAccount"
        )
        return
    version = strings(found, "metadata.labels").get(arc.VERSION_LABEL, "none")
    if version.split(".")[:2] != controllers[0].minor.split("."):
        yield (
            f"the set is of version {version}, its controller of {controllers[0].version}: the "
            "controller deletes sets of another minor version, so upgrade both to one version"
        )


def account_of(controller: Release) -> Account:
    """Return the account under which a controller runs."""
    return arc_templates.namespace(controller), arc.service_account(controller)


def _secret_keys(found: Properties, scope: str, world: World) -> frozenset[str] | None:
    """Return the keys of the set's Secret; `None` if the Secret does not exist."""
    name = text(found, "spec.githubConfigSecret") or ""
    secret = cluster.find_object(world, scope, cluster.SECRET, _namespace(found), name)
    return None if secret is None else pods.data_keys(secret.inputs)


def _duplicate_problems(found: Properties, scope: str, world: World) -> Iterator[str]:
    """Compare with the scale sets of all clusters: GitHub accepts a name once per runner group."""
    for other in world.all(arc.RUNNER_SET):
        same_object = (other.scope, other.id) == (scope, set_id(found))
        if not same_object and _registration(other.inputs) == _registration(found):
            yield (
                f"AutoscalingRunnerSet {other.id!r} already registers the scale set "
                f"{set_name(found)!r} at the same GitHub address and runner group: give one "
                "another name"
            )


def _registration(found: Properties) -> tuple[str, str, str]:
    url = (text(found, "spec.githubConfigUrl") or "").rstrip("/").lower()
    group = text(found, "spec.runnerGroup") or "default"
    return url, group.lower(), set_name(found).lower()


def _pod_problems(found: Properties, scope: str, world: World, own_account: str) -> Iterator[str]:
    spec = mapping(found, "spec.template.spec")
    if text(spec, "serviceAccountName") == own_account:
        spec = {key: value for key, value in spec.items() if key != "serviceAccountName"}
    yield from pods.reference_problems(spec, _namespace(found), scope, world)
    for volume in objects(spec, "volumes"):
        claim = mapping(volume, "ephemeral.volumeClaimTemplate.spec")
        if claim:
            yield from _claim_problems(claim, scope, world)
    images = [*pods.images_of(spec), *pods.images_of(mapping(found, "spec.listenerTemplate.spec"))]
    yield from pods.image_problems(images, scope, world)


def _claim_problems(claim: Properties, scope: str, world: World) -> Iterator[str]:
    found = cluster.cloud_cluster(world, scope)
    if found is None:
        return
    built_in, default = cluster.storage_classes(found)
    classes = [
        *world.all(STORAGE_CLASS, scope),
        *world.all(STORAGE_CLASS, cluster.OUTSIDE),
    ]
    wanted = text(claim, "storageClassName") or default
    if wanted is None:
        if not any(_is_default(storage_class) for storage_class in classes):
            yield "the work volume names no storage class, and the cluster has no default one"
    elif wanted not in built_in and not any(one.id == wanted for one in classes):
        yield f"storage class {wanted!r} of the work volume does not exist in the cluster"


def _is_default(storage_class: Resource) -> bool:
    annotations = strings(storage_class.inputs, "metadata.annotations")
    return annotations.get("storageclass.kubernetes.io/is-default-class") == "true"


def _namespace(found: Properties) -> str:
    return text(found, "metadata.namespace") or "default"


KINDS: Final = (RunnerSet(),)
