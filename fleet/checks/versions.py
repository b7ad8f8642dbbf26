"""Versions that must suit each other, and versions whose support ends."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

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
from fleet.checks.check import check
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan
from fleet.config.github import GitHubAccess
from fleet.findings import Finding, Severity

_NOTICE = timedelta(days=60)
"""How long before the end of support a version is reported."""

_ARC_LABELS = Version("0.14.0")
_SERVER_LABELS = Version("3.18")
_SERVER_LABELS_ON = Version("3.21")
_LABELS_FLAG = "DistributedTask.AllowRunnerScaleSetCustomLabels"
"""GitHub Enterprise Server registers labels of scale sets from 3.18 on if this flag is on, which is
its default from 3.21 on. Else it keeps a set's name and drops the labels without an error.

Sources: actions/scaleset README.md, "Multiple labels per scale set";
actions/actions-runner-controller#4579.
"""


@check("operator-kubernetes", "warning")
def operator_kubernetes(view: View) -> Iterator[Finding]:
    """GPU Operators whose release does not support the cluster's Kubernetes version."""
    for cluster in view.plan.clusters:
        operator, version = cluster.gpu_stack.operator, cluster.platform.minor
        release = operator_release(operator.version) if operator is not None else None
        if operator is None or release is None or version is None or release.runs_on(version):
            continue
        yield operator_kubernetes.finding(
            f"clusters.{cluster.name}.gpu_stack.operator",
            message=(
                f"is {operator.version}, which supports Kubernetes 1.{release.oldest_kubernetes} "
                f"to 1.{release.newest_kubernetes}, but the cluster has {version}: its operands "
                "may not start"
            ),
            remedy="use a supported Kubernetes version, or advertiser: device_plugin alone",
        )


@check("kubernetes-support", "warning")
def kubernetes_support(view: View) -> Iterator[Finding]:
    """Clusters whose Kubernetes version has lost its support, or loses it within 60 days."""
    for cluster in view.plan.clusters:
        platform = cluster.platform
        end = platform.supported_until
        if end is None or end - _NOTICE > view.today:
            continue
        verb = "ended" if end < view.today else "ends"
        if isinstance(platform, EksPlan):
            newest = list(KUBERNETES_VERSIONS)[-1]
            what = "standard support on EKS"
            after = (
                f"the control plane costs {EXTENDED_SUPPORT_CLUSTER_USD_PER_HOUR} instead of "
                f"{CLUSTER_USD_PER_HOUR} USD an hour"
            )
        else:
            newest = list(OKE_VERSIONS.values())[-1].minor
            what, after = "support on OKE", "OKE creates no cluster of this version"
        yield kubernetes_support.finding(
            f"{platform.path}.version",
            message=(
                f"is {platform.minor}, whose {what} {verb} on {end.isoformat()}: after it, {after}"
            ),
            remedy=f"upgrade to {newest}, one minor version at a time, the control plane first",
        )


@check("arc-version")
def arc_versions(view: View) -> Iterator[Finding]:
    """Versions of ARC that do not register labels of scale sets."""
    for cluster in view.plan.clusters:
        if cluster.github is None:
            continue
        version = Version(cluster.github.controller.release.version)
        if version < _ARC_LABELS:
            yield arc_versions.finding(
                "charts.arc_version",
                message=(
                    f"is {version}, which ignores labels of scale sets ({_ARC_LABELS} is the first "
                    "that has them): a lane's name is a label of its set, so no job would find it"
                ),
                remedy=f"remove charts.arc_version, or set {_ARC_LABELS} or later",
            )
            return


def server_fault(github: GitHubAccess) -> tuple[Severity, str, str] | None:
    """Return severity, message and remedy if `server_version` does not suit labels of sets."""
    if not github.is_server:
        return None
    version = github.server_version
    lost = "a lane's name is a label of its set, so no job would find it"
    if version is None:
        return (
            "error",
            f"is missing: before {_SERVER_LABELS}, GitHub Enterprise Server drops labels of scale "
            f"sets; {lost}",
            f'add the version of your server, like server_version: "{_SERVER_LABELS_ON}"; '
            "/api/v3/meta names it as installed_version",
        )
    if Version(version) < _SERVER_LABELS:
        return (
            "error",
            f"is {version}, which drops labels of scale sets; {lost}",
            f"upgrade the server to {_SERVER_LABELS_ON} or later",
        )
    if Version(version) < _SERVER_LABELS_ON:
        return (
            "warning",
            f"is {version}, which drops labels of scale sets unless its flag {_LABELS_FLAG} is on; "
            f"{lost}",
            "let a site admin turn the flag on before up (ghe-actions-console -s actions, then "
            f"Set-FeatureFlag -FeatureName {_LABELS_FLAG} -State On), and silence github-server",
        )
    return None


@check("github-server")
def github_servers(view: View) -> Iterator[Finding]:
    """Versions of GitHub Enterprise Server that drop labels of scale sets."""
    for name, cluster in view.stack.clusters.items():
        fault = server_fault(cluster.github) if cluster.github is not None else None
        if fault is not None:
            severity, message, remedy = fault
            yield github_servers.finding(
                f"clusters.{name}.github.server_version",
                message=message,
                remedy=remedy,
                severity=severity,
            )


@check("ami-fault", "warning")
def ami_faults(view: View) -> Iterator[Finding]:
    """EKS pools with an AMI release that has a known fault."""
    for cluster in view.plan.clusters:
        for pool in cluster.platform.pools if isinstance(cluster.platform, EksPlan) else ():
            fault = ami_fault(pool.release_version)
            if fault is not None:
                yield ami_faults.finding(
                    f"{pool.path}.release_version",
                    message=f"is {pool.release_version}: {fault.reason} ({fault.source})",
                    remedy=(
                        f"use a release of {fault.fixed_in} or later, or remove release_version "
                        "for the default"
                    ),
                )


@check("runner-age", "warning")
def runner_ages(view: View) -> Iterator[Finding]:
    """GitHub runner images that are too old: GitHub assigns them no jobs."""
    for lane in view.github_lanes:
        # GitHub Enterprise Server updates runners to its own version.
        if lane.forge.is_server:
            continue
        version = runner_version(lane.plan.job.image)
        end = runner_refused_from(version) if version is not None else None
        if end is not None and end <= view.today:
            yield runner_ages.finding(
                f"{lane.path}.image",
                message=(
                    f"has runner {version}, to which GitHub assigns no jobs since "
                    f"{end.isoformat()}: the scale set would stay Outdated"
                ),
                remedy=(
                    "use an image with the newest release of actions/runner, and update it every "
                    "month"
                ),
            )
