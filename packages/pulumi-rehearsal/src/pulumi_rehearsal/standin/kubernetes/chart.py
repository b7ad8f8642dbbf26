"""`helm.sh/v4` Chart: a component with one child for each object that the chart renders.

Source: pulumi/pulumi-kubernetes provider/pkg/provider/helm/v4/chart.go (`helm template` without
hooks; the release has the component's name unless `name` is given). Charts are not downloaded: the
stand-in renders those of `helm.CHARTS` that have `Chart.objects`, and warns of any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from pulumi_rehearsal.standin import schema, wire
from pulumi_rehearsal.standin.kind import Construct, Invalid, Properties
from pulumi_rehearsal.standin.kubernetes import component, helm
from pulumi_rehearsal.standin.kubernetes.release import Release, release_of
from pulumi_rehearsal.standin.world import Event

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World


class HelmChart(Construct):
    """A component with the objects of one chart."""

    token: ClassVar[str] = "kubernetes:helm.sh/v4:Chart"

    def construct(self, request: Any, scope: str, world: World) -> Any:
        inputs = wire.decode(request.inputs).properties
        named = {**inputs, "name": inputs.get("name") or request.name}
        problems = [*schema.problems(self.token, inputs), *helm.source_problems(inputs)]
        problems += helm.chart_problems(release_of(named, scope))
        if problems:
            raise Invalid(*problems)
        release = release_of(named, scope)
        return component.construct(request, inputs, lambda: _objects(request, release, world))


def _objects(request: Any, release: Release, world: World) -> Iterable[Properties]:
    chart = helm.CHARTS.get(release.chart)
    with world.lock:
        rendered = None if chart is None else chart.objects(release, world)
    if rendered is not None:
        return list(rendered)
    detail = f"the stand-in cannot render the chart {release.chart!r}: its objects are left out"
    urn, name = "", str(request.name)
    world.note(Event(action="warned", urn=urn, type=request.type, name=name, detail=detail))
    return ()
