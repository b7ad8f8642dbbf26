"""Stacks for tests of checks, findings by check, and faults planted into a plan."""

import dataclasses
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from fleet.checks.judge import judge
from fleet.checks.view import View
from fleet.clusters.nodes import Pool
from fleet.config.load import parse
from fleet.findings import Finding
from fleet.kubernetes.releases import Release, to_values
from fleet.plan import ClusterPlan, Plan, build
from tests.fleet.samples import TODAY, judged


def found(rule: str, data: object, today: date = TODAY) -> list[Finding]:
    """Return the findings of one check for a stack."""
    return [finding for finding in judged(data, today) if finding.rule == rule]


def planted(
    rule: str, data: object, name: str, plant: Callable[[ClusterPlan], ClusterPlan]
) -> list[Finding]:
    """Return the findings of one check for a stack with a fault in the plan of a cluster."""
    stack = parse(data).stack
    assert stack is not None
    plan = build(stack)
    clusters = tuple(plant(one) if one.name == name else one for one in plan.clusters)
    assert clusters != plan.clusters, "nothing was planted"
    view = View(stack=stack, plan=Plan(clusters=clusters), today=TODAY)
    return [finding for finding in judge(view) if finding.rule == rule]


def with_pool(cluster: ClusterPlan, name: str, **changes: Any) -> ClusterPlan:
    """Return a cluster with another pool of that name."""
    pools: tuple[Pool, ...] = tuple(
        dataclasses.replace(pool, **changes) if pool.name == name else pool
        for pool in cluster.pools
    )
    return dataclasses.replace(cluster, platform=dataclasses.replace(cluster.platform, pools=pools))


def with_values(release: Release[Any] | None, **changes: Any) -> Release[Any]:
    """Return a release in which some fields of the typed values differ."""
    assert release is not None
    typed = dataclasses.replace(release.typed_values, **changes)
    return dataclasses.replace(release, typed_values=typed, values=to_values(typed))


def stack_of(pools: Mapping[str, Any], lanes: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a stack with one EKS cluster, a CPU pool and GitHub lanes."""
    system = {"instance_types": ["m6i.large"], "min_size": 2, "max_size": 4}
    return {
        "clusters": {
            "ci": {
                "eks": {
                    "region": "us-west-2",
                    "version": "1.35",
                    "network": {"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]},
                    "pools": {"system": system, **pools},
                },
                "github": {
                    "url": "https://github.com/example-org",
                    "existing_secret": "app",
                    "lanes": {name: {"max_runners": 1, **lane} for name, lane in lanes.items()},
                },
                **more,
            }
        }
    }


def existing_of(pools: Mapping[str, Any], lanes: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a stack with one existing cluster; a pool without a size has 16 CPUs and 64 GiB."""
    node = {"cpu": 16, "memory": "64Gi", "disk": "300Gi", "count": 1}
    return {
        "clusters": {
            "site": {
                "existing": {
                    "context": "site",
                    "pools": {
                        name: {**node, "labels": {"example.com/pool": name}, **pool}
                        for name, pool in pools.items()
                    },
                },
                "github": {
                    "url": "https://github.com/example-org",
                    "existing_secret": "app",
                    "lanes": {name: {"max_runners": 1, **lane} for name, lane in lanes.items()},
                },
                **more,
            }
        }
    }


TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}

CPU: dict[str, Any] = {}
"""A CPU pool of an existing cluster."""


def cards(model: str = "T4", **more: Any) -> dict[str, Any]:
    """Return a GPU pool of an existing cluster."""
    return {"gpu": model, "gpus": 1, "driver": "580.95.05", "taints": [TAINT], **more}
