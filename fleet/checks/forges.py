"""What GitHub and GitLab do with what the stack file says of them.

Sources: labels of GitHub's own runners: docs.github.com, "Choosing the runner for a job", and
actions/runner-images README.md; GitHub Enterprise Server has none of them. What belongs to a runner
at GitLab: https://docs.gitlab.com/ci/runners/new_creation_workflow/ (the settings that `register`
refuses beside an authentication token). Instance runners: https://docs.gitlab.com/ci/runners/
runners_scope/ (only administrators make them).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fleet.catalog.gpus import GPU_MODELS
from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View
from fleet.config.github import GitHubLane
from fleet.config.gitlab import GitLabLane
from fleet.config.urls import host
from fleet.runners.github import GitHubLanePlan

_HOSTED: Final = re.compile(
    r"(ubuntu|windows|macos)-(latest|slim|\d+(\.\d+)?)(-(arm|intel|large|xlarge|vs\d{4}))?"
)

_KEPT_AT_GITLAB: Final = (
    *("tags", "default_tags", "run_untagged", "protected", "locked", "maximum_timeout"),
)
"""Keys of a lane that are settings of its runner at GitLab."""

_HERE: Final = re.compile(r"localhost|.*\.localhost|127(\.\d+){3}|::1")


def _model_word(model: str) -> str:
    """How a word names a model: a100 for both sizes of an A100."""
    return model.partition("-")[0].replace(" ", "-").lower()


_MODEL_WORDS: Final = sorted({_model_word(model) for model in GPU_MODELS}, key=len, reverse=True)

_SAID: Final = re.compile(rf"(?<![a-z0-9])({'|'.join(map(re.escape, _MODEL_WORDS))})(?![a-z0-9])")
"""A model as a word of its own: a100 in gpu-a100, not in xa1000."""


@check("instance-runner")
def instance_runners(view: View) -> Iterator[Problem]:
    """Instance runners of gitlab.com, which only its administrators make."""
    for lane in view.lanes:
        gitlab = view.spec_of(lane.cluster).gitlab
        if not isinstance(lane.spec, GitLabLane) or gitlab is None or lane.spec.runner is None:
            continue
        if lane.spec.runner.instance and host(gitlab.url) == "gitlab.com":
            yield Problem(
                path=f"{lane.path}.runner.instance",
                message="asks for an instance runner of gitlab.com, which only GitLab's staff make",
                remedy="use group_id or project_id, or the url of a server of your own",
            )


@check("kept-at-gitlab", "warning")
def kept_at_gitlab(view: View) -> Iterator[Problem]:
    """Settings of a GitLab runner that exists, which GitLab keeps and this program cannot set."""
    for lane in view.lanes:
        spec = lane.spec
        if not isinstance(spec, GitLabLane) or spec.runner is not None:
            continue
        written = [key for key in _KEPT_AT_GITLAB if key in spec.model_fields_set]
        if written:
            source = "token" if spec.token is not None else "existing_secret"
            yield Problem(
                path=lane.path,
                message=(
                    f"sets {', '.join(written)}, which GitLab keeps with the runner that {source} "
                    "belongs to and takes from nobody else"
                ),
                remedy=(
                    "set the same at GitLab, where they count; here they tell people and the "
                    "checks what is set there"
                ),
            )


@check("hosted-label", "warning")
def hosted_labels(view: View) -> Iterator[Problem]:
    """Scale sets that answer to a label of the runners which GitHub itself offers."""
    for lane in view.lanes:
        github, plan = view.spec_of(lane.cluster).github, lane.plan
        if not isinstance(plan, GitHubLanePlan) or github is None:
            continue
        server = host(github.url)
        if server not in ("github.com", "www.github.com") and not server.endswith(".ghe.com"):
            continue
        for word in plan.runs_on:
            if _HOSTED.fullmatch(word.lower()):
                named = word == plan.name
                yield Problem(
                    path=plan.path if named else f"{plan.path}.labels",
                    message=(
                        f"{'is called' if named else 'hold'} {word}, as GitHub's own runners are: "
                        "a job that says only this may run on either"
                    ),
                    remedy="use a word that GitHub's runners lack, like gpu",
                )


@check("model-word", "warning")
def model_words(view: View) -> Iterator[Problem]:
    """Lanes whose name, labels or tags name a GPU model that none of their pools has."""
    for lane in view.lanes:
        models = {pool.gpu for pool in lane.pools if pool.gpu is not None}
        if not lane.job.gpus or not models:
            continue
        has = {_model_word(model) for model in models}
        for place, words in _words(lane):
            for word in words:
                wrong = any(
                    not any(_alike(model, other) for other in has)
                    for model in _SAID.findall(word.lower())
                )
                if wrong:
                    yield Problem(
                        path=f"{lane.path}{place}",
                        message=(
                            f"{'hold' if place else 'is called'} {word}, but its pools have "
                            f"{', '.join(sorted(models))}"
                        ),
                        remedy="use a word of the GPU that jobs get, or correct the pools",
                    )


def _words(lane: LaneView) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The words of a lane that the file says, by the end of their path."""
    yield "", (lane.plan.name,)
    if isinstance(lane.spec, GitHubLane):
        yield ".labels", lane.spec.labels
    elif isinstance(lane.spec, GitLabLane):
        yield ".tags", lane.spec.tags


def _alike(model: str, other: str) -> bool:
    """People call an A10G an A10, and an L40S an L40."""
    return model.rstrip("gs") == other.rstrip("gs")


@check("plain-http", "warning")
def plain_http(view: View) -> Iterator[Problem]:
    """Addresses without TLS, over which tokens travel in clear and charts can be changed."""
    charts = view.stack.charts
    sources = {f"repositories.{chart}": url for chart, url in charts.repositories.items()}
    for key, url in (sources | {"arc_crds": charts.arc_crds or ""}).items():
        if _is_plain(url):
            yield Problem(
                path=f"charts.{key}",
                message="is http://: whoever is on the way can put something else in its place",
                remedy="use https://" + (" or oci://" if key in sources else ""),
            )
    for name, cluster in view.stack.clusters.items():
        if cluster.gitlab is not None and _is_plain(cluster.gitlab.url):
            yield Problem(
                path=f"clusters.{name}.gitlab.url",
                message="is http://: tokens and code travel in clear",
                remedy="use https://",
            )


def _is_plain(url: str) -> bool:
    return url.lower().startswith("http://") and not _HERE.fullmatch(host(url))
