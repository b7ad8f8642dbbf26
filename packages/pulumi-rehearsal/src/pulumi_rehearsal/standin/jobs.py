"""Running CI jobs in the stand-in clouds, and the virtual clock of waits: nobody sleeps.

A job runs on one object: an AutoscalingRunnerSet of ARC, or the Deployment of a GitLab runner
manager. An object that is terminating disappears when its job ends.

The engine deletes what it can at the same time, so every wait of one command begins when the
command does, and the command lasts as long as the longest one. An object that nobody waited for is
as it was when the command began.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pulumi_rehearsal.standin.properties import text, texts

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource
    from pulumi_rehearsal.standin.world import World

DEFAULT_MINUTES: Final = 30.0

_SUFFIX: Final = re.compile(r"-[0-9a-f]{5}$")

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Busy:
    """A plan: one job of that length on all runners whose name matches the glob `runners`."""

    runners: str
    minutes: float = DEFAULT_MINUTES


@dataclass(frozen=True, kw_only=True, slots=True)
class Wait:
    """A wait for a job, in seconds.

    `ended` is false if the job outlasted it, `served` if nothing of that name took new jobs.
    """

    runners: str
    seconds: float
    ended: bool
    served: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    runners: str
    resource: Resource
    end_s: float
    interruption: Callable[[], str]
    """Says why the job can no longer go on, empty if it can."""


class Jobs:
    """The running jobs of one world. `now_s` is the time at which the current command began."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.now_s = 0.0
        self._reached_s = 0.0
        """The latest time that a wait of the current command reached."""
        self._plans: dict[Busy, bool] = {}
        """Whether each plan has matched something."""
        self._jobs: dict[_Key, _Job] = {}
        self._times: dict[_Key, float] = {}
        """The time at which a wait of the current command left an object."""
        self._terminating: dict[_Key, float] = {}
        """The time at which a terminating object is removed with its job."""
        self.waits: list[Wait] = []
        self.killed: list[str] = []

    # For the stand-ins

    def running(self, resource: Resource) -> int:
        """Return the number of jobs that run on the object now."""
        job = self._jobs.get(_key(resource))
        return int(job is not None and job.end_s > self._time(resource))

    def outlasts(self, resource: Resource, limit_s: float) -> bool:
        """Whether a job on the object lasts longer than a wait that begins with this command."""
        job = self._jobs.get(_key(resource))
        return job is not None and job.end_s > self.now_s + limit_s

    def wait(self, resource: Resource, limit_s: float) -> int:
        """Wait for the jobs on the object; return how many still run after the limit.

        A terminating object without jobs is then gone from the world.
        """
        with self._world.lock:
            job = self._jobs.get(_key(resource))
            start = self._time(resource)
            if job is not None and job.end_s > start:
                grace = self._terminating.get(_key(resource), math.inf)
                end = min(job.end_s, start + limit_s, grace)
                self._times[_key(resource)] = end
                self._reached_s = max(self._reached_s, end)
                self.waits.append(
                    Wait(
                        runners=job.runners,
                        seconds=end - start,
                        ended=job.end_s <= end,
                        served=self.serves(job.runners),
                    )
                )
            self._settle(resource)
            return self.running(resource)

    def terminate(self, resource: Resource, within_s: float = math.inf) -> None:
        """Delete the object: at once if no job runs on it, else when its job ends.

        A job that lasts longer than `within_s` is killed then.
        """
        with self._world.lock:
            limit = self._time(resource) + within_s
            self._terminating.setdefault(_key(resource), limit)
            self._settle(resource)

    def is_terminating(self, resource: Resource) -> bool:
        """Whether the object was deleted, but still exists because of its job."""
        return _key(resource) in self._terminating

    def serves(self, name: str) -> bool:
        """Whether any runners of that name or label take jobs."""
        return any(True for _ in self._matching(Busy(name)))

    def kill(self, resource: Resource, reason: str) -> None:
        """End the job on the object, if one runs, and record that it was killed."""
        with self._world.lock:
            running = self.running(resource)
            job = self._jobs.pop(_key(resource), None)
            if job is not None and running:
                self.killed.append(f"job on {job.runners} was killed: {reason}")
            self._settle(resource)

    def removed(self, resource: Resource) -> None:
        """Take note that the object is gone from the world: jobs that need it end with it."""
        noun = resource.type.rpartition(":")[2]
        self._terminating.pop(_key(resource), None)
        self.kill(resource, f"its {noun} {resource.id!r} was removed")
        self._times.pop(_key(resource), None)
        for job in list(self._jobs.values()):
            if self.running(job.resource) and (reason := job.interruption()):
                self.kill(job.resource, reason)

    def move(self, old: Resource, new: Resource) -> None:
        """Let the job on one object, if there is one, go on on another."""
        with self._world.lock:
            job = self._jobs.pop(_key(old), None)
            if job is not None:
                self._jobs[_key(new)] = replace(job, resource=new)

    # For the driver

    def plan(self, busy: Busy) -> None:
        """Plan a job on all runners that match."""
        self._plans[busy] = False

    @property
    def idle(self) -> tuple[Busy, ...]:
        """The plans that no runners matched when jobs started."""
        return tuple(plan for plan, matched in self._plans.items() if not matched)

    def start(self, watch: Callable[[Resource], Callable[[], str]] = lambda _: lambda: "") -> None:
        """Start the planned jobs on what exists now.

        `watch` returns a function that says why a job on that object can no longer go on.
        """
        self.next_command()
        with self._world.lock:
            for plan in self._plans:
                for resource in self._matching(plan):
                    self._plans[plan] = True
                    end = self.now_s + plan.minutes * 60
                    name = runner_names(resource)[0]
                    self._jobs[_key(resource)] = _Job(
                        runners=name, resource=resource, end_s=end, interruption=watch(resource)
                    )

    def next_command(self) -> None:
        """Set the clock to the end of the longest wait: the next command begins."""
        with self._world.lock:
            self.now_s = max(self.now_s, self._reached_s)
            self._times.clear()
            for job in list(self._jobs.values()):
                self._settle(job.resource)

    def finish(self) -> None:
        """Set the clock to the end of the last job."""
        with self._world.lock:
            ends = [job.end_s for job in self._jobs.values()]
            self._reached_s = max([self._reached_s, *ends])
            self.next_command()
            self._jobs.clear()

    def _matching(self, plan: Busy) -> Iterator[Resource]:
        for resource in self._world.all():
            names = () if self.is_terminating(resource) else runner_names(resource)
            if any(fnmatch.fnmatchcase(name, plan.runners) for name in names):
                yield resource

    def _time(self, resource: Resource) -> float:
        return self._times.get(_key(resource), self.now_s)

    def _settle(self, resource: Resource) -> None:
        """Remove a terminating object whose job ended, or whose limit passed."""
        limit, job = self._terminating.get(_key(resource)), self._jobs.get(_key(resource))
        if limit is None:
            return
        if job is not None and limit < job.end_s and limit <= self._time(resource):
            self._jobs.pop(_key(resource))
            reason = "it ran longer than the grace period of its pod"
            self.killed.append(f"job on {job.runners} was killed: {reason}")
        if not self.running(resource):
            self._world.remove(resource)


def runner_names(resource: Resource) -> tuple[str, ...]:
    """Return the names under which `BUSY` finds the object, none if no job can run on it.

    A scale set has its labels and its own name. A runner manager has the name of its release, also
    without the prefix `gitlab-` and without a hash at the end.
    """
    kind = resource.type.rpartition(":")[2]
    name = text(resource.inputs, "metadata.name") or resource.id.rpartition("/")[2]
    if kind == "AutoscalingRunnerSet":
        own = text(resource.inputs, "spec.runnerScaleSetName") or name
        return tuple(dict.fromkeys([*texts(resource.inputs, "spec.runnerScaleSetLabels"), own]))
    chart = text(resource.inputs, "metadata.labels.chart") or ""
    if kind != "Deployment" or not chart.startswith("gitlab-runner-"):
        return ()
    release = text(resource.inputs, "metadata.labels.release") or name
    short = release.removeprefix("gitlab-")
    return tuple(dict.fromkeys([_SUFFIX.sub("", short), short, _SUFFIX.sub("", release), release]))


def _key(resource: Resource) -> _Key:
    return (resource.scope, resource.type, resource.id)
