"""The OCI identity of GitHub and GitLab jobs: workload identity federation of a domain.

https://docs.oracle.com/iaas/Content/Identity/api-getstarted/json_web_token_exchange.htm
"""

from __future__ import annotations

import pulumi
from pulumi_oci import identity

from bootstrap.oci_plan import OciPlan, OciTrust

_SCHEMA = "urn:ietf:params:scim:schemas:"
_CONFIDENTIAL = "CustomWebAppTemplateId"


class OciIdentity(pulumi.ComponentResource):
    """Service users and groups, the token exchange application, trusts, and policies."""

    client_id: pulumi.Output[str]
    """Client id of the application. Its secret is no output: read it in the console."""

    def __init__(
        self, name: str, args: OciPlan, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-runners:bootstrap:OciIdentity", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        users = {
            user: _user(f"{name}-{user}", user_name, args, child)
            for user, user_name in args.users.items()
        }
        groups = [
            _group(f"{name}-{user}", group, users[user], args, child)
            for user, group in args.users.items()
        ]
        self.client_id = (
            _application(f"{name}-client", args, child)
            if args.client_id is None
            else pulumi.Output.from_input(args.client_id)
        )
        for trust in args.trusts:
            impersonated = [
                identity.DomainsIdentityPropagationTrustImpersonationServiceUserArgs(
                    rule=rule.expression, value=users[rule.user]
                )
                for rule in trust.rules
            ]
            _trust(name, trust, args.domain_url, self.client_id, impersonated, child=child)
        # OCI refuses a statement about a group that does not exist yet.
        after_groups = pulumi.ResourceOptions.merge(
            child, pulumi.ResourceOptions(depends_on=groups)
        )
        for policy in args.policies:
            identity.Policy(
                f"{name}-{policy.environment}",
                name=policy.name,
                compartment_id=policy.compartment_id,
                description="What the jobs of gpu-runners may do here",
                statements=list(policy.statements),
                freeform_tags=args.tags,
                opts=after_groups,
            )
        self.register_outputs({"client_id": self.client_id})


def _user(name: str, user: str, plan: OciPlan, child: pulumi.ResourceOptions) -> pulumi.Output[str]:
    return identity.DomainsUser(
        name,
        idcs_endpoint=plan.domain_url,
        schemas=[f"{_SCHEMA}core:2.0:User"],
        user_name=user,
        force_delete=True,
        # A service user has no password and no API key: it signs in only by token exchange.
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
        # Without force, the domain refuses to delete a group with members or an active application.
        force_delete=True,
        members=[identity.DomainsGroupMemberArgs(type="User", value=user_id)],
        opts=child,
    )


def _application(name: str, plan: OciPlan, child: pulumi.ResourceOptions) -> pulumi.Output[str]:
    """Register the application and return its client id, which the domain calls its name."""
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
