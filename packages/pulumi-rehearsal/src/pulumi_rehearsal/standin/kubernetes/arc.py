"""Actions Runner Controller: its custom resource definitions, controller chart and scale sets.

Sources (actions/actions-runner-controller, tag gha-runner-scale-set-0.14.2):
controllers/actions.github.com/autoscalingrunnerset_controller.go (a controller deletes sets of
another minor version; finalizers; labels are sent at creation only),
charts/gha-runner-scale-set-controller/{crds,values.yaml,templates/_helpers.tpl},
charts/gha-runner-scale-set/{values.yaml,templates/autoscalingrunnerset.yaml,templates/_helpers.tpl};
issues 2781, 4422 and 4655 there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Properties, Resource
from pulumi_rehearsal.standin.kubernetes import cluster, pods
from pulumi_rehearsal.standin.kubernetes.release import (
    RELEASE,
    Chart,
    Release,
    created_by,
    key_set,
    release_of,
    releases,
)
from pulumi_rehearsal.standin.properties import (
    flag,
    given,
    items,
    lookup,
    mapping,
    objects,
    strings,
    text,
)
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

CONTROLLER: Final = "gha-runner-scale-set-controller"
SCALE_SET: Final = "gha-runner-scale-set"

GROUP: Final = "actions.github.com"
VERSION: Final = "v1alpha1"
KINDS_BY_PLURAL: Final = {
    "autoscalinglisteners": "AutoscalingListener",
    "autoscalingrunnersets": "AutoscalingRunnerSet",
    "ephemeralrunners": "EphemeralRunner",
    "ephemeralrunnersets": "EphemeralRunnerSet",
}

DEFINITION: Final = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
RUNNER_SET: Final = f"kubernetes:{GROUP}/{VERSION}:AutoscalingRunnerSet"
"""The object that a scale-set release creates and that a controller may delete."""
STORAGE_CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"

CHART_VERSION: Final = "rehearsal/arc-chart-version"
"""Annotation of an invented definition: the chart version in the address of its file."""

CONTAINER_MODES: Final = ("dind", "kubernetes", "kubernetes-novolume")
DIND_IMAGE: Final = "docker:dind"
"""The image that the chart itself uses in container mode dind: templates/_helpers.tpl."""
MAX_SET_NAME: Final = 45
MAX_LABEL: Final = 255

_FILE: Final = re.compile(r"actions\.github\.com_([a-z]+)\.ya?ml")
_CHART_VERSION: Final = re.compile(r"\d+\.\d+\.\d+")
_CLAIM: Final = "containerMode.kubernetesModeWorkVolumeClaim"
_SECRET_KEYS: Final = (
    frozenset({"github_token"}),
    frozenset({"github_app_id", "github_app_installation_id", "github_app_private_key"}),
)


# Custom resource definitions


def definition_name(plural: str) -> str:
    """Return the name of a definition in the cluster."""
    return f"{plural}.{GROUP}"


def definition_from(address: str) -> Properties | None:
    """Return the definition that a file `actions.github.com_<plural>.yaml` holds.

    The file is not fetched. The chart version in its address is kept in an annotation, so that
    another version is a change. `None` if the file is not one of ARC's.
    """
    match = _FILE.fullmatch(address.rpartition("/")[2])
    if match is None or match.group(1) not in KINDS_BY_PLURAL:
        return None
    version = _CHART_VERSION.search(address)
    return definition(match.group(1), version.group() if version else None)


def definition(plural: str, chart_version: str | None) -> Properties:
    """Return a CustomResourceDefinition that accepts any content."""
    kind = KINDS_BY_PLURAL[plural]
    metadata: Properties = {"name": definition_name(plural)}
    if chart_version is not None:
        metadata["annotations"] = {CHART_VERSION: chart_version}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": GROUP,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }


# The controller


class Controller(Chart):
    """The chart of the controller."""

    name: ClassVar[str] = CONTROLLER
    keys: ClassVar[Mapping[str, frozenset[str]]] = {
        "": key_set(
            "affinity env flags fullnameOverride image imagePullSecrets labels metrics "
            "nameOverride namespaceOverride nodeSelector podAnnotations podLabels "
            "podSecurityContext pprof priorityClassName replicaCount resources securityContext "
            "serviceAccount terminationGracePeriodSeconds tolerations topologySpreadConstraints "
            "volumeMounts volumes"
        ),
        "flags": key_set(
            "excludeLabelPropagationPrefixes healthProbeBindAddress k8sClientRateLimiterBurst "
            "k8sClientRateLimiterQPS logFormat logLevel rateLimiter runnerMaxConcurrentReconciles "
            "updateStrategy watchSingleNamespace"
        ),
        "metrics": key_set("controllerManagerAddr listenerAddr listenerEndpoint"),
        "serviceAccount": key_set("annotations create name"),
    }

    def value_problems(self, release: Release) -> Iterator[Problem]:
        yield from _await_problems(release)
        name = text(release.values, "serviceAccount.name")
        if name == "default":
            yield "values.serviceAccount.name", "the chart refuses the account 'default'"
        if flag(release.values, "serviceAccount.create") is False and not name:
            yield "values.serviceAccount.name", "is required if the chart creates no account"
        strategy = text(release.values, "flags.updateStrategy")
        if strategy not in (None, "immediate", "eventual"):
            yield "values.flags.updateStrategy", f"{strategy!r} is neither immediate nor eventual"

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        yield from _definition_problems(release, world)
        watched = text(release.values, "flags.watchSingleNamespace")
        for other in releases(world, release.scope, CONTROLLER):
            other_watched = text(other.values, "flags.watchSingleNamespace")
            both = not watched or not other_watched or watched == other_watched
            if other.id != release.id and both:
                yield (
                    f"controller {other.id!r} runs in this cluster already, and both would work on "
                    "the same scale sets: keep one, or give each another namespace in "
                    "flags.watchSingleNamespace"
                )

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        if not flag(release.inputs, "skipCrds"):
            for plural in KINDS_BY_PLURAL:
                name = definition_name(plural)
                if world.get(name, DEFINITION, release.scope) is None:
                    made = definition(plural, release.version)
                    world.add(created_by(release, DEFINITION, name, made))
        for runner_set in world.all(RUNNER_SET, release.scope):
            if text(runner_set.inputs, "minor") != release.minor:
                world.remove(runner_set)
                detail = (
                    f"controller {release.id!r} {release.version} deleted AutoscalingRunnerSet "
                    f"{runner_set.id!r}, which is of version {runner_set.inputs['minor']}"
                )
                world.record("deleted", runner_set, detail)

    def removal_problems(self, release: Release, world: World) -> Iterator[str]:
        for runner_set in world.all(RUNNER_SET, release.scope):
            yield (
                f"AutoscalingRunnerSet {runner_set.id!r} still exists, and without a controller "
                "its finalizer actions.github.com/cleanup-protection is never removed: delete "
                "the scale sets first (make them depend on the controller)"
            )


def service_account(controller: Release) -> str:
    """Return the account that the controller runs under: its chart's templates/_helpers.tpl."""
    given_name = text(controller.values, "serviceAccount.name")
    if given_name:
        return given_name
    full = text(controller.values, "fullnameOverride")
    if full:
        return full[:63].rstrip("-")
    base = text(controller.values, "nameOverride") or "gha-rs-controller"
    name = controller.name if base in controller.name else f"{controller.name}-{base}"
    return name[:63].rstrip("-")


