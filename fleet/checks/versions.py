"""Versions that must suit one another, and those whose support ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from packaging.version import Version

from fleet.catalog.eks import (
    CLUSTER_USD_PER_HOUR,
    EXTENDED_SUPPORT_CLUSTER_USD_PER_HOUR,
    KUBERNETES_VERSIONS,
)
from fleet.catalog.eks_amis import ami_fault
from fleet.catalog.gpu_operator import operator_release
from fleet.catalog.images import runner_refused_from, runner_version
from fleet.catalog.oke import OKE_VERSIONS
from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.oke import OkePlan
from fleet.config.github import GitHubLane
from fleet.plan import ClusterPlan
from fleet.runners.github import GitHubLanePlan

_SOON = timedelta(days=60)

_ARC_LABELS = Version("0.14.0")
_ARC_NOVOLUME = Version("0.13.0")
_HOSTED = re.compile(r"https://(github\.com|[^/]+\.ghe\.com)(/|$)")


@check("operator-kubernetes", "warning")
def operator_kubernetes(view: View) -> Iterator[Problem]:
    """GPU Operators on a Kubernetes version that their release does not list."""
    for cluster in view.plan.clusters:
        operator, version = cluster.gpu_stack.operator, kubernetes_minor(cluster)
        release = operator_release(operator.version) if operator is not None else None
        if operator is None or release is None or version is None or release.runs_on(version):
            continue
        yield Problem(
            path=f"clusters.{cluster.name}.gpu_stack.operator",
            message=(
                f"is {operator.version}, which supports Kubernetes 1.{release.oldest_kubernetes} "
                f"to 1.{release.newest_kubernetes}; the cluster has {version}"
            ),
            remedy="use a supported Kubernetes version, or advertiser: device_plugin alone",
        )


@check("kubernetes-support", "warning")
def kubernetes_support(view: View) -> Iterator[Problem]:
    """Clusters whose Kubernetes version is at the end of its support, or soon will be."""
    for cluster in view.plan.clusters:
        end, what = _support(cluster)
        if end is None or end - _SOON > view.today:
            continue
        over = end < view.today
        yield Problem(
            path=f"clusters.{cluster.name}.{cluster.kind}.version",
            message=(
                f"is {kubernetes_minor(cluster)}, whose {what} "
                f"{'ended' if over else 'ends'} on {end.isoformat()}"
            ),
            remedy=f"move to {_newest(cluster)}: one minor version at a time, control plane first",
        )


def _support(cluster: ClusterPlan) -> tuple[date | None, str]:
    match cluster.platform:
        case EksPlan(version=version):
            return (
                KUBERNETES_VERSIONS[version].standard_support_end,
                (
                    f"standard support on EKS (the control plane then costs "
                    f"{EXTENDED_SUPPORT_CLUSTER_USD_PER_HOUR} instead of {CLUSTER_USD_PER_HOUR} "
                    "USD an hour)"
                ),
            )
        case OkePlan(version=version):
            return OKE_VERSIONS[version].support_end, "support on OKE"
        case ExistingPlan():
            return None, ""


def _newest(cluster: ClusterPlan) -> str:
    if isinstance(cluster.platform, OkePlan):
        return list(OKE_VERSIONS.values())[-1].minor
    return list(KUBERNETES_VERSIONS)[-1]


@check("arc-version")
def arc_versions(view: View) -> Iterator[Problem]:
    """GitHub lanes that use a feature which the chosen version of ARC does not have."""
    for cluster in view.plan.clusters:
        if cluster.github is None:
            continue
        version = Version(cluster.github.controller.release.version)
        for lane in cluster.github.lanes:
            yield from _too_old(lane, version)


def _too_old(lane: GitHubLanePlan, version: Version) -> Iterator[Problem]:
    if version < _ARC_LABELS and len(lane.runs_on) > 1:
        yield Problem(
            path=f"{lane.path}.labels",
            message=f"are ignored by ARC {version}: scale sets have labels from {_ARC_LABELS} on",
            remedy="remove charts.arc_version, or the labels",
        )
    if version < _ARC_NOVOLUME and lane.container_mode == "kubernetes-novolume":
        yield Problem(
            path=f"{lane.path}.container_mode",
            message=f"is not known to ARC {version}: it comes with {_ARC_NOVOLUME}",
            remedy="remove charts.arc_version, or use container_mode: kubernetes",
        )


@check("ami-fault", "warning")
def ami_faults(view: View) -> Iterator[Problem]:
    """EKS pools on an AMI release that is known to be bad."""
    for cluster in view.plan.clusters:
        if not isinstance(cluster.platform, EksPlan):
            continue
        for pool in cluster.platform.pools:
            fault = ami_fault(pool.release_version)
            if fault is not None:
                yield Problem(
                    path=f"{pool.path}.release_version",
                    message=f"is {pool.release_version}: {fault.reason} ({fault.source})",
                    remedy=f"use a release of {fault.fixed_in} or later, or remove it for the pin",
                )


@check("runner-age", "warning")
def runner_ages(view: View) -> Iterator[Problem]:
    """GitHub runner images that are so far behind that GitHub gives them no jobs."""
    for lane in view.lanes:
        if not isinstance(lane.spec, GitHubLane) or not isinstance(lane.plan, GitHubLanePlan):
            continue
        github = view.spec_of(lane.cluster).github
        # GitHub Enterprise Server brings the runner's version itself.
        if github is None or not _HOSTED.match(github.url):
            continue
        version = runner_version(lane.plan.runner_image)
        end = runner_refused_from(version) if version is not None else None
        if end is not None and end <= view.today:
            yield Problem(
                path=f"{lane.path}.image",
                message=(
                    f"holds runner {version}, to which GitHub gives no jobs since "
                    f"{end.isoformat()}: the scale set would stay Outdated"
                ),
                remedy=(
                    "use an image of the newest release of actions/runner, and renew it every month"
                ),
            )


def kubernetes_minor(cluster: ClusterPlan) -> str | None:
    """Kubernetes minor version of a cluster, such as 1.35; None where nobody says it."""
    version = cluster.platform.version
    return ".".join(version.removeprefix("v").split(".")[:2]) if version is not None else None
