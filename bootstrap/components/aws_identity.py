"""The AWS identity of GitHub and GitLab jobs: OIDC providers, a preview role, deploy roles.

https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_oidc.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from bootstrap.plan import AwsPlan, ProviderPlan, RolePlan


@dataclass(frozen=True, kw_only=True)
class AwsIdentityArgs:
    """The plan, and the state bucket and key that the roles read and write."""

    plan: AwsPlan
    bucket_arn: pulumi.Input[str]
    key_arn: pulumi.Input[str]


class AwsIdentity(pulumi.ComponentResource):
    """The OIDC providers that do not exist yet, and the roles with their policies."""

    preview_role_arn: pulumi.Output[str]
    """Resolves after the policies of the role are created."""
    deploy_role_arns: dict[str, pulumi.Output[str]]
    """By environment. Each resolves after the policies of the role are created."""

    def __init__(
        self, name: str, args: AwsIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:bootstrap:AwsIdentity", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        providers = {
            one.kind: _provider(f"{name}-{one.kind}", one, plan.tags, child)
            for one in plan.providers
        }
        self.preview_role_arn = _role(name, plan.preview, providers, args, child)
        self.deploy_role_arns = {
            environment: _role(name, role, providers, args, child)
            for environment, role in plan.deploy.items()
        }
        self.register_outputs(
            {"preview_role_arn": self.preview_role_arn, "deploy_role_arns": self.deploy_role_arns}
        )


def _provider(
    name: str, plan: ProviderPlan, tags: dict[str, str], child: pulumi.ResourceOptions
) -> pulumi.Output[str]:
    if plan.arn is not None:
        return pulumi.Output.from_input(plan.arn)
    # No thumbprint: IAM verifies both issuers with its own certificate authorities.
    return aws.iam.OpenIdConnectProvider(
        name, url=plan.url, client_id_lists=[plan.audience], tags=tags, opts=child
    ).arn


def _role(
    name: str,
    plan: RolePlan,
    providers: Mapping[str, pulumi.Output[str]],
    args: AwsIdentityArgs,
    child: pulumi.ResourceOptions,
) -> pulumi.Output[str]:
    label = f"{name}-{plan.name}"
    role = aws.iam.Role(
        label,
        description=plan.description,
        assume_role_policy=pulumi.Output.all(**providers).apply(
            lambda arns: json.dumps(plan.trust(arns))
        ),
        permissions_boundary=plan.permissions_boundary,
        max_session_duration=plan.session_s,
        tags=args.plan.tags,
        opts=child,
    )
    state = pulumi.Output.all(args.bucket_arn, args.key_arn).apply(
        lambda arns: json.dumps(plan.state_policy(arns[0], arns[1]))
    )
    documents: dict[str, pulumi.Input[str]] = {
        "state": state,
        **{purpose: json.dumps(document) for purpose, document in plan.cloud_policies().items()},
    }
    policies = [
        aws.iam.RolePolicy(f"{label}-{purpose}", role=role.name, policy=document, opts=child)
        for purpose, document in documents.items()
    ]
    # The ARN resolves after the policies, so that a user of the role has its permissions.
    return pulumi.Output.all(role.arn, *(policy.id for policy in policies)).apply(
        lambda found: str(found[0])
    )
