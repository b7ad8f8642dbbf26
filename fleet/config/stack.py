"""The stack: everything one environment says under `gpu-runners:stack`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from fleet.catalog.limits import OCI_MAX_FREEFORM_TAGS, OCI_TAG_KEY
from fleet.config.base import Model, Name, Rule, exactly_one
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

Repository = Annotated[str, Field(pattern=r"^(https?|oci)://\S+$")]
TagKey = Annotated[str, Field(min_length=1, max_length=128)]
TagValue = Annotated[str, Field(max_length=256)]
"""Lengths that AWS allows: https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html."""


_RULE_NAME = r"^[a-z0-9]+(-[a-z0-9]+)*(@\S+)?$"


def _rule_name(value: str) -> str:
    if not re.search(_RULE_NAME, value):
        raise ValueError(
            "is no identifier of a check; what a file is refused for cannot be silenced, only "
            "mended"
        )
    return value


RuleName = Annotated[
    str,
    Field(max_length=300),
    AfterValidator(_rule_name),
    WithJsonSchema({"type": "string", "pattern": _RULE_NAME, "maxLength": 300}),
]
"""Identifier of a check, as its findings name it; `@` and a path keep it to what lies there."""

Reason = Annotated[str, Field(min_length=10, max_length=300)]


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


_OWN_TAGS = 2
"""Tags that this program adds at most: the cluster, and the disk of an OKE pool."""

KINDS = ("eks", "oke", "existing")
"""Keys of a cluster that say which kind it is; it has exactly one of them."""


class Cluster(Model):
    """One Kubernetes cluster and the runners on it."""

    eks: Eks | None = Field(default=None, description="an EKS cluster that this program makes")
    oke: Oke | None = Field(default=None, description="an OKE cluster that this program makes")
    existing: Existing | None = Field(default=None, description="a cluster that somebody else made")
    gpu_stack: GpuStack = Field(default=GpuStack(), description="owners of the GPU stack")
    github: GitHub | None = Field(default=None, description="GitHub lanes")
    gitlab: GitLab | None = Field(default=None, description="GitLab lanes")

    def rules(self) -> Iterator[Rule]:
        """A cluster is of one kind, and its GPU stack suits that kind."""
        yield from exactly_one(self, *KINDS)
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
                "is provider, but EKS' AL2023 image brings no device plugin",
                "use advertiser: device_plugin, or operator",
            )
        for part in ("driver", "toolkit"):
            if stack.operator is not None and getattr(stack.operator, part):
                yield Rule(
                    f"gpu_stack.operator.{part}",
                    "is on, but EKS' AL2023 NVIDIA image owns it; with both, nodes turn NotReady",
                    f"remove {part}",
                )

    def _oke_gpu_rules(self, oke: Oke) -> Iterator[Rule]:
        stack = self.gpu_stack
        for part in ("driver", "toolkit"):
            if stack.operator is not None and getattr(stack.operator, part):
                yield Rule(
                    f"gpu_stack.operator.{part}",
                    "is on, but the nodes run Oracle Linux: Oracle's GPU image owns the driver and "
                    "toolkit, and NVIDIA has no driver container for it",
                    f"remove {part}; Oracle's GPU image has what is needed",
                )
        for name, pool in oke.pools.items():
            if (stack.advertiser or "provider") == "provider" and pool.sharing is not None:
                yield Rule(
                    f"oke.pools.{name}.sharing",
                    "is set, but Oracle's own device plugin shares no GPU",
                    "set gpu_stack.advertiser: device_plugin (or operator), or remove sharing",
                )

    def _existing_gpu_rules(self, existing: Existing) -> Iterator[Rule]:
        """What the nodes have already is not installed again."""
        operator = self.gpu_stack.operator
        for name, pool in existing.pools.items():
            here = f"existing.pools.{name}"
            if operator is not None and operator.driver and pool.driver is not None:
                yield Rule(
                    "gpu_stack.operator.driver",
                    f"is on, but the nodes of pool {name} have driver {pool.driver}",
                    "remove driver here, or there if the nodes have none",
                )
            shared_by_owner = pool.sharing is not None and pool.sharing.mig is not None
            if shared_by_owner and self.gpu_stack.advertiser in ("device_plugin", "operator"):
                yield Rule(
                    f"{here}.sharing.mig",
                    f"is set, but advertiser {self.gpu_stack.advertiser} knows no MIG here",
                    "use advertiser: provider (the plugin that is there), or remove mig",
                )

    @property
    def default_advertiser(self) -> Advertiser:
        """What advertises GPUs where the file does not say it."""
        return "device_plugin" if self.eks is not None else "provider"


class Stack(Model):
    """One environment."""

    protect: bool = Field(
        default=False, description="refuse to delete or replace networks and clusters"
    )
    tags: dict[TagKey, TagValue] = Field(default={}, description="cloud tags on everything")
    strict: bool = Field(
        default=False, description="make errors of what jobs could break out of their lane by"
    )
    silence: dict[RuleName, Reason] = Field(
        default={},
        description=(
            "rules that shall say nothing, each with a reason: spot-fallback for the whole stack, "
            "fits@clusters.ci.github.lanes.big for one place"
        ),
    )
    charts: Charts = Field(default=Charts(), description="where charts come from")
    clusters: dict[Name, Cluster] = Field(min_length=1, description="clusters by name")

    def rules(self) -> Iterator[Rule]:
        """Tags are such as every cloud of the stack takes."""
        on_oci = any(cluster.oke is not None for cluster in self.clusters.values())
        for key in self.tags:
            if on_oci and not re.fullmatch(OCI_TAG_KEY.pattern or "", key):
                yield Rule(
                    f"tags.{key}", "holds a dot or a space, which OCI refuses", "rename the tag"
                )
        if on_oci and len(self.tags) > OCI_MAX_FREEFORM_TAGS - _OWN_TAGS:
            yield Rule(
                "tags",
                f"are {len(self.tags)}; with this program's own, OCI takes {OCI_MAX_FREEFORM_TAGS}",
                f"use {OCI_MAX_FREEFORM_TAGS - _OWN_TAGS} or fewer",
            )
        for key in self.tags:
            if key.lower().startswith("aws:"):
                yield Rule(f"tags.{key}", "starts with aws:, which AWS keeps", "rename the tag")
