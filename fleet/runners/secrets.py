"""The names of the Pulumi secrets and Kubernetes Secrets that a stack needs, never their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fleet.config.stack import Stack
from fleet.findings import Finding

GITHUB_APP_KEYS = ("github_app_id", "github_app_installation_id", "github_app_private_key")
"""Keys that the scale-set chart reads from its Secret, unless it has `GITHUB_TOKEN_KEYS`."""

GITHUB_TOKEN_KEYS = ("github_token",)
"""Key of a classic token, which GitHub requires for the runners of an enterprise."""

GITLAB_TOKEN_KEYS = ("runner-token", "runner-registration-token")
"""Keys that the runner chart projects; the second one must exist but may be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SecretUse:
    """A flat Pulumi secret and the path in the stack file that names it."""

    name: str
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ExternalSecret:
    """A Kubernetes Secret that this program does not create."""

    name: str
    namespace: str
    keys: tuple[str, ...]


def secret_uses(stack: Stack) -> Iterator[SecretUse]:
    """Yield every `{secret: name}` of a stack, in the order of the file."""
    for name, cluster in stack.clusters.items():
        github, gitlab = cluster.github, cluster.gitlab
        if github is not None and github.app is not None:
            yield SecretUse(
                name=github.app.private_key.secret,
                path=f"clusters.{name}.github.app.private_key",
            )
        if gitlab is None:
            continue
        if gitlab.api_token is not None:
            yield SecretUse(name=gitlab.api_token.secret, path=f"clusters.{name}.gitlab.api_token")
        for lane_name, lane in gitlab.lanes.items():
            if lane.token is not None:
                yield SecretUse(
                    name=lane.token.secret,
                    path=f"clusters.{name}.gitlab.lanes.{lane_name}.token",
                )


def missing_secrets(stack: Stack, has_secret: Callable[[str], bool]) -> Iterator[Finding]:
    """Yield a finding for each secret that the configuration lacks, with the command to set it."""
    for use in secret_uses(stack):
        if not has_secret(use.name):
            yield Finding(
                rule="secrets",
                path=use.path,
                message=f"names the secret {use.name}, which this stack's configuration lacks",
                remedy=f"run: pulumi config set --secret gpu-runners:{use.name}",
            )
