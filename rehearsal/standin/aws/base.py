"""What every AWS resource type of the stand-in shares: account, region, ARNs, ids, tags, names.

Account and partition are made up (`111122223333`, `aws`); the region comes from the provider
configuration. Ids hang on the URN and on nothing else, so that two rehearsals of one stack file
give one state.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from rehearsal.standin.kind import Call, Invalid, Kind, Properties, Refusal, Thing
from rehearsal.standin.properties import given, lookup, strings, text

if TYPE_CHECKING:
    from rehearsal.standin.world import World

ACCOUNT: Final = "111122223333"
PARTITION: Final = "aws"
CREATED_AT: Final = "2026-11-01T00:00:00Z"
"""One instant for everything, so that states compare."""

MAX_TAGS: Final = 50
"""https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html"""

Problem = tuple[str, str]
"""An input path and what is wrong there."""


def region_of(scope: str, properties: Properties | None = None) -> str:
    """The region that a call goes to: the resource's own `region`, else the provider's."""
    return text(properties or {}, "region") or scope.rpartition(":")[2]


def arn(service: str, region: str, resource: str, account: str = ACCOUNT) -> str:
    """An ARN; `region` is empty for IAM and S3, `account` for S3 and AWS's own policies."""
    return f"arn:{PARTITION}:{service}:{region}:{account}:{resource}"


def choice(properties: Properties, path: str, allowed: Collection[str]) -> Iterator[Problem]:
    """A problem where the string at `path` is none of `allowed`."""
    value = text(properties, path)
    if value is not None and value not in allowed:
        yield path, f"{value!r} is none of {', '.join(sorted(allowed))}"


def between(properties: Properties, path: str, low: int, high: int) -> Iterator[Problem]:
    """A problem where the number at `path` lies outside `low` to `high`."""
    value = lookup(properties, path)
    if isinstance(value, int) and not isinstance(value, bool) and not low <= value <= high:
        yield path, f"{value} is not between {low} and {high}"


def spelled(
    properties: Properties, path: str, pattern: str, limit: int, words: str
) -> Iterator[Problem]:
    """A problem where the string at `path` is too long or spelled otherwise than `pattern`."""
    value = text(properties, path)
    if value is None:
        return
    if len(value) > limit:
        yield path, f"{value!r} has {len(value)} characters, the limit is {limit}: shorten it"
    elif not re.fullmatch(pattern, value):
        yield path, f"{value!r} must consist of {words}"


def exactly_one(properties: Properties, paths: Collection[str]) -> Iterator[Problem]:
    """A problem unless one and only one of `paths` is set."""
    found = [path for path in paths if given(properties, path)]
    if len(found) != 1:
        which = ", ".join(found) if found else "none"
        yield (found or list(paths))[0], f"give exactly one of {', '.join(paths)}; given: {which}"


def conflict(properties: Properties, first: str, second: str) -> Iterator[Problem]:
    """A problem where both paths are set."""
    if given(properties, first) and given(properties, second):
        yield second, f"conflicts with {first!r}: give one of the two"


