"""What the jobs of a lane may do in the cluster that runs them, through an account of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from fleet.config.base import Model, ObjectName, Rule

_WORD = r"^[a-z0-9][a-zA-Z0-9./-]*$"
_GROUP = r"^[a-z0-9.-]*$"


def _like(pattern: str, example: str) -> Callable[[str], str]:
    def validate(value: str) -> str:
        if "*" in value:
            raise ValueError(f"is a wildcard; no wildcards: name them, like {example}")
        if not re.search(pattern, value):
            raise ValueError(f"does not have the form that is wanted; write it like {example}")
        return value

    return validate


Word = Annotated[
    str,
    Field(max_length=253),
    AfterValidator(_like(_WORD, "get or pods/log")),
    WithJsonSchema({"type": "string", "pattern": _WORD, "maxLength": 253}),
]
ApiGroup = Annotated[
    str,
    AfterValidator(_like(_GROUP, "apps")),
    WithJsonSchema({"type": "string", "pattern": _GROUP}),
]

RUNNER_NAMESPACES = ("arc-runners", "gitlab-runners")
"""They hold the runners' credentials."""

_KEPT = (*RUNNER_NAMESPACES, "arc-systems", "kube-system", "kube-public", "kube-node-lease")
_ESCALATING = ("bind", "escalate", "impersonate")


class AccessRule(Model):
    """One rule of a Kubernetes Role."""

    api_groups: tuple[ApiGroup, ...] = Field(
        default=("",), description='API groups; "" is the core group'
    )
    resources: tuple[Word, ...] = Field(min_length=1, description="resources, like pods/log")
    verbs: tuple[Word, ...] = Field(
        min_length=1, description="verbs, like get and create", examples=[["get"]]
    )

    def rules(self) -> Iterator[Rule]:
        """No verb with which a job could give itself more rights."""
        for verb in self.verbs:
            if verb in _ESCALATING:
                yield Rule("verbs", f"names {verb}, which gives more rights", "remove it")


class KubernetesAccess(Model):
    """Namespaces in which a lane's jobs may deploy, by Role and RoleBinding; never the cluster."""

    namespaces: tuple[ObjectName, ...] = Field(
        default=(), description="namespaces that this program makes for the jobs"
    )
    existing_namespaces: tuple[ObjectName, ...] = Field(
        default=(), description="namespaces that somebody else makes"
    )
    permissions: tuple[AccessRule, ...] = Field(
        default=(),
        description=(
            "rules of the Role in each; default: pods, services, config maps, volume claims, "
            "deployments, stateful sets and jobs, and no secrets"
        ),
    )

    def rules(self) -> Iterator[Rule]:
        """Some namespace, and none that holds credentials."""
        if not (self.namespaces or self.existing_namespaces):
            yield Rule(
                "",
                "names no namespace",
                "add namespaces: [ci-jobs], or existing_namespaces",
            )
        for field in ("namespaces", "existing_namespaces"):
            for name in getattr(self, field):
                if name in _KEPT:
                    yield Rule(
                        field,
                        f"names {name}, where jobs could read the runners' credentials",
                        "give the jobs a namespace of their own",
                    )
        if "default" in self.namespaces:
            yield Rule(
                "namespaces",
                "names default, which every cluster has",
                "name it under existing_namespaces",
            )
        for name in self.namespaces:
            if name in self.existing_namespaces:
                yield Rule(
                    "namespaces",
                    f"names {name}, which stands under existing_namespaces too",
                    "name it once",
                )
