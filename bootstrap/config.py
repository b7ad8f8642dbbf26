"""The models of `gpu-runners-bootstrap:bootstrap` in the bootstrap's stack file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from fleet.config.base import Model, Name, Rule
from fleet.config.load import parse_as
from fleet.config.stack import TagKey, TagValue
from fleet.findings import StackFileError

KEY = "gpu-runners-bootstrap:bootstrap"

_MAX_NAME = 24
_MAX_CLUSTERS = 20

Arn = Annotated[str, Field(pattern=r"^arn:aws:[a-z0-9-]+:[a-z0-9-]*:[0-9]*:\S+$")]
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$", examples=["us-west-2"])]
CompartmentId = Annotated[str, Field(pattern=r"^ocid1\.compartment\.oc\d+\.[a-z0-9-]*\.[a-z0-9]+$")]
EnvironmentName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$", max_length=20)
]
"""Also the name of a stack, and part of a role name, which has at most 64 characters."""

Branch = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?$")]
"""A branch without wildcard: `*` in a trust policy would let every branch deploy."""


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
        default=None, ge=1, description="numeric id of the owner: gh api repos/O/R -q .owner.id"
    )
    repository_id: int | None = Field(
        default=None, ge=1, description="numeric id of the repository: gh api repos/O/R -q .id"
    )
    branch: Branch = Field(
        default="main",
        examples=["main"],
        description="branch whose scheduled drift check may preview too",
    )

    def rules(self) -> Iterator[Rule]:
        for field, other in (("owner_id", "repository_id"), ("repository_id", "owner_id")):
            if getattr(self, field) is None and getattr(self, other) is not None:
                yield Rule(
                    field,
                    f"is missing, but {other} is set",
                    "add it: GitHub's OIDC subject contains both numbers or none",
                )


class GitLab(Model):
    """The GitLab project whose pipelines preview and deploy.

    https://docs.gitlab.com/ci/secrets/id_token_authentication/
    """

    url: str = Field(
        default="https://gitlab.com",
        pattern=r"^https://[A-Za-z0-9.-]+(:\d+)?$",
        examples=["https://gitlab.com"],
        description="URL of the GitLab instance, without a trailing slash",
    )
    project: str = Field(
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$",
        examples=["example-group/infrastructure"],
        description="path of the project with all its groups",
    )


class Environment(Model):
    """One environment: the stack of the same name, and what its deploy role may change."""

    clusters: tuple[Name, ...] = Field(
        default=(),
        max_length=4,
        description="EKS clusters of the stack; the policies of a role have room for four",
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
    """Existing OIDC providers of the account, which can hold one for each URL."""

    github: Arn | None = Field(default=None, description="ARN of GitHub's OIDC provider")
    gitlab: Arn | None = Field(default=None, description="ARN of your GitLab's OIDC provider")


class Aws(Model):
    """The AWS account with state bucket, key and roles."""

    account_id: str = Field(
        pattern=r"^\d{12}$",
        examples=["111122223333"],
        description="number of the account, in quotes; the provider refuses any other account",
    )
    region: Region = Field(description="region of the bucket and the key")
    cluster_regions: tuple[Region, ...] = Field(
        default=(), description="regions of the clusters; default: the region of the bucket"
    )
    profile: str | None = Field(
        default=None, min_length=1, description="AWS profile of the administrator"
    )
    state: State = Field(default=State(), description="the state bucket")
    oidc_providers: Providers = Field(
        default=Providers(), description="existing OIDC providers to use instead of new ones"
    )
    permissions_boundary: Arn | None = Field(
        default=None,
        examples=["arn:aws:iam::111122223333:policy/boundary"],
        description="ARN of the permissions boundary for every role created here",
    )


class Oci(Model):
    """The OCI tenancy whose service users CI jobs impersonate."""

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
        description="id of an existing confidential application; default: create one",
    )
    audience: str = Field(
        default="https://cloud.oracle.com",
        min_length=1,
        description="audience of the token that a GitHub job requests",
    )


class Bootstrap(Model):
    """Everything under `gpu-runners-bootstrap:bootstrap`."""

    name: Name = Field(default="gpu-runners", description="prefix of the names of all roles")
    protect: bool = Field(default=True, description="refuse to delete the bucket and its key")
    tags: dict[TagKey, TagValue] = Field(default={}, description="cloud tags on every resource")
    github: GitHub | None = Field(default=None, description="repository that runs workflows")
    gitlab: GitLab | None = Field(default=None, description="project that runs pipelines")
    environments: dict[EnvironmentName, Environment] = Field(
        min_length=1,
        description="environments by name: a GitHub environment, a stack and a deploy role each",
    )
    aws: Aws | None = Field(default=None, description="state, key and roles in AWS")
    oci: Oci | None = Field(default=None, description="federation with OCI")

    def rules(self) -> Iterator[Rule]:
        if self.github is None and self.gitlab is None:
            yield Rule("", "has no github or gitlab", "add the one whose jobs deploy")
        if self.aws is None and self.oci is None:
            yield Rule("", "has no aws or oci", "add the cloud of your clusters")
        if len(self.name) > _MAX_NAME:
            yield Rule(
                "name",
                f"has {len(self.name)} characters, which leaves no room in names of roles",
                f"shorten it to {_MAX_NAME} characters: a role is <name>-deploy-<environment>",
            )
        for issuer in ("github", "gitlab"):
            given = self.aws is not None and getattr(self.aws.oidc_providers, issuer) is not None
            if given and getattr(self, issuer) is None:
                yield Rule(
                    f"aws.oidc_providers.{issuer}",
                    f"is set, but there is no {issuer}",
                    f"remove it, or add {issuer}",
                )
        yield from self._cluster_rules()
        for name, environment in self.environments.items():
            yield from self._environment_rules(f"environments.{name}", environment)

    def _cluster_rules(self) -> Iterator[Rule]:
        clusters = [
            (f"environments.{name}.clusters", cluster)
            for name, environment in self.environments.items()
            for cluster in environment.clusters
        ]
        if len(clusters) > _MAX_CLUSTERS:
            yield Rule(
                "environments",
                f"have {len(clusters)} clusters together; the policies of the preview role have "
                f"room for {_MAX_CLUSTERS}",
                f"keep {_MAX_CLUSTERS}, and bootstrap the rest in a second stack with another name",
            )
        yield from self._role_name_rules(clusters)
        for path, cluster in clusters:
            for other_path, other in clusters:
                if path != other_path and f"{other}-".startswith(f"{cluster}-"):
                    yield Rule(
                        path,
                        f"contains {cluster}, and {other_path} contains {other}: policies match "
                        "resources by name prefix, so one deploy role could change the resources "
                        "of the other environment",
                        "rename one of the two clusters",
                    )

    def _role_name_rules(self, clusters: Sequence[tuple[str, str]]) -> Iterator[Rule]:
        """Refuse a cluster whose name is a prefix of a role of this program.

        The deploy role may change every role whose name begins with the name of its cluster.
        """
        kinds = ("preview", *(f"deploy-{environment}" for environment in self.environments))
        roles = [f"{self.name}-{kind}-" for kind in kinds]
        for path, cluster in clusters:
            role = next((role for role in roles if role.startswith(f"{cluster}-")), None)
            if role is not None:
                yield Rule(
                    path,
                    f"contains {cluster}, which is a prefix of the role {role.removesuffix('-')}: "
                    "the role that deploys the cluster could change who may assume that role",
                    "rename the cluster, or change name",
                )

    def _environment_rules(self, path: str, environment: Environment) -> Iterator[Rule]:
        for field, cloud in (("clusters", "aws"), ("compartment_id", "oci")):
            if getattr(environment, field) and getattr(self, cloud) is None:
                yield Rule(
                    f"{path}.{field}",
                    f"is set, but there is no {cloud}",
                    f"remove it, or add {cloud}",
                )
        if not environment.clusters and environment.compartment_id is None:
            yield Rule(
                path,
                "has neither clusters nor compartment_id",
                "add the EKS clusters of its stack, or the compartment of its OKE clusters",
            )
        if environment.branch is None and self.gitlab is not None:
            yield Rule(
                f"{path}.branch",
                "is missing, so no GitLab job can deploy this environment",
                "add branch: with the protected branch that deploys it",
            )
        if environment.branch is not None and self.gitlab is None:
            yield Rule(
                f"{path}.branch",
                "is set, but only GitLab deploys by branch",
                "remove it; limit the branches of the environment in GitHub's settings",
            )


def parse(data: object, *, source: str) -> Bootstrap:
    """Return the model of the value of `KEY`.

    `source` is the file name for messages. Raises StackFileError with every error.
    """
    parsed = parse_as(Bootstrap, data, f"write {KEY}: with environments: under it")
    if parsed.stack is None or parsed.findings:
        raise StackFileError(source, parsed.findings)
    return parsed.stack