class AwsKind(Kind):
    """A resource type of AWS.

    `updated_on` is everything that `replaced_on` leaves, because each type's schema was read
    whole: what is not ForceNew there changes in place. A type that was not says so itself.
    Moving a resource to another region always replaces it (hashicorp/terraform-provider-aws
    website/docs/guides/enhanced-region-support.html.markdown).
    """

    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})
    id_prefix: ClassVar[str] = ""
    """What the id starts with, such as `vpc`; a type named otherwise overrides `identify`."""
    arn_service: ClassVar[str] = "ec2"
    arn_type: ClassVar[str] = ""
    """The resource part of the ARN before the slash; empty for a type without an ARN."""

    def check(self, call: Call, old: Properties | None) -> Properties:
        """Adds the provider's own validation to the SDK's. Raises `Invalid` with all of it."""
        inputs = super().check(call, old)
        problems = [*_tag_problems(inputs), *self.problems(inputs)]
        if problems:
            raise Invalid(*problems)
        return inputs

    def problems(self, inputs: Properties) -> Iterable[Problem]:
        """What the provider's validation says of inputs that fit the SDK's class."""
        return ()

    def autoname(self, call: Call, old: Properties | None) -> Properties:
        """As the default, but a given name prefix leaves the name to the cloud."""
        if self.autonamed is not None and given(call.inputs, self._prefix_input()):
            return call.inputs
        return super().autoname(call, old)

    def physical_name(self, call: Call, world: World) -> str:
        """The name in the cloud: as given, or the given prefix and 26 digits."""
        field = self.autonamed or "name"
        name = text(call.inputs, field)
        prefix = text(call.inputs, self._prefix_input()) or ""
        return name or prefix + str(int(world.fresh_hex(call.urn, 20), 16)).zfill(26)[:26]

    def identify(self, call: Call, world: World) -> str:
        """`<id_prefix>-<17 hex>`."""
        return f"{self.id_prefix}-{world.fresh_hex(call.urn, 17)}"

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Asks `refuse`, then answers. Raises `Refusal` where the cloud would."""
        self.refuse(call, None, world)
        made_id, outputs = super().create(call, world)
        region = region_of(call.scope, call.inputs)
        common: Properties = {"tagsAll": strings(call.inputs, "tags"), "region": region}
        if self.arn_type:
            common["arn"] = arn(self.arn_service, region, f"{self.arn_type}/{made_id}")
        return made_id, {**common, **outputs}

    def update(self, call: Call, old: Thing, world: World) -> Properties:
        """Asks `refuse`, then changes in place. Raises `Refusal` where the cloud would."""
        self.refuse(call, old, world)
        kept = super().update(call, old, world)
        return {
            **kept,
            "tagsAll": strings(call.inputs, "tags"),
            "region": region_of(call.scope, old.outputs),
        }

    def refuse(self, call: Call, old: Thing | None, world: World) -> None:
        """Raises `Refusal` where the cloud would not make the resource so; `old` on an update."""

    def _prefix_input(self) -> str:
        return f"{self.autonamed or 'name'}Prefix"


def must_exist(
    world: World, token: str, wanted: str | None, scope: str | None, error: str
) -> Thing | None:
    """The thing with that id, None where the id is not known yet.

    Raises `Refusal` where nothing of the type has it: it was deleted, or is made too late.
    """
    if wanted is None:
        return None
    found = world.get(wanted, token, scope)
    if found is None:
        noun = token.rpartition(":")[2]
        raise Refusal(
            f"{error}: {noun} {wanted!r} does not exist; refer to the resource's output, or make "
            "this one depend on it"
        )
    return found


def dependency_violation(thing: Thing, users: Iterable[Thing], remedy: str) -> None:
    """Raises `Refusal` where anything still uses `thing`."""
    names = [f"{user.type.rpartition(':')[2]} {user.id}" for user in users]
    if names:
        noun = thing.type.rpartition(":")[2]
        raise Refusal(
            f"DependencyViolation: {noun} {thing.id} is in use by {', '.join(names)}; {remedy}"
        )


def _tag_problems(inputs: Properties) -> Iterator[Problem]:
    tags = strings(inputs, "tags")
    if len(tags) > MAX_TAGS:
        yield "tags", f"{len(tags)} tags are more than the {MAX_TAGS} that AWS takes"
    for key, value in tags.items():
        path = f"tags.{key}"
        if key.lower().startswith("aws:"):
            yield path, "tag keys that begin with 'aws:' belong to AWS: rename the tag"
        if not 1 <= len(key) <= 128:
            yield path, f"a tag key has 1 to 128 characters, this one {len(key)}"
        if len(value) > 256:
            yield path, f"a tag value has at most 256 characters, this one {len(value)}"
        if not re.fullmatch(r"[\w\s.:/=+\-@]*", key + value):
            yield path, "a tag holds letters, digits, spaces and _ . : / = + - @ only"
