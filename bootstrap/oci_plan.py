"""The OCI part of the plan: which token impersonates which service user, and its policies.

Token exchange: https://docs.oracle.com/iaas/Content/Identity/api-getstarted/json_web_token_exchange.htm
Permissions for OKE: https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengpolicyconfig.htm
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bootstrap.config import Bootstrap, Oci
from bootstrap.oidc import Claim, Issuer

_PREVIEW_PERMISSIONS = (
    "inspect compartments",
    "read cluster-family",
    # Enough for a kubeconfig. The RBAC of the cluster decides what the user may do in it.
    "use clusters",
    "read virtual-network-family",
    "read instance-family",
    "read policies",
)
_DEPLOY_PERMISSIONS = (
    "inspect compartments",
    "manage cluster-family",
    "manage virtual-network-family",
    "manage instance-family",
    # The fleet creates a policy for the autoscaler add-on in the same compartment.
    "manage policies",
)

_ENVIRONMENT = {
    "OCI_AUTH": "WorkloadIdentityFederation",
    "OCI_TOKEN_EXCHANGE_AUTH": "OAuthClientCredentials",
    "OCI_TOKEN_EXCHANGE_REQUESTED_TOKEN_TYPE": "urn:oci:token-type:oci-upst",
    "OCI_TOKEN_EXCHANGE_SUBJECT_TOKEN_TYPE": "jwt",
}
"""Environment variables of the OCI provider: `OCI_` and the option in capitals."""

_PREVIEW = "preview"


@dataclass(frozen=True, kw_only=True, slots=True)
class OciRule:
    """A token that matches the expression impersonates the user."""

    expression: str
    user: str
    """Key of the user in `OciPlan.users`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OciTrust:
    """The trust of the identity domain in one issuer."""

    kind: str
    """`github` or `gitlab`."""
    name: str
    issuer: str
    keys_url: str
    client: Claim
    """The claim that every token must have, in addition to a rule that matches."""
    rules: tuple[OciRule, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OciPolicy:
    """The policy in the compartment of one environment."""

    environment: str
    name: str
    compartment_id: str
    statements: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OciPlan:
    """What is created in the OCI tenancy."""

    region: str
    profile: str | None
    domain_url: str
    client_id: str | None
    """Id of an existing confidential application; `None` to create one."""
    client_name: str
    users: Mapping[str, str]
    """Name of each service user by purpose. A group of the same name has it as its only member."""
    trusts: tuple[OciTrust, ...]
    policies: tuple[OciPolicy, ...]
    tags: dict[str, str]

    def variables(self, client_id: str) -> dict[str, str]:
        """Return the environment variables with which a job's OCI provider exchanges its token."""
        return {
            **_ENVIRONMENT,
            "OCI_TOKEN_EXCHANGE_DOMAIN_URL": self.domain_url,
            "OCI_TOKEN_EXCHANGE_CLIENT_ID": client_id,
        }


def oci_plan(bootstrap: Bootstrap, oci: Oci, issuers: tuple[Issuer, ...]) -> OciPlan:
    """Derive the OCI part, which covers the environments with a compartment."""
    compartments = {
        name: one.compartment_id
        for name, one in bootstrap.environments.items()
        if one.compartment_id
    }
    users = {
        _PREVIEW: f"{bootstrap.name}-preview",
        **{_deploy(name): f"{bootstrap.name}-{_deploy(name)}" for name in compartments},
    }
    return OciPlan(
        region=oci.region,
        profile=oci.profile,
        domain_url=oci.domain_url,
        client_id=oci.client_id,
        client_name=f"{bootstrap.name}-token-exchange",
        users=users,
        trusts=tuple(_trust(bootstrap.name, oci, one, tuple(compartments)) for one in issuers),
        policies=tuple(
            OciPolicy(
                environment=name,
                name=f"{bootstrap.name}-{name}",
                compartment_id=compartment,
                statements=(
                    *_statements(oci.domain, users[_PREVIEW], _PREVIEW_PERMISSIONS, compartment),
                    *_statements(
                        oci.domain, users[_deploy(name)], _DEPLOY_PERMISSIONS, compartment
                    ),
                ),
            )
            for name, compartment in compartments.items()
        ),
        tags=dict(bootstrap.tags),
    )


def _deploy(environment: str) -> str:
    return f"deploy-{environment}"


def _trust(name: str, oci: Oci, issuer: Issuer, environments: tuple[str, ...]) -> OciTrust:
    return OciTrust(
        kind=issuer.kind,
        name=f"{name}-{issuer.kind}",
        issuer=issuer.url,
        keys_url=issuer.keys_url,
        client=issuer.bound or Claim(name="aud", values=(oci.audience,)),
        rules=(
            *_rules(issuer.exact_preview, _PREVIEW),
            *(
                rule
                for environment in environments
                if environment in issuer.deploy
                for rule in _rules(issuer.deploy[environment], _deploy(environment))
            ),
        ),
    )


def _rules(claim: Claim, user: str) -> tuple[OciRule, ...]:
    return tuple(
        OciRule(expression=f"{claim.name} eq {value}", user=user) for value in claim.values
    )


def _statements(
    domain: str, group: str, permissions: tuple[str, ...], compartment: str
) -> tuple[str, ...]:
    return tuple(
        f"Allow group '{domain}'/'{group}' to {permission} in compartment id {compartment}"
        for permission in permissions
    )
