"""GitHub's side of a cluster: its App, and one ARC scale set for each lane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from fleet.config.base import (
    Device,
    Form,
    LaneName,
    Model,
    ObjectName,
    Rule,
    Secret,
    WithoutComma,
    exactly_one,
)
from fleet.config.lanes import Lane
from fleet.config.urls import GitHubUrl, is_enterprise, is_server

ContainerMode = Literal["none", "kubernetes-novolume", "kubernetes", "dind"]


class GitHubLane(Lane):
    """One ARC runner scale set; jobs select it by `runs-on: <lane>`."""

    min_runners: int = Field(default=0, ge=0, description="idle runners to keep at all times")
    max_runners: int = Field(ge=1, description="upper limit of runners", examples=[4])
    group: str | None = Field(
        default=None, min_length=1, description="runner group; default: GitHub's group Default"
    )
    labels: tuple[Annotated[str, Field(min_length=1, max_length=255), WithoutComma], ...] = Field(
        default=(), description="further labels for runs-on", examples=[["gpu", "cuda"]]
    )
    container_mode: ContainerMode = Field(
        default="none",
        description=(
            "none: the job runs in the runner's pod. kubernetes-novolume: a small runner on a CPU "
            "pool starts a job pod on the GPU pool. kubernetes: runner and job pod share a node "
            "and a work volume. dind: adds a privileged Docker daemon, which has no GPU"
        ),
    )

    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        default=None, description="imagePullPolicy of a job; default: that of Kubernetes"
    )
    device: Device | None = Field(
        default=None, description="host device of a job; its pools must list it under devices"
    )
    device_access: Literal["plugin", "privileged"] = Field(
        default="plugin",
        description=(
            "how a job gets the device. plugin: a device plugin mounts it. privileged: the job's "
            "container is privileged and has every device of the node"
        ),
    )
    run_as_root: bool = Field(default=False, description="run a job's container as root")
    supplemental_groups: tuple[Annotated[int, Field(ge=1, le=2147483647)], ...] = Field(
        default=(),
        description="supplemental group IDs of a job, like that of the device on the node",
        examples=[[109]],
    )

    def rules(self) -> Iterator[Rule]:
        yield from super().rules()
        if self.device_access == "privileged" and self.device is None:
            yield Rule(
                "device_access",
                "is privileged, but the lane has no device",
                "add device: dri, or remove device_access",
            )
        if self.device is not None and self.gpus:
            yield Rule(
                "device",
                "is set together with gpus, but a lane has either a device or GPUs",
                "remove one of the two, or split the lane",
            )
        if self.max_runners < self.min_runners:
            yield Rule(
                "min_runners",
                f"is {self.min_runners}, above max_runners ({self.max_runners})",
                "lower min_runners or raise max_runners",
            )
        if self.container_mode == "kubernetes" and self.gpus == 0 and self.disk is None:
            yield Rule(
                "disk",
                "is missing, but in container mode kubernetes it sizes the work volume",
                "add disk: 20Gi",
            )


class GitHubApp(Model):
    """A GitHub App with the right to administer self-hosted runners."""

    id: int = Field(ge=1, description="App ID", examples=[100001])
    installation_id: int = Field(ge=1, description="installation ID", examples=[200001])
    private_key: Secret = Field(
        description="the App's private key (PEM)", examples=[{"secret": "githubAppKey"}]
    )


class GitHubAccess(Model):
    """The owner of the runners, and the credentials with which ARC registers them."""

    url: GitHubUrl = Field(
        description="URL of the repository, organisation or enterprise that owns the runners",
        examples=["https://github.com/example-org"],
    )
    server_version: Annotated[str, Form(r"^\d\.\d{1,2}$", "3.21")] | None = Field(
        default=None,
        description='version of a GitHub Enterprise Server, whose url needs it, quoted: "3.21"',
    )
    app: GitHubApp | None = Field(
        default=None,
        description="GitHub App of the runners; an enterprise needs existing_secret instead",
    )
    existing_secret: ObjectName | None = Field(
        default=None,
        description=(
            "Secret in the namespace arc-runners, both made before up: keys github_app_id, "
            "github_app_installation_id and github_app_private_key; or github_token alone, a "
            "classic token, which an enterprise needs"
        ),
        examples=["github-app"],
    )
    existing_namespace: Literal[True] | None = Field(
        default=None,
        description=(
            "the namespace arc-runners exists: up does not make it and destroy does not delete it; "
            "always so with existing_secret"
        ),
    )

    def rules(self) -> Iterator[Rule]:
        """Yield the broken rules.

        Source: docs.github.com, "Authenticating ARC to the GitHub API": no App for an enterprise.
        """
        yield from exactly_one(
            self, "app", "existing_secret", example="existing_secret: github-app"
        )
        if self.server_version is not None and not self.is_server:
            yield Rule(
                "server_version",
                "is set, but url is not that of a GitHub Enterprise Server",
                "remove it, or write the server's url",
            )
        if self.app is not None and self.is_enterprise:
            yield Rule(
                "app",
                "is set, but GitHub accepts no App for the runners of an enterprise",
                "remove it and add existing_secret: a Secret in namespace arc-runners with the key "
                "github_token, a classic token of scope manage_runners:enterprise",
            )

    @property
    def uses_existing_namespace(self) -> bool:
        """Whether the namespace of the runners exists before the first `up`."""
        return bool(self.existing_namespace or self.existing_secret)

    @property
    def is_server(self) -> bool:
        """Whether the owner is on a GitHub Enterprise Server."""
        return is_server(self.url)

    @property
    def is_enterprise(self) -> bool:
        """Whether an enterprise owns the runners."""
        return is_enterprise(self.url)


class GitHub(GitHubAccess):
    """One ARC controller, and one scale set for each lane."""

    lanes: dict[LaneName, GitHubLane] = Field(
        min_length=1,
        description="scale sets by name",
        examples=[{"gpu-t4": {"pools": ["t4"], "gpus": 1, "max_runners": 4}}],
    )

    @property
    def privileged(self) -> bool:
        """Whether a lane runs privileged containers, which their namespace must admit."""
        return any(
            lane.container_mode == "dind" or lane.device_access == "privileged"
            for lane in self.lanes.values()
        )
