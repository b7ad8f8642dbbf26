"""The cluster-autoscaler of an EKS cluster: values, rights, and the order in which pools grow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.clusters.autoscaler_values import (
    ClusterAutoscalerValues,
    autoscaler_policy,
    priorities_text,
)
from fleet.clusters.eks import EksPlan
from fleet.clusters.nodes import Pool
from fleet.config.stack import Charts
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.placement import Placement
from fleet.kubernetes.pods import Size, resources
from fleet.kubernetes.releases import Release, release

_NAME = "cluster-autoscaler"


@dataclass(frozen=True, kw_only=True, slots=True)
class AutoscalerPlan:
    """The release, and the identity that it needs."""

    release: Release
    service_account: str
    policy: dict[str, Any] = field(repr=False)


def autoscaler_plan(
    eks: EksPlan,
    preferences: Iterable[tuple[str, ...]],
    system: Placement,
    charts: Charts,
) -> AutoscalerPlan:
    """Derive the autoscaler; `preferences` are each lane's pools, in its order."""
    return AutoscalerPlan(
        service_account=_NAME,
        policy=autoscaler_policy(eks.name),
        release=release(
            "cluster-autoscaler",
            charts,
            name=_NAME,
            namespace=Namespaces.system,
            values=ClusterAutoscalerValues(
                cluster_name=eks.name,
                aws_region=eks.region,
                # The autoscaler simulates the scheduler of its own minor version.
                image_tag=KUBERNETES_VERSIONS[eks.version].autoscaler_image_tag,
                service_account=_NAME,
                fullname_override=_NAME,
                extra_args={
                    "expander": "priority,least-waste",
                    "skip-nodes-with-system-pods": False,
                    "skip-nodes-with-local-storage": False,
                },
                expander_priorities=priorities_text(priorities(eks, preferences)),
                affinity=system.affinity,
                tolerations=system.tolerations or None,
                resources=resources(Size(cpu_m=100, memory_mib=600)),
                priority_class_name="system-cluster-critical",
            ),
        ),
    )


def priorities(eks: EksPlan, preferences: Iterable[tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """Patterns of Auto Scaling group names by priority; the autoscaler tries the highest first.

    A group is called eks-<node group>-<uuid>, and a node group <cluster>-<pool>-<seven hex>. Pools
    between which no lane chooses have one priority, so that the next expander does. So have all
    where lanes disagree, which `fleet.checks.preference` finds.
    """
    sorter = least_wanted_first(preferences)
    for pool in eks.pools:
        sorter.add(pool.name)
    patterns: list[tuple[str, ...]] = []
    try:
        sorter.prepare()
    except CycleError:
        patterns = [tuple(_group_pattern(pool) for pool in eks.pools)]
    else:
        while sorter.is_active():
            names = frozenset(sorter.get_ready())
            sorter.done(*names)
            patterns.append(tuple(_group_pattern(pool) for pool in eks.pools if pool.name in names))
    return {rank * 10: each for rank, each in enumerate(patterns, start=1) if each}


def _group_pattern(pool: Pool) -> str:
    return f"^eks-{pool.logical_name}-[0-9a-f]{{7}}-[0-9a-f-]{{36}}$"


def least_wanted_first(preferences: Iterable[tuple[str, ...]]) -> TopologicalSorter[str]:
    """Sorts pools so that each comes after those that some lane would rather not use."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for pools in preferences:
        for preferred, other in pairwise(pools):
            sorter.add(preferred, other)
    return sorter
