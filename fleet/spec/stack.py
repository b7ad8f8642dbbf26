"""The stack: everything one environment says under `gpu-runners:stack`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from fleet.spec.base import Model, Name, Rule, exactly_one
from fleet.spec.eks import Eks
from fleet.spec.gpu_stack import GpuStack
from fleet.spec.lanes import GitHub, GitLab

ChartName = Literal[
    "gpu-operator",
    "nvidia-device-plugin",
    "gha-runner-scale-set-controller",
    "gha-runner-scale-set",
    "gitlab-runner",
    "cluster-autoscaler",
    "aws-efa-k8s-device-plugin",
]

Repository = Annotated[str, Field(pattern=r"^(https?|oci)://\S+$")]
TagKey = Annotated[str, Field(min_length=1, max_length=128)]
TagValue = Annotated[str, Field(max_length=256)]
"""Lengths that AWS allows: https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html."""


class Charts(Model):
    """Where charts come from, for mirrors and air-gapped sites. Versions are not set here."""

    repositories: dict[ChartName, Repository] = Field(
        default={}, description="chart repository (https://… or oci://…) by chart"
    )
    arc_version: str | None = Field(
        default=None,
        pattern=r"^0\.\d+\.\d+$",
        description="version of ARC's controller, scale sets and CRDs; default: the pinned one",
    )
    arc_crds: str | None = Field(
        default=None,
        min_length=1,
        description="URL or folder that holds ARC's CRD files; default: the chart's own tag",
    )


class Cluster(Model):
    """One Kubernetes cluster and the runners on it."""

    eks: Eks | None = Field(default=None, description="an EKS cluster that this program makes")
    gpu_stack: GpuStack = Field(default=GpuStack(), description="owners of the GPU stack")
    github: GitHub | None = Field(default=None, description="GitHub lanes")
    gitlab: GitLab | None = Field(default=None, description="GitLab lanes")

    def rules(self) -> Iterator[Rule]:
        """A cluster is of one kind."""
        yield from exactly_one(self, "eks")


class Stack(Model):
    """One environment."""

    protect: bool = Field(
        default=False, description="refuse to delete or replace networks and clusters"
    )
    tags: dict[TagKey, TagValue] = Field(default={}, description="cloud tags on everything")
    charts: Charts = Field(default=Charts(), description="where charts come from")
    clusters: dict[Name, Cluster] = Field(min_length=1, description="clusters by name")

    def rules(self) -> Iterator[Rule]:
        """Tags stay out of the name space that AWS keeps."""
        for key in self.tags:
            if key.lower().startswith("aws:"):
                yield Rule(f"tags.{key}", "starts with aws:, which AWS keeps", "rename the tag")
