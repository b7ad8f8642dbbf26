"""OCI's part: which token becomes which user of an identity domain, and what the user may do.

Token exchange: https://docs.oracle.com/iaas/Content/Identity/api-getstarted/json_web_token_exchange.htm
Rights of OKE: https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengpolicyconfig.htm
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bootstrap.config import Bootstrap, Oci
from bootstrap.subjects import Claim, Issuer

PREVIEW_RIGHTS = (
    "inspect compartments",
    "read cluster-family",
    # A kubeconfig asks for no more than this; what it opens is up to the cluster's own RBAC.
    "use clusters",
    "read virtual-network-family",
    "read instance-family",
    "read policies",
)
DEPLOY_RIGHTS = (
    "inspect compartments",
    "manage cluster-family",
    "manage virtual-network-family",
    "manage instance-family",
    # The autoscaler add-on has a policy of its own, in the same compartment.
    "manage policies",
)

_ENVIRONMENT = {
    "OCI_AUTH": "WorkloadIdentityFederation",
    "OCI_TOKEN_EXCHANGE_AUTH": "OAuthClientCredentials",
    "OCI_TOKEN_EXCHANGE_REQUESTED_TOKEN_TYPE": "urn:oci:token-type:oci-upst",
    "OCI_TOKEN_EXCHANGE_SUBJECT_TOKEN_TYPE": "jwt",
}
"""Names of the provider's settings: `OCI_` and the option in capitals."""

_PREVIEW = "preview"


@dataclass(frozen=True, kw_only=True, slots=True)
class OciRule:
    """A token for which the expression holds becomes the user."""

    expression: str
    user: str
    """Its key in `OciPlan.users`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OciTrust:
    """What the identity domain takes from one issuer."""

    kind: str
    """`github` or `gitlab`."""
    name: str
    issuer: str
    keys_url: str
    client: Claim
    """A token without it is refused, whatever the rules say."""
    rules: tuple[OciRule, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OciPolicy:
    """Statements that hold in one compartment."""

    environment: str
    name: str
    compartment_id: str
    statements: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OciPlan:
    """What is made in the OCI tenancy."""

    region: str
    profile: str | None
    domain_url: str
    client_id: str | None
    """None: the confidential application is made."""
    client_name: str
    users: Mapping[str, str]
    """Name of each service user by what it is for; it is alone in a group of that name."""
    trusts: tuple[OciTrust, ...]
    policies: tuple[OciPolicy, ...]
    tags: dict[str, str]

    def variables(self, client_id: str) -> dict[str, str]:
        """What a job sets so that the provider exchanges its token, by name."""
        return {
            **_ENVIRONMENT,
            "OCI_TOKEN_EXCHANGE_DOMAIN_URL": self.domain_url,
            "OCI_TOKEN_EXCHANGE_CLIENT_ID": client_id,
        }


def oci_plan(spec: Bootstrap, oci: Oci, issuers: tuple[Issuer, ...]) -> OciPlan:
    """Derive OCI's part; only environments with a compartment have one in it."""
    compartments = {
        name: one.compartment_id for name, one in spec.environments.items() if one.compartment_id
    }
    users = {
        _PREVIEW: f"{spec.name}-preview",
        **{_deploy(name): f"{spec.name}-{_deploy(name)}" for name in compartments},
    }
    return OciPlan(
        region=oci.region,
        profile=oci.profile,
        domain_url=oci.domain_url,
        client_id=oci.client_id,
        client_name=f"{spec.name}-token-exchange",
        users=users,
        trusts=tuple(_trust(spec.name, oci, one, tuple(compartments)) for one in issuers),
        policies=tuple(
            OciPolicy(
                environment=name,
                name=f"{spec.name}-{name}",
                compartment_id=compartment,
                statements=(
                    *_statements(oci.domain, users[_PREVIEW], PREVIEW_RIGHTS, compartment),
                    *_statements(oci.domain, users[_deploy(name)], DEPLOY_RIGHTS, compartment),
                ),
            )
            for name, compartment in compartments.items()
        ),
        tags=dict(spec.tags),
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
    domain: str, group: str, rights: tuple[str, ...], compartment: str
) -> tuple[str, ...]:
    return tuple(
        f"Allow group '{domain}'/'{group}' to {right} in compartment id {compartment}"
        for right in rights
    )