def _await_problems(release: Release) -> Iterator[Problem]:
    if flag(release.inputs, "skipAwait"):
        yield (
            "skipAwait",
            "is set, so an uninstall does not wait and the controller can be deleted before it has "
            "removed its finalizers: leave it out",
        )


def _definition_problems(release: Release, world: World) -> Iterator[str]:
    for plural, kind in KINDS_BY_PLURAL.items():
        name = definition_name(plural)
        found = world.get(name, DEFINITION, release.scope)
        if found is None:
            if flag(release.inputs, "skipCrds"):
                yield (
                    f"no matches for kind {kind!r} in version {GROUP}/{VERSION}: the release has "
                    f"skipCrds, so create the definition {name!r} before it"
                )
            continue
        version = strings(found.inputs, "metadata.annotations").get(CHART_VERSION)
        if version is not None and version.split(".")[:2] != release.minor.split("."):
            yield (
                f"definition {name!r} is of chart {version}, the controller of {release.version}: "
                "Helm never upgrades definitions, so change their version in the same update"
            )


# Scale sets


class ScaleSet(Chart):
    """The chart of one scale set."""

    name: ClassVar[str] = SCALE_SET
    keys: ClassVar[Mapping[str, frozenset[str]]] = {
        "": key_set(
            "annotations containerMode controllerServiceAccount fullnameOverride "
            "githubConfigSecret githubConfigUrl githubServerTLS keyVault labels listenerMetrics "
            "listenerTemplate maxRunners minRunners nameOverride namespaceOverride proxy "
            "resourceMeta runnerGroup runnerScaleSetName scaleSetLabels template"
        ),
        "containerMode": key_set(
            "kubernetesModeAdditionalRoleRules kubernetesModeServiceAccount "
            "kubernetesModeWorkVolumeClaim type"
        ),
        "controllerServiceAccount": key_set("name namespace"),
        "template": key_set("metadata spec"),
        "listenerTemplate": key_set("metadata spec"),
    }
    needs_node: ClassVar[bool] = False  # the release holds no pod; the controller starts them

    def value_problems(self, release: Release) -> Iterator[Problem]:
        yield from _await_problems(release)
        for field in ("githubConfigUrl", "githubConfigSecret"):
            if not given(release.values, field):
                yield f"values.{field}", "is missing: the chart requires it"
        yield from _count_problems(release)
        yield from _name_and_label_problems(release)
        yield from _mode_problems(release)
        yield from _template_problems(release, "template", "runner")
        if given(release.values, "listenerTemplate"):
            yield from _template_problems(release, "listenerTemplate", "listener")

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        yield from _controller_problems(release, world)
        yield from _secret_problems(release, world)
        yield from _duplicate_problems(release, world)
        yield from _pod_problems(release, world)
        if before is not None and _labels(before) != _labels(release):
            yield (
                "scaleSetLabels are sent to GitHub only when the set is created, so an upgrade "
                "does not change them: replace the release (replace_on_changes and "
                "delete_before_replace)"
            )

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        made = created_by(release, RUNNER_SET, _set_id(release), {"minor": release.minor})
        if before is None:
            world.add(made)
            return
        old = world.get(_set_id(before), RUNNER_SET, before.scope)
        if old is None:
            # The controller deleted the set, and Helm does not create it again on an upgrade.
            detail = f"the AutoscalingRunnerSet of {release.id!r} was deleted before the upgrade"
            world.record("warned", made, detail)
            return
        world.remove(old)
        world.replace(made)

    def removal_problems(self, release: Release, world: World) -> Iterator[str]:
        # The controller removes the finalizer, with the credentials of the Secret.
        if world.get(_set_id(release), RUNNER_SET, release.scope) is None:
            return
        finalizer = "the finalizer of the AutoscalingRunnerSet would never be removed"
        if not _controllers_of(release, world):
            yield (
                f"its controller was deleted, so {finalizer}: make the scale set depend on the "
                "controller"
            )
        elif not cluster.has_room_for_pods(world, release.scope):
            yield (
                f"the cluster has no node left on which its controller runs, so {finalizer}: make "
                "releases depend on the system node group"
            )
        if _secret_keys(release, world) is None:
            yield (
                "its githubConfigSecret was deleted, so the controller cannot deregister the set "
                f"and {finalizer}: make the scale set depend on the Secret"
            )

    def removed(self, release: Release, world: World) -> None:
        runner_set = world.get(_set_id(release), RUNNER_SET, release.scope)
        if runner_set is not None:
            world.remove(runner_set)

    def faults(self, release: Release, world: World) -> Iterator[str]:
        if world.get(_set_id(release), RUNNER_SET, release.scope) is None:
            yield (
                f"release {release.id!r} is deployed, but the controller deleted its "
                "AutoscalingRunnerSet, which was of another minor version: no job gets a runner. "
                "Replace the release when the version changes (replace_on_changes and "
                "delete_before_replace)"
            )


