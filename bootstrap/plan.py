"""What the bootstrap creates, derived from the stack file: plain data without Pulumi."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bootstrap import iam_policies
from bootstrap.config import Aws, Bootstrap
from bootstrap.iam_policies import Document, Scope
from bootstrap.oci_plan import OciPlan, oci_plan
from bootstrap.oidc import AWS_AUDIENCE, Claim, Issuer, issuers

PREVIEW_S = 3600
DEPLOY_S = 3 * 3600
"""Longest session of a job that deploys: as long as the job, since `up` waits for the running jobs
of lanes. `.github/workflows/deploy.yaml` asks for as much."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatePlan:
    """The bucket and the KMS key of the state."""

    bucket: str | None
    """`None`: Pulumi generates a name with seven random digits at the end."""
    alias: str
    """Alias of the key, with the prefix `alias/`."""
    keep_versions_days: int
    region: str
    protect: bool
    tags: dict[str, str]

    @property
    def secrets_provider(self) -> str:
        """Return the value for `pulumi stack init --secrets-provider`."""
        return f"awskms://{self.alias}?region={self.region}"

    def backend_url(self, bucket: str) -> str:
        """Return the URL for `pulumi login`."""
        return f"s3://{bucket}?region={self.region}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderPlan:
    """One OIDC provider of the AWS account."""

    kind: str
    url: str
    audience: str
    arn: str | None
    """ARN of an existing provider; `None` to create one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RolePlan:
    """One IAM role that CI jobs assume."""

    name: str
    """`preview` or `deploy-<environment>`; the name of the bootstrap precedes it."""
    description: str
    claims: Mapping[str, tuple[str, Claim]]
    """Host of the issuer, and the claim that a job must have, by kind of issuer."""
    scope: Scope
    stack: str | None
    """The stack that the role deploys; `None` for the role that previews every stack."""
    permissions_boundary: str | None
    session_s: int
    """Longest session that a job may ask for."""

    def trust(self, providers: Mapping[str, str]) -> Document:
        """Return the trust policy; `providers` are ARNs by kind of issuer."""
        return iam_policies.document(
            iam_policies.trusted(providers[kind], host, claim)
            for kind, (host, claim) in self.claims.items()
        )

    def state_policy(self, bucket_arn: str, key_arn: str) -> Document:
        """Return the policy for the state bucket and the key."""
        if self.stack is None:
            return iam_policies.state_reading(bucket_arn, key_arn)
        return iam_policies.state_writing(bucket_arn, key_arn, self.stack)

    def cloud_policies(self) -> dict[str, Document]:
        """Return the policies for the resources of the clusters, by purpose."""
        policies = {"list": iam_policies.listing(self.scope)}
        if not self.scope.clusters:
            return policies
        if self.stack is None:
            return {**policies, "read": iam_policies.cluster_reading(self.scope)}
        return {
            **policies,
            "network": iam_policies.network_writing(self.scope),
            "clusters": iam_policies.cluster_writing(self.scope),
            "roles": iam_policies.role_writing(self.scope),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class AwsPlan:
    """What is created in the AWS account."""

    account_id: str
    region: str
    profile: str | None
    state: StatePlan
    providers: tuple[ProviderPlan, ...]
    preview: RolePlan
    deploy: Mapping[str, RolePlan]
    """Deploy role by environment."""
    tags: dict[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class BootstrapPlan:
    """Everything that the bootstrap creates."""

    name: str
    aws: AwsPlan | None
    oci: OciPlan | None


def build(bootstrap: Bootstrap) -> BootstrapPlan:
    """Derive the plan from the stack file."""
    found = issuers(bootstrap)
    return BootstrapPlan(
        name=bootstrap.name,
        aws=_aws(bootstrap, bootstrap.aws, found) if bootstrap.aws is not None else None,
        oci=oci_plan(bootstrap, bootstrap.oci, found) if bootstrap.oci is not None else None,
    )


def _aws(bootstrap: Bootstrap, aws: Aws, found: tuple[Issuer, ...]) -> AwsPlan:
    tags = {**bootstrap.tags, "gpu-runners/part": "bootstrap"}
    environments = bootstrap.environments

    def role(
        name: str, description: str, claims: Mapping[str, Claim], *stacks: str, deploys: bool
    ) -> RolePlan:
        return RolePlan(
            name=name,
            description=description,
            claims={one.kind: (one.host, claims[one.kind]) for one in found if one.kind in claims},
            scope=Scope(
                account_id=aws.account_id,
                regions=aws.cluster_regions or (aws.region,),
                clusters=tuple(one for stack in stacks for one in environments[stack].clusters),
            ),
            stack=stacks[0] if deploys else None,
            permissions_boundary=aws.permissions_boundary,
            session_s=DEPLOY_S if deploys else PREVIEW_S,
        )

    return AwsPlan(
        account_id=aws.account_id,
        region=aws.region,
        profile=aws.profile,
        state=StatePlan(
            bucket=aws.state.bucket,
            alias=f"alias/{bootstrap.name}",
            keep_versions_days=aws.state.keep_versions_days,
            region=aws.region,
            protect=bootstrap.protect,
            tags=tags,
        ),
        providers=tuple(
            ProviderPlan(
                kind=one.kind,
                url=one.url,
                audience=AWS_AUDIENCE,
                arn=getattr(aws.oidc_providers, one.kind),
            )
            for one in found
        ),
        preview=role(
            "preview",
            "Previews changes of every stack; reads only",
            {one.kind: one.preview for one in found},
            *environments,
            deploys=False,
        ),
        deploy={
            name: role(
                f"deploy-{name}",
                f"Deploys the stack {name}",
                {one.kind: one.deploy[name] for one in found if name in one.deploy},
                name,
                deploys=True,
            )
            for name in environments
        },
        tags=tags,
    )
