"""Helm charts: the only place with chart versions and chart repositories.

ARC's controller and scale sets have one version, because a controller deletes the sets of another
minor version (actions/actions-runner-controller
controllers/actions.github.com/autoscalingrunnerset_controller.go).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class ChartPin:
    """One chart at one version, with the arguments of `helm.v3.Release`."""

    name: str
    version: str
    repository: str | None
    """`None` for a chart in an OCI registry, whose `chart` is the whole reference."""
    chart: str


def _pin(name: str, version: str, repository: str) -> ChartPin:
    return ChartPin(name, version, repository, name)


def _arc(name: str) -> ChartPin:
    registry = "oci://ghcr.io/actions/actions-runner-controller-charts"
    return ChartPin(name, "0.14.2", None, f"{registry}/{name}")


GPU_OPERATOR: Final = _pin("gpu-operator", "v26.7.0", "https://helm.ngc.nvidia.com/nvidia")

CHARTS: Final[Mapping[str, ChartPin]] = MappingProxyType(
    {
        pin.name: pin
        for pin in (
            GPU_OPERATOR,
            _pin("nvidia-device-plugin", "0.20.0", "https://nvidia.github.io/k8s-device-plugin"),
            _arc("gha-runner-scale-set-controller"),
            _arc("gha-runner-scale-set"),
            _pin("gitlab-runner", "0.86.0", "https://charts.gitlab.io"),
            _pin("cluster-autoscaler", "9.59.0", "https://kubernetes.github.io/autoscaler"),
            _pin("aws-efa-k8s-device-plugin", "v0.5.30", "https://aws.github.io/eks-charts"),
        )
    }
)

ARC_CRD_FILES: Final = (
    "actions.github.com_autoscalinglisteners.yaml",
    "actions.github.com_autoscalingrunnersets.yaml",
    "actions.github.com_ephemeralrunners.yaml",
    "actions.github.com_ephemeralrunnersets.yaml",
)
"""The files of charts/gha-runner-scale-set-controller/crds in the tag of the chart."""


def arc_crd_urls(version: str, base: str | None = None) -> tuple[str, ...]:
    """Return the URLs of the four CRD files of that ARC version, in the order of `ARC_CRD_FILES`.

    `base` is the URL or path of a mirror of the folder. Default: the tag of the chart's repository.
    """
    folder = base or (
        "https://raw.githubusercontent.com/actions/actions-runner-controller/"
        f"gha-runner-scale-set-{version}/charts/gha-runner-scale-set-controller/crds"
    )
    return tuple(f"{folder.rstrip('/')}/{file}" for file in ARC_CRD_FILES)
