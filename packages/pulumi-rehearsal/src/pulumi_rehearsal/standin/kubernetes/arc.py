"""Actions Runner Controller: the controller and its scale sets, and what one does to the other.

Sources (actions/actions-runner-controller, tag gha-runner-scale-set-0.14.2):
controllers/actions.github.com/autoscalingrunnerset_controller.go (a set of another minor version is
deleted; finalizers; labels are sent at creation only), apis/actions.github.com/v1alpha1/version.go,
charts/gha-runner-scale-set-controller/templates/_helpers.tpl; issues 2781, 4422 and 4655 there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kubernetes import (
    arc_definitions,
    arc_values,
    clouds,
    cluster,
    images,
    pods,
)
from pulumi_rehearsal.standin.kubernetes.arc_definitions import RUNNER_SET
from pulumi_rehearsal.standin.kubernetes.arc_values import set_name
from pulumi_rehearsal.standin.kubernetes.release import (
    RELEASE,
    Chart,
    Release,
    owned,
    release_of,
    releases,
)
from pulumi_rehearsal.standin.properties import given, lookup, mapping, objects, strings, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource
    from pulumi_rehearsal.standin.kubernetes.grammar import Problem
    from pulumi_rehearsal.standin.world import World

CONTROLLER: Final = "gha-runner-scale-set-controller"
SCALE_SET: Final = "gha-runner-scale-set"

DIND_IMAGE: Final = "docker:dind"
"""What the chart itself writes in container mode dind: templates/_helpers.tpl."""

_SECRET_KEYS: Final = (
    frozenset({"github_token"}),
    frozenset({"github_app_id", "github_app_installation_id", "github_app_private_key"}),
)


class Controller(Chart):
    """The chart of the controller."""

    name: ClassVar[str] = CONTROLLER
    keys: ClassVar[Mapping[str, frozenset[str]]] = arc_values.CONTROLLER_KEYS

    def value_problems(self, release: Release) -> Iterator[Problem]:
        """The values by themselves."""
        return arc_values.controller_problems(release)

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        """Definitions first, and one controller for a namespace at most."""
        yield from _definition_problems(release, world)
        watched = text(release.values, "flags.watchSingleNamespace")
        for other in releases(world, release.scope, CONTROLLER):
            theirs = text(other.values, "flags.watchSingleNamespace")
            if other.id != release.id and (not watched or not theirs or watched == theirs):
                yield (
                    f"controller {other.id!r} is in the cluster already, and two of them work on "
                    "the same sets: keep one, or give each another flags.watchSingleNamespace"
                )

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        """A new minor version deletes every set of another one."""
        if not release.skips_crds:
            for plural in arc_definitions.KINDS_BY_PLURAL:
                name = arc_definitions.definition_name(plural)
                if world.get(name, arc_definitions.DEFINITION, release.scope) is None:
                    made = arc_definitions.definition(plural, release.version)
                    world.add(owned(arc_definitions.DEFINITION, name, release, made))
        for runner_set in world.all(RUNNER_SET, release.scope):
            if text(runner_set.inputs, "minor") != release.minor:
                world.remove(runner_set)
                detail = (
                    f"controller {release.id!r} {release.version} deleted AutoscalingRunnerSet "
                    f"{runner_set.id!r}, which is of version {runner_set.inputs['minor']}"
                )
                world.record("deleted", runner_set, detail)

    def removal_problems(self, release: Release, world: World) -> Iterator[str]:
        """Its sets would keep their finalizers for ever."""
        for runner_set in world.all(RUNNER_SET, release.scope):
            yield (
                f"AutoscalingRunnerSet {runner_set.id!r} still exists, and its finalizer "
                "actions.github.com/cleanup-protection would hang without a controller: delete "
                "the scale sets first (make them depend on the controller)"
            )


class ScaleSet(Chart):
    """The chart of one scale set."""

    name: ClassVar[str] = SCALE_SET
    keys: ClassVar[Mapping[str, frozenset[str]]] = arc_values.SET_KEYS
    needs_node: ClassVar[bool] = False  # the release holds no pod; the controller starts them

    def value_problems(self, release: Release) -> Iterator[Problem]:
        """The values by themselves."""
        return arc_values.set_problems(release)

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        """Its controller, its Secret, its name at GitHub, and what its pods refer to."""
        yield from _controller_problems(release, world)
        yield from _secret_problems(release, world)
        yield from _name_problems(release, world)
        yield from _pod_problems(release, world)
        yield from _image_problems(release, world)
        if before is not None and _labels(before) != _labels(release):
            yield (
                "scaleSetLabels reach GitHub only when the set is created there, so an upgrade "
                "changes nothing: replace the release (replace_on_changes and "
                "delete_before_replace)"
            )

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        """The set follows the release, unless a controller has taken it away."""
        made = owned(RUNNER_SET, _set_id(release), release, {"minor": release.minor})
        if before is None:
            world.add(made)
            return
        old = world.get(_set_id(before), RUNNER_SET, before.scope)
        if old is None:
            world.record("warned", made, f"the upgrade of {release.id!r} met a set that is gone")
            return
        world.remove(old)
        world.replace(made)

    def removal_problems(self, release: Release, world: World) -> Iterator[str]:
        """The controller clears the finalizer, with the credentials of the Secret."""
        if world.get(_set_id(release), RUNNER_SET, release.scope) is None:
            return
        if _controller_of(release, world) is None:
            yield (
                "its controller is gone, so the finalizer on the AutoscalingRunnerSet would hang: "
                "make the scale set depend on the controller"
            )
        elif not cluster.has_room_for_pods(world, release.scope):
            yield (
                "the cluster has no node left on which its controller runs, so the finalizer "
                "would hang: make releases depend on the system node group"
            )
        if _secret(release, world) is None:
            yield (
                "its githubConfigSecret is gone, so the controller cannot deregister the set and "
                "the finalizer would hang: make the scale set depend on the Secret"
            )

    def removed(self, release: Release, world: World) -> None:
        """The set goes with its release."""
        runner_set = world.get(_set_id(release), RUNNER_SET, release.scope)
        if runner_set is not None:
            world.remove(runner_set)

    def faults(self, release: Release, world: World) -> Iterator[str]:
        """A release without its set serves nobody, and nothing says so."""
        if world.get(_set_id(release), RUNNER_SET, release.scope) is None:
            yield (
                f"release {release.id!r} says deployed, but its AutoscalingRunnerSet is gone: the "
                "controller deleted it for being of another minor version. Replace the release "
                "when the version changes (replace_on_changes and delete_before_replace)"
            )


def service_account(controller: Release) -> str:
    """The account that the controller runs under: its chart's templates/_helpers.tpl."""
    given_name = text(controller.values, "serviceAccount.name")
    if given_name:
        return given_name
    full = text(controller.values, "fullnameOverride")
    if full:
        return full[:63].rstrip("-")
    base = text(controller.values, "nameOverride") or "gha-rs-controller"
    name = controller.name if base in controller.name else f"{controller.name}-{base}"
    return name[:63].rstrip("-")


