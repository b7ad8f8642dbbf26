"""The claims in the OIDC tokens of GitHub and GitLab jobs, by which a cloud recognises a job.

GitHub: https://docs.github.com/en/actions/reference/security/oidc ; the subject with numeric ids is
the default of repositories created, renamed or moved since 2026-07-15
(https://github.blog/changelog/2026-04-23-immutable-subject-claims-for-github-actions-oidc-tokens/).
GitLab: https://docs.gitlab.com/ci/secrets/id_token_authentication/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bootstrap.config import Bootstrap, GitHub, GitLab

GITHUB_ISSUER = "https://token.actions.githubusercontent.com"
AWS_AUDIENCE = "sts.amazonaws.com"
"""The audience that aws-actions/configure-aws-credentials requests; GitLab jobs set it in `aud`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One claim of a token and its accepted values, in which `*` matches any text."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Issuer:
    """One issuer of tokens, and the claims of its jobs that may preview or deploy."""

    kind: str
    """`github` or `gitlab`."""
    url: str
    keys_url: str
    """URL of the issuer's public keys (JWKS)."""
    preview: Claim
    exact_preview: Claim
    """The claim for OCI, which compares without wildcards."""
    bound: Claim | None
    """Claim that limits `exact_preview` to the project, if `exact_preview` does not contain it."""
    deploy: Mapping[str, Claim]
    """Claim of the jobs that may deploy, by environment."""

    @property
    def host(self) -> str:
        """Return the URL without its scheme, as IAM conditions spell it."""
        return self.url.removeprefix("https://")


def issuers(bootstrap: Bootstrap) -> tuple[Issuer, ...]:
    """Return the issuers that the stack file configures."""
    found: list[Issuer] = []
    environments = bootstrap.environments
    if bootstrap.github is not None:
        found.append(_github(bootstrap.github, tuple(environments)))
    if bootstrap.gitlab is not None:
        branches = {name: one.branch for name, one in environments.items() if one.branch}
        found.append(_gitlab(bootstrap.gitlab, branches))
    return tuple(found)


def _github_subjects(github: GitHub, context: str) -> tuple[str, ...]:
    """Return the subject with names and, if the ids are known, the one with numeric ids.

    `context` is `pull_request`, `ref:refs/heads/<branch>` or `environment:<name>`. A job with an
    environment has the third form, whatever event started it.
    """
    by_name = f"repo:{github.owner}/{github.repository}:{context}"
    if github.owner_id is None or github.repository_id is None:
        return (by_name,)
    owner = f"{github.owner}@{github.owner_id}"
    repository = f"{github.repository}@{github.repository_id}"
    return (by_name, f"repo:{owner}/{repository}:{context}")


def _github(github: GitHub, environments: tuple[str, ...]) -> Issuer:
    contexts = ("pull_request", f"ref:refs/heads/{github.branch}")
    preview = Claim(
        name="sub",
        values=tuple(one for context in contexts for one in _github_subjects(github, context)),
    )
    return Issuer(
        kind="github",
        url=GITHUB_ISSUER,
        keys_url=f"{GITHUB_ISSUER}/.well-known/jwks",
        preview=preview,
        exact_preview=preview,
        bound=None,
        deploy={
            name: Claim(name="sub", values=_github_subjects(github, f"environment:{name}"))
            for name in environments
        },
    )


def _gitlab(gitlab: GitLab, branches: Mapping[str, str]) -> Issuer:
    """Return GitLab's issuer.

    GitLab has no subject for merge requests: the subject of their jobs is the source branch. The
    drift check runs on a schedule.
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
