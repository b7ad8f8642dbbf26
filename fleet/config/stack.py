"""The root of a stack file: the value of `gpu-runners:stack`, and its clusters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from fleet.catalog.limits import OCI_MAX_FREEFORM_TAGS, OCI_TAG_KEY
from fleet.config.base import Form, Model, Name, Rule, exactly_one
from fleet.config.eks import Eks
from fleet.config.existing import Existing
from fleet.config.github import GitHub
from fleet.config.gitlab import GitLab
from fleet.config.gpu_stack import Advertiser, GpuStack
from fleet.config.oke import Oke

ChartName = Literal[
    "gpu-operator",
    "nvidia-device-plugin",
    "gha-runner-scale-set-controller",
    "gha-runner-scale-set",
    "gitlab-runner",
    "cluster-autoscaler",
    "aws-efa-k8s-device-plugin",
]

Repository = Annotated[str, Form(r"^(https?|oci)://\S+$", "oci://registry.example.com/charts")]
TagKey = Annotated[str, Field(min_length=1, max_length=128)]
TagValue = Annotated[str, Field(max_length=256)]
"""Lengths that AWS allows: https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html."""


RuleName = Annotated[
    str,
    Field(max_length=300),
    Form(
        r"^[a-z0-9]+(-[a-z0-9]+)*(@\S+)?$",
        "spot-fallback",
        "is not the identifier of a check, and an error of form cannot be silenced",
    ),
]
"""Identifier of a check; `@` and a path limit it to findings at or below that path."""

Reason = Annotated[str, Field(min_length=10, max_length=300)]


class Charts(Model):
    """Sources of the Helm charts, for mirrors and air-gapped sites."""

    repositories: dict[ChartName, Repository] = Field(
        default={},
        description="repository of each chart; default: the publisher's",
        examples=[{"gpu-operator": "https://charts.example.com/nvidia"}],
    )
    arc_version: Annotated[str, Form(r"^0\.\d+\.\d+$", "0.14.0")] | None = Field(
        default=None,
        description="version of ARC's controller, scale sets and CRDs; default: the pinned version",
    )
    arc_crds: str | None = Field(
        default=None,
        min_length=1,
        description="URL or folder with ARC's CRD files; default: those of the release's Git tag",
    )


_OWN_TAGS = 2
"""Maximum of tags that this program adds: the cluster, and the disk of an OKE pool."""

KINDS = ("eks", "oke", "existing")
"""Keys of the platforms; a cluster has exactly one of them."""


class Cluster(Model):
    """One Kubernetes cluster and the runners on it."""

    eks: Eks | None = Field(default=None, description="create an EKS cluster")
    oke: Oke | None = Field(default=None, description="create an OKE cluster")
    existing: Existing | None = Field(default=None, description="use an existing cluster")
    gpu_stack: GpuStack = Field(
        default=GpuStack(), description="owners of the GPU software of the nodes"
    )
    github: GitHub | None = Field(default=None, description="GitHub lanes")
    gitlab: GitLab | None = Field(default=None, description="GitLab lanes")

    def rules(self) -> Iterator[Rule]:
        yield from exactly_one(self, *KINDS, example="existing: {context: honey, pools: …}")
        if self.eks is not None:
            yield from self._eks_gpu_rules()
        if self.oke is not None:
            yield from self._oke_gpu_rules(self.oke)
        if self.existing is not None:
            yield from self._existing_gpu_rules(self.existing)

    def _eks_gpu_rules(self) -> Iterator[Rule]:
        stack = self.gpu_stack
        if stack.advertiser == "provider":
            yield Rule(
                "gpu_stack.advertiser",
                "is provider, but EKS provides no device plugin on its AL2023 images",
                "use advertiser: device_plugin, or remove advertiser",
            )
        for part in ("driver", "toolkit"):
            if stack.operator is not None and getattr(stack.operator, part):
                yield Rule(
                    f"gpu_stack.operator.{part}",
                    f"is on, but EKS' AL2023 NVIDIA image has the {part} already, and with both "
                    "nodes become NotReady",
                    f"remove {part}",
                )

    def _oke_gpu_rules(self, oke: Oke) -> Iterator[Rule]:
        stack = self.gpu_stack
        for part in ("driver", "toolkit"):
            if stack.operator is not None and getattr(stack.operator, part):
                yield Rule(
                    f"gpu_stack.operator.{part}",
                    "is on, but Oracle's GPU image has the driver and the toolkit already, and "
                    "NVIDIA publishes no driver container for Oracle Linux",
                    f"remove {part}",
                )
        for name, pool in oke.pools.items():
            if (stack.advertiser or "provider") == "provider" and pool.sharing is not None:
                yield Rule(
                    f"oke.pools.{name}.sharing",
                    "is set, but Oracle's device plugin, the advertiser of this cluster, does not "
                    "support sharing",
                    "add gpu_stack: {advertiser: device_plugin} to the cluster, or remove sharing",
                )

    def _existing_gpu_rules(self, existing: Existing) -> Iterator[Rule]:
        operator = self.gpu_stack.operator
        for name, pool in existing.pools.items():
            here = f"existing.pools.{name}"
            if operator is not None and operator.driver and pool.driver is not None:
                yield Rule(
                    "gpu_stack.operator.driver",
                    f"is on, but the nodes of pool {name} have driver {pool.driver} already",
                    f"remove driver here, or from pool {name} if its nodes have none",
                )
            shared_by_owner = pool.sharing is not None and pool.sharing.mig is not None
            if shared_by_owner and self.gpu_stack.advertiser in ("device_plugin", "operator"):
                yield Rule(
                    f"{here}.sharing.mig",
                    f"is set, but with advertiser {self.gpu_stack.advertiser} this program does "
                    "not configure MIG",
                    "use gpu_stack: {advertiser: provider} (the cluster's own device plugin), or "
                    "remove mig",
                )

    @property
    def default_advertiser(self) -> Advertiser:
        """Advertiser of GPUs if `gpu_stack.advertiser` is not set."""
        return "device_plugin" if self.eks is not None else "provider"


class Stack(Model):
    """One environment: its clusters, and settings for all of them."""

    protect: bool = Field(
        default=False, description="forbid Pulumi to delete or replace networks and clusters"
    )
    tags: dict[TagKey, TagValue] = Field(default={}, description="cloud tags of all resources")
    strict: bool = Field(
        default=False,
        description="report privileges of jobs as errors instead of warnings",
    )
    silence: dict[RuleName, Reason] = Field(
        default={},
        description=(
            "checks to silence, each with a reason: spot-fallback for the whole stack, "
            "fits@clusters.ci.github.lanes.big for one lane"
        ),
        examples=[{"spot-fallback": "these jobs can wait for spot capacity"}],
    )
    charts: Charts = Field(default=Charts(), description="sources of the Helm charts")
    clusters: dict[Name, Cluster] = Field(min_length=1, description="clusters by name")

    def rules(self) -> Iterator[Rule]:
        on_oci = any(cluster.oke is not None for cluster in self.clusters.values())
        for key in self.tags:
            if on_oci and not re.fullmatch(OCI_TAG_KEY.pattern or "", key):
                yield Rule(
                    f"tags.{key}",
                    "contains a dot or a space, which OCI rejects in a tag key",
                    "rename the tag, like cost-center",
                )
        if on_oci and len(self.tags) > OCI_MAX_FREEFORM_TAGS - _OWN_TAGS:
            yield Rule(
                "tags",
                f"has {len(self.tags)} entries, but OCI allows {OCI_MAX_FREEFORM_TAGS} tags and "
                f"this program adds {_OWN_TAGS}",
                f"use at most {OCI_MAX_FREEFORM_TAGS - _OWN_TAGS} tags",
            )
        for key in self.tags:
            if key.lower().startswith("aws:"):
                yield Rule(
                    f"tags.{key}",
                    "starts with aws:, which AWS reserves",
                    "rename the tag, like team",
                )
