"""Who a job of GitHub or GitLab is to OCI: workload identity federation of an identity domain.

https://docs.oracle.com/iaas/Content/Identity/api-getstarted/json_web_token_exchange.htm
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_oci import identity

from bootstrap.oci_plan import OciPlan, OciTrust

_SCHEMA = "urn:ietf:params:scim:schemas:"
_CONFIDENTIAL = "CustomWebAppTemplateId"


@dataclass(frozen=True, kw_only=True)
class OciIdentityArgs:
    """The plan of the federation."""

    plan: OciPlan


class OciIdentity(pulumi.ComponentResource):
    """Service users in groups, the application that exchanges tokens, trusts, and policies."""

    client_id: pulumi.Output[str]
    """The application's client id; its secret is read in the console, and never an output here."""

    def __init__(
        self, name: str, args: OciIdentityArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:bootstrap:OciIdentity", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        users = {
            user: _user(f"{name}-{user}", called, plan, child)
            for user, called in plan.users.items()
        }
        groups = [
            _group(f"{name}-{user}", called, users[user], plan, child)
            for user, called in plan.users.items()
        ]
        self.client_id = (
            _application(f"{name}-client", plan, child)
            if plan.client_id is None
            else pulumi.Output.from_input(plan.client_id)
        )
        for trust in plan.trusts:
            impersonated = [
                identity.DomainsIdentityPropagationTrustImpersonationServiceUserArgs(
                    rule=rule.expression, value=users[rule.user]
                )
                for rule in trust.rules
            ]
            _trust(name, trust, plan.domain_url, self.client_id, impersonated, child=child)
        # A statement about a group that does not exist yet is refused.
        after = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=groups))
        for policy in plan.policies:
            identity.Policy(
                f"{name}-{policy.environment}",
                name=policy.name,
                compartment_id=policy.compartment_id,
                description="What the jobs of gpu-runners may do here",
                statements=list(policy.statements),
                freeform_tags=plan.tags,
                opts=after,
            )
        self.register_outputs({"client_id": self.client_id})


def _user(name: str, user: str, plan: OciPlan, child: pulumi.ResourceOptions) -> pulumi.Output[str]:
    return identity.DomainsUser(
        name,
        idcs_endpoint=plan.domain_url,
        schemas=[f"{_SCHEMA}core:2.0:User"],
        user_name=user,
        force_delete=True,
        # It has no password and cannot have an API key: a token is its only way in.
        urnietfparamsscimschemasoracleidcsextensionuser_user=(
            identity.DomainsUserUrnietfparamsscimschemasoracleidcsextensionuserUserArgs(
                service_user=True
            )
        ),
        opts=child,
    ).id


def _group(
    name: str,
    group: str,
    user_id: pulumi.Input[str],
    plan: OciPlan,
    child: pulumi.ResourceOptions,
) -> identity.DomainsGroup:
    return identity.DomainsGroup(
        name,
        idcs_endpoint=plan.domain_url,
        schemas=[f"{_SCHEMA}core:2.0:Group"],
        display_name=group,
        # Without force the domain keeps a group that has a member, and an active application.
        force_delete=True,
        members=[identity.DomainsGroupMemberArgs(type="User", value=user_id)],
        opts=child,
    )


def _application(name: str, plan: OciPlan, child: pulumi.ResourceOptions) -> pulumi.Output[str]:
    """Its client id: the domain's name of the application."""
    return identity.DomainsApp(
        name,
        idcs_endpoint=plan.domain_url,
        schemas=[f"{_SCHEMA}oracle:idcs:App"],
        display_name=plan.client_name,
        description="Exchanges tokens of CI jobs; may do nothing itself",
        based_on_template=identity.DomainsAppBasedOnTemplateArgs(
            value=_CONFIDENTIAL, well_known_id=_CONFIDENTIAL
        ),
        active=True,
        force_delete=True,
        is_oauth_client=True,
        client_type="confidential",
        allowed_grants=["client_credentials"],
        show_in_my_apps=False,
        opts=pulumi.ResourceOptions.merge(
            child, pulumi.ResourceOptions(additional_secret_outputs=["clientSecret"])
        ),
    ).name


def _trust(
    name: str,
    trust: OciTrust,
    domain_url: str,
    client_id: pulumi.Input[str],
    impersonated: list[identity.DomainsIdentityPropagationTrustImpersonationServiceUserArgs],
    *,
    child: pulumi.ResourceOptions,
) -> None:
    identity.DomainsIdentityPropagationTrust(
        f"{name}-{trust.kind}",
        idcs_endpoint=domain_url,
        schemas=[f"{_SCHEMA}oracle:idcs:IdentityPropagationTrust"],
        name=trust.name,
        description="Takes the tokens of CI jobs",
        type="JWT",
        active=True,
        issuer=trust.issuer,
        public_key_endpoint=trust.keys_url,
        oauth_clients=[client_id],
        client_claim_name=trust.client.name,
        client_claim_values=list(trust.client.values),
        subject_type="User",
        allow_impersonation=True,
        impersonation_service_users=impersonated,
        opts=child,
    )
