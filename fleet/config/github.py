"""GitHub's side of a cluster: its App, and one ARC scale set for each lane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from fleet.config.base import LaneName, Model, ObjectName, Rule, Secret, WithoutComma, exactly_one
from fleet.config.hardware import Device
from fleet.config.lanes import Lane
from fleet.config.urls import GitHubUrl, is_enterprise

ContainerMode = Literal["none", "kubernetes-novolume", "kubernetes", "dind"]


class GitHubLane(Lane):
    """One ARC runner scale set: `runs-on: <lane>`."""

    min_runners: int = Field(default=0, ge=0, description="idle runners that always wait")
    max_runners: int = Field(ge=1, description="runners at most", examples=[1])
    group: str | None = Field(
        default=None, min_length=1, description="runner group; default: GitHub's default"
    )
    labels: tuple[Annotated[str, Field(min_length=1, max_length=255), WithoutComma], ...] = Field(
        default=(), description="further labels for runs-on"
    )
    container_mode: ContainerMode = Field(
        default="none",
        description=(
            "none: the job runs in the runner's pod. kubernetes-novolume: a small runner on a CPU "
            "pool starts a job pod on the GPU pool. kubernetes: runner and job pod share a node "
            "and a work volume. dind: adds a privileged Docker daemon, which sees no GPU"
        ),
    )

    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        default=None, description="as Kubernetes spells it; default: Kubernetes' own"
    )
    device: Device | None = Field(
        default=None, description="device of the host that a job gets; its pools must have it"
    )
    device_access: Literal["plugin", "privileged"] = Field(
        default="plugin",
        description=(
            "how a job gets the device. plugin: a device plugin hands it over. privileged: the "
            "job's container is privileged and sees every device of the node"
        ),
    )
    run_as_root: bool = Field(default=False, description="run a job's container as root")
    supplemental_groups: tuple[Annotated[int, Field(ge=1, le=2147483647)], ...] = Field(
        default=(),
        description="groups of a job's processes, like the node's numeric group of the device",
    )

    def rules(self) -> Iterator[Rule]:
        """Bounds, device and the work volume, besides the rules of every lane."""
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
                "is set beside gpus; a lane is for one of them",
                "make one lane for each",
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
                "is missing; in container mode kubernetes it is the size of the work volume",
                "add disk, like 20Gi",
            )


class GitHubApp(Model):
    """A GitHub App that may administer self-hosted runners."""

    id: int = Field(ge=1, description="App ID", examples=[100001])
    installation_id: int = Field(ge=1, description="installation ID", examples=[200001])
    private_key: Secret = Field(
        description="the App's private key (PEM)", examples=[{"secret": "githubAppKey"}]
    )


class GitHub(Model):
    """GitHub's side of a cluster: one ARC controller, one scale set for each lane."""

    url: GitHubUrl = Field(
        description="repository, organisation or enterprise that owns the runners",
        examples=["https://github.com/example-org"],
    )
    app: GitHubApp | None = Field(
        default=None,
        description="credentials to put into a Secret; not for the runners of an enterprise",
    )
    existing_secret: ObjectName | None = Field(
        default=None,
        description=(
            "Secret in namespace arc-runners: keys github_app_id, github_app_installation_id and "
            "github_app_private_key; or github_token alone, a classic token, which an enterprise "
            "needs"
        ),
    )
    lanes: dict[LaneName, GitHubLane] = Field(min_length=1, description="scale sets by name")

    def rules(self) -> Iterator[Rule]:
        """One source of the credentials, and such as GitHub takes.

        Source: docs.github.com, "Authenticating ARC to the GitHub API": no App for an enterprise.
        """
        yield from exactly_one(self, "app", "existing_secret")
        if self.app is not None and self.is_enterprise:
            yield Rule(
                "app",
                "is set, but GitHub takes no App for the runners of an enterprise",
                "remove it for existing_secret: a Secret in namespace arc-runners with the key "
                "github_token, a classic token of scope manage_runners:enterprise",
            )

    @property
    def is_enterprise(self) -> bool:
        """Whether an enterprise owns the runners."""
        return is_enterprise(self.url)
