"""The resources of a cluster that charts and lanes depend on, the same for every kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

Connect = Callable[[str, pulumi.Output[str]], kubernetes.Provider]
"""Function that builds the Kubernetes provider from a name and a kubeconfig."""


@dataclass(frozen=True, kw_only=True)
class Platform:
    """The registered resources of one cluster."""

    kubeconfig: pulumi.Output[str] | None
    """Kubeconfig with an exec plugin; `None` for an existing cluster."""
    inside: pulumi.ResourceOptions
    """Options of everything in the cluster: its parent and its Kubernetes provider."""
    chart_prerequisites: list[pulumi.Resource]
    """CPU nodes, and the add-ons that every pod needs."""
    job_prerequisites: list[pulumi.Resource]
    """The autoscaler and device plugins of the platform."""
    pools: Mapping[str, pulumi.Resource]
    """Resource of each pool by name; empty for an existing cluster."""
