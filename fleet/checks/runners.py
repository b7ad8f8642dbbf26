"""Lanes as GitHub and GitLab see them: runners with words, of which a job says some.

Sets of runners are bits of an integer, so that thousands of lanes are compared word by word and
never pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, TypeAlias, TypeVar

from fleet.checks.view import LaneView, View
from fleet.runners.github import GitHubLanePlan
from fleet.runners.gitlab import GitLabLanePlan

GENERIC: Final = frozenset(
    {
        *("self-hosted", "linux", "windows", "macos", "ubuntu", "rhel"),
        *("x64", "x86", "x86_64", "x86-64", "amd64", "arm", "arm64", "aarch64"),
        *("aws", "oci", "eks", "oke", "kubernetes", "k8s", "runner", "runners", "ci", "shared"),
        *("prod", "production", "staging", "stage", "dev", "development", "test"),
    }
)
"""Words that say what every runner of a place is, and nothing of its hardware."""

HARDWARE: Final = frozenset({"gpu", "gpus", "nvidia", "cuda", "accelerator"})
"""Words with which a job asks for some GPU."""

NO_GPU = ""

DEFAULT_GROUP: Final = "default"
"""Runner group of a scale set that names none."""

Kind: TypeAlias = tuple[str, int, int]
"""GPU model (or device of the host, or none), how many of it a job gets, and parts of a card."""

_Key = TypeVar("_Key")

Runners: TypeAlias = int
"""A set of runners of a scope: bit n stands for the n-th."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Runner:
    """One lane of a scope."""

    index: int
    cluster: str
    name: str
    path: str
    key: Literal["labels", "tags"]
    """Key of the stack file that holds its words."""
    words: frozenset[str]
    """Everything by which a job may ask for it."""
    own: frozenset[str]
    """The words that say what it is: of a scale set the labels, its name aside."""
    kinds: frozenset[Kind]
    owner: str | None
    """Who has it, within the scope; None where the stack file does not say."""
    wide: bool
    """Whether jobs of other owners reach it, as far as the stack file says."""
    paused: bool

    @property
    def models(self) -> frozenset[str]:
        """GPU models, devices of the host, or none."""
        return frozenset(kind[0] for kind in self.kinds)

    @property
    def has_gpu(self) -> bool:
        """Whether its jobs get a GPU."""
        return not any(model == NO_GPU or model.startswith("/dev/") for model in self.models)

    @property
    def hardware(self) -> str:
        """What its jobs get, in a few words."""
        return " or ".join(sorted(_text(kind) for kind in self.kinds))

    def seen_from(self, other: Runner) -> str:
        """Its name and hardware, for a message about another."""
        place = "" if self.cluster == other.cluster else f" of cluster {self.cluster}"
        return f"{self.name}{place} ({self.hardware}{', paused' if self.paused else ''})"


@dataclass(kw_only=True)
class Scope:
    """The runners of one forge and URL: jobs there choose among them."""

    forge: Literal["github", "gitlab"]
    runners: list[Runner] = field(default_factory=list[Runner])

    @cached_property
    def having(self) -> dict[str, Runners]:
        """The runners that have a word."""
        return _index((word, one) for one in self.runners for word in one.words)

    @cached_property
    def of_owner(self) -> dict[str | None, Runners]:
        """The runners of one owner."""
        return _index((one.owner, one) for one in self.runners)

    @cached_property
    def of_models(self) -> dict[frozenset[str], Runners]:
        """The runners with exactly those GPU models."""
        return _index((one.models, one) for one in self.runners)

    @cached_property
    def with_gpu(self) -> Runners:
        """The runners whose jobs get a GPU."""
        return sum(1 << one.index for one in self.runners if one.has_gpu)

    def with_all(self, words: Iterable[str]) -> Runners:
        """The runners on which a job that says these words can land."""
        found = self._everybody
        for word in words:
            found &= self.having.get(word, 0)
        return found

    def named(self, words: Iterable[str]) -> Runners:
        """The scale sets whose name is one of these words."""
        return _union(self._by_name.get(word, 0) for word in words)

    def strangers(self, runner: Runner) -> Runners:
        """The runners that have no GPU model in common with this one."""
        models = runner.models
        if models not in self._strangers:
            self._strangers[models] = _union(
                each for other, each in self.of_models.items() if not other & models
            )
        return self._strangers[models]

    def unlike(self, runner: Runner) -> Runners:
        """The runners that may give a job other hardware, or more or less of it."""
        if runner.kinds not in self._unlike:
            self._unlike[runner.kinds] = _union(
                each for other, each in self._of_kinds.items() if not other <= runner.kinds
            )
        return self._unlike[runner.kinds]

    def certain(self, runner: Runner) -> Runners:
        """The others that the same jobs reach for certain: those of the same, known owner."""
        if runner.owner is None:
            return 0
        return self.of_owner[runner.owner] & ~(1 << runner.index)

    def possible(self, runner: Runner) -> Runners:
        """The others that the same jobs may reach, the certain ones included."""
        others = self._everybody if runner.wide else self._wide | self.certain(runner)
        return others & ~(1 << runner.index)

    def members(self, runners: Runners) -> Iterator[Runner]:
        """The runners of a set, in the order of the file."""
        while runners:
            lowest = runners & -runners
            yield self.runners[lowest.bit_length() - 1]
            runners ^= lowest

    @cached_property
    def _everybody(self) -> Runners:
        return (1 << len(self.runners)) - 1

    @cached_property
    def _by_name(self) -> dict[str, Runners]:
        """Empty on GitLab, where names are no words."""
        return _index((one.name, one) for one in self.runners if self.forge == "github")

    @cached_property
    def _wide(self) -> Runners:
        return sum(1 << one.index for one in self.runners if one.wide)

    @cached_property
    def _of_kinds(self) -> dict[frozenset[Kind], Runners]:
        return _index((one.kinds, one) for one in self.runners)

    @cached_property
    def _strangers(self) -> dict[frozenset[str], Runners]:
        return {}

    @cached_property
    def _unlike(self) -> dict[frozenset[Kind], Runners]:
        return {}