def _definition_problems(release: Release, world: World) -> Iterator[str]:
    for plural, kind in arc_definitions.KINDS_BY_PLURAL.items():
        name = arc_definitions.definition_name(plural)
        definition = world.get(name, arc_definitions.DEFINITION, release.scope)
        if definition is None:
            if release.skips_crds:
                yield (
                    f"no matches for kind {kind!r} in version {arc_definitions.GROUP}/"
                    f"{arc_definitions.VERSION}: the release skips the definitions, so make "
                    f"{name!r} before it"
                )
            continue
        version = arc_definitions.chart_version(definition)
        if version is not None and version.split(".")[:2] != release.minor.split("."):
            yield (
                f"definition {name!r} is of chart {version}, the controller of {release.version}: "
                "Helm never upgrades definitions, so change their version in the same update"
            )


def _controller_of(release: Release, world: World) -> Release | None:
    """The controller whose account the set names."""
    wanted = mapping(release.values, "controllerServiceAccount")
    for controller in releases(world, release.scope, CONTROLLER):
        namespace = text(controller.values, "namespaceOverride") or controller.namespace
        account = service_account(controller)
        if (namespace, account) == (wanted.get("namespace"), wanted.get("name")):
            return controller
    return None


def _controller_problems(release: Release, world: World) -> Iterator[str]:
    controller = _controller_of(release, world)
    if controller is None:
        wanted = mapping(release.values, "controllerServiceAccount")
        known = [
            f"{other.namespace}/{service_account(other)}"
            for other in releases(world, release.scope, CONTROLLER)
        ]
        yield (
            f"no controller runs in this cluster as {wanted.get('namespace')}/"
            f"{wanted.get('name')} (controllers there: {', '.join(known) or 'none'}): "
            "install the controller first and name its account"
        )
    elif controller.minor != release.minor:
        yield (
            f"the set is of version {release.version}, its controller of {controller.version}: the "
            "controller deletes sets of another minor version, so upgrade both from one version"
        )


