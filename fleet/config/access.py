"""Rights of a lane's jobs in their own cluster, granted to a service account of the lane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from fleet.config.base import Form, Model, ObjectName, Rule, refusal


def _no_wildcard(value: str) -> str:
    if "*" in value:
        raise refusal(
            "is a wildcard, which would grant more than the jobs need",
            "name each one, like get or pods/log",
        )
    return value


_FORM = "does not have the required form"
ResourceOrVerb = Annotated[
    str,
    Field(max_length=253),
    AfterValidator(_no_wildcard),
    Form(r"^[a-z0-9][a-zA-Z0-9./-]*$", "pods/log", _FORM),
]
ApiGroup = Annotated[str, AfterValidator(_no_wildcard), Form(r"^[a-z0-9.-]*$", "apps", _FORM)]

RUNNER_NAMESPACES = ("arc-runners", "gitlab-runners")
"""Namespaces that hold the runners' credentials."""

_FORBIDDEN = (*RUNNER_NAMESPACES, "arc-systems", "kube-system", "kube-public", "kube-node-lease")
_ESCALATING_VERBS = ("bind", "escalate", "impersonate")


class AccessRule(Model):
    """One rule of a Kubernetes Role."""

    api_groups: tuple[ApiGroup, ...] = Field(
        default=("",), description='API groups; "" is the core group'
    )
    resources: tuple[ResourceOrVerb, ...] = Field(
        min_length=1, description="resources", examples=[["pods", "pods/log"]]
    )
    verbs: tuple[ResourceOrVerb, ...] = Field(
        min_length=1, description="verbs", examples=[["get", "list"]]
    )

    def rules(self) -> Iterator[Rule]:
        for verb in self.verbs:
            if verb in _ESCALATING_VERBS:
                yield Rule(
                    "verbs",
                    f"contains {verb}, with which a job could give itself more rights",
                    f"remove {verb}",
                )


class KubernetesAccess(Model):
    """Namespaces in which a lane's jobs may deploy. Each gets a Role and a RoleBinding."""

    namespaces: tuple[ObjectName, ...] = Field(
        default=(),
        description="namespaces to create for the jobs; destroy deletes them with all they hold",
        examples=[["ci-jobs"]],
    )
    existing_namespaces: tuple[ObjectName, ...] = Field(
        default=(),
        description="namespaces that exist outside this stack, which never deletes them",
        examples=[["preview"]],
    )
    permissions: tuple[AccessRule, ...] = Field(
        default=(),
        description=(
            "rules of each Role; default: pods, services, config maps, volume claims, deployments, "
            "stateful sets and jobs, but not secrets"
        ),
    )

    def rules(self) -> Iterator[Rule]:
        if not (self.namespaces or self.existing_namespaces):
            yield Rule(
                "",
                "has no namespace, so the jobs could not deploy anywhere",
                "add namespaces: [ci-jobs], or existing_namespaces",
            )
        for field in ("namespaces", "existing_namespaces"):
            for name in getattr(self, field):
                if name in _FORBIDDEN:
                    yield Rule(
                        field,
                        f"contains {name}, where jobs could read credentials or change the cluster",
                        f"use a namespace for the jobs alone, like {field}: [ci-jobs]",
                    )
        if "default" in self.namespaces:
            yield Rule(
                "namespaces",
                "contains default, which exists in every cluster and cannot be created",
                "move it to existing_namespaces: [default]",
            )
        for name in self.namespaces:
            if name in self.existing_namespaces:
                yield Rule(
                    "namespaces",
                    f"contains {name}, which is also in existing_namespaces",
                    f"keep {name} in one of the two lists",
                )
