"""The stand-in for Kubernetes: objects, Helm releases and YAML groups in clusters that are none."""

from __future__ import annotations

from typing import Final

from rehearsal.standin.kubernetes import core, workloads
from rehearsal.standin.kubernetes.aftermath import world_faults
from rehearsal.standin.kubernetes.config_group import ConfigGroup
from rehearsal.standin.kubernetes.helm import HelmRelease
from rehearsal.standin.kubernetes.kubeconfig import scope
from rehearsal.standin.server import Package

__all__ = ["PACKAGE", "scope", "world_faults"]

PACKAGE: Final = Package(
    name="kubernetes",
    source="rehearsal/standin/kubernetes/",
    kinds=(*core.KINDS, *workloads.KINDS, HelmRelease()),
    constructs=(ConfigGroup(),),
    scope=scope,
)
