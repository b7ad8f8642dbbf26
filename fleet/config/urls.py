"""URLs of forges: whose runners they mean, and the slips with which people write them.

Source: actions/actions-runner-controller github/actions/config.go: a URL of GitHub is an owner, an
owner and a repository, or enterprises and a slug; ARC takes no other.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field

_GITHUB_HOSTS = ("github.com", "www.github.com")
_GITLAB_HOSTS = ("gitlab.com", "www.gitlab.com")
_NO_OWNERS = ("orgs", "organizations", "users", "settings")
"""First parts of GitHub's own pages, which nobody can be called."""


def host(url: str) -> str:
    """The host of a URL in small letters; empty where it has none, or is no URL at all."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_enterprise(url: str) -> bool:
    """Whether a URL of GitHub means the runners of an enterprise."""
    return url.split("/")[3].lower() == "enterprises"


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ValueError("is not a URL; write it like https://git.example.com") from None
    if "@" in parts.netloc:
        raise ValueError("holds a user or a token; write the address alone")
    return parts


def _github(url: str) -> str:
    parts = _split(url)
    if host(url) in _GITLAB_HOSTS:
        raise ValueError("is GitLab's address; write these lanes under gitlab:")
    names = parts.path.strip("/").split("/")
    root = f"https://{parts.netloc}"
    if not names[0]:
        raise ValueError(f"names no owner; write {root}/owner, or {root}/owner/repository")
    if names[0].lower() == "enterprises":
        if len(names) == 1:
            raise ValueError(
                f"names no enterprise; write {root}/enterprises/ and the enterprise's slug"
            )
        meant = f"{root}/enterprises/{names[1]}"
    elif names[0].lower() in _NO_OWNERS:
        owner = names[1] if len(names) > 1 else "owner"
        raise ValueError(f"is a page of GitHub, not an owner; write {root}/{owner}")
    else:
        # A repository can be called settings; a page under it is the owner's.
        page = len(names) > 2 and names[1].lower() == "settings"
        meant = "/".join((root, *names[: 1 if page else 2])).removesuffix(".git")
    if len(names) > 2 or parts.query or parts.fragment:
        raise ValueError(f"goes deeper than an owner or a repository; write {meant}")
    if names[-1].endswith(".git"):
        raise ValueError(f"is an address to clone from; write {meant}")
    return url


def _gitlab(url: str) -> str:
    parts = _split(url)
    if host(url) in _GITHUB_HOSTS:
        raise ValueError("is GitHub's address; write these lanes under github:")
    if host(url) in _GITLAB_HOSTS and parts.path.strip("/"):
        raise ValueError(
            "names a group or project; write https://gitlab.com, the address of the server, and "
            "the owner under each lane's runner, like runner: {group_id: 42}"
        )
    return url


GitHubUrl = Annotated[str, Field(pattern=r"^https://[^/\s]+/\S+$"), AfterValidator(_github)]
GitLabUrl = Annotated[str, Field(pattern=r"^https?://\S+$"), AfterValidator(_gitlab)]