def signatures(scope: Scope) -> dict[tuple[str | None, frozenset[str], frozenset[Kind]], Runners]:
    """The runners of the very same owner, own words and hardware; none of those without words."""
    return _index(((one.owner, one.own, one.kinds), one) for one in scope.runners if one.own)


def scopes(view: View) -> tuple[Scope, ...]:
    """The runners of a stack by forge and URL; a paused one counts, it may be resumed."""
    found: dict[tuple[str, str], Scope] = {}
    for lane in view.lanes:
        kinds = kinds_of(lane)
        if not kinds:
            continue  # a GPU lane without a GPU pool, which another check tells
        github, gitlab = view.spec_of(lane.cluster).github, view.spec_of(lane.cluster).gitlab
        if isinstance(lane.plan, GitHubLanePlan) and github is not None:
            scope = found.setdefault(("github", url_key(github.url)), Scope(forge="github"))
            scope.runners.append(_scale_set(len(scope.runners), lane, lane.plan, kinds))
        elif isinstance(lane.plan, GitLabLanePlan) and gitlab is not None:
            scope = found.setdefault(("gitlab", url_key(gitlab.url)), Scope(forge="gitlab"))
            scope.runners.append(_gitlab_runner(len(scope.runners), lane, lane.plan, kinds))
    return tuple(found.values())


def url_key(url: str) -> str:
    """A forge's URL as it compares: neither owners nor hosts are told apart by case."""
    return url.rstrip("/").casefold()


def kinds_of(lane: LaneView) -> frozenset[Kind]:
    """What the jobs of a lane may get; empty where a GPU lane has no pool with GPUs."""
    if lane.job.gpus:
        return frozenset(
            (pool.gpu, lane.job.gpus, pool.time_slices * pool.mig_instances)
            for pool in lane.pools
            if pool.gpu is not None
        )
    return frozenset({(f"/dev/{lane.job.device}" if lane.job.device else NO_GPU, 0, 1)})


def _scale_set(index: int, lane: LaneView, plan: GitHubLanePlan, kinds: frozenset[Kind]) -> Runner:
    """GitHub ignores the case of labels.

    A job can name a runner group, and a repository may reach several: another group of the same
    URL is possible, not certain.
    """
    words = frozenset(word.casefold() for word in plan.runs_on)
    return Runner(
        index=index,
        cluster=lane.cluster.name,
        name=plan.name,
        path=plan.path,
        key="labels",
        words=words,
        own=words - {plan.name},
        kinds=kinds,
        owner=plan.release.values.get("runnerGroup", DEFAULT_GROUP),
        wide=True,
        paused=plan.most_jobs == 0,
    )


def _gitlab_runner(
    index: int, lane: LaneView, plan: GitLabLanePlan, kinds: frozenset[Kind]
) -> Runner:
    """GitLab knows tags by their case.

    Of a runner with a token of its own only GitLab knows the owner; an instance runner takes jobs
    of every owner that has not turned such runners off.
    """
    words = frozenset(plan.tags)
    made = plan.runner
    owner = None
    if made is not None:
        owner = f"{made.runner_type} {made.group_id or made.project_id or ''}"
    return Runner(
        index=index,
        cluster=lane.cluster.name,
        name=plan.name,
        path=plan.path,
        key="tags",
        words=words,
        own=words,
        kinds=kinds,
        owner=owner,
        wide=made is None or made.runner_type == "instance_type",
        paused=plan.most_jobs == 0,
    )


def _index(pairs: Iterable[tuple[_Key, Runner]]) -> dict[_Key, Runners]:
    found: dict[_Key, Runners] = {}
    for key, runner in pairs:
        found[key] = found.get(key, 0) | 1 << runner.index
    return found


def _union(several: Iterable[Runners]) -> Runners:
    found = 0
    for each in several:
        found |= each
    return found


def _text(kind: Kind) -> str:
    model, count, parts = kind
    if model == NO_GPU:
        return "no GPU"
    if parts > 1:
        return f"{count}/{parts} of a {model}"
    return f"{count} x {model}" if count > 1 else model
