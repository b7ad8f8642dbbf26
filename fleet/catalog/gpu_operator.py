"""NVIDIA GPU Operator releases: their Kubernetes versions and their default driver.

The first two numbers name a release (`26.7`); NVIDIA calls them the major version. An upgrade must
not skip a release.

Sources: NVIDIA/cloud-native-docs, platform support and life-cycle pages of 26.7 (also
https://nvidia.github.io/cloud-native-docs/review/pr-512/gpu-operator/latest/platform-support.html)
and of 26.3 (gpu-operator/.agents/skills/gpu-operator-references/references/*.md); driver of 26.7:
NVIDIA/gpu-operator deployments/gpu-operator/values.yaml at v26.7.0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class OperatorRelease:
    """One release of the operator; Kubernetes by its minor, such as 33 for 1.33."""

    name: str
    oldest_kubernetes: int
    newest_kubernetes: int
    default_driver: str
    """The version that the driver container installs by default."""

    def runs_on(self, kubernetes: str) -> bool:
        """Return whether the release supports that Kubernetes version, such as `1.35`."""
        major, minor = (int(part) for part in kubernetes.split(".")[:2])
        return major == 1 and self.oldest_kubernetes <= minor <= self.newest_kubernetes


OPERATOR_RELEASES: Final[Mapping[str, OperatorRelease]] = MappingProxyType(
    {
        release.name: release
        for release in (
            # The only supported release in August 2026.
            OperatorRelease("26.7", 33, 36, "595.91.07"),
            # Deprecated: it still gets fixes.
            OperatorRelease("26.3", 32, 35, "580.126.20"),
            # Ended. From memory, not confirmed.
            OperatorRelease("25.10", 29, 34, "580.105.08"),
        )
    }
)
"""Releases by name, the newest first. Releases older than these have ended too."""


def operator_release(chart_version: str) -> OperatorRelease | None:
    """Return the release of a chart version such as `v26.7.0`; `None` if it is not in the table."""
    return OPERATOR_RELEASES.get(".".join(chart_version.removeprefix("v").split(".")[:2]))
