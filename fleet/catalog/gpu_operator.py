"""NVIDIA GPU Operator releases: what each supports and which driver it installs.

A release is named by its first two numbers (`26.7`), which NVIDIA calls the major version. An
upgrade may not skip one.

Sources: NVIDIA/cloud-native-docs, platform support and life-cycle pages of 26.7 (also
https://nvidia.github.io/cloud-native-docs/review/pr-512/gpu-operator/latest/platform-support.html)
and of 26.3 (gpu-operator/.agents/skills/gpu-operator-references/references/*.md); driver of 26.7:
NVIDIA/gpu-operator deployments/gpu-operator/values.yaml at v26.7.0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRelease:
    """One release of the operator; Kubernetes is given by its minors, such as 33 for 1.33."""

    name: str
    status: Literal["supported", "deprecated", "ended"]
    """As of August 2026: a deprecated one still gets fixes, an ended one gets none."""
    oldest_kubernetes: int
    newest_kubernetes: int
    default_driver: str
    """What the driver container installs where the values name none."""
    drivers: tuple[str, ...]
    """Driver versions on its list, the default among them."""
    driver_systems: tuple[str, ...]
    """Operating systems that have a driver container. On EKS only the Ubuntu ones are listed."""
    source: str

    def runs_on(self, kubernetes: str) -> bool:
        """Return whether the release lists that Kubernetes version, such as `1.35`."""
        major, minor = (int(part) for part in kubernetes.split(".")[:2])
        return major == 1 and self.oldest_kubernetes <= minor <= self.newest_kubernetes


OPERATOR_RELEASES: Final[Mapping[str, OperatorRelease]] = MappingProxyType(
    {
        release.name: release
        for release in (
            OperatorRelease(
                name="26.7",
                status="supported",
                oldest_kubernetes=33,
                newest_kubernetes=36,
                default_driver="595.91.07",
                drivers=("610.57.04", "595.91.07", "580.173.02", "535.309.01"),
                driver_systems=(
                    "Ubuntu 22.04",
                    "Ubuntu 24.04",
                    "Ubuntu 26.04",
                    "Red Hat Enterprise Linux 8",
                    "Red Hat Enterprise Linux 9",
                    "Red Hat Enterprise Linux 10",
                    "Red Hat CoreOS",
                    "Rocky Linux 9",
                ),
                source="platform support page of 26.7",
            ),
            OperatorRelease(
                name="26.3",
                status="deprecated",
                oldest_kubernetes=32,
                newest_kubernetes=35,
                default_driver="580.126.20",
                drivers=(
                    "595.71.05",
                    "595.58.03",
                    "590.48.01",
                    "580.159.03",
                    "580.126.20",
                    "570.211.01",
                    "535.309.01",
                    "535.288.01",
                ),
                driver_systems=(
                    "Ubuntu 20.04",
                    "Ubuntu 22.04",
                    "Ubuntu 24.04",
                    "Red Hat Enterprise Linux 8",
                    "Red Hat Enterprise Linux 9",
                    "Red Hat Enterprise Linux 10",
                    "Red Hat CoreOS",
                    "Rocky Linux 9",
                ),
                source="platform support and component pages of 26.3.1",
            ),
            OperatorRelease(
                name="25.10",
                status="ended",
                oldest_kubernetes=29,
                newest_kubernetes=34,
                default_driver="580.105.08",
                drivers=("580.105.08",),
                driver_systems=(
                    "Ubuntu 20.04",
                    "Ubuntu 22.04",
                    "Ubuntu 24.04",
                    "Red Hat Enterprise Linux 8",
                    "Red Hat Enterprise Linux 9",
                    "Red Hat CoreOS",
                ),
                source="status: page of 26.7; the rest from memory, not confirmed",
            ),
        )
    }
)
"""Releases by name, the newest first; older ones than these have ended too."""


def operator_release(chart_version: str) -> OperatorRelease | None:
    """Return the release of a chart version such as `v26.7.0`, None where the table lacks it."""
    return OPERATOR_RELEASES.get(".".join(chart_version.removeprefix("v").split(".")[:2]))
