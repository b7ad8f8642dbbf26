"""Length and uniqueness of names, counted with the prefixes and suffixes that are added."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet.catalog.limits import EKS_NODE_GROUP, GITLAB_TAG, KUBERNETES_LABEL
from fleet.checks.check import check
from fleet.checks.runners import DEFAULT_GROUP, url_key
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.findings import Finding
from fleet.plan import ClusterPlan

_AUTONAME = len("-0123456")
"""Characters that the AWS provider appends to the logical name of a node group."""


@check("node-group-name")
def node_group_names(view: View) -> Iterator[Finding]:
    """EKS node groups whose name, with the provider's suffix, is longer than EKS allows."""
    for cluster in view.plan.clusters:
        if not isinstance(cluster.platform, EksPlan):
            continue
        for pool in cluster.platform.pools:
            length = len(pool.logical_name) + _AUTONAME
            if length > EKS_NODE_GROUP.max_length:
                yield node_group_names.finding(
                    pool.path,
                    message=(
                        f"the node group's name would have {length} characters "
                        f"({pool.logical_name} and a suffix of {_AUTONAME}), but EKS allows "
                        f"{EKS_NODE_GROUP.max_length}: it would refuse the node group"
                    ),
                    remedy="shorten the name of the pool or of the cluster",
                )


@check("resource-name")
def resource_names(view: View) -> Iterator[Finding]:
    """Parts of two clusters that would have the same resource name in Pulumi.

    A name is the cluster's and the part's, joined by a hyphen: cluster a with pool b-c and cluster
    a-b with pool c both give a-b-c.
    """
    seen: dict[tuple[str, str], str] = {}
    for cluster in view.plan.clusters:
        for kind, name, path in _resources(cluster):
            first = seen.setdefault((kind, name), path)
            if first != path:
                yield resource_names.finding(
                    path,
                    message=(
                        f"its {kind} would be called {name}, like that of {first}: Pulumi refuses "
                        "two resources of one name"
                    ),
                    remedy="rename it, or one of the clusters",
                )


def _resources(cluster: ClusterPlan) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and path of each resource named after a cluster and a part of it."""
    if not isinstance(cluster.platform, ExistingPlan):
        kind = "node group" if isinstance(cluster.platform, EksPlan) else "node pool"
        for pool in cluster.platform.pools:
            yield kind, pool.logical_name, pool.path
    spaces: dict[str, str] = {}
    for lane in cluster.lanes:
        yield f"{lane.forge} lane", lane.logical_name, lane.path
        if lane.access is not None:
            for space in lane.access.namespaces:
                key = (
                    "namespaces" if space in lane.access.made_namespaces else "existing_namespaces"
                )
                spaces.setdefault(space, f"{lane.path}.kubernetes_access.{key}")
    for space, path in spaces.items():
        yield "namespace", f"{cluster.name}-jobs-{space}", path


@check("scale-set-name")
def scale_set_names(view: View) -> Iterator[Finding]:
    """GitHub lanes of the same name and runner group at one URL, on any cluster."""
    seen: dict[tuple[str, str, str], str] = {}
    for cluster_name, cluster in view.stack.clusters.items():
        if cluster.github is None:
            continue
        for name, lane in cluster.github.lanes.items():
            path = f"clusters.{cluster_name}.github.lanes.{name}"
            key = (url_key(cluster.github.url), lane.group or DEFAULT_GROUP, name)
            if key in seen:
                yield scale_set_names.finding(
                    path,
                    message=(
                        f"has the name, runner group and URL of {seen[key]}: a job with runs-on: "
                        f"{name} would run on either"
                    ),
                    remedy="rename the lane, or put it into another runner group",
                )
            seen.setdefault(key, path)


@check("same-cluster")
def same_cluster_twice(view: View) -> Iterator[Finding]:
    """Existing clusters of the stack that have the same kubeconfig context."""
    seen: dict[tuple[str | None, str], str] = {}
    for cluster in view.plan.clusters:
        platform = cluster.platform
        if not isinstance(platform, ExistingPlan):
            continue
        first = seen.setdefault((platform.kubeconfig, platform.context), cluster.name)
        if first != cluster.name:
            yield same_cluster_twice.finding(
                f"clusters.{cluster.name}.existing.context",
                message=(
                    f"is the context of clusters.{first} too: both would install the same Helm "
                    "releases into one cluster"
                ),
                remedy="put the pools and lanes of both under one cluster, or correct context",
            )


@check("namespace-name")
def namespace_names(view: View) -> Iterator[Finding]:
    """Namespaces for jobs that Kubernetes refuses, or that this program creates for itself."""
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
                    yield namespace_names.finding(
                        path,
                        message=f"has {name}, which Kubernetes refuses as a namespace",
                        remedy=(
                            "use lower-case letters, digits and hyphens, "
                            f"{KUBERNETES_LABEL.max_length} at most, like ci-jobs"
                        ),
                    )
                elif key == "namespaces" and name in own:
                    yield namespace_names.finding(
                        path,
                        message=(
                            f"has {name}, which this program creates for {own[name]}: two "
                            "resources would have one name"
                        ),
                        remedy="use a separate namespace for the jobs, like ci-jobs",
                    )


def _own_namespaces(cluster: ClusterPlan) -> dict[str, str]:
    """Return the namespaces of releases other than the runners', and what is in each."""
    stack, platform = cluster.gpu_stack, cluster.platform
    found = {
        release.namespace: release.name
        for release in (stack.device_plugin, stack.operator, *platform.releases)
        if release is not None
    }
    if cluster.host_devices is not None:
        found[cluster.host_devices.namespace] = "host devices"
    return found


@check("gitlab-tag")
def gitlab_tags(view: View) -> Iterator[Finding]:
    """Tags that are longer than GitLab allows."""
    for lane in view.gitlab_lanes:
        for tag in lane.plan.labels:
            if len(tag) > GITLAB_TAG.max_length:
                yield gitlab_tags.finding(
                    f"{lane.path}.tags",
                    message=(
                        f"has a tag of {len(tag)} characters ({tag[:20]}…), but GitLab allows "
                        f"{GITLAB_TAG.max_length}: it would refuse the runner"
                    ),
                    remedy="shorten the tag",
                )
