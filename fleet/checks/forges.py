"""Settings that GitHub or GitLab ignore, refuse, or read in another way.

Sources: labels of GitHub's own runners: docs.github.com, "Choosing the runner for a job", and
actions/runner-images README.md; GitHub Enterprise Server has none of them. Settings that GitLab
keeps with a runner: https://docs.gitlab.com/ci/runners/new_creation_workflow/ (`register` refuses
them together with an authentication token). Instance runners: https://docs.gitlab.com/ci/runners/
runners_scope/ (only administrators create them).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fleet.catalog.gpus import GPU_MODELS
from fleet.checks.check import check
from fleet.checks.view import LaneView, View
from fleet.clusters.existing import ExistingPlan
from fleet.config.gitlab import GitLabLane
from fleet.config.urls import host
from fleet.findings import Finding
from fleet.kubernetes.labels import PRIVILEGED, Namespaces

_HOSTED: Final = re.compile(
    r"(ubuntu|windows|macos)-(latest|slim|\d+(\.\d+)?)(-(arm|intel|large|xlarge|vs\d{4}))?"
)

_KEPT_AT_GITLAB: Final = (
    *("tags", "default_tags", "run_untagged", "protected", "locked", "maximum_timeout"),
)
"""Keys of a lane that are settings of its runner at GitLab."""

_FORGES: Final = {Namespaces.arc_runners: "github", Namespaces.gitlab: "gitlab"}

_LOCALHOST: Final = re.compile(r"localhost|.*\.localhost|127(\.\d+){3}|::1")


def _label_of_model(model: str) -> str:
    """Return a model as people write it in a label: a100 for both sizes of an A100."""
    return model.partition("-")[0].replace(" ", "-").lower()


_MODELS: Final = sorted({_label_of_model(model) for model in GPU_MODELS}, key=len, reverse=True)

_NAMED_MODEL: Final = re.compile(rf"(?<![a-z0-9])({'|'.join(map(re.escape, _MODELS))})(?![a-z0-9])")
"""A model as a separate word: a100 in gpu-a100, not in xa1000."""


@check("instance-runner")
def instance_runners(view: View) -> Iterator[Finding]:
    """Instance runners of gitlab.com, which only its administrators can create."""
    for lane in view.gitlab_lanes:
        runner = lane.spec.runner
        if runner is not None and runner.instance and host(lane.forge.url) == "gitlab.com":
            yield instance_runners.finding(
                f"{lane.path}.runner.instance",
                message=(
                    "is an instance runner of gitlab.com, which only GitLab's staff can create: up "
                    "would fail with 403"
                ),
                remedy=(
                    "use group_id or project_id, like runner: {group_id: 42}, or the url of "
                    "your own server"
                ),
            )


@check("kept-at-gitlab", "warning")
def kept_at_gitlab(view: View) -> Iterator[Finding]:
    """Lanes with settings that GitLab stores with an existing runner, where they have no effect."""
    for lane in view.gitlab_lanes:
        spec = lane.spec
        written = [key for key in _KEPT_AT_GITLAB if key in spec.model_fields_set]
        if written and spec.runner is None:
            source = "token" if spec.token is not None else "existing_secret"
            yield kept_at_gitlab.finding(
                lane.path,
                message=(
                    f"sets {', '.join(written)}, but GitLab keeps these settings with the runner "
                    f"of {source}: values in the stack file do not change them"
                ),
                remedy=(
                    "set the same values at GitLab; here they only inform the checks and the report"
                ),
            )


@check("prepare", "note")
def to_prepare(view: View) -> Iterator[Finding]:
    """Namespaces and Secrets of runners that must exist before `up`, with the commands to run."""
    for cluster in view.plan.clusters:
        for space, privileged in cluster.existing_namespaces.items():
            forge = _FORGES.get(space)
            if forge is None:
                continue  # of jobs, which need nothing in it
            secrets = [one for one in cluster.external_secrets if one.namespace == space]
            commands = [f"kubectl create namespace {space}"]
            if privileged:
                label = " ".join(f"{key}={value}" for key, value in PRIVILEGED.items())
                commands.append(f"kubectl label namespace {space} {label}")
            commands += [one.command for one in secrets]
            names = " and ".join(one.name for one in secrets)
            waits = (
                ""
                if isinstance(cluster.platform, ExistingPlan)
                else ("; the first up makes the cluster and stops there")
            )
            yield to_prepare.finding(
                f"clusters.{cluster.name}.{forge}",
                message=(
                    f"uses the namespace {space}{f' with the Secret {names}' if names else ''}, "
                    f"which you make before up, and which destroy leaves{waits}"
                ),
                remedy=f"run once: {' && '.join(commands)}",
            )


@check("hosted-label", "warning")
def hosted_labels(view: View) -> Iterator[Finding]:
    """Scale sets with a name or label of GitHub-hosted runners."""
    for lane in view.github_lanes:
        if lane.forge.is_server:
            continue
        for label in lane.plan.labels:
            if _HOSTED.fullmatch(label.lower()):
                is_name = label == lane.plan.name
                yield hosted_labels.finding(
                    lane.path if is_name else f"{lane.path}.labels",
                    message=(
                        f"{'has the name' if is_name else 'has'} {label}, a label of GitHub-hosted "
                        f"runners: a job with runs-on: {label} may run on either"
                    ),
                    remedy="use a label that GitHub-hosted runners do not have, like gpu",
                )


@check("model-word", "warning")
def model_labels(view: View) -> Iterator[Finding]:
    """Lanes whose name, labels or tags contain a GPU model that none of their pools has."""
    for lane in view.lanes:
        models = {pool.gpu for pool in lane.pools if pool.gpu is not None}
        if not lane.job.gpus or not models:
            continue
        has = {_label_of_model(model) for model in models}
        for place, labels in _labels(lane):
            for label in labels:
                if all(
                    any(_is_same_model(model, other) for other in has)
                    for model in _NAMED_MODEL.findall(label.lower())
                ):
                    continue
                yield model_labels.finding(
                    f"{lane.path}{place}",
                    message=(
                        f"{'has' if place else 'has the name'} {label}, but its pools have "
                        f"{', '.join(sorted(models))}: jobs get another GPU than the label names"
                    ),
                    remedy=f"use a label of the GPU, like {min(has)}, or correct the pools",
                )


def _labels(lane: LaneView) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the end of the path and the labels of each place that the user wrote."""
    yield "", (lane.plan.name,)
    if isinstance(lane.spec, GitLabLane):
        yield ".tags", lane.spec.tags
    else:
        yield ".labels", lane.spec.labels


def _is_same_model(model: str, other: str) -> bool:
    """Compare models as people do: they call an A10G an A10, and an L40S an L40."""
    return model.rstrip("gs") == other.rstrip("gs")


@check("plain-http", "warning")
def plain_http(view: View) -> Iterator[Finding]:
    """URLs without TLS for chart repositories and CRDs."""
    charts = view.stack.charts
    sources = {f"repositories.{chart}": url for chart, url in charts.repositories.items()}
    for key, url in (sources | {"arc_crds": charts.arc_crds or ""}).items():
        if _is_plain(url):
            yield plain_http.finding(
                f"charts.{key}",
                message=(
                    "is http://: anyone on the network path can replace what is installed from it"
                ),
                remedy="use https://" + (" or oci://" if key in sources else ""),
            )


def _is_plain(url: str) -> bool:
    return url.lower().startswith("http://") and not _LOCALHOST.fullmatch(host(url))
