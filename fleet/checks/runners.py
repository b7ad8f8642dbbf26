"""Lanes as GitHub and GitLab see them: runners with labels or tags, which jobs select.

Sets of runners are compared label by label, never lane by lane, so that thousands of lanes take
less than a second.
"""

from __future__ import annotations

from collections.abc import Iterable
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
"""Labels that many runners have, and that do not choose hardware."""

HARDWARE: Final = frozenset({"gpu", "gpus", "nvidia", "cuda", "accelerator"})
"""Labels with which a job requests a GPU of any model."""

NO_GPU = ""

DEFAULT_GROUP: Final = "default"
"""Runner group of a scale set without `group`."""

Hardware: TypeAlias = tuple[str, int, int]
"""GPU model (or host device, or `NO_GPU`), how many a job gets, and jobs that share one card."""

_Key = TypeVar("_Key")


@dataclass(frozen=True, kw_only=True, eq=False)
class Runner:
    """One lane; two runners are equal only if they are the same lane."""

    index: int
    """Position in the stack file."""
    cluster: str
    name: str
    path: str
    key: Literal["labels", "tags"]
    labels: frozenset[str]
    """Everything by which a job may select it: the tags, or the labels and the scale set's name."""
    own_labels: frozenset[str]
    """`labels` without the name of the scale set."""
    hardware: frozenset[Hardware]
    owner: str | None
    """Runner group, or group, project or instance at GitLab; `None` if only GitLab knows it."""
    any_owner: bool
    """Whether jobs of other owners may reach it, as far as the stack file shows."""
    paused: bool

    @cached_property
    def models(self) -> frozenset[str]:
        """GPU models, host devices, or `NO_GPU`."""
        return frozenset(model for model, _, _ in self.hardware)

    @cached_property
    def has_gpu(self) -> bool:
        """Whether its jobs get a GPU."""
        return not any(model == NO_GPU or model.startswith("/dev/") for model in self.models)

    @property
    def hardware_text(self) -> str:
        """What its jobs get, for messages."""
        return " or ".join(sorted(_text(each) for each in self.hardware))

    def seen_from(self, other: Runner) -> str:
        """Return its name and hardware, for a message about another runner."""
        place = "" if self.cluster == other.cluster else f" of cluster {self.cluster}"
        return f"{self.name}{place} ({self.hardware_text}{', paused' if self.paused else ''})"

    def same_jobs(self, other: Runner) -> bool:
        """Whether the same jobs certainly reach both: they have the same, known owner."""
        return self.owner is not None and self.owner == other.owner

    def may_share_jobs(self, other: Runner) -> bool:
        """Whether the same jobs may reach both."""
        return self.any_owner or other.any_owner or self.same_jobs(other)


Runners: TypeAlias = frozenset[Runner]


@dataclass(kw_only=True)
class Scope:
    """The runners of one forge and URL: a job there can run on any that has all of its labels."""

    forge: Literal["github", "gitlab"]
    runners: list[Runner] = field(default_factory=list[Runner])

    @cached_property
    def with_label(self) -> dict[str, Runners]:
        """The runners that have a label."""
        return _index((label, one) for one in self.runners for label in one.labels)

    @cached_property
    def with_label_of_owner(self) -> dict[tuple[str | None, str], Runners]:
        """The runners of an owner that have a label."""
        return _index(((one.owner, label), one) for one in self.runners for label in one.labels)

    @cached_property
    def alike(self) -> dict[tuple[str | None, frozenset[str], frozenset[Hardware]], Runners]:
        """The runners of equal owner, own labels and hardware; none without own labels."""
        return _index(
            ((one.owner, one.own_labels, one.hardware), one)
            for one in self.runners
            if one.own_labels
        )

    @cached_property
    def scale_sets(self) -> dict[str, Runners]:
        """The scale sets of a name. Empty on GitLab, where a job cannot select a name."""
        return _index((one.name, one) for one in self.runners if self.forge == "github")


def with_all(having: Iterable[Runners]) -> Runners:
    """Return the runners that are in each of these sets, the smallest set first."""
    first, *others = sorted(having, key=len)
    return first.intersection(*others)


def in_order(runners: Iterable[Runner]) -> list[Runner]:
    """Return runners in the order of the stack file."""
    return sorted(runners, key=lambda runner: runner.index)


def scopes(view: View) -> tuple[Scope, ...]:
    """Return the runners of a stack by forge and URL, also paused ones: they may be resumed."""
    found: dict[tuple[str, str], Scope] = {}
    for lane in view.lanes:
        hardware = hardware_of(lane)
        if not hardware:
            continue  # a GPU lane without a GPU pool is a finding of gpu-pool
        forge = lane.plan.forge
        scope = found.setdefault((forge, url_key(lane.forge.url)), Scope(forge=forge))
        owner, any_owner = _owner(lane.plan)
        labels = frozenset(lane.plan.labels)
        if forge == "github":  # GitHub ignores the case of labels, GitLab does not
            labels = frozenset(label.casefold() for label in labels)
        scope.runners.append(
            Runner(
                index=len(scope.runners),
                cluster=lane.cluster.name,
                name=lane.plan.name,
                path=lane.path,
                key="labels" if forge == "github" else "tags",
                labels=labels,
                own_labels=labels - {lane.plan.name} if forge == "github" else labels,
                hardware=hardware,
                owner=owner,
                any_owner=any_owner,
                paused=lane.max_jobs == 0,
            )
        )
    return tuple(found.values())


def _owner(plan: GitHubLanePlan | GitLabLanePlan) -> tuple[str | None, bool]:
    """Return the owner of a runner, and whether jobs of other owners may reach it.

    At GitHub, a job may name a runner group, and a repository may have access to several. So jobs
    of one group may reach another group of the same URL, but that is not certain. At GitLab, only
    GitLab knows the owner of a runner that has its own token, and an instance runner takes
    jobs of every owner that has not turned instance runners off.
    """
    if isinstance(plan, GitHubLanePlan):
        return plan.release.values.get("runnerGroup", DEFAULT_GROUP), True
    created = plan.runner
    if created is None:
        return None, True
    owner = f"{created.runner_type} {created.group_id or created.project_id or ''}"
    return owner, created.runner_type == "instance_type"


def url_key(url: str) -> str:
    """Return a forge's URL for comparison: case does not matter in hosts and owners."""
    return url.rstrip("/").casefold()


def hardware_of(lane: LaneView) -> frozenset[Hardware]:
    """Return what the jobs of a lane may get; empty for a GPU lane without a GPU pool."""
    if lane.job.gpus:
        return frozenset(
            (pool.gpu, lane.job.gpus, pool.time_slices * pool.mig_instances)
            for pool in lane.pools
            if pool.gpu is not None
        )
    return frozenset({(f"/dev/{lane.job.device}" if lane.job.device else NO_GPU, 0, 1)})


def _index(pairs: Iterable[tuple[_Key, Runner]]) -> dict[_Key, Runners]:
    found: dict[_Key, set[Runner]] = {}
    for key, runner in pairs:
        found.setdefault(key, set()).add(runner)
    return {key: frozenset(runners) for key, runners in found.items()}


def _text(hardware: Hardware) -> str:
    model, count, parts = hardware
    if model == NO_GPU:
        return "no GPU"
    if parts > 1:
        return f"{count}/{parts} of a {model}"
    return f"{count} x {model}" if count > 1 else model
