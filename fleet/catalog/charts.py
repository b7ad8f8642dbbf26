"""Helm charts: the one place where chart versions and chart repositories stand.

`chart`, `repository` and `version` are what `helm.v3.Release` takes; an OCI chart is its whole
reference and has no repository. ARC's controller and scale sets share one version, because a
controller deletes the sets of another minor version (actions/actions-runner-controller
controllers/actions.github.com/autoscalingrunnerset_controller.go).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPin:
    """One chart at one version; `repository` is None for a chart in an OCI registry."""

    name: str
    version: str
    repository: str | None
    chart: str


ARC_VERSION: Final = "0.14.2"
_ARC_REGISTRY: Final = "oci://ghcr.io/actions/actions-runner-controller-charts"

GPU_OPERATOR: Final = ChartPin(
    name="gpu-operator",
    version="v26.7.0",
    repository="https://helm.ngc.nvidia.com/nvidia",
    chart="gpu-operator",
)
NVIDIA_DEVICE_PLUGIN: Final = ChartPin(
    name="nvidia-device-plugin",
    version="0.20.0",
    repository="https://nvidia.github.io/k8s-device-plugin",
    chart="nvidia-device-plugin",
)
ARC_CONTROLLER: Final = ChartPin(
    name="gha-runner-scale-set-controller",
    version=ARC_VERSION,
    repository=None,
    chart=f"{_ARC_REGISTRY}/gha-runner-scale-set-controller",
)
ARC_SCALE_SET: Final = ChartPin(
    name="gha-runner-scale-set",
    version=ARC_VERSION,
    repository=None,
    chart=f"{_ARC_REGISTRY}/gha-runner-scale-set",
)
GITLAB_RUNNER: Final = ChartPin(
    name="gitlab-runner",
    version="0.86.0",
    repository="https://charts.gitlab.io",
    chart="gitlab-runner",
)
CLUSTER_AUTOSCALER: Final = ChartPin(
    name="cluster-autoscaler",
    version="9.59.0",
    repository="https://kubernetes.github.io/autoscaler",
    chart="cluster-autoscaler",
)
EFA_DEVICE_PLUGIN: Final = ChartPin(
    name="aws-efa-k8s-device-plugin",
    version="v0.5.30",
    repository="https://aws.github.io/eks-charts",
    chart="aws-efa-k8s-device-plugin",
)

CHARTS: Final[Mapping[str, ChartPin]] = MappingProxyType(
    {
        pin.name: pin
        for pin in (
            GPU_OPERATOR,
            NVIDIA_DEVICE_PLUGIN,
            ARC_CONTROLLER,
            ARC_SCALE_SET,
            GITLAB_RUNNER,
            CLUSTER_AUTOSCALER,
            EFA_DEVICE_PLUGIN,
        )
    }
)

ARC_CRD_FILES: Final = (
    "actions.github.com_autoscalinglisteners.yaml",
    "actions.github.com_autoscalingrunnersets.yaml",
    "actions.github.com_ephemeralrunners.yaml",
    "actions.github.com_ephemeralrunnersets.yaml",
)
"""The files of charts/gha-runner-scale-set-controller/crds in the chart's own tag."""


def arc_crd_urls(version: str, base: str | None = None) -> tuple[str, ...]:
    """Return where the four CRD files of that ARC version lie, in the order of `ARC_CRD_FILES`.

    `base` is a folder (URL or path) of a mirror that holds the four files; without it they come
    from the tag of the chart's own repository.
    """
    return tuple(arc_crd_url(version, file, base) for file in ARC_CRD_FILES)


def arc_crd_url(version: str, file: str, base: str | None = None) -> str:
    """Return where one CRD file of that ARC version lies (`base` as in `arc_crd_urls`)."""
    folder = base or (
        "https://raw.githubusercontent.com/actions/actions-runner-controller/"
        f"gha-runner-scale-set-{version}/charts/gha-runner-scale-set-controller/crds"
    )
    return f"{folder.rstrip('/')}/{file}"
