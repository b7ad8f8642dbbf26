"""A Helm release, and the base class of what is known about one chart.

Charts are not downloaded: keys of values are compared with a table for each chart.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Properties, Resource
from pulumi_rehearsal.standin.properties import flag, mapping, text
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

RELEASE: Final = "kubernetes:helm.sh/v3:Release"


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """One Helm release."""

    name: str
    namespace: str
    chart: str
    """The chart's own name, without its repository."""
    version: str
    scope: str
    values: Properties
    inputs: Properties

    @property
    def id(self) -> str:
        """The id of the resource: `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def minor(self) -> str:
        """The chart's major and minor version, such as `0.14`."""
        return ".".join(self.version.removeprefix("v").split(".")[:2])


def release_of(inputs: Properties, scope: str) -> Release:
    """Return the release that a Release resource describes; unknown inputs read as empty."""
    return Release(
        name=text(inputs, "name") or "",
        namespace=text(inputs, "namespace") or "default",
        chart=(text(inputs, "chart") or "").rstrip("/").rpartition("/")[2],
        version=text(inputs, "version") or "",
        scope=scope,
        values=mapping(inputs, "values"),
        inputs=inputs,
    )


def releases(world: World, scope: str, chart: str) -> Iterator[Release]:
    """Yield the releases of one chart in one cluster."""
    for resource in world.all(RELEASE, scope):
        release = release_of(resource.inputs, resource.scope)
        if release.chart == chart:
            yield release


class Chart:
    """What is known about one chart. The methods describe what is wrong, and raise nothing."""

    name: ClassVar[str]
    keys: ClassVar[Mapping[str, frozenset[str]]] = {}
    """Keys that the templates read, by their path in the values (`""` is the top level)."""
    needs_node: ClassVar[bool] = True
    """Whether an install waits for a pod without tolerations."""

    def objects(self, release: Release, world: World) -> Iterable[Properties] | None:
        """Return the objects that the chart renders, `None` if the stand-in has no templates.

        Raises `Refusal` where a template fails.
        """
        return None

    def value_problems(self, release: Release) -> Iterator[Problem]:
        """Check the inputs alone; unknown values pass."""
        yield from ()

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        """Describe why an upgrade from `before`, or an install if that is `None`, fails."""
        yield from ()

    def removal_problems(self, release: Release, world: World) -> Iterator[str]:
        """Describe why an uninstall fails."""
        yield from ()

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        """Apply the effects of an install or upgrade on the cluster."""

    def removed(self, release: Release, world: World) -> Sequence[Resource]:
        """Apply the effects of an uninstall; return the objects whose end the uninstall awaits."""
        return ()

    def faults(self, release: Release, world: World) -> Iterator[str]:
        """Describe why an installed release does not work."""
        yield from ()

    def key_problems(self, release: Release) -> Iterator[Problem]:
        """Check for keys that no template reads: Helm accepts them if the chart has no schema."""
        for path, known in self.keys.items():
            here = f"values.{path}" if path else "values"
            for key in mapping(release.inputs, here):
                if key not in known:
                    reason = f"chart {self.name} ignores this key: no template reads it"
                    yield f"{here}.{key}", reason + suggestion(key, known)


def key_set(keys: str) -> frozenset[str]:
    """Return the keys of a table that is written as one text."""
    return frozenset(keys.split())


def suggestion(key: str, known: frozenset[str]) -> str:
    """Return a clause that names the known key with the closest spelling, if there is one."""
    close = difflib.get_close_matches(key, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def enabled(release: Release, path: str, default: bool) -> bool:
    """Return a boolean value of the release, or the chart's default."""
    value = flag(release.values, path)
    return default if value is None else value


def created_by(release: Release, type: str, id: str, inputs: Properties | None = None) -> Resource:
    """Return an object that a chart or controller creates: Pulumi gives it no URN."""
    scope = release.scope
    return Resource(urn="", type=type, name=id, id=id, scope=scope, inputs=inputs or {}, outputs={})
