"""Sharing of words: jobs that say too little to land where they should.

GitLab gives a job to any runner whose tags hold all of the job's tags; GitHub gives it to any scale
set whose name and labels hold all of its `runs-on`. So the words of a lane tell it apart only from
lanes that lack one of them.
Sources: https://docs.gitlab.com/ci/runners/configure_runners/#control-jobs-that-a-runner-can-run ;
GitHub's documentation, "Choose the runner for a job" (that it holds for scale sets as well is
inferred) and "Using labels with self-hosted runners" (case is ignored); GitLab does not ignore it:
gitlabhq/gitlabhq app/models/ci/tag.rb.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from fleet.checks.check import Problem, check
from fleet.checks.runners import (
    GENERIC,
    HARDWARE,
    Runner,
    Runners,
    Scope,
    kinds_of,
    scopes,
    signatures,
)
from fleet.checks.view import LaneView, View
from fleet.runners.gitlab import GitLabLanePlan

_NAMED = 3
"""Other lanes that one message names; the rest are counted."""


@check("words")
def same_words(view: View) -> Iterator[Problem]:
    """Lanes whose own words are all among those of a lane with other hardware.

    An error where both have GPUs and no model in common, and both belong to one owner of GitLab
    (group, project or instance). A warning where

    - they are scale sets of GitHub, whose names always tell them apart, if jobs say them;
    - one has a GPU, or a device of the host, and the other has none;
    - some model is the same, or all are, but a job may get another, or more or less of it;
    - the stack file does not say that jobs reach both: another runner group, a GitLab runner
      whose token somebody else holds, an instance runner beside others.

    A lane's name is no label here: that another lane may carry it is a check of its own.
    """
    for scope in scopes(view):
        alike = signatures(scope)
        told: dict[frozenset[str], Runners] = {}
        for (_, words, _), same in alike.items():
            runner = next(scope.members(same))
            # Lanes of the very same words are told once, at the first of them.
            found = scope.with_all(words) & scope.unlike(runner) & ~told.get(words, 0)
            found &= ~scope.named(words)
            certain = found & scope.certain(runner) & scope.with_gpu & scope.strangers(runner)
            if not runner.has_gpu or scope.forge == "github":
                certain = 0
            possible = found & scope.possible(runner) & ~certain
            if certain or possible:
                told[words] = told.get(words, 0) | same
            if certain:
                yield _lands_elsewhere(scope, runner, certain)
            if possible:
                yield _may_land_elsewhere(scope, runner, possible, told=bool(certain))


def _lands_elsewhere(scope: Scope, runner: Runner, others: Runners) -> Problem:
    return Problem(
        path=f"{runner.path}.{runner.key}",
        message=(
            f"do not tell its jobs ({runner.hardware}) apart: one that says {_listed(runner.own)} "
            f"lands on {_names(scope, runner, others)} too"
        ),
        remedy=(
            f"give {runner.name} a word that the other lacks{_own_word(runner)}, or take one of "
            "these from the other"
        ),
    )


def _may_land_elsewhere(scope: Scope, runner: Runner, others: Runners, *, told: bool) -> Problem:
    if scope.forge == "github":
        remedy = f"write runs-on: {runner.name} in workflows, or add a label that only it has"
    else:
        remedy = f"give {runner.name} a tag that the other lacks, and have its jobs say it"
    return Problem(
        path=f"{runner.path}.{runner.key}",
        message=(
            f"are all among those of {_names(scope, runner, others)}: a job for {runner.hardware} "
            f"that says {_listed(runner.own)} may land there{' as well' if told else ''}"
        ),
        remedy=remedy,
        severity="warning",
    )


@check("shared-words", "warning")
def shared_words(view: View) -> Iterator[Problem]:
    """Words that lanes of different GPU models have in common, besides words of their own.

    A job that says only such a word lands on any of them. Told once for each set of lanes of one
    owner. Words like linux and prod are no choice of hardware; a word like gpu or cuda on a lane
    without GPUs counts too. A word that is all that some lane says, or a scale set's name, is told
    by another check, if at all.
    """
    for scope in scopes(view):
        all_of_a_lane = _words_of_whole_lanes(scope)
        for owner, members in scope.of_owner.items():
            if owner is None:
                continue
            groups: dict[Runners, list[str]] = {}
            for word, having in scope.having.items():
                group = having & members
                if word in GENERIC or scope.named({word}) or group & (group - 1) == 0:
                    continue
                if (word, owner) in all_of_a_lane:
                    continue
                if word not in HARDWARE:
                    group &= scope.with_gpu
                if sum(bool(group & each) for each in scope.of_models.values()) > 1:
                    groups.setdefault(group, []).append(word)
            for group, words in groups.items():
                yield _shared(scope, group, sorted(words))


def _words_of_whole_lanes(scope: Scope) -> set[tuple[str, str | None]]:
    """Words that, within an owner, mean the same lanes as all words of some lane together."""
    found: set[tuple[str, str | None]] = set()
    for owner, words, _ in signatures(scope):
        members = scope.of_owner[owner]
        lanes = scope.with_all(words) & members
        found |= {(word, owner) for word in words if scope.having[word] & members == lanes}
    return found


def _shared(scope: Scope, group: Runners, words: list[str]) -> Problem:
    first, *_ = scope.members(group)
    say = "labels" if scope.forge == "github" else "tags"
    return Problem(
        path=f"{first.path}.{first.key}",
        message=(
            f"share {_listed(words)} with lanes of other GPUs: a job that says nothing else lands "
            f"on any of {_names(scope, first, group)}"
        ),
        remedy=(
            f"have jobs say a word of one lane as well, or keep {_listed(words)} among the {say} "
            "of one GPU model"
        ),
    )


@check("lane-name")
def names_as_labels(view: View) -> Iterator[Problem]:
    """GitHub lanes that carry the name of another lane, so that its jobs land here too.

    An error where they get another GPU model by it and both are in one runner group; else a
    warning. Two lanes of one name, which GitHub allows in two groups, are told where their
    hardware differs.
    """
    for scope in scopes(view):
        if scope.forge != "github":
            continue
        for runner in scope.runners:
            for word in sorted(runner.words):
                others = scope.named({word}) & ~(1 << runner.index)
                if word == runner.name:  # told at the later of the two
                    others &= (1 << runner.index) - 1
                for other in islice(scope.members(others), _NAMED):
                    # One name in one group is told as the name of a scale set.
                    if word != runner.name or (
                        runner.kinds != other.kinds and runner.owner != other.owner
                    ):
                        yield _named_alike(scope, runner, other)


def _named_alike(scope: Scope, runner: Runner, other: Runner) -> Problem:
    certain = (
        runner.owner == other.owner
        and runner.has_gpu
        and other.has_gpu
        and not runner.models & other.models
    )
    same = runner.name == other.name
    group = " of another runner group" if runner.owner != other.owner else ""
    return Problem(
        path=runner.path if same else f"{runner.path}.labels",
        message=(
            f"{'has' if same else 'hold'} the name of {other.seen_from(runner)}{group}: a job that "
            f"asks for {other.name} may land on {runner.hardware} here"
        ),
        remedy="rename one of the lanes" if same else f"remove the label {other.name}",
        severity="error" if certain else "warning",
    )


@check("untagged", "warning")
def untagged_jobs(view: View) -> Iterator[Problem]:
    """GPU lanes that take jobs without tags, which did not ask for a GPU."""
    for lane in view.lanes:
        plan = lane.plan
        if (
            isinstance(plan, GitLabLanePlan)
            and plan.runner is not None
            and plan.runner.run_untagged
            and lane.job.gpus
        ):
            yield Problem(
                path=f"{lane.path}.run_untagged",
                message="is on: any job without tags takes a GPU, and may start a node for it",
                remedy="remove it; a lane without GPUs is the one for such jobs",
            )


@check("one-runner", "warning")
def shared_tokens(view: View) -> Iterator[Problem]:
    """GitLab lanes of one token and other hardware: to GitLab they are one runner."""
    first: dict[tuple[str, str], LaneView] = {}
    for lane in view.lanes:
        key = _token(view, lane)
        if key is None:
            continue
        other = first.setdefault(key, lane)
        kinds, others = kinds_of(lane), kinds_of(other)
        if kinds == others or not kinds or not others:
            continue
        source = (
            "token"
            if isinstance(lane.plan, GitLabLanePlan) and lane.plan.token_secret
            else ("existing_secret")
        )
        yield Problem(
            path=f"{lane.path}.{source}",
            message=(
                f"is that of {other.path}: to GitLab both are one runner, and a job of either "
                "lands on the other's nodes"
            ),
            remedy="make a runner of its own at GitLab for each, or let this program do it: runner",
        )


def _token(view: View, lane: LaneView) -> tuple[str, str] | None:
    """What holds the token of a runner that this program does not make."""
    plan, gitlab = lane.plan, view.spec_of(lane.cluster).gitlab
    if not isinstance(plan, GitLabLanePlan) or gitlab is None or plan.runner is not None:
        return None
    if plan.token_secret is not None:
        return "pulumi", plan.token_secret
    return lane.cluster.name, plan.secret_name


def _names(scope: Scope, runner: Runner, others: Runners) -> str:
    named = [one.seen_from(runner) for one in islice(scope.members(others), _NAMED)]
    rest = others.bit_count() - len(named)
    return ", ".join(named) + (f" and {rest} more" if rest else "")


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(words))


def _own_word(runner: Runner) -> str:
    """A word that its hardware suggests, where it has not got it yet."""
    for model in sorted(runner.models):
        word = model.lower().replace(" ", "-")
        if word not in runner.words:
            return f", like {word}"
    return ""
