"""What all AWS resource types share: account, region, ARNs, ids, tags, names.

Account and partition are made up (`111122223333`, `aws`); the region comes from the provider's
configuration. Ids depend only on the URN, so that two rehearsals of a stack give the same state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import given, strings, text
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

ACCOUNT: Final = "111122223333"
PARTITION: Final = "aws"
CREATED_AT: Final = "2026-11-01T00:00:00Z"
"""The same time for every resource, so that two states can be compared."""

MAX_TAGS: Final = 50
"""https://docs.aws.amazon.com/tag-editor/latest/userguide/tagging.html"""


def region_of(scope: str, properties: Properties | None = None) -> str:
    """Return the region of a call: the resource's own `region`, else the provider's."""
    return text(properties or {}, "region") or scope.rpartition(":")[2]


def arn(service: str, region: str, resource: str, account: str = ACCOUNT) -> str:
    """Return an ARN; `region` is empty for IAM and S3, `account` for S3 and managed policies."""
    return f"arn:{PARTITION}:{service}:{region}:{account}:{resource}"


class AwsKind(Kind):
    """A resource type of AWS.

    `updated_on` is every path outside `replaced_on`, because each type's schema was read
    completely: what is not ForceNew there changes in place. A type overrides it for properties that
    are newer than the schema that was read. Another region always replaces a resource
    (hashicorp/terraform-provider-aws website/docs/guides/enhanced-region-support.html.markdown).
    """

    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})
    id_prefix: ClassVar[str] = ""
    """Prefix of the id, such as `vpc`; a type with another form of id overrides `identify`."""
    arn_service: ClassVar[str] = "ec2"
    arn_type: ClassVar[str] = ""
    """The resource part of the ARN before the slash; empty for a type without an ARN."""

    def check(self, call: Call, old: Properties | None) -> Properties:
        """Add the provider's own validation to the SDK's. Raises `Invalid` with every problem."""
        inputs = super().check(call, old)
        problems = [*_tag_problems(inputs), *self.problems(inputs)]
        if problems:
            raise Invalid(*problems)
        return inputs

    def problems(self, inputs: Properties) -> Iterable[Problem]:
        """Return what the provider refuses in inputs that the SDK's class accepts."""
        return ()

    def autoname(self, call: Call, old: Properties | None) -> Properties:
        """Set the automatic name, unless a name prefix leaves the name to the cloud."""
        if self.autonamed is not None and given(call.inputs, self._prefix_input()):
            return call.inputs
        return super().autoname(call, old)

    def physical_name(self, call: Call, world: World) -> str:
        """Return the name in the cloud: as given, or the given prefix and 26 digits."""
        field = self.autonamed or "name"
        name = text(call.inputs, field)
        prefix = text(call.inputs, self._prefix_input()) or ""
        return name or prefix + str(int(world.fresh_hex(call.urn, 20), 16)).zfill(26)[:26]

    def identify(self, call: Call, world: World) -> str:
        """Return `<id_prefix>-<17 hex>`."""
        return f"{self.id_prefix}-{world.fresh_hex(call.urn, 17)}"

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Create the resource. Raises `Refusal` if the cloud would refuse it."""
        self.refuse(call, None, world)
        made_id, outputs = super().create(call, world)
        region = region_of(call.scope, call.inputs)
        common: Properties = {"tagsAll": strings(call.inputs, "tags"), "region": region}
        if self.arn_type:
            common["arn"] = arn(self.arn_service, region, f"{self.arn_type}/{made_id}")
        return made_id, {**common, **outputs}

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Change the resource in place. Raises `Refusal` if the cloud would refuse it."""
        self.refuse(call, old, world)
        kept = super().update(call, old, world)
        return {
            **kept,
            "tagsAll": strings(call.inputs, "tags"),
            "region": region_of(call.scope, old.outputs),
        }

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Raise `Refusal` if the cloud would refuse the inputs; `old` is given on an update."""

    def _prefix_input(self) -> str:
        return f"{self.autonamed or 'name'}Prefix"


def dependency_violation(resource: Resource, users: Iterable[Resource], remedy: str) -> None:
    """Raise `Refusal` while other resources use `resource`."""
    names = [f"{user.type.rpartition(':')[2]} {user.id}" for user in users]
    if names:
        noun = resource.type.rpartition(":")[2]
        raise Refusal(
            f"DependencyViolation: {noun} {resource.id} is in use by {', '.join(names)}; {remedy}"
        )


def _tag_problems(inputs: Properties) -> Iterator[Problem]:
    tags = strings(inputs, "tags")
    if len(tags) > MAX_TAGS:
        yield "tags", f"{len(tags)} tags are more than the {MAX_TAGS} that AWS accepts"
    for key, value in tags.items():
        path = f"tags.{key}"
        if key.lower().startswith("aws:"):
            yield path, "tag keys that begin with 'aws:' are reserved: rename the tag"
        if not 1 <= len(key) <= 128:
            yield path, f"a tag key has 1 to 128 characters, this one has {len(key)}"
        if len(value) > 256:
            yield path, f"a tag value has at most 256 characters, this one has {len(value)}"
        if not re.fullmatch(r"[\w\s.:/=+\-@]*", key + value):
            yield path, "a tag consists of letters, digits, spaces and _ . : / = + - @ only"
