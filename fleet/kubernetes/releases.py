"""A Helm release as it will be installed; components register these fields and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fleet.catalog.charts import CHARTS
from fleet.config.stack import ChartName, Charts
from fleet.kubernetes.values import to_values

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

TIMEOUT_S = 600
GPU_STACK_TIMEOUT_S = 1800
"""A change of the GPU stack rolls DaemonSets over every node; with the 300 s default and a rollback
each deployment of a large fleet fails half way (https://github.com/METR/hawk/pull/1363)."""

ValuesT_co = TypeVar("ValuesT_co", bound="DataclassInstance", covariant=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Release(Generic[ValuesT_co]):
    """One `helm.v3.Release`, whose values never hold a secret."""

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
    replaced_on: tuple[str, ...] = ()
    """Property paths whose change uninstalls the release, waits, and installs it again."""


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
    replaced_on: tuple[str, ...] = (),
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
        replaced_on=replaced_on,
    )
