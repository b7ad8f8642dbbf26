"""GitLab's side of a cluster: one runner, and its managers, for each lane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from fleet.catalog.limits import GITLAB_RUNNER_MAX_TAGS
from fleet.config.base import (
    Cpu,
    LaneName,
    Memory,
    Model,
    ObjectName,
    Rule,
    Secret,
    WithoutComma,
    exactly_one,
)
from fleet.config.lanes import Lane
from fleet.config.urls import GitLabUrl

GPU_TAGS = ("gpu", "nvidia", "cuda", "linux")
"""Tags of a GitLab GPU runner besides the model's."""


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


class ManagerScaling(Model):
    """Bounds of a HorizontalPodAutoscaler on the CPU of a lane's managers."""

    min_replicas: int = Field(default=1, ge=1, description="managers at least")
    max_replicas: int = Field(ge=1, description="managers at most", examples=[2])

    def rules(self) -> Iterator[Rule]:
        """The bounds are in order."""
        if self.max_replicas < self.min_replicas:
            yield Rule(
                "max_replicas",
                f"is {self.max_replicas}, below min_replicas ({self.min_replicas})",
                "raise max_replicas or lower min_replicas",
            )


class GitLabLane(Lane):
    """One GitLab runner manager: `tags: [...]`."""

    concurrent: int = Field(default=4, ge=1, description="jobs at once, of each manager")
    hpa: ManagerScaling | None = Field(
        default=None, description="several managers by their CPU; each runs `concurrent` jobs"
    )
    tags: tuple[Annotated[str, Field(min_length=1), WithoutComma], ...] = Field(
        default=(), max_length=GITLAB_RUNNER_MAX_TAGS, description="tags; default: the lane's name"
    )
    default_tags: bool = Field(
        default=False,
        description="add the tags gpu, nvidia, cuda, linux and the GPU model's, like a100",
    )
    max_cpu: Cpu | None = Field(
        default=None, description="CPU that a job may ask for by KUBERNETES_CPU_REQUEST"
    )
    max_memory: Memory | None = Field(
        default=None,
        description="memory that a job may ask for by KUBERNETES_MEMORY_REQUEST and _LIMIT",
    )
    pull_policy: tuple[Literal["always", "if-not-present", "never"], ...] = Field(
        default=("if-not-present",),
        min_length=1,
        description="as GitLab spells it; a further one is tried when a pull fails",
    )
    driver_capabilities: tuple[
        Literal["compute", "compat32", "display", "graphics", "utility", "video"], ...
    ] = Field(
        default=("compute", "utility"),
        min_length=1,
        description="NVIDIA_DRIVER_CAPABILITIES of a GPU job",
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
        yield from self._tag_rules()
        for field, least in (("cpu", self.cpu), ("memory", self.memory)):
            most = getattr(self, f"max_{field}")
            if most is not None and least is not None and most < least:
                yield Rule(f"max_{field}", f"is below {field}", f"raise it or lower {field}")

    def _tag_rules(self) -> Iterator[Rule]:
        if not self.default_tags:
            return
        if self.gpus == 0:
            yield Rule(
                "default_tags",
                "is on, but a job asks for no GPU",
                "remove default_tags, or add gpus",
            )
        # Those that are not among the user's, and one for the model.
        more = len(set(GPU_TAGS) - set(self.tags)) + 1
        if len(set(self.tags)) + more > GITLAB_RUNNER_MAX_TAGS:
            yield Rule(
                "tags",
                f"has more entries than GitLab's {GITLAB_RUNNER_MAX_TAGS}, with the default tags",
                f"remove {len(set(self.tags)) + more - GITLAB_RUNNER_MAX_TAGS}, or default_tags",
            )


class GitLab(Model):
    """GitLab's side of a cluster: one Helm release for each lane."""

    url: GitLabUrl = Field(default="https://gitlab.com", description="the GitLab server")
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
            )
