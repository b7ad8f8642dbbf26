"""Who a job is to a cloud: the subjects of the tokens that GitHub and GitLab give it.

GitHub: https://docs.github.com/en/actions/reference/security/oidc ; the form with numbers is the
default of repositories made, renamed or moved since 2026-07-15
(https://github.blog/changelog/2026-04-23-immutable-subject-claims-for-github-actions-oidc-tokens/).
GitLab: https://docs.gitlab.com/ci/secrets/id_token_authentication/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bootstrap.config import Bootstrap, GitHub, GitLab

GITHUB_ISSUER = "https://token.actions.githubusercontent.com"
AWS_AUDIENCE = "sts.amazonaws.com"
"""What aws-actions/configure-aws-credentials asks for; a GitLab job names the same under `aud`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One claim of a token and the values of it that are taken; `*` stands for any text."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Issuer:
    """One issuer of tokens, and by which claim a job is known to preview, or to deploy."""

    kind: str
    """`github` or `gitlab`."""
    url: str
    keys_url: str
    """Where its public keys are."""
    preview: Claim
    exact_preview: Claim
    """The same for a cloud that compares without wildcards."""
    bound: Claim | None
    """What ties `exact_preview` to the project, where it does not say so itself."""
    deploy: Mapping[str, Claim]
    """By environment."""

    @property
    def host(self) -> str:
        """The URL as IAM spells it in conditions."""
        return self.url.removeprefix("https://")


def issuers(spec: Bootstrap) -> tuple[Issuer, ...]:
    """Every issuer that the spec names."""
    found: list[Issuer] = []
    if spec.github is not None:
        found.append(_github(spec.github, tuple(spec.environments)))
    if spec.gitlab is not None:
        branches = {name: one.branch for name, one in spec.environments.items() if one.branch}
        found.append(_gitlab(spec.gitlab, branches))
    return tuple(found)


def github_subjects(github: GitHub, context: str) -> tuple[str, ...]:
    """Both forms of a subject; without the numbers only the one by names.

    `context` is `pull_request`, `ref:refs/heads/<branch>` or `environment:<name>`. A job that names
    an environment is known by it, whatever event started it.
    """
    by_name = f"repo:{github.owner}/{github.repository}:{context}"
    if github.owner_id is None or github.repository_id is None:
        return (by_name,)
    owner, repository = (
        f"{github.owner}@{github.owner_id}",
        f"{github.repository}@{github.repository_id}",
    )
    return (by_name, f"repo:{owner}/{repository}:{context}")


def _github(github: GitHub, environments: tuple[str, ...]) -> Issuer:
    contexts = ("pull_request", f"ref:refs/heads/{github.branch}")
    preview = Claim(
        name="sub",
        values=tuple(one for context in contexts for one in github_subjects(github, context)),
    )
    return Issuer(
        kind="github",
        url=GITHUB_ISSUER,
        keys_url=f"{GITHUB_ISSUER}/.well-known/jwks",
        preview=preview,
        exact_preview=preview,
        bound=None,
        deploy={
            name: Claim(name="sub", values=github_subjects(github, f"environment:{name}"))
            for name in environments
        },
    )


def _gitlab(gitlab: GitLab, branches: Mapping[str, str]) -> Issuer:
    """GitLab knows no subject of merge requests: their jobs go by their source branch.

    A schedule is the check for drift.
    """
    branch = f"project_path:{gitlab.project}:ref_type:branch:ref:"
    return Issuer(
        kind="gitlab",
        url=gitlab.url,
        keys_url=f"{gitlab.url}/oauth/discovery/keys",
        preview=Claim(name="sub", values=(f"{branch}*",)),
        exact_preview=Claim(name="pipeline_source", values=("merge_request_event", "schedule")),
        bound=Claim(name="project_path", values=(gitlab.project,)),
        deploy={
            name: Claim(name="sub", values=(f"{branch}{ref}",)) for name, ref in branches.items()
        },
    )
