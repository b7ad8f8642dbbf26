"""What the jobs of a lane may do in their cluster: an account, a role and its bindings."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.config.access import AccessRule, KubernetesAccess

_DEPLOY = ("create", "delete", "get", "list", "patch", "update", "watch")

DEFAULT_PERMISSIONS = (
    AccessRule(
        resources=("configmaps", "persistentvolumeclaims", "pods", "services"), verbs=_DEPLOY
    ),
    AccessRule(resources=("events", "pods/log"), verbs=("get", "list", "watch")),
    AccessRule(api_groups=("apps",), resources=("deployments", "statefulsets"), verbs=_DEPLOY),
    AccessRule(api_groups=("batch",), resources=("jobs",), verbs=_DEPLOY),
)
"""Enough to deploy and watch a test of an application. No secrets: who may create pods can mount
every one of the namespace anyway, so there should be none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobAccess:
    """A ServiceAccount beside the jobs, and a Role with its RoleBinding in each namespace."""

    account: str
    account_namespace: str
    namespaces: tuple[str, ...]
    made_namespaces: tuple[str, ...]
    """Those that this program makes."""
    role: str
    permissions: tuple[AccessRule, ...]
    """Rules of the role."""


def job_access(access: KubernetesAccess | None, name: str, namespace: str) -> JobAccess | None:
    """Derive it; `name` is unique among the lanes of the cluster, `namespace` is the jobs'."""
    if access is None:
        return None
    return JobAccess(
        account=name,
        account_namespace=namespace,
        namespaces=tuple(dict.fromkeys((*access.namespaces, *access.existing_namespaces))),
        made_namespaces=tuple(dict.fromkeys(access.namespaces)),
        role=name,
        permissions=access.permissions or DEFAULT_PERMISSIONS,
    )
