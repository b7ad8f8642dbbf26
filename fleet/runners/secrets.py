"""Which secrets a stack needs, and which Kubernetes Secrets carry them; never their values."""

from __future__ import annotations

from dataclasses import dataclass

GITHUB_APP_KEYS = ("github_app_id", "github_app_installation_id", "github_app_private_key")
"""Keys that the scale-set chart reads from its Secret, unless GITHUB_TOKEN_KEYS are there."""

GITHUB_TOKEN_KEYS = ("github_token",)
"""The other choice, a classic token: the only one for the runners of an enterprise."""

GITLAB_TOKEN_KEYS = ("runner-token", "runner-registration-token")
"""Keys that the runner chart projects; the second may be empty, but it must be there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExternalSecret:
    """A Kubernetes Secret that somebody else puts into the cluster."""

    name: str
    namespace: str
    keys: tuple[str, ...]
