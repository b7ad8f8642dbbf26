"""Labels and tags by which jobs select lanes: jobs that may run on hardware that they do not need.

GitLab gives a job to any runner whose tags contain all of the job's tags. GitHub gives a job to any
scale set whose name and labels contain all of its `runs-on`. So a job with all labels of a lane
still runs on every other lane that has them too.
Sources: https://docs.gitlab.com/ci/runners/configure_runners/#control-jobs-that-a-runner-can-run ;
GitHub's documentation, "Choose the runner for a job" (that it holds for scale sets as well is
inferred) and "Using labels with self-hosted runners" (case is ignored); GitLab does not ignore it:
gitlabhq/gitlabhq app/models/ci/tag.rb.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fleet.checks.check import check
from fleet.checks.runners import (
    GENERIC,
    HARDWARE,
    Runner,
    Runners,
    Scope,
    hardware_of,
    in_order,
    scopes,
    with_all,
)
from fleet.checks.view import GitLabLaneView, View
from fleet.findings import Finding

_NAMED = 3
"""Other lanes that one message names; the rest are counted."""


@check("words")
def same_labels(view: View) -> Iterator[Finding]:
    """Lanes whose labels or tags another lane with other hardware has too.

    An error if both have GPUs without a common model and belong to one owner at GitLab (group,
    project or instance). A warning if

    - they are scale sets of GitHub, whose names always select one of them;
    - one has a GPU, or a host device, and the other has none;
    - they share a GPU model, but a job may get another model or another number of GPUs;
    - the stack file does not show that the same jobs reach both: another runner group, a GitLab
      runner of an unknown owner, or an instance runner and a runner of a group or project.

    Names of lanes do not count here; that is the check lane-name.
    """
    for scope in scopes(view):
        reported: dict[frozenset[str], Runners] = {}
        for (_, labels, _), same in scope.alike.items():
            runner = in_order(same)[0]
            # Lanes with equal labels are reported once, at the first of them.
            known = reported.get(labels, frozenset())
            others = [
                other
                for other in in_order(with_all(scope.with_label[label] for label in labels))
                if not other.hardware <= runner.hardware
                and other not in known
                and not (scope.forge == "github" and other.name in labels)
                and runner.may_share_jobs(other)
            ]
            certain = [other for other in others if _certainly_wrong(scope, runner, other)]
            possible = [other for other in others if other not in certain]
            if others:
                reported[labels] = known | same
            if certain:
                yield _runs_elsewhere(runner, certain)
            if possible:
                yield _may_run_elsewhere(scope, runner, possible)


def _certainly_wrong(scope: Scope, runner: Runner, other: Runner) -> bool:
    return (
        scope.forge == "gitlab"
        and runner.same_jobs(other)
        and runner.has_gpu
        and other.has_gpu
        and not runner.models & other.models
    )


def _runs_elsewhere(runner: Runner, others: Sequence[Runner]) -> Finding:
    return same_labels.finding(
        f"{runner.path}.{runner.key}",
        message=(
            f"all of these {runner.key} ({_listed(runner.own_labels)}) are also on "
            f"{_names(runner, others)}: a job for {runner.hardware_text} with them runs there too"
        ),
        remedy=(
            f"give {runner.name} a tag that the other lacks{_suggestion(runner)}, or remove one "
            "of these from the other"
        ),
    )


def _may_run_elsewhere(scope: Scope, runner: Runner, others: Sequence[Runner]) -> Finding:
    if scope.forge == "github":
        remedy = f"write runs-on: {runner.name} in workflows, or add a label that only it has"
    else:
        remedy = f"give {runner.name} a tag that the other lacks, and use it in its jobs"
    return same_labels.finding(
        f"{runner.path}.{runner.key}",
        message=(
            f"all of these {runner.key} ({_listed(runner.own_labels)}) are also on "
            f"{_names(runner, others)}: a job for {runner.hardware_text} with only them may run "
            "there"
        ),
        remedy=remedy,
        severity="warning",
    )


@check("shared-words", "warning")
def shared_labels(view: View) -> Iterator[Finding]:
    """Labels or tags that lanes of different GPU models share, so that they select no model.

    A job with only such a label runs on any of them. One finding for each set of lanes of one
    owner. Labels like linux and prod do not count, because they choose no hardware; a label like
    gpu or cuda counts also on lanes without GPUs. Labels that are the only ones of some lane,
    and names of scale sets, are findings of other checks.
    """
    for scope in scopes(view):
        whole_lanes = _labels_of_whole_lanes(scope)
        groups: dict[tuple[str, Runners], list[str]] = {}
        for (owner, label), having in scope.with_label_of_owner.items():
            if owner is None or len(having) < 2 or label in GENERIC or label in scope.scale_sets:
                continue
            if (owner, label) in whole_lanes:
                continue
            group = having if label in HARDWARE else frozenset(r for r in having if r.has_gpu)
            if len({runner.models for runner in group}) > 1:
                groups.setdefault((owner, group), []).append(label)
        for (_, group), labels in groups.items():
            first, *others = in_order(group)
            listed, key = _listed(labels), first.key
            yield shared_labels.finding(
                f"{first.path}.{key}",
                message=(
                    f"lanes with different GPUs share {listed}: a job with no other {key} runs "
                    f"on any of {_names(first, [first, *others])}"
                ),
                remedy=(
                    f"use a {key[:-1]} of one lane in the jobs too, or keep {listed} on lanes of "
                    "one GPU model"
                ),
            )


def _labels_of_whole_lanes(scope: Scope) -> set[tuple[str | None, str]]:
    """Return the labels that, within an owner, select the same lanes as all labels of some lane."""
    having = scope.with_label_of_owner
    found: set[tuple[str | None, str]] = set()
    for owner, labels, _ in scope.alike:
        lanes = with_all(having[owner, label] for label in labels)
        found |= {(owner, label) for label in labels if having[owner, label] == lanes}
    return found


@check("lane-name")
def names_as_labels(view: View) -> Iterator[Finding]:
    """GitHub lanes that have the name of another lane as a label, so that its jobs run here too.

    An error if these jobs get another GPU model and both lanes are in one runner group, else a
    warning. Two lanes of one name, which GitHub allows in two groups, are a finding if their
    hardware differs.
    """
    for scope in scopes(view):
        for runner in scope.runners:
            for label in sorted(runner.labels & scope.scale_sets.keys()):
                others = [one for one in in_order(scope.scale_sets[label]) if one is not runner]
                if label == runner.name:
                    # Reported at the later one. One name in one group is a finding of
                    # scale-set-name.
                    others = [
                        one
                        for one in others
                        if one.index < runner.index
                        and one.hardware != runner.hardware
                        and one.owner != runner.owner
                    ]
                for other in others[:_NAMED]:
                    yield _named_alike(runner, other)


def _named_alike(runner: Runner, other: Runner) -> Finding:
    certain = (
        runner.owner == other.owner
        and runner.has_gpu
        and other.has_gpu
        and not runner.models & other.models
    )
    same = runner.name == other.name
    group = " of another runner group" if runner.owner != other.owner else ""
    return names_as_labels.finding(
        runner.path if same else f"{runner.path}.labels",
        message=(
            f"has the name of {other.seen_from(runner)}{group}: a job with runs-on: {other.name} "
            f"may run here, on {runner.hardware_text}"
        ),
        remedy="rename one of the lanes" if same else f"remove the label {other.name}",
        severity="error" if certain else "warning",
    )


@check("untagged", "warning")
def untagged_jobs(view: View) -> Iterator[Finding]:
    """GPU lanes that take jobs without tags, which did not request a GPU."""
    for lane in view.gitlab_lanes:
        runner = lane.plan.runner
        if runner is not None and runner.run_untagged and lane.job.gpus:
            yield untagged_jobs.finding(
                f"{lane.path}.run_untagged",
                message="is on: any job without tags takes a GPU, and may start a GPU node",
                remedy="remove it, and set it on a lane without GPUs",
            )


@check("one-runner", "warning")
def shared_tokens(view: View) -> Iterator[Finding]:
    """GitLab lanes with one runner token and different hardware: GitLab sees one runner."""
    first: dict[tuple[str, str], GitLabLaneView] = {}
    for lane in view.gitlab_lanes:
        if lane.plan.runner is not None:
            continue
        token = lane.plan.token_secret
        holder = ("pulumi", token) if token else (lane.cluster.name, lane.plan.secret_name)
        other = first.setdefault(holder, lane)
        hardware, others = hardware_of(lane), hardware_of(other)
        if hardware == others or not hardware or not others:
            continue
        source = "token" if token else "existing_secret"
        yield shared_tokens.finding(
            f"{lane.path}.{source}",
            message=(
                f"is also that of {other.path}: GitLab sees one runner, so a job of either lane "
                "may run on the other's nodes"
            ),
            remedy=(
                "create one runner at GitLab for each lane, or let this program create them, like "
                "runner: {group_id: 42}"
            ),
        )


def _names(runner: Runner, others: Sequence[Runner]) -> str:
    named = ", ".join(one.seen_from(runner) for one in others[:_NAMED])
    return named + (f" and {len(others) - _NAMED} more" if len(others) > _NAMED else "")


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(sorted(labels))


def _suggestion(runner: Runner) -> str:
    """Return a tag named after the GPU that the runner does not have yet."""
    for model in sorted(runner.models):
        label = model.lower().replace(" ", "-")
        if label not in runner.labels:
            return f", like {label}"
    return ""
