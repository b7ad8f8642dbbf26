"""The stand-in for GitLab: runners that a user creates, with their authentication tokens.

Rules: gitlabhq/terraform-provider-gitlab internal/provider/sdk, resource gitlab_user_runner
(validators, ValidateConfig, RequiresReplace), and GitLab's app/models/ci/runner.rb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties
from pulumi_rehearsal.standin.properties import flag, given, items, number, text, texts
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

Problem = tuple[str, str]

RUNNER: Final = "gitlab:index/userRunner:UserRunner"

MAX_TAGS: Final = 50
MAX_TEXT: Final = 1024
MIN_TIMEOUT: Final = 600
"""Seconds."""

_OWNER: Final = {"group_type": "groupId", "project_type": "projectId"}
_ACCESS_LEVELS: Final = ("not_protected", "ref_protected")
_TOKEN: Final = re.compile(r"glrt-standin[0-9a-f]{13}")


class UserRunner(Kind):
    """A runner of the instance, a group or a project; its tags are GitLab's to hold."""

    token: ClassVar[str] = RUNNER
    computed: ClassVar[frozenset[str]] = frozenset({"token"})
    secret_outputs: ClassVar[frozenset[str]] = frozenset({"token"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"groupId", "projectId", "runnerType"})
    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})

    def check(self, call: Call, old: Properties | None) -> Properties:
        """The SDK's types, then what provider and GitLab refuse."""
        inputs = super().check(call, old)
        found = [*_owner_problems(inputs), *_tag_problems(inputs), *_limit_problems(inputs)]
        if found:
            raise Invalid(*found)
        return inputs

    def identify(self, call: Call, world: World) -> str:
        """A number, as GitLab counts them."""
        return str(10_000_000 + int(call.hex(6), 16))

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """The token is shown once, at the create; the rest are GitLab's defaults."""
        defaults: Properties = {
            "accessLevel": "not_protected",
            "locked": False,
            "maintenanceNote": "",
            "paused": False,
            "untagged": False,
        }
        unset = {name: value for name, value in defaults.items() if name not in call.inputs}
        return {**unset, "token": f"glrt-standin{call.hex(13)}"}


def issued(token: str) -> bool:
    """Whether a token has the shape of those that this stand-in gives out."""
    return _TOKEN.fullmatch(token) is not None


def runner_of(world: World, token: str) -> bool:
    """Whether the runner that `token` belongs to exists."""
    return world.find(RUNNER, token=token) is not None


def scope(configuration: Properties) -> str:
    """The instance that the provider speaks to."""
    url = configuration.get("baseUrl", "https://gitlab.com")
    return f"gitlab:{'?' if url is UNKNOWN else _instance(str(url))}"


def _instance(url: str) -> str:
    return url.rstrip("/").removesuffix("/api/v4")


def _owner_problems(inputs: Properties) -> Iterator[Problem]:
    kind = text(inputs, "runnerType")
    if kind is None:
        return
    if kind not in (*_OWNER, "instance_type"):
        choices = ", ".join(("instance_type", *_OWNER))
        yield "runnerType", f"{kind!r} is none of {choices}"
        return
    wanted = _OWNER.get(kind)
    for owner in _OWNER.values():
        if owner == wanted and not given(inputs, owner):
            yield owner, f"is needed for runnerType {kind!r}"
        elif owner != wanted and given(inputs, owner):
            yield owner, f"must be left out for runnerType {kind!r}"


def _tag_problems(inputs: Properties) -> Iterator[Problem]:
    if not given(inputs, "tagLists") and not flag(inputs, "untagged"):
        yield "tagLists", "a runner without tags that takes no untagged jobs takes no jobs at all"
    if len(items(inputs, "tagLists")) > MAX_TAGS:
        yield "tagLists", f"holds more than {MAX_TAGS} tags"
    tags = texts(inputs, "tagLists")
    for index, tag in enumerate(tags):
        path = f"tagLists[{index}]"
        if not tag.strip() or "," in tag:
            yield path, "a tag is not empty and holds no comma"
        elif tag in tags[:index]:
            yield path, f"{tag!r} is there twice"


def _limit_problems(inputs: Properties) -> Iterator[Problem]:
    level = text(inputs, "accessLevel")
    if level is not None and level not in _ACCESS_LEVELS:
        yield "accessLevel", f"{level!r} is none of {', '.join(_ACCESS_LEVELS)}"
    timeout = number(inputs, "maximumTimeout")
    if timeout is not None and timeout < MIN_TIMEOUT:
        yield "maximumTimeout", f"must be at least {MIN_TIMEOUT} seconds"
    for field in ("description", "maintenanceNote"):
        length = len(text(inputs, field) or "")
        if length > MAX_TEXT:
            yield field, f"has {length} characters, the limit is {MAX_TEXT}"


PACKAGE: Final = Package(
    name="gitlab",
    kinds=(UserRunner(),),
    scope=scope,
)
