"""Limits and uniqueness of names, after the prefixes and suffixes that they are given."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.limits import EKS_NODE_GROUP, HELM_RELEASE
from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.plan.eks import EksPlan

_AUTONAME = len("-0123456")
"""What the AWS provider adds to the logical name of a node group."""


@check("node-group-name")
def node_group_names(view: View) -> Iterator[Problem]:
    """EKS' limit on node group names, the provider's suffix included; and no name twice.

    A name begins with its cluster's, so that pools of two clusters can meet: a and b-c, a-b and c.
    """
    seen: dict[str, str] = {}
    for cluster in view.plan.clusters:
        if not isinstance(cluster.platform, EksPlan):
            continue
        for pool in cluster.platform.pools:
            if pool.logical_name in seen:
                yield Problem(
                    path=pool.path,
                    message=(
                        f"the node group would be called {pool.logical_name}, as that of "
                        f"{seen[pool.logical_name]}"
                    ),
                    remedy="rename the pool or one of the clusters",
                    reads=(),
                )
            seen[pool.logical_name] = pool.path
            length = len(pool.logical_name) + _AUTONAME
            if length > EKS_NODE_GROUP.max_length:
                yield Problem(
                    path=pool.path,
                    message=(
                        f"the node group's name would have {length} characters "
                        f"({pool.logical_name} and a suffix of {_AUTONAME}), EKS allows "
                        f"{EKS_NODE_GROUP.max_length}"
                    ),
                    remedy="shorten the name of the pool or of the cluster",
                    reads=(),
                )


@check("release-name")
def release_names(view: View) -> Iterator[Problem]:
    """Helm's limit on release names."""
    for cluster in view.plan.clusters:
        lanes = [*(cluster.github.lanes if cluster.github else ())]
        for lane in [*lanes, *(cluster.gitlab.lanes if cluster.gitlab else ())]:
            length = len(lane.release.name)
            if length > HELM_RELEASE.max_length:
                yield Problem(
                    path=lane.path,
                    message=f"the release's name {lane.release.name} has {length} characters",
                    remedy=f"shorten the lane's name; Helm allows {HELM_RELEASE.max_length}",
                    reads=(),
                )


@check("scale-set-name")
def scale_set_names(view: View) -> Iterator[Problem]:
    """GitHub knows a scale set by its name within a runner group, whichever cluster it is on."""
    seen: dict[tuple[str, str, str], str] = {}
    for cluster_name, cluster in view.stack.clusters.items():
        if cluster.github is None:
            continue
        for name, lane in cluster.github.lanes.items():
            path = f"clusters.{cluster_name}.github.lanes.{name}"
            key = (cluster.github.url.rstrip("/"), lane.group or "default", name)
            if key in seen:
                yield Problem(
                    path=path,
                    message=f"has the name, group and owner of {seen[key]}; GitHub refuses it",
                    remedy="rename the lane or put it into another runner group",
                    reads=(f"{path}.group", f"clusters.{cluster_name}.github.url"),
                )
            seen.setdefault(key, path)
