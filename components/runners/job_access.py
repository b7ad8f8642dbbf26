"""The ServiceAccount with which jobs deploy into namespaces of the cluster that runs them."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as kubernetes

from fleet.runners.lanes import JobAccess


def job_access(
    name: str,
    plan: JobAccess | None,
    child: pulumi.ResourceOptions,
    *,
    depends_on: Sequence[pulumi.Resource],
) -> list[pulumi.Resource]:
    """Register the account, and a Role with its RoleBinding in each namespace.

    Return what the lane depends on: an empty list for a lane without `kubernetes_access`.
    """
    if plan is None:
        return []
    options = pulumi.ResourceOptions.merge(
        child, pulumi.ResourceOptions(depends_on=list(depends_on))
    )
    account = kubernetes.core.v1.ServiceAccount(
        f"{name}-account",
        metadata={"name": plan.account, "namespace": plan.account_namespace},
        opts=options,
    )
    ready: list[pulumi.Resource] = [account]
    for namespace in plan.namespaces:
        role = kubernetes.rbac.v1.Role(
            f"{name}-role-{namespace}",
            metadata={"name": plan.role, "namespace": namespace},
            rules=[
                {
                    "api_groups": list(rule.api_groups),
                    "resources": list(rule.resources),
                    "verbs": list(rule.verbs),
                }
                for rule in plan.permissions
            ],
            opts=options,
        )
        ready.append(
            kubernetes.rbac.v1.RoleBinding(
                f"{name}-binding-{namespace}",
                metadata={"name": plan.role, "namespace": namespace},
                role_ref={
                    "api_group": "rbac.authorization.k8s.io",
                    "kind": "Role",
                    "name": plan.role,
                },
                subjects=[
                    {
                        "kind": "ServiceAccount",
                        "name": plan.account,
                        "namespace": plan.account_namespace,
                    }
                ],
                opts=pulumi.ResourceOptions.merge(
                    child, pulumi.ResourceOptions(depends_on=[role, account])
                ),
            )
        )
    return ready