def set_name(release: Release) -> str:
    """Return the name of the scale set at GitHub and of its object in the cluster."""
    return text(release.values, "runnerScaleSetName") or release.name


def _count_problems(release: Release) -> Iterator[Problem]:
    counts: dict[str, int] = {}
    for field in ("minRunners", "maxRunners"):
        count = lookup(release.values, field)
        if count is None or count is UNKNOWN:
            continue
        if isinstance(count, bool) or not isinstance(count, int):
            yield f"values.{field}", "must be a whole number: the chart ignores anything else"
        elif count < 0:
            yield f"values.{field}", "must not be negative"
        else:
            counts[field] = count
    if len(counts) == 2 and counts["maxRunners"] < counts["minRunners"]:
        yield "values.maxRunners", "must be at least minRunners"


def _name_and_label_problems(release: Release) -> Iterator[Problem]:
    name = set_name(release)
    if len(name) > MAX_SET_NAME:
        yield (
            "values.runnerScaleSetName",
            f"{name!r} has {len(name)} characters, the limit is {MAX_SET_NAME}",
        )
    for index, label in enumerate(items(release.values, "scaleSetLabels")):
        if not isinstance(label, str) or not 0 < len(label) <= MAX_LABEL:
            reason = f"must be a text of 1 to {MAX_LABEL} characters"
            yield f"values.scaleSetLabels[{index}]", reason


