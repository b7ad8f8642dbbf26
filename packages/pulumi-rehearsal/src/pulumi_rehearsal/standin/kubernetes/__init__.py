"""The stand-in for Kubernetes: objects, Helm releases and YAML groups in clusters that are none."""

from __future__ import annotations

from typing import Final

from pulumi_rehearsal.standin.kubernetes import core, workloads
from pulumi_rehearsal.standin.kubernetes.aftermath import world_faults
from pulumi_rehearsal.standin.kubernetes.config_group import ConfigGroup
from pulumi_rehearsal.standin.kubernetes.helm import HelmRelease
from pulumi_rehearsal.standin.kubernetes.kubeconfig import scope
from pulumi_rehearsal.standin.kubernetes.objects import any_object
from pulumi_rehearsal.standin.server import Package

__all__ = ["PACKAGE", "scope", "world_faults"]

PACKAGE: Final = Package(
    name="kubernetes",
    kinds=(*core.KINDS, *workloads.KINDS, HelmRelease()),
    constructs=(ConfigGroup(),),
    scope=scope,
    fallback=any_object,
    check_up=world_faults,
)
