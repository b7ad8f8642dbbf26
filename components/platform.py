"""What every kind of cluster gives to the runners on it, so that they need not know the kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

Connect = Callable[[str, pulumi.Output[str]], kubernetes.Provider]
"""Builds the Kubernetes provider from a name and a kubeconfig."""


@dataclass(frozen=True, kw_only=True)
class LiveSize:
    """Bounds and size, in nodes, of a pool that exists, as they are now.

    Where the cloud keeps no bounds with the pool, they are None.
    """

    min_size: int | None
    max_size: int | None
    desired_size: int


@dataclass(frozen=True, kw_only=True)
class Platform:
    """One cluster, made or found, with its pools."""

    kubeconfig: pulumi.Output[str] | None
    """Kubeconfig with an exec plugin; None of a cluster that somebody else made."""
    inside: pulumi.ResourceOptions
    """Options of everything in the cluster: its parent and its Kubernetes provider."""
    base: list[pulumi.Resource]
    """What charts wait for: CPU nodes and the add-ons without which no pod comes up."""
    ready: list[pulumi.Resource]
    """What a job waits for besides: whatever adds nodes and makes their devices usable."""
    pools: Mapping[str, pulumi.Resource]
    """Resource of each pool by its name; empty where somebody else made the nodes."""
