"""What an administrator writes under `gpu-runners-bootstrap:bootstrap`; each part is optional."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from fleet.config.base import Model, Name, Rule
from fleet.config.stack import TagKey, TagValue

_LONGEST_NAME = 24
_MOST_CLUSTERS = 20

Arn = Annotated[str, Field(pattern=r"^arn:aws:[a-z0-9-]+:[a-z0-9-]*:[0-9]*:\S+$")]
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$", examples=["us-west-2"])]
CompartmentId = Annotated[str, Field(pattern=r"^ocid1\.compartment\.oc\d+\.[a-z0-9-]*\.[a-z0-9]+$")]
EnvironmentName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$", max_length=20)
]
"""Also a stack's name and part of a role's, which has at most 64 characters."""

Branch = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?$")]
"""No wildcard: `*` in a trust policy would let every branch deploy."""


class GitHub(Model):
    """The GitHub repository whose workflows preview and deploy.

    https://docs.github.com/en/actions/reference/security/oidc
    """

    owner: str = Field(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$",
        max_length=39,
        examples=["example-org"],
        description="organisation or user that owns the repository",
    )
    repository: str = Field(
        pattern=r"^[A-Za-z0-9_.-]+$",
        max_length=100,
        examples=["infrastructure"],
        description="name of the repository, without its owner",
    )
    owner_id: int | None = Field(
        default=None, ge=1, description="number of the owner: gh api repos/OWNER/REPO -q .owner.id"
    )
    repository_id: int | None = Field(
        default=None, ge=1, description="number of the repository: gh api repos/OWNER/REPO -q .id"
    )

    branch: Branch = Field(
        default="main",
        examples=["main"],
        description="branch whose scheduled jobs may preview too: the check for drift",
    )

    def rules(self) -> Iterator[Rule]:
        """The subject with numbers needs both."""
        for one, other in (("owner_id", "repository_id"), ("repository_id", "owner_id")):
            if getattr(self, one) is None and getattr(self, other) is not None:
                yield Rule(
                    one,
                    f"is missing beside {other}",
                    "add it: GitHub's subject with numbers holds both",
                )


class GitLab(Model):
    """The GitLab project whose pipelines preview and deploy.

    https://docs.gitlab.com/ci/secrets/id_token_authentication/
    """

    url: str = Field(
        default="https://gitlab.com",
        pattern=r"^https://[A-Za-z0-9.-]+(:\d+)?$",
        examples=["https://gitlab.com"],
        description="the GitLab instance, without a slash at the end",
    )
    project: str = Field(
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$",
        examples=["example-group/infrastructure"],
        description="path of the project with all its groups",
    )


class Environment(Model):
    """One environment: a stack file of the same name, and what its deploy role may touch."""

    clusters: tuple[Name, ...] = Field(
        default=(),
        max_length=4,
        description="EKS clusters of the stack; a role's policies have room for four",
    )
    compartment_id: CompartmentId | None = Field(
        default=None,
        examples=["ocid1.compartment.oc1..aaaaaaaaexample"],
        description="OCID of the compartment of the stack's OKE clusters",
    )
    branch: Branch | None = Field(
        default=None,
        examples=["main"],
        description="protected branch from which GitLab deploys it",
    )


class State(Model):
    """The S3 bucket that holds the state of every stack."""

    bucket: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$",
        examples=["example-org-pulumi-state"],
        description="name of the bucket; default: <name>-state- and seven random digits",
    )
    keep_versions_days: int = Field(
        default=90, ge=1, le=3650, description="days that an overwritten version is kept"
    )


class Providers(Model):
    """OIDC providers that the account has already: it can hold one for each URL."""

    github: Arn | None = Field(default=None, description="ARN of the one of GitHub")
    gitlab: Arn | None = Field(default=None, description="ARN of the one of your GitLab")


class Aws(Model):
    """The AWS account: state, key, and roles."""

    account_id: str = Field(
        pattern=r"^\d{12}$",
        examples=["111122223333"],
        description="number of the account, in quotes; another account is refused",
    )
    region: Region = Field(description="region of the bucket and the key")
    cluster_regions: tuple[Region, ...] = Field(
        default=(), description="regions of the clusters; default: the region of the bucket"
    )
    profile: str | None = Field(
        default=None, min_length=1, description="AWS profile of the administrator"
    )
    state: State = Field(default=State(), description="the bucket of the state")
    oidc_providers: Providers = Field(
        default=Providers(), description="OIDC providers to use instead of making them"
    )
    permissions_boundary: Arn | None = Field(
        default=None,
        examples=["arn:aws:iam::111122223333:policy/boundary"],
        description="ARN of the policy that bounds every role made here",
    )


class Oci(Model):
    """The OCI tenancy: users that jobs become, and what they may do."""

    region: str = Field(
        pattern=r"^[a-z]{2}-[a-z]+-\d$",
        examples=["us-ashburn-1"],
        description="home region of the tenancy, where identities are changed",
    )
    profile: str | None = Field(
        default=None, min_length=1, description="profile of ~/.oci/config of the administrator"
    )
    domain_url: str = Field(
        pattern=r"^https://[a-z0-9.-]+\.identity\.oraclecloud\.com(:443)?$",
        examples=["https://idcs-0123456789abcdef.identity.oraclecloud.com"],
        description="URL of the identity domain, as its details page shows it",
    )
    domain: str = Field(
        default="Default",
        pattern=r"^[A-Za-z0-9_.-]+$",
        description="name of the identity domain",
    )
    client_id: str | None = Field(
        default=None,
        min_length=1,
        description="id of a confidential application that is there; default: one is made",
    )
    audience: str = Field(
        default="https://cloud.oracle.com",
        min_length=1,
        description="audience that a job asks for in its token",
    )


class Bootstrap(Model):
    """Everything under `gpu-runners-bootstrap:bootstrap`."""

    name: Name = Field(default="gpu-runners", description="what the names of all roles begin with")
    protect: bool = Field(default=True, description="refuse to delete the bucket and its key")
    tags: dict[TagKey, TagValue] = Field(default={}, description="cloud tags on everything")
    github: GitHub | None = Field(default=None, description="who runs workflows")
    gitlab: GitLab | None = Field(default=None, description="who runs pipelines")
    environments: dict[EnvironmentName, Environment] = Field(
        min_length=1,
        description="environments by name: a GitHub environment, a stack and a deploy role each",
    )
    aws: Aws | None = Field(default=None, description="state, key and roles in AWS")
    oci: Oci | None = Field(default=None, description="federation with OCI")

    def rules(self) -> Iterator[Rule]:
        """There is somebody to trust, something to make, and each environment has a part in it."""
        if self.github is None and self.gitlab is None:
            yield Rule(
                "",
                "has no github or gitlab",
                "add who may preview and deploy",
            )
        if self.aws is None and self.oci is None:
            yield Rule("", "has no aws or oci", "add the cloud to prepare")
        if len(self.name) > _LONGEST_NAME:
            yield Rule(
                "name",
                f"is a name of {len(self.name)} characters",
                f"shorten it to {_LONGEST_NAME}: with -deploy- and an environment it names a role",
            )
        yield from self._provider_rules()
        yield from self._cluster_rules()
        for name, environment in self.environments.items():
            yield from self._environment_rules(f"environments.{name}", environment)

    def _provider_rules(self) -> Iterator[Rule]:
        for issuer in ("github", "gitlab"):
            given = self.aws is not None and getattr(self.aws.oidc_providers, issuer) is not None
            if given and getattr(self, issuer) is None:
                yield Rule(
                    f"aws.oidc_providers.{issuer}",
                    f"is given, but there is no {issuer}",
                    f"remove it, or add {issuer}",
                )

    def _cluster_rules(self) -> Iterator[Rule]:
        places = [
            (f"environments.{name}.clusters", cluster)
            for name, environment in self.environments.items()
            for cluster in environment.clusters
        ]
        if len(places) > _MOST_CLUSTERS:
            yield Rule(
                "environments",
                f"have {len(places)} clusters together",
                f"keep {_MOST_CLUSTERS}, for which the preview role has room, and bootstrap the "
                "rest under another name",
            )
        yield from self._own_role_rules(places)
        for place, cluster in places:
            for other_place, other in places:
                if place != other_place and f"{other}-".startswith(f"{cluster}-"):
                    yield Rule(
                        place,
                        f"holds {cluster}, and {other_place} {other}: rights go by the beginning "
                        "of a name, so one role could touch the other's resources",
                        "rename one of the two",
                    )

    def _own_role_rules(self, places: Sequence[tuple[str, str]]) -> Iterator[Rule]:
        """A cluster's roles are known by the beginning of their name, as these here are."""
        kinds = ("preview", *(f"deploy-{environment}" for environment in self.environments))
        own = [f"{self.name}-{kind}-" for kind in kinds]
        for place, cluster in places:
            role = next((one for one in own if one.startswith(f"{cluster}-")), None)
            if role is not None:
                yield Rule(
                    place,
                    f"holds {cluster}, with which the role {role.removesuffix('-')} made here "
                    "begins too: who deploys the cluster could let others become that role",
                    "rename the cluster, or give the bootstrap another name",
                )

    def _environment_rules(self, path: str, environment: Environment) -> Iterator[Rule]:
        clouds: tuple[tuple[Literal["clusters", "compartment_id"], str], ...] = (
            ("clusters", "aws"),
            ("compartment_id", "oci"),
        )
        for field, cloud in clouds:
            if getattr(environment, field) and getattr(self, cloud) is None:
                yield Rule(
                    f"{path}.{field}",
                    f"is given, but there is no {cloud}",
                    f"remove it, or add {cloud}",
                )
        if not environment.clusters and environment.compartment_id is None:
            yield Rule(
                path,
                "has neither clusters nor compartment_id",
                "name the EKS clusters of its stack, or the compartment of its OKE clusters",
            )
        if environment.branch is None and self.gitlab is not None:
            yield Rule(
                f"{path}.branch",
                "is missing, so no GitLab job could deploy it",
                "add branch: and the protected branch that deploys it",
            )
        if environment.branch is not None and self.gitlab is None:
            yield Rule(
                f"{path}.branch",
                "is given, but only GitLab deploys by branch",
                "remove it; limit the branches of the environment in GitHub's settings",
            )
