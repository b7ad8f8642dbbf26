"""URLs of forges: the owner that a URL names, and common mistakes in it.

Source: actions/actions-runner-controller github/actions/config.go: ARC accepts the URL of an owner,
of an owner's repository, or `enterprises` and a slug.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator

from fleet.config.base import Form, refusal

_GITHUB_HOSTS = ("github.com", "www.github.com")
_GITLAB_HOSTS = ("gitlab.com", "www.gitlab.com")
_RESERVED_OWNERS = ("orgs", "organizations", "users", "settings")
"""First path segments of GitHub's own pages, which no owner can have as a name."""


def host(url: str) -> str:
    """Return the host of a URL in lower case; empty if it has none or is not a URL."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_server(url: str) -> bool:
    """Return whether a valid GitHub URL is that of a GitHub Enterprise Server."""
    return host(url) not in _GITHUB_HOSTS and not host(url).endswith(".ghe.com")


def is_enterprise(url: str) -> bool:
    """Return whether a valid GitHub URL is that of an enterprise."""
    return url.split("/")[3].lower() == "enterprises"


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise refusal("is not a URL", "write it like https://git.example.com") from None
    if "@" in parts.netloc:
        raise refusal(
            "contains a user or a token, and a stack file never holds a secret",
            "remove what is before the @, and revoke the token",
        )
    return parts


def _github(url: str) -> str:
    parts = _split(url)
    if host(url) in _GITLAB_HOSTS:
        raise refusal("is a URL of GitLab", "move these lanes to gitlab:")
    names = parts.path.strip("/").split("/")
    root = f"https://{parts.netloc}"
    if not names[0]:
        raise refusal("has no owner", f"write {root}/owner, or {root}/owner/repository")
    if names[0].lower() == "enterprises":
        if len(names) == 1:
            raise refusal(
                "has no enterprise", f"write {root}/enterprises/ and the enterprise's slug"
            )
        accepted = f"{root}/enterprises/{names[1]}"
    elif names[0].lower() in _RESERVED_OWNERS:
        owner = names[1] if len(names) > 1 else "owner"
        raise refusal("is a page of GitHub, not an owner", f"write {root}/{owner}")
    else:
        # A repository can have the name settings; a page below it belongs to the owner.
        page = len(names) > 2 and names[1].lower() == "settings"
        accepted = "/".join((root, *names[: 1 if page else 2])).removesuffix(".git")
    if len(names) > 2 or parts.query or parts.fragment:
        raise refusal("is a page below an owner or a repository", f"write {accepted}")
    if names[-1].endswith(".git"):
        raise refusal("is a clone URL", f"write {accepted}")
    return url


def _gitlab(url: str) -> str:
    parts = _split(url)
    if host(url) in _GITHUB_HOSTS:
        raise refusal("is a URL of GitHub", "move these lanes to github:")
    if host(url) in _GITLAB_HOSTS and parts.path.strip("/"):
        raise refusal(
            "is the URL of a group or project, not of the server",
            "write https://gitlab.com, and the owner under each lane's runner, like "
            "runner: {group_id: 42}",
        )
    server = f"https://{parts.netloc}{parts.path}".rstrip("/").removesuffix("/api/v4")
    if parts.query or parts.fragment or server != url.rstrip("/"):
        raise refusal(
            "is not the URL of the server, to which the paths of its API are appended",
            f"write {server}",
        )
    return url


GitHubUrl = Annotated[
    str, Form(r"^https://[^/\s]+/\S+$", "https://github.com/example-org"), AfterValidator(_github)
]
GitLabUrl = Annotated[
    str,
    Form(
        r"^https://[^/\s]\S*$",
        "https://gitlab.com",
        "is not a URL with https://, without which up is refused: tokens are sent to it",
    ),
    AfterValidator(_gitlab),
]