def _secret(release: Release, world: World) -> Resource | None:
    name = text(release.values, "githubConfigSecret") or ""
    namespace = _namespace(release)
    return cluster.find_object(world, release.scope, pods.SECRET, namespace, name)


def _secret_problems(release: Release, world: World) -> Iterator[str]:
    secret, name = _secret(release, world), text(release.values, "githubConfigSecret")
    if secret is None:
        yield f"githubConfigSecret {name!r} does not exist in namespace {_namespace(release)!r}"
        return
    keys = pods.data_keys(secret.inputs)
    if not any(wanted <= keys for wanted in _SECRET_KEYS):
        choices = " or ".join(" + ".join(sorted(wanted)) for wanted in _SECRET_KEYS)
        yield f"githubConfigSecret {name!r} lacks the keys {choices}"


def _name_problems(release: Release, world: World) -> Iterator[str]:
    """One name per runner group at GitHub, wherever the clusters are; one object per namespace."""
    for thing in world.all(RELEASE):
        other = release_of(thing.inputs, thing.scope)
        if other.chart != SCALE_SET or (other.scope, other.id) == (release.scope, release.id):
            continue
        if _registration(other) == _registration(release):
            yield (
                f"the scale set {set_name(release)!r} of release {other.id!r} is registered at the "
                "same GitHub address and runner group already: give one another name"
            )
        elif other.scope == release.scope and _set_id(other) == _set_id(release):
            yield f"AutoscalingRunnerSet {_set_id(release)!r} belongs to release {other.id!r}"


def _pod_problems(release: Release, world: World) -> Iterator[str]:
    spec = mapping(release.values, "template.spec")
    namespace = _namespace(release)
    yield from pods.reference_problems(spec, namespace, release.scope, world)
    claim = mapping(release.values, "containerMode.kubernetesModeWorkVolumeClaim")
    if text(release.values, "containerMode.type") == "kubernetes" and claim:
        yield from _claim_problems(claim, release.scope, world)
    for volume in objects(spec, "volumes"):
        template = mapping(volume, "ephemeral.volumeClaimTemplate.spec")
        if template:
            yield from _claim_problems(template, release.scope, world)


def _image_problems(release: Release, world: World) -> Iterator[str]:
    """What the pods of runner and listener are made of, the chart's own container included."""
    found = [
        image
        for field in ("template", "listenerTemplate")
        for image in images.of_pod(mapping(release.values, f"{field}.spec"))
    ]
    if text(release.values, "containerMode.type") == "dind":
        found.append(DIND_IMAGE)
    yield from images.problems(found, release.scope, world)


def _claim_problems(claim: dict[str, object], scope: str, world: World) -> Iterator[str]:
    """A cloud makes classes with each cluster, EKS since 1.30 without a default among them."""
    found = clouds.cloud_cluster(world, scope)
    if found is None:
        return
    built_in, default = clouds.storage_classes(found)
    classes = world.all(pods.STORAGE_CLASS, scope)
    wanted = text(claim, "storageClassName") or default
    if wanted is None:
        if not any(_is_default(storage_class) for storage_class in classes):
            yield "the work volume names no storage class, and the cluster has no default one"
    elif wanted not in built_in and not any(one.id == wanted for one in classes):
        yield f"storage class {wanted!r} of the work volume does not exist in the cluster"


def _is_default(storage_class: Resource) -> bool:
    annotations = strings(storage_class.inputs, "metadata.annotations")
    return annotations.get("storageclass.kubernetes.io/is-default-class") == "true"


def _registration(release: Release) -> tuple[str, str, str]:
    url = (text(release.values, "githubConfigUrl") or "").rstrip("/").lower()
    group = text(release.values, "runnerGroup") or "default"
    return url, group.lower(), set_name(release).lower()


def _labels(release: Release) -> object:
    if not given(release.values, "scaleSetLabels"):
        return []
    return lookup(release.values, "scaleSetLabels")


def _namespace(release: Release) -> str:
    return text(release.values, "namespaceOverride") or release.namespace


def _set_id(release: Release) -> str:
    return f"{_namespace(release)}/{set_name(release)}"


CHARTS: Final[tuple[Chart, ...]] = (Controller(), ScaleSet())
