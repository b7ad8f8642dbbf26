"""A Helm release as the rules of a chart see it, and what a chart may say about one.

Release rules: helm/helm pkg/chartutil/validate_name.go (53 characters). Chart repositories are not
read: no network is needed, and values keys are compared with each chart's own table.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Properties, Resource
from pulumi_rehearsal.standin.kubernetes.grammar import Problem
from pulumi_rehearsal.standin.properties import flag, mapping, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

RELEASE: Final = "kubernetes:helm.sh/v3:Release"


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """One release; `chart` is the chart's own name, without repository."""

    name: str
    namespace: str
    chart: str
    version: str
    scope: str
    values: Properties
    inputs: Properties

    @property
    def id(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"

    @property
    def minor(self) -> str:
        """Major and minor version, `0.14`; patch versions are compatible."""
        return ".".join(self.version.removeprefix("v").split(".")[:2])

    @property
    def skips_crds(self) -> bool:
        """Whether Helm leaves the chart's `crds` folder alone."""
        return flag(self.inputs, "skipCrds") is True


def release_of(inputs: Properties, scope: str) -> Release:
    """The release behind a Release resource's inputs; unknown parts read as empty."""
    return Release(
        name=text(inputs, "name") or "",
        namespace=text(inputs, "namespace") or "default",
        chart=chart_name(text(inputs, "chart") or ""),
        version=text(inputs, "version") or "",
        scope=scope,
        values=mapping(inputs, "values"),
        inputs=inputs,
    )


def chart_name(reference: str) -> str:
    """The last part of an OCI reference, a repository path or a name."""
    return reference.rstrip("/").rpartition("/")[2]


def releases(world: World, scope: str, chart: str) -> Iterator[Release]:
    """The releases of one chart in one cluster."""
    for thing in world.all(RELEASE, scope):
        release = release_of(thing.inputs, thing.scope)
        if release.chart == chart:
            yield release


class Chart:
    """What is known about one chart; the default knows only its keys."""

    name: ClassVar[str]
    keys: ClassVar[Mapping[str, frozenset[str]]] = {}
    """Path in the values (`""` is the top) to every key that the templates read there."""
    needs_node: ClassVar[bool] = True
    """Whether the release waits for a pod on an ordinary node."""

    def value_problems(self, release: Release) -> Iterator[Problem]:
        """What is wrong with the inputs alone; unknown values pass."""
        yield from ()

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        """What an install (`before` is None) or upgrade runs into in the cluster."""
        yield from ()

    def removal_problems(self, release: Release, world: World) -> Iterator[str]:
        """What an uninstall runs into."""
        yield from ()

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        """What happens in the cluster after an install or upgrade."""

    def removed(self, release: Release, world: World) -> None:
        """What happens in the cluster after an uninstall."""

    def faults(self, release: Release, world: World) -> Iterator[str]:
        """What is wrong with a release that says `deployed`."""
        yield from ()

    def key_problems(self, release: Release) -> Iterator[Problem]:
        """Keys that no template reads: none of these charts has a schema, so Helm takes them."""
        for path, known in self.keys.items():
            here = f"values.{path}" if path else "values"
            for key in mapping(release.inputs, here):
                if key not in known:
                    close = difflib.get_close_matches(key, known, n=1)
                    hint = f"; did you mean {close[0]!r}?" if close else ""
                    yield (
                        f"{here}.{key}",
                        f"chart {self.name} does not know the key and would ignore it{hint}",
                    )


def words(text: str) -> frozenset[str]:
    """A table of keys, written as one text."""
    return frozenset(text.split())


def enabled(release: Release, path: str, default: bool) -> bool:
    """A switch of the chart, with the chart's default."""
    value = flag(release.values, path)
    return default if value is None else value


def owned(type: str, id: str, release: Release, inputs: Properties | None = None) -> Resource:
    """Something that the chart or a controller makes: it has no URN."""
    return Resource(
        urn="",
        type=type,
        name=id,
        id=id,
        scope=release.scope,
        inputs=inputs or {},
        outputs={},
    )