def _mode_problems(release: Release) -> Iterator[Problem]:
    mode = text(release.values, "containerMode.type")
    if not mode:
        return
    if mode not in CONTAINER_MODES:
        choices = ", ".join(CONTAINER_MODES)
        yield "values.containerMode.type", f"{mode!r} is none of {choices}"
    volumes = objects(release.values, "template.spec.volumes")
    has_work_volume = any(volume.get("name") == "work" for volume in volumes)
    if mode == "kubernetes" and not has_work_volume and not given(release.values, _CLAIM):
        yield (
            f"values.{_CLAIM}",
            "is required in mode kubernetes: runner and job share that volume",
        )


def _template_problems(release: Release, field: str, container: str) -> Iterator[Problem]:
    spec = lookup(release.values, f"{field}.spec")
    if spec is UNKNOWN or (spec is None and field == "template"):
        return
    here = f"values.{field}.spec"
    for path, reason in pods.spec_problems(spec):
        yield f"{here}.{path}" if path else here, reason
    containers = objects(release.values, f"{field}.spec.containers")
    named = [one for one in containers if one.get("name") == container]
    here = f"{here}.containers"
    if not named:
        yield here, f"must hold a container named {container!r}"
    elif field == "template":
        # A list in values replaces the chart's own, so that its image and command are lost.
        for part in ("image", "command"):
            if not given(named[0], part):
                yield here, f"container {container!r} needs {part!r}: the list replaces the chart's"


def _controllers_of(release: Release, world: World) -> list[Release]:
    """Return the controllers whose service account the set's values select.

    Without controllerServiceAccount the chart takes any controller in the cluster, and fails if
    there is more than one.
    """
    wanted = mapping(release.values, "controllerServiceAccount")
    return [
        controller
        for controller in releases(world, release.scope, CONTROLLER)
        if wanted.get("name") in (None, UNKNOWN, service_account(controller))
        and wanted.get("namespace") in (None, UNKNOWN, _namespace(controller))
    ]


