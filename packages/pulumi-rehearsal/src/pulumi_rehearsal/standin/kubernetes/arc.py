"""Actions Runner Controller: its custom resource definitions and the chart of the controller.

Sources (actions/actions-runner-controller, tag gha-runner-scale-set-0.14.2):
controllers/actions.github.com/autoscalingrunnerset_controller.go (a controller deletes sets of
another minor version), charts/gha-runner-scale-set-controller/{crds,values.yaml,
templates/_helpers.tpl}; issues 2781, 4422 and 4655 there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Properties
from pulumi_rehearsal.standin.kubernetes.release import (
    Chart,
    Release,
    created_by,
    key_set,
    releases,
)
from pulumi_rehearsal.standin.properties import (
    flag,
    strings,
    text,
)
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

CONTROLLER: Final = "gha-runner-scale-set-controller"

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
"""The object of one scale set, which a controller may delete."""

VERSION_LABEL: Final = "app.kubernetes.io/version"
"""Label of a set with the version of its chart."""

CHART_VERSION: Final = "rehearsal/arc-chart-version"
"""Annotation of an invented definition: the chart version in the address of its file."""

_FILE: Final = re.compile(r"actions\.github\.com_([a-z]+)\.ya?ml")
_CHART_VERSION: Final = re.compile(r"\d+\.\d+\.\d+")


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
        yield from await_problems(release)
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
            version = strings(runner_set.inputs, "metadata.labels").get(VERSION_LABEL, "none")
            if version.split(".")[:2] != release.minor.split("."):
                detail = (
                    f"controller {release.id!r} {release.version} deleted AutoscalingRunnerSet "
                    f"{runner_set.id!r}, which is of version {version}"
                )
                world.record("deleted", runner_set, detail)
                world.jobs.terminate(runner_set)

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


def await_problems(release: Release) -> Iterator[Problem]:
    """Check that an uninstall waits for the finalizers."""
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


CHARTS: Final[tuple[Chart, ...]] = (Controller(),)
