"""A Helm release as it will be installed; components register these fields and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fleet.catalog.charts import CHARTS
from fleet.config.stack import ChartName, Charts
from fleet.kubernetes.values import to_values

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

TIMEOUT_S = 600
GPU_STACK_TIMEOUT_S = 1800
"""A change of the GPU stack rolls DaemonSets over every node; with the 300 s default and a rollback
each deployment of a large fleet fails half way (https://github.com/METR/hawk/pull/1363)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """One `helm.v3.Release`. `values` are in the chart's spelling and never hold a secret."""

    name: str
    namespace: str
    chart: str
    repository: str | None
    """None for an OCI chart, whose reference holds it."""
    version: str
    values: dict[str, Any] = field(repr=False)
    timeout_s: int = TIMEOUT_S
    skip_crds: bool = False
    replaced_on: tuple[str, ...] = ()
    """Property paths whose change uninstalls the release, waits, and installs it anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where a chart comes from, mirror and version override of the stack applied."""

    chart: str
    repository: str | None
    version: str


def source(name: ChartName, charts: Charts) -> Source:
    """Look a chart up; `charts.repositories` moves it, only ARC's version can be set by a stack."""
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
    values: DataclassInstance,
    timeout_s: int = TIMEOUT_S,
    skip_crds: bool = False,
    replaced_on: tuple[str, ...] = (),
) -> Release:
    """Describe a release of a pinned chart."""
    found = source(chart, charts)
    return Release(
        name=name,
        namespace=namespace,
        chart=found.chart,
        repository=found.repository,
        version=found.version,
        values=to_values(values),
        timeout_s=timeout_s,
        skip_crds=skip_crds,
        replaced_on=replaced_on,
    )
