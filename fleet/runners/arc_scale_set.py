"""Values of ARC's `gha-runner-scale-set` chart, 0.14.2: one scale set, which is one GitHub lane.

Units: runners are counts. The pods of the four kinds of lane are in `arc_pods`.
The controller's account is always given: without it the chart looks the controller up in the live
cluster and aborts when it is not there, which breaks every preview and first deployment.
Chart mode `dind` is left out of the types: its docker container can be given no resources, so
`arc_pods.dind_pod` builds that pod itself.
Source: actions/actions-runner-controller@gha-runner-scale-set-0.14.2:charts/gha-runner-scale-set
(values.yaml, templates/_helpers.tpl, templates/autoscalingrunnerset.yaml)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fleet.kubernetes.pods import (
    Affinity,
    Container,
    PersistentVolumeClaimSpec,
    PodSpec,
    PodTemplate,
    Size,
    Toleration,
    resources,
)
from fleet.kubernetes.values import key

RUNNER_CONTAINER = "runner"
LISTENER_CONTAINER = "listener"

# templates/autoscalingrunnerset.yaml
_MAX_NAME = 45
_MAX_LABEL = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class ArcScaleSetValues:
    """The values of one scale set.

    `github_config_secret` is the *name* of a Secret in the release's namespace, never its
    content. `scale_set_labels` reach GitHub only when the scale set is created there.

    Raises ValueError for what the chart refuses or silently drops.
    """

    github_config_url: str
    github_config_secret: str
    runner_scale_set_name: str
    min_runners: int
    max_runners: int
    template: PodTemplate
    controller_namespace: str = field(metadata=key("controllerServiceAccount", "namespace"))
    controller_service_account: str = field(metadata=key("controllerServiceAccount", "name"))
    scale_set_labels: tuple[str, ...] | None = None
    runner_group: str | None = None
    container_mode: Literal["kubernetes", "kubernetes-novolume"] | None = field(
        default=None, metadata=key("containerMode", "type")
    )
    work_volume_claim: PersistentVolumeClaimSpec | None = field(
        default=None, metadata=key("containerMode", "kubernetesModeWorkVolumeClaim")
    )
    listener_template: PodTemplate | None = None
    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        problems = [*self._name_problems(), *self._size_problems(), *self._pod_problems()]
        if problems:
            raise ValueError(f"scale set {self.runner_scale_set_name!r}: " + "; ".join(problems))

    def _name_problems(self) -> list[str]:
        problems: list[str] = []
        if not 0 < len(self.runner_scale_set_name) <= _MAX_NAME:
            problems.append(f"the name has to be 1 to {_MAX_NAME} characters long, shorten it")
        if not self.github_config_secret:
            problems.append("github_config_secret is empty, give the name of a Secret")
        problems.extend(
            f"label {label[:20]!r} has to be 1 to {_MAX_LABEL} characters long"
            for label in self.scale_set_labels or ()
            if not 0 < len(label) <= _MAX_LABEL
        )
        return problems

    def _size_problems(self) -> list[str]:
        if 0 <= self.min_runners <= self.max_runners:
            return []
        return [
            f"min_runners {self.min_runners} and max_runners {self.max_runners} have to be "
            "0 <= min <= max"
        ]

    def _pod_problems(self) -> list[str]:
        problems: list[str] = []
        if RUNNER_CONTAINER not in _names(self.template):
            problems.append(f"the template needs a container named {RUNNER_CONTAINER!r}")
        if self.listener_template and LISTENER_CONTAINER not in _names(self.listener_template):
            problems.append(f"the listener needs a container named {LISTENER_CONTAINER!r}")
        if (self.container_mode == "kubernetes") != (self.work_volume_claim is not None):
            problems.append(
                "a work_volume_claim belongs to container_mode 'kubernetes', and to it only"
            )
        return problems


def _names(template: PodTemplate) -> set[str]:
    return {container.name for container in template.spec.containers}


def listener_template(
    size: Size,
    *,
    affinity: Affinity | None = None,
    tolerations: tuple[Toleration, ...] | None = None,
) -> PodTemplate:
    """The pod that polls GitHub for one scale set: it runs all the time, so on CPU nodes."""
    listener = Container(name=LISTENER_CONTAINER, resources=resources(size))
    return PodTemplate(
        spec=PodSpec(containers=(listener,), affinity=affinity, tolerations=tolerations)
    )
