"""Lanes: one kind of runner that users can ask for, on GitHub or on GitLab."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from fleet.catalog.limits import GITLAB_RUNNER_MAX_TAGS
from fleet.spec.base import (
    Cpu,
    LaneName,
    Memory,
    Model,
    Name,
    ObjectName,
    Rule,
    Secret,
    exactly_one,
)

Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of an environment variable."""


class Lane(Model):
    """What both systems share. CPU, memory and disk default to the job's fair share of a node."""

    pools: tuple[Name, ...] = Field(
        min_length=1,
        description="pools that may run a job, in order of preference",
        examples=[["t4-spot", "t4"]],
    )
    gpus: int = Field(default=0, ge=0, description="nvidia.com/gpu for each job")
    cpu: Cpu | None = Field(default=None, description="CPU request of a job")
    memory: Memory | None = Field(default=None, description="memory request and limit of a job")
    disk: Memory | None = Field(default=None, description="ephemeral-storage request of a job")
    shm: Memory | None = Field(
        default=None, description="size of /dev/shm; default: half of memory"
    )
    image: Annotated[str, Field(pattern=r"^[^\s{}]+$")] | None = Field(
        default=None, description="container image, with its registry"
    )
    env: dict[Variable, str] = Field(default={}, description="environment of a job; never a secret")
    paused: bool = Field(default=False, description="take no new jobs without deleting the lane")

    def rules(self) -> Iterator[Rule]:
        """Size, environment and pools of a job."""
        if self.gpus == 0 and (self.cpu is None or self.memory is None):
            yield Rule(
                "",
                "has no GPUs, so it has no fair share of a node",
                "state cpu and memory, or gpus",
                ("gpus", "cpu", "memory"),
            )
        if "NVIDIA_VISIBLE_DEVICES" in self.env:
            yield Rule(
                "env.NVIDIA_VISIBLE_DEVICES",
                "would show a job every GPU of the node",
                "remove it; the device plugin sets the right value",
            )
        if len(set(self.pools)) != len(self.pools):
            yield Rule("pools", "names a pool twice", "name each pool once")


class GitHubLane(Lane):
    """One ARC runner scale set: `runs-on: <lane>`."""

    min_runners: int = Field(default=0, ge=0, description="idle runners that always wait")
    max_runners: int = Field(ge=1, description="runners at most", examples=[1])
    group: str | None = Field(
        default=None, min_length=1, description="runner group; default: GitHub's default"
    )
    labels: tuple[Annotated[str, Field(min_length=1, max_length=255)], ...] = Field(
        default=(), description="further labels for runs-on"
    )
    container_mode: Literal["none", "kubernetes-novolume", "kubernetes", "dind"] = Field(
        default="none",
        description=(
            "none: the job runs in the runner's pod. kubernetes-novolume: a small runner on a CPU "
            "pool starts a job pod on the GPU pool. kubernetes: runner and job pod share a node "
            "and a work volume. dind: adds a privileged Docker daemon, which sees no GPU"
        ),
    )

    def rules(self) -> Iterator[Rule]:
        """Bounds and the work volume, besides the rules of every lane."""
        yield from super().rules()
        if self.max_runners < self.min_runners:
            yield Rule(
                "min_runners",
                f"is {self.min_runners}, above max_runners ({self.max_runners})",
                "lower min_runners or raise max_runners",
                ("max_runners",),
            )
        if self.container_mode == "kubernetes" and self.gpus == 0 and self.disk is None:
            yield Rule(
                "disk",
                "is missing; in container mode kubernetes it is the size of the work volume",
                "add disk, like 20Gi",
                ("container_mode", "gpus"),
            )


class GitLabRunner(Model):
    """A runner that this program creates at GitLab, tags included."""

    group_id: int | None = Field(default=None, ge=1, description="numeric id of the group")
    project_id: int | None = Field(default=None, ge=1, description="numeric id of the project")
    instance: Literal[True] | None = Field(
        default=None, description="an instance runner (needs an administrator's api_token)"
    )

    def rules(self) -> Iterator[Rule]:
        """A runner has one owner."""
        yield from exactly_one(self, "group_id", "project_id", "instance")


class GitLabLane(Lane):
    """One GitLab runner manager: `tags: [...]`."""

    concurrent: int = Field(default=4, ge=1, description="jobs at once")
    tags: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), max_length=GITLAB_RUNNER_MAX_TAGS, description="tags; default: the lane's name"
    )
    runner: GitLabRunner | None = Field(default=None, description="create the runner at GitLab")
    token: Secret | None = Field(default=None, description="glrt- token of a runner that exists")
    existing_secret: ObjectName | None = Field(
        default=None,
        description="Secret in the lane's namespace, keys runner-token, runner-registration-token",
    )
    run_untagged: bool = Field(default=False, description="take jobs without tags")
    protected: bool = Field(default=False, description="only jobs of protected refs")
    locked: bool = Field(default=True, description="not to be enabled for other projects")
    maximum_timeout: int = Field(default=7200, ge=600, description="job limit, seconds")
    services: int = Field(
        default=0, ge=0, le=8, description="service containers of a job to leave room for"
    )
    privileged: bool = Field(
        default=False, description="privileged job containers; they see every GPU of the node"
    )

    def rules(self) -> Iterator[Rule]:
        """One source of the token, and no templates, besides the rules of every lane."""
        yield from super().rules()
        for name, value in self.env.items():
            if "{{" in value or "}}" in value:
                yield Rule(
                    f"env.{name}",
                    "holds double braces, which the runner's chart would take for a template",
                    "put a space between the braces",
                )
        yield from exactly_one(self, "runner", "token", "existing_secret")


class GitHubApp(Model):
    """A GitHub App that may administer self-hosted runners."""

    id: int = Field(ge=1, description="App ID", examples=[100001])
    installation_id: int = Field(ge=1, description="installation ID", examples=[200001])
    private_key: Secret = Field(
        description="the App's private key (PEM)", examples=[{"secret": "githubAppKey"}]
    )


class GitHub(Model):
    """GitHub's side of a cluster: one ARC controller, one scale set for each lane."""

    url: str = Field(
        pattern=r"^https://[^/\s]+/\S+$",
        description="repository, organisation or enterprise that owns the runners",
        examples=["https://github.com/example-org"],
    )
    app: GitHubApp | None = Field(default=None, description="credentials to put into a Secret")
    existing_secret: ObjectName | None = Field(
        default=None, description="Secret in namespace arc-runners with the App's keys"
    )
    lanes: dict[LaneName, GitHubLane] = Field(min_length=1, description="scale sets by name")

    def rules(self) -> Iterator[Rule]:
        """One source of the credentials."""
        yield from exactly_one(self, "app", "existing_secret")


class GitLab(Model):
    """GitLab's side of a cluster: one Helm release for each lane."""

    url: str = Field(
        default="https://gitlab.com", pattern=r"^https?://\S+$", description="the GitLab server"
    )
    api_token: Secret | None = Field(
        default=None, description="token (scope create_runner) that creates the lanes' runners"
    )
    lanes: dict[LaneName, GitLabLane] = Field(min_length=1, description="runners by name")

    def rules(self) -> Iterator[Rule]:
        """Creating a runner needs a token of GitLab's API."""
        creating = [name for name, lane in self.lanes.items() if lane.runner is not None]
        if creating and self.api_token is None:
            yield Rule(
                "",
                f"creates the runner of {', '.join(creating)}, but has no api_token",
                "add api_token: {secret: gitlabApiToken}",
                ("api_token",),
            )
