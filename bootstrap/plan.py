"""What the bootstrap makes, derived from what the administrator wrote: plain data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bootstrap import policies
from bootstrap.config import Aws, Bootstrap
from bootstrap.oci_plan import OciPlan, oci_plan
from bootstrap.policies import Document, Scope
from bootstrap.subjects import AWS_AUDIENCE, Claim, Issuer, issuers


@dataclass(frozen=True, kw_only=True, slots=True)
class StatePlan:
    """Bucket and key of the state."""

    bucket: str | None
    """None: Pulumi names it, with seven random digits at the end."""
    alias: str
    """Of the key, as KMS spells it."""
    keep_versions_days: int
    region: str
    protect: bool
    tags: dict[str, str]

    @property
    def secrets_provider(self) -> str:
        """What `pulumi stack init --secrets-provider` takes."""
        return f"awskms://{self.alias}?region={self.region}"

    def backend_url(self, bucket: str) -> str:
        """What `pulumi login` takes."""
        return f"s3://{bucket}?region={self.region}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderPlan:
    """One OIDC provider of the account."""

    kind: str
    url: str
    audience: str
    arn: str | None
    """None: it is made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RolePlan:
    """One role that jobs become."""

    name: str
    """What stands after the bootstrap's own name."""
    description: str
    claims: Mapping[str, tuple[str, Claim]]
    """By kind of issuer, its host and the claim that a job must have."""
    scope: Scope
    stack: str | None
    """The stack that it deploys; None of the role that previews all of them."""
    permissions_boundary: str | None

    def trust(self, providers: Mapping[str, str]) -> Document:
        """Who may become the role; `providers` are ARNs by kind of issuer."""
        return policies.document(
            policies.trusted(providers[kind], host, claim)
            for kind, (host, claim) in self.claims.items()
        )

    def state_policy(self, bucket_arn: str, key_arn: str) -> Document:
        """What it may do with the state."""
        if self.stack is None:
            return policies.state_reading(bucket_arn, key_arn)
        return policies.state_writing(bucket_arn, key_arn, self.stack)

    def cloud_policies(self) -> dict[str, Document]:
        """What it may do with the clusters' resources, by purpose."""
        found = {"list": policies.listing(self.scope)}
        if not self.scope.clusters:
            return found
        if self.stack is None:
            return {**found, "read": policies.cluster_reading(self.scope)}
        return {
            **found,
            "network": policies.network_writing(self.scope),
            "clusters": policies.cluster_writing(self.scope),
            "roles": policies.role_writing(self.scope),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class AwsPlan:
    """What is made in the AWS account."""

    account_id: str
    region: str
    profile: str | None
    state: StatePlan
    providers: tuple[ProviderPlan, ...]
    preview: RolePlan
    deploy: Mapping[str, RolePlan]
    """By environment."""
    tags: dict[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class BootstrapPlan:
    """Everything that the bootstrap makes."""

    name: str
    aws: AwsPlan | None
    oci: OciPlan | None


def build(spec: Bootstrap) -> BootstrapPlan:
    """Derive the plan."""
    found = issuers(spec)
    return BootstrapPlan(
        name=spec.name,
        aws=_aws(spec, spec.aws, found) if spec.aws is not None else None,
        oci=oci_plan(spec, spec.oci, found) if spec.oci is not None else None,
    )


def _aws(spec: Bootstrap, aws: Aws, found: tuple[Issuer, ...]) -> AwsPlan:
    tags = {**spec.tags, "gpu-runners/part": "bootstrap"}
    regions = aws.cluster_regions or (aws.region,)

    def role(
        name: str, description: str, claims: Mapping[str, Claim], *stacks: str, writes: bool
    ) -> RolePlan:
        clusters = tuple(one for stack in stacks for one in spec.environments[stack].clusters)
        return RolePlan(
            name=name,
            description=description,
            claims={one.kind: (one.host, claims[one.kind]) for one in found if one.kind in claims},
            scope=Scope(account_id=aws.account_id, regions=regions, clusters=clusters),
            stack=stacks[0] if writes else None,
            permissions_boundary=aws.permissions_boundary,
        )

    return AwsPlan(
        account_id=aws.account_id,
        region=aws.region,
        profile=aws.profile,
        state=StatePlan(
            bucket=aws.state.bucket,
            alias=f"alias/{spec.name}",
            keep_versions_days=aws.state.keep_versions_days,
            region=aws.region,
            protect=spec.protect,
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
            *spec.environments,
            writes=False,
        ),
        deploy={
            name: role(
                f"deploy-{name}",
                f"Deploys the stack {name}",
                {one.kind: one.deploy[name] for one in found if name in one.deploy},
                name,
                writes=True,
            )
            for name in spec.environments
        },
        tags=tags,
    )
