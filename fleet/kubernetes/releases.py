"""A Helm release as it will be installed, and how its typed values are rendered.

Components register the fields of `Release` and nothing else. `to_values` renders a frozen dataclass
of chart values or of a pod as the dict that is sent. Keys become camelCase, which is Helm's
convention. A field whose key differs declares it with `key`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from fleet.catalog.charts import CHARTS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from fleet.config.stack import ChartName, Charts

_CHART_PATH = "chart_path"

TIMEOUT_S = 600
GPU_STACK_TIMEOUT_S = 1800
"""A change of the GPU stack rolls DaemonSets over every node. With Helm's default of 300 s and a
rollback, each deployment of a large fleet fails half way (https://github.com/METR/hawk/pull/1363)."""

ValuesT_co = TypeVar("ValuesT_co", bound="DataclassInstance", covariant=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Release(Generic[ValuesT_co]):
    """One installed chart, whose values never hold a secret."""

    name: str
    namespace: str
    chart: str
    repository: str | None
    """`None` for an OCI chart, whose reference includes the repository."""
    version: str
    typed_values: ValuesT_co = field(repr=False)
    """Values as a dataclass; checks read the pods of the release here."""
    values: dict[str, Any] = field(repr=False)
    """`typed_values` as they are sent, with the chart's keys."""
    timeout_s: int = TIMEOUT_S
    skip_crds: bool = False
    drain_s: int | None = None
    """Longest wait for running jobs when the release is deleted; `None` if it runs no jobs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Chart reference, repository and version, after the stack's mirrors and overrides."""

    chart: str
    repository: str | None
    version: str


def source(name: ChartName, charts: Charts) -> Source:
    """Return where a chart comes from.

    `charts.repositories` replaces the repository. A stack can only override ARC's version.
    """
    pin = CHARTS[name]
    version = pin.version
    if name.startswith("gha-runner-scale-set") and charts.arc_version is not None:
        version = charts.arc_version
    mirror = charts.repositories.get(name)
    if mirror is None:
        return Source(chart=pin.chart, repository=pin.repository, version=version)
    if mirror.startswith("oci://"):
        return Source(chart=f"{mirror.rstrip('/')}/{name}", repository=None, version=version)
    return Source(chart=name, repository=mirror, version=version)


def release(
    chart: ChartName,
    charts: Charts,
    *,
    name: str,
    namespace: str,
    values: ValuesT_co,
    timeout_s: int = TIMEOUT_S,
    skip_crds: bool = False,
    drain_s: int | None = None,
) -> Release[ValuesT_co]:
    """Return a release of a pinned chart."""
    found = source(chart, charts)
    return Release(
        name=name,
        namespace=namespace,
        chart=found.chart,
        repository=found.repository,
        version=found.version,
        typed_values=values,
        values=to_values(values),
        timeout_s=timeout_s,
        skip_crds=skip_crds,
        drain_s=drain_s,
    )


def minor(version: str) -> str:
    """Return the major and minor part of a chart version, such as `0.14`."""
    return ".".join(version.removeprefix("v").split(".")[:2])


def key(*path: str) -> Mapping[str, tuple[str, ...]]:
    """Return field metadata for a value whose place in the chart is not its camelCase name.

    One string is another spelling (`key("node-feature-discovery")`). Several strings are the path
    to the value (`key("driver", "enabled")`), so that no class is needed for each level.
    """
    return MappingProxyType({_CHART_PATH: path})


def chart_key(field_name: str) -> str:
    """Return the camelCase form of a snake_case name: `min_runners` becomes `minRunners`."""
    first, *rest = field_name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def to_values(values: DataclassInstance) -> dict[str, Any]:
    """Render `values` as plain dicts, lists and scalars.

    A field that is `None` is omitted, so that the chart's default applies. An empty tuple becomes
    an empty list, which replaces the chart's default. Keys of mappings (labels, resource names,
    config names) are not changed. An object with a method `rendered` is what that returns.
    """
    result: dict[str, Any] = {}
    for name, path in _places(type(values)):
        value = getattr(values, name)
        if value is not None:
            _put(result, path, _plain(value))
    return result


@cache
def _places(kind: type[DataclassInstance]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return each field with its path in the chart. Cached: a fleet renders a thousand objects."""
    return tuple(
        (each.name, each.metadata.get(_CHART_PATH) or (chart_key(each.name),))
        for each in fields(kind)
    )


def _put(result: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    *parents, leaf = path
    for parent in parents:
        result = result.setdefault(parent, {})
    result[leaf] = value


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | int | float):
        return value
    if (rendered := getattr(value, "rendered", None)) is not None:
        return rendered()
    if is_dataclass(value) and not isinstance(value, type):
        return to_values(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {name: _plain(item) for name, item in entries.items()}
    return value
