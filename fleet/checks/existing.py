"""Existing clusters: what nobody can change from here must fit together as it is."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.existing import ExistingPlan
from fleet.gpu_stack.plan import default_config
from fleet.kubernetes import labels as words


@check("same-cluster")
def same_cluster_twice(view: View) -> Iterator[Problem]:
    """Two clusters of the stack that one kubeconfig context reaches."""
    seen: dict[tuple[str | None, str], str] = {}
    for cluster in view.plan.clusters:
        platform = cluster.platform
        if not isinstance(platform, ExistingPlan):
            continue
        first = seen.setdefault((platform.kubeconfig, platform.context), cluster.name)
        if first != cluster.name:
            yield Problem(
                path=f"clusters.{cluster.name}.existing.context",
                message=f"is the cluster of clusters.{first} too; their releases would collide",
                remedy="put the pools and lanes of both under one cluster, or correct context",
            )


@check("sharing-config")
def sharing_configs(view: View) -> Iterator[Problem]:
    """The device plugin picks a config by a node label, which this program cannot set there."""
    for cluster in view.plan.clusters:
        spec = view.spec_of(cluster)
        advertiser = spec.gpu_stack.advertiser or spec.default_advertiser
        pools = tuple(pool for pool in cluster.pools if pool.gpu is not None)
        if not isinstance(cluster.platform, ExistingPlan) or advertiser == "provider":
            continue
        for pool in pools:
            picked = pool.labels.get(words.SHARING_LABEL, default_config(pools))
            if picked != pool.sharing:
                yield Problem(
                    path=f"{pool.path}.labels",
                    message=(
                        f"lead the device plugin to the config {picked}, but the pool's sharing "
                        f"is {pool.sharing}"
                    ),
                    remedy=(
                        f"label the nodes {words.SHARING_LABEL}={pool.sharing} and say so here, "
                        "or share the GPUs of all pools alike"
                    ),
                )
