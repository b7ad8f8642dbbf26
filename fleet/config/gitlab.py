"""GitLab's side of a cluster: one runner, with its managers, for each lane."""

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
"""Tags that `default_tags` adds, besides the GPU model's."""


class GitLabRunner(Model):
    """A runner to create at GitLab, with its tags."""

    group_id: int | None = Field(default=None, ge=1, description="numeric ID of the group")
    project_id: int | None = Field(default=None, ge=1, description="numeric ID of the project")
    instance: Literal[True] | None = Field(
        default=None, description="an instance runner (needs an administrator's api_token)"
    )

    def rules(self) -> Iterator[Rule]:
        yield from exactly_one(self, "group_id", "project_id", "instance", example="group_id: 42")


class ManagerScaling(Model):
    """Limits of a HorizontalPodAutoscaler on the CPU of a lane's runner managers."""

    min_replicas: int = Field(default=1, ge=1, description="lower limit of managers")
    max_replicas: int = Field(ge=1, description="upper limit of managers", examples=[2])

    def rules(self) -> Iterator[Rule]:
        if self.max_replicas < self.min_replicas:
            yield Rule(
                "max_replicas",
                f"is {self.max_replicas}, below min_replicas ({self.min_replicas})",
                "raise max_replicas or lower min_replicas",
            )


class GitLabLane(Lane):
    """One GitLab runner; jobs select it by `tags: [...]`."""

    concurrent: int = Field(default=4, ge=1, description="concurrent jobs of each manager")
    hpa: ManagerScaling | None = Field(
        default=None, description="scale the managers by their CPU; each runs `concurrent` jobs"
    )
    tags: tuple[Annotated[str, Field(min_length=1), WithoutComma], ...] = Field(
        default=(),
        max_length=GITLAB_RUNNER_MAX_TAGS,
        description="tags; default: the lane's name",
        examples=[["gpu", "t4"]],
    )
    default_tags: bool = Field(
        default=False,
        description="add the tags gpu, nvidia, cuda, linux and the GPU model, like a100",
    )
    max_cpu: Cpu | None = Field(
        default=None,
        description="upper bound for a job's KUBERNETES_CPU_REQUEST; default: no override",
    )
    max_memory: Memory | None = Field(
        default=None,
        description=(
            "upper bound for a job's KUBERNETES_MEMORY_REQUEST and KUBERNETES_MEMORY_LIMIT; "
            "default: no override"
        ),
    )
    pull_policy: tuple[Literal["always", "if-not-present", "never"], ...] = Field(
        default=("if-not-present",),
        min_length=1,
        description="GitLab's pull policies; the next one applies if a pull fails",
        examples=[["always", "if-not-present"]],
    )
    driver_capabilities: tuple[
        Literal["compute", "compat32", "display", "graphics", "utility", "video"], ...
    ] = Field(
        default=("compute", "utility"),
        min_length=1,
        description="NVIDIA_DRIVER_CAPABILITIES of a GPU job",
    )
    runner: GitLabRunner | None = Field(default=None, description="create the runner at GitLab")
    token: Secret | None = Field(
        default=None,
        description="glrt- token of an existing runner",
        examples=[{"secret": "runnerToken"}],
    )
    existing_secret: ObjectName | None = Field(
        default=None,
        description=(
            "Secret in the namespace gitlab-runners, both made before up: keys runner-token and "
            "runner-registration-token"
        ),
    )
    run_untagged: bool = Field(default=False, description="take jobs without tags")
    protected: bool = Field(default=False, description="take only jobs of protected refs")
    locked: bool = Field(default=True, description="forbid other projects to enable the runner")
    maximum_timeout: int = Field(default=7200, ge=600, description="time limit of a job, seconds")
    services: int = Field(
        default=0, ge=0, le=8, description="service containers of a job to reserve room for"
    )
    privileged: bool = Field(
        default=False, description="privileged job containers, which see every GPU of the node"
    )

    def rules(self) -> Iterator[Rule]:
        yield from super().rules()
        for name, value in self.env.items():
            if "{{" in value or "}}" in value:
                yield Rule(
                    f"env.{name}",
                    "contains double braces, which the runner's chart would render as a template",
                    "put a space between the braces, like { { name } }",
                )
        yield from exactly_one(
            self, "runner", "token", "existing_secret", example="runner: {group_id: 42}"
        )
        yield from self._tag_rules()
        for field, request in (("cpu", self.cpu), ("memory", self.memory)):
            maximum = getattr(self, f"max_{field}")
            if maximum is not None and request is not None and maximum < request:
                yield Rule(
                    f"max_{field}",
                    f"is below {field}, the request of a job without an override",
                    f"raise max_{field} or lower {field}",
                )

    def _tag_rules(self) -> Iterator[Rule]:
        if not self.default_tags:
            return
        if self.gpus == 0:
            yield Rule(
                "default_tags",
                "is on, but a job requests no GPU",
                "remove default_tags, or add gpus: 1",
            )
        # The GPU tags that the user does not list, and the tag of the model.
        added = len(set(GPU_TAGS) - set(self.tags)) + 1
        excess = len(set(self.tags)) + added - GITLAB_RUNNER_MAX_TAGS
        if excess > 0:
            yield Rule(
                "tags",
                f"has {excess + GITLAB_RUNNER_MAX_TAGS} entries with the default tags, and GitLab "
                f"allows {GITLAB_RUNNER_MAX_TAGS}",
                f"remove {excess} tags, or default_tags",
            )


class GitLab(Model):
    """One Helm release of GitLab Runner for each lane."""

    url: GitLabUrl = Field(default="https://gitlab.com", description="URL of the GitLab server")
    api_token: Secret | None = Field(
        default=None,
        description="token (scope create_runner) with which this program creates the runners",
        examples=[{"secret": "gitlabApiToken"}],
    )
    existing_namespace: Literal[True] | None = Field(
        default=None,
        description=(
            "the namespace gitlab-runners exists: up does not make it and destroy does not delete "
            "it; always so if a lane has an existing_secret"
        ),
    )
    lanes: dict[LaneName, GitLabLane] = Field(
        min_length=1,
        description="runners by name",
        examples=[{"t4": {"pools": ["t4"], "gpus": 1, "runner": {"group_id": 42}}}],
    )

    def rules(self) -> Iterator[Rule]:
        created = [name for name, lane in self.lanes.items() if lane.runner is not None]
        if created and self.api_token is None:
            yield Rule(
                "",
                f"has no api_token, with which the runners of {', '.join(created)} are created",
                "add api_token: {secret: gitlabApiToken}",
            )

    @property
    def uses_existing_namespace(self) -> bool:
        """Whether the namespace of the lanes exists before the first `up`; they share it."""
        return bool(
            self.existing_namespace or any(lane.existing_secret for lane in self.lanes.values())
        )
