"""Limits and uniqueness of names, after the prefixes and suffixes that they are given."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet.catalog.limits import EKS_NODE_GROUP, GITLAB_TAG, KUBERNETES_LABEL
from fleet.checks.check import Problem, check
from fleet.checks.runners import DEFAULT_GROUP, url_key
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.plan import ClusterPlan
from fleet.runners.gitlab import GitLabLanePlan

_AUTONAME = len("-0123456")
"""What the AWS provider adds to the logical name of a node group."""


@check("node-group-name")
def node_group_names(view: View) -> Iterator[Problem]:
    """EKS' limit on node group names, the provider's suffix included."""
    for cluster in view.plan.clusters:
        if not isinstance(cluster.platform, EksPlan):
            continue
        for pool in cluster.platform.pools:
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
                )


@check("resource-name")
def resource_names(view: View) -> Iterator[Problem]:
    """Parts of two clusters that would be one resource to Pulumi.

    A name begins with its cluster's, so that two clusters can meet: a and b-c, a-b and c.
    """
    seen: dict[tuple[str, str], str] = {}
    for cluster in view.plan.clusters:
        for kind, name, path in _resources(cluster):
            first = seen.setdefault((kind, name), path)
            if first != path:
                yield Problem(
                    path=path,
                    message=f"its {kind} would be called {name}, as that of {first}",
                    remedy="rename it or one of the clusters",
                )


def _resources(cluster: ClusterPlan) -> Iterator[tuple[str, str, str]]:
    """Kind, name and path of what `components` names after a cluster and a part of it."""
    if not isinstance(cluster.platform, ExistingPlan):
        kind = "node group" if isinstance(cluster.platform, EksPlan) else "node pool"
        for pool in cluster.platform.pools:
            yield kind, pool.logical_name, pool.path
    spaces: dict[str, str] = {}
    for forge, side in (("github", cluster.github), ("gitlab", cluster.gitlab)):
        for lane in side.lanes if side is not None else ():
            yield f"{forge} lane", f"{cluster.name}-{forge}-{lane.name}", lane.path
            for space in lane.access.made_namespaces if lane.access is not None else ():
                spaces.setdefault(space, f"{lane.path}.kubernetes_access.namespaces")
    for space, path in spaces.items():
        yield "namespace", f"{cluster.name}-jobs-{space}", path


@check("scale-set-name")
def scale_set_names(view: View) -> Iterator[Problem]:
    """GitHub knows a scale set by its name within a runner group, whichever cluster it is on."""
    seen: dict[tuple[str, str, str], str] = {}
    for cluster_name, cluster in view.stack.clusters.items():
        if cluster.github is None:
            continue
        for name, lane in cluster.github.lanes.items():
            path = f"clusters.{cluster_name}.github.lanes.{name}"
            key = (url_key(cluster.github.url), lane.group or DEFAULT_GROUP, name)
            if key in seen:
                yield Problem(
                    path=path,
                    message=f"has the name, group and owner of {seen[key]}; GitHub refuses it",
                    remedy="rename the lane or put it into another runner group",
                )
            seen.setdefault(key, path)


@check("namespace-name")
def namespace_names(view: View) -> Iterator[Problem]:
    """Namespaces for jobs that Kubernetes refuses, or that this program makes for itself."""
    for lane in view.lanes:
        access = lane.spec.kubernetes_access
        if access is None:
            continue
        own = _own_namespaces(lane.cluster)
        for key in ("namespaces", "existing_namespaces"):
            names: tuple[str, ...] = getattr(access, key)
            for name in names:
                path = f"{lane.path}.kubernetes_access.{key}"
                too_long = len(name) > KUBERNETES_LABEL.max_length
                if too_long or not re.fullmatch(KUBERNETES_LABEL.pattern or "", name):
                    yield Problem(
                        path=path,
                        message=f"names {name}, which cannot be a namespace",
                        remedy=(
                            f"use {KUBERNETES_LABEL.max_length} or fewer lower-case letters, "
                            "digits and hyphens, and no dot"
                        ),
                    )
                elif key == "namespaces" and name in own:
                    yield Problem(
                        path=path,
                        message=f"names {name}, which this program makes for {own[name]}",
                        remedy="give the jobs a namespace of their own",
                    )


def _own_namespaces(cluster: ClusterPlan) -> dict[str, str]:
    """Namespaces of the releases beside the runners', and what is in them."""
    stack, platform = cluster.gpu_stack, cluster.platform
    efa = platform.efa_plugin if isinstance(platform, EksPlan) else None
    found = {
        release.namespace: release.name
        for release in (stack.device_plugin, stack.operator, efa)
        if release is not None
    }
    if cluster.host_devices is not None:
        found[cluster.host_devices.namespace] = "host devices"
    return found


@check("gitlab-tag")
def gitlab_tags(view: View) -> Iterator[Problem]:
    """GitLab's limit on the length of a tag."""
    for lane in view.lanes:
        if isinstance(lane.plan, GitLabLanePlan):
            for tag in lane.plan.tags:
                if len(tag) > GITLAB_TAG.max_length:
                    yield Problem(
                        path=f"{lane.path}.tags",
                        message=f"hold one of {len(tag)} characters: {tag[:20]}…",
                        remedy=f"shorten it; GitLab allows {GITLAB_TAG.max_length}",
                    )
