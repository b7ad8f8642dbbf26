"""The stand-in for GitLab: runners that are created by a user, with their authentication tokens.

Rules: gitlabhq/terraform-provider-gitlab internal/provider/sdk, resource gitlab_user_runner
(validators, ValidateConfig, RequiresReplace), and GitLab's app/models/ci/runner.rb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties
from pulumi_rehearsal.standin.properties import flag, given, items, number, text, texts
from pulumi_rehearsal.standin.rules import Problem, choice
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

RUNNER: Final = "gitlab:index/userRunner:UserRunner"

MAX_TAGS: Final = 50
MAX_TEXT: Final = 1024
"""Characters of `description` and `maintenanceNote`."""
MIN_TIMEOUT_S: Final = 600

_OWNERS: Final = {"group_type": "groupId", "project_type": "projectId"}
_TOKEN: Final = re.compile(r"glrt-standin[0-9a-f]{13}")


class UserRunner(Kind):
    """A runner of the instance, a group or a project."""

    token: ClassVar[str] = RUNNER
    computed: ClassVar[frozenset[str]] = frozenset({"token"})
    secret_outputs: ClassVar[frozenset[str]] = frozenset({"token"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"groupId", "projectId", "runnerType"})
    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})

    def check(self, call: Call, old: Properties | None) -> Properties:
        inputs = super().check(call, old)
        found = [*_owner_problems(inputs), *_tag_problems(inputs), *_limit_problems(inputs)]
        if found:
            raise Invalid(*found)
        return inputs

    def identify(self, call: Call, world: World) -> str:
        return str(10_000_000 + int(call.hex(6), 16))

    def compute(self, call: Call, id: str, world: World) -> Properties:
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
    """Whether this stand-in may have issued the token."""
    return _TOKEN.fullmatch(token) is not None


def runner_exists(world: World, token: str) -> bool:
    """Whether the runner with that authentication token exists."""
    return world.find(RUNNER, token=token) is not None


def scope(configuration: Properties) -> str:
    """Return `gitlab:<URL of the instance>`."""
    url = configuration.get("baseUrl", "https://gitlab.com")
    instance = "?" if url is UNKNOWN else str(url).rstrip("/").removesuffix("/api/v4")
    return f"gitlab:{instance}"


def _owner_problems(inputs: Properties) -> Iterator[Problem]:
    kind = text(inputs, "runnerType")
    yield from choice(inputs, "runnerType", ("instance_type", *_OWNERS))
    if kind not in ("instance_type", *_OWNERS):
        return
    wanted = _OWNERS.get(kind)
    for owner in _OWNERS.values():
        if owner == wanted and not given(inputs, owner):
            yield owner, f"is required for runnerType {kind!r}"
        elif owner != wanted and given(inputs, owner):
            yield owner, f"must be left out for runnerType {kind!r}"


def _tag_problems(inputs: Properties) -> Iterator[Problem]:
    if not given(inputs, "tagLists") and not flag(inputs, "untagged"):
        yield "tagLists", "must not be empty unless untagged is true: the runner would get no jobs"
    if len(items(inputs, "tagLists")) > MAX_TAGS:
        yield "tagLists", f"has more than {MAX_TAGS} tags"
    tags = texts(inputs, "tagLists")
    for index, tag in enumerate(tags):
        path = f"tagLists[{index}]"
        if not tag.strip() or "," in tag:
            yield path, "a tag must not be empty and must not contain a comma"
        elif tag in tags[:index]:
            yield path, f"{tag!r} is given twice"


def _limit_problems(inputs: Properties) -> Iterator[Problem]:
    yield from choice(inputs, "accessLevel", ("not_protected", "ref_protected"))
    timeout = number(inputs, "maximumTimeout")
    if timeout is not None and timeout < MIN_TIMEOUT_S:
        yield "maximumTimeout", f"must be at least {MIN_TIMEOUT_S} seconds"
    for field in ("description", "maintenanceNote"):
        length = len(text(inputs, field) or "")
        if length > MAX_TEXT:
            yield field, f"has {length} characters, the limit is {MAX_TEXT}"


PACKAGE: Final = Package(
    name="gitlab",
    kinds=(UserRunner(),),
    scope=scope,
)
