"""Helm releases: the rules of Helm and of pulumi-kubernetes, then those of the chart.

Sources: pulumi/pulumi-kubernetes provider/pkg/provider/helm_release.go (name and namespace replace,
everything else upgrades in place; the id is `namespace/name`; an uninstall waits unless skipAwait),
helm/helm pkg/chartutil/validate_name.go. The real provider downloads the chart in Check; the
stand-in does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin import kubernetes_names as names
from pulumi_rehearsal.standin import schema
from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import (
    arc,
    cluster,
    cluster_autoscaler,
    gitlab_runner,
    gpu,
    scale_set,
)
from pulumi_rehearsal.standin.kubernetes.release import (
    RELEASE,
    Chart,
    Release,
    created_by,
    release_of,
)
from pulumi_rehearsal.standin.properties import flag, given, number, text
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

MAX_NAME: Final = 53
DEFAULT_TIMEOUT_S: Final = 300

_CHARTS: Final = (
    *arc.CHARTS,
    *scale_set.CHARTS,
    *gitlab_runner.CHARTS,
    *gpu.CHARTS,
    *cluster_autoscaler.CHARTS,
)
CHARTS: Final[dict[str, Chart]] = {chart.name: chart for chart in _CHARTS}


class HelmRelease(Kind):
    """A release of any chart; a chart that is not in `CHARTS` gets the common rules only."""

    token: ClassVar[str] = RELEASE
    computed: ClassVar[frozenset[str]] = frozenset({"manifest", "resourceNames", "status"})
    recomputed: ClassVar[frozenset[str]] = frozenset({"manifest", "resourceNames", "status"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"name", "namespace"})
    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})
    autonamed: ClassVar[str | None] = "name"
    autoname_limit: ClassVar[int] = MAX_NAME

    def check(self, call: Call, old: Properties | None) -> Properties:
        if found := schema.problems(self.token, call.inputs):
            raise Invalid(*found)
        inputs = _with_defaults(self.autoname(call, old))
        release = release_of(inputs, call.scope)
        if found := [*source_problems(inputs), *chart_problems(release)]:
            raise Invalid(*found)
        return inputs

    def identify(self, call: Call, world: World) -> str:
        return release_of(call.inputs, call.scope).id

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        release = release_of(call.inputs, call.scope)
        cluster.require_alive(world, call.scope, f"Helm release {release.id!r}")
        if world.get(release.id, RELEASE, call.scope) is not None:
            raise Refusal(
                f"Helm release {release.id!r}: the name is still in use in this cluster and "
                "namespace: give one of the two another name"
            )
        if not cluster.namespace_exists(world, call.scope, release.namespace):
            if not flag(call.inputs, "createNamespace"):
                raise Refusal(
                    f"Helm release {release.id!r}: namespace {release.namespace!r} does not exist "
                    "in this cluster: take its name from the cluster's Namespace resource"
                )
            world.add_kept(
                created_by(release, cluster.NAMESPACE, release.namespace),
                "createNamespace of a release makes it, and Helm does not delete it with the "
                "release; register a Namespace, which a destroy deletes",
            )
        self._apply(release, None, world)
        return release.id, {**call.inputs, **_results(release, 1)}

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        release, before = release_of(call.inputs, call.scope), release_of(old.inputs, old.scope)
        cluster.require_alive(world, call.scope, f"Helm release {release.id!r}")
        self._apply(release, before, world)
        revision = (number(old.outputs, "status.revision") or 1) + 1
        return {**call.inputs, **_results(release, revision)}

    def delete(self, old: Resource, world: World) -> None:
        release = release_of(old.inputs, old.scope)
        cluster.require_alive(world, old.scope, f"Helm release {release.id!r}")
        chart = CHARTS.get(release.chart, Chart())
        for reason in chart.removal_problems(release, world):
            raise Refusal(f"Helm release {release.id!r} cannot be uninstalled: {reason}")

    def remove(self, old: Resource, world: World, timeout_s: float) -> None:
        # helm/helm pkg/action/uninstall.go, Run: the record of the release is purged even if the
        # wait for its objects fails.
        release = release_of(old.inputs, old.scope)
        awaited = CHARTS.get(release.chart, Chart()).removed(release, world)
        super().remove(old, world, timeout_s)
        limit = number(old.inputs, "timeout") or DEFAULT_TIMEOUT_S
        if flag(old.inputs, "skipAwait"):
            return
        if sum(world.jobs.wait(one, limit) for one in awaited):
            raise Refusal("uninstallation completed with 1 error(s): context deadline exceeded")

    def delete_missing(self, id: str) -> None:
        name = id.rpartition("/")[2]
        raise Refusal(f"uninstall: Release not loaded: {name}: release: not found")

    def deletes_first(self, logical_name: str, old: Properties, new: Properties) -> bool:
        # helm_release.go, Diff, never asks for it. A replacement for another reason (the resource
        # option replace_on_changes) needs delete_before_replace, or the name is still in use.
        return False

    def _apply(self, release: Release, before: Release | None, world: World) -> None:
        chart = CHARTS.get(release.chart, Chart())
        waits = not flag(release.inputs, "skipAwait")
        if chart.needs_node and waits and not cluster.has_room_for_pods(world, release.scope):
            raise Refusal(
                f"Helm release {release.id!r} did not become available within its timeout: the "
                "cluster has no node without a taint. Make the release depend on the system node "
                "group, and keep its desired size above zero"
            )
        for reason in chart.relation_problems(release, before, world):
            raise Refusal(f"Helm release {release.id!r}: {reason}")
        chart.applied(release, before, world)


def _with_defaults(inputs: Properties) -> Properties:
    """Fill in the provider's defaults: helm_release.go, setDefaults."""
    filled = dict(inputs)
    if filled.get("namespace") in (None, ""):
        filled["namespace"] = "default"
    if not flag(inputs, "skipAwait") and filled.get("timeout") is None:
        filled["timeout"] = DEFAULT_TIMEOUT_S
    return filled


def chart_problems(release: Release) -> Iterator[Problem]:
    """Check the release's name, and its values if the chart is known."""
    if len(release.name) > MAX_NAME:
        yield (
            "name",
            f"{release.name!r} has {len(release.name)} characters, the limit is {MAX_NAME}",
        )
    elif release.name and (reason := names.dns_subdomain(release.name)):
        yield "name", f"{release.name!r} {reason}"
    chart = CHARTS.get(release.chart)
    if chart is not None:
        yield from chart.key_problems(release)
        yield from chart.value_problems(release)


def source_problems(inputs: Properties) -> Iterator[Problem]:
    """Check from where the chart is downloaded."""
    chart = text(inputs, "chart") or ""
    local = chart.startswith(("/", ".", "oci://", "http://", "https://")) or chart.endswith(".tgz")
    if chart and not local and not given(inputs, "repositoryOpts.repo"):
        yield "chart", f"{chart!r} is in no repository: set repositoryOpts.repo or an oci:// chart"
    if chart.startswith("oci://") and given(inputs, "repositoryOpts.repo"):
        yield "repositoryOpts.repo", "must be left out if the chart is an oci:// reference"


def _results(release: Release, revision: int) -> Properties:
    return {
        "manifest": {},
        "resourceNames": {},
        "status": {
            "appVersion": release.version.removeprefix("v"),
            "chart": release.chart,
            "name": release.name,
            "namespace": release.namespace,
            "revision": revision,
            "status": "deployed",
            "version": release.version,
        },
    }