def _controller_problems(release: Release, world: World) -> Iterator[str]:
    found = _controllers_of(release, world)
    if not found:
        wanted = mapping(release.values, "controllerServiceAccount")
        known = [
            f"{_namespace(other)}/{service_account(other)}"
            for other in releases(world, release.scope, CONTROLLER)
        ]
        yield (
            "no controller runs in this cluster with the account "
            f"{wanted.get('namespace', '*')}/{wanted.get('name', '*')} (controllers: "
            f"{', '.join(known) or 'none'}): install the controller first, and name its account "
            "in controllerServiceAccount"
        )
    elif len(found) > 1:
        yield "several controllers run in this cluster: name one in controllerServiceAccount"
    elif found[0].minor != release.minor:
        yield (
            f"the set is of version {release.version}, its controller of {found[0].version}: the "
            "controller deletes sets of another minor version, so upgrade both to one version"
        )


def _secret_keys(release: Release, world: World) -> frozenset[str] | None:
    """Return the keys of the set's Secret; `None` if the Secret does not exist."""
    credentials = mapping(release.values, "githubConfigSecret")
    if credentials:  # the chart creates the Secret
        return frozenset(credentials)
    name = text(release.values, "githubConfigSecret") or ""
    namespace = _namespace(release)
    secret = cluster.find_object(world, release.scope, cluster.SECRET, namespace, name)
    return None if secret is None else pods.data_keys(secret.inputs)


def _secret_problems(release: Release, world: World) -> Iterator[str]:
    keys, name = _secret_keys(release, world), text(release.values, "githubConfigSecret")
    if keys is None:
        yield f"githubConfigSecret {name!r} does not exist in namespace {_namespace(release)!r}"
    elif not any(wanted <= keys for wanted in _SECRET_KEYS):
        choices = " or ".join(" + ".join(sorted(wanted)) for wanted in _SECRET_KEYS)
        yield f"githubConfigSecret {name or ''!r} lacks the keys {choices}"


def _duplicate_problems(release: Release, world: World) -> Iterator[str]:
    """Compare with the scale sets of all clusters: GitHub accepts a name once per runner group."""
    for resource in world.all(RELEASE):
        other = release_of(resource.inputs, resource.scope)
        if other.chart != SCALE_SET or (other.scope, other.id) == (release.scope, release.id):
            continue
        if _registration(other) == _registration(release):
            yield (
                f"release {other.id!r} already registers the scale set {set_name(release)!r} at "
                "the same GitHub address and runner group: give one another name"
            )
        elif other.scope == release.scope and _set_id(other) == _set_id(release):
            yield f"AutoscalingRunnerSet {_set_id(release)!r} belongs to release {other.id!r}"


def _pod_problems(release: Release, world: World) -> Iterator[str]:
    spec = mapping(release.values, "template.spec")
    mode = text(release.values, "containerMode.type")
    yield from pods.reference_problems(spec, _namespace(release), release.scope, world)
    claims = [
        mapping(one, "ephemeral.volumeClaimTemplate.spec") for one in objects(spec, "volumes")
    ]
    if mode == "kubernetes":
        claims.append(mapping(release.values, _CLAIM))
    for claim in claims:
        if claim:
            yield from _claim_problems(claim, release.scope, world)
    images = [*pods.images_of(spec), *([DIND_IMAGE] if mode == "dind" else [])]
    images += pods.images_of(mapping(release.values, "listenerTemplate.spec"))
    yield from pods.image_problems(images, release.scope, world)


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


def _registration(release: Release) -> tuple[str, str, str]:
    url = (text(release.values, "githubConfigUrl") or "").rstrip("/").lower()
    group = text(release.values, "runnerGroup") or "default"
    return url, group.lower(), set_name(release).lower()


def _labels(release: Release) -> object:
    return lookup(release.values, "scaleSetLabels") or []


def _namespace(release: Release) -> str:
    return text(release.values, "namespaceOverride") or release.namespace


def _set_id(release: Release) -> str:
    return f"{_namespace(release)}/{set_name(release)}"


CHARTS: Final[tuple[Chart, ...]] = (Controller(), ScaleSet())
