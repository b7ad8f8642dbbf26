"""What a stand-in knows about one resource type: its checks, its answers, its refusals.

A module of a cloud subclasses `Kind` once per resource type and `Lookup` once per data source, and
lists the instances in a tuple `KINDS`. `server.Server` calls them; it owns the wire, the diff and
the world's bookkeeping, so that a `Kind` holds only what is peculiar to its type.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pulumi_rehearsal.standin import schema
from pulumi_rehearsal.standin.values import UNKNOWN, Properties, Unknown, contains_unknown

if TYPE_CHECKING:
    from pulumi.runtime.proto.provider_pb2 import ConstructRequest, ConstructResponse

    from pulumi_rehearsal.standin.world import World

__all__ = [
    "UNKNOWN",
    "Call",
    "Construct",
    "Invalid",
    "Kind",
    "Lookup",
    "Properties",
    "Refusal",
    "Resource",
    "Unknown",
    "contains_unknown",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request of the engine, decoded.

    `scope` names the provider configuration that it came through: `aws:us-west-2`,
    `kubernetes:<endpoint>`, `gitlab:https://gitlab.com`, `random`; its last part is `?` while the
    configuration is unknown. `preview` is false in `Kind.check`: the engine does not say there.
    `generation` counts the resources of this URN that were created before: a replacement has another.
    """

    urn: str
    type: str
    name: str
    inputs: Properties
    scope: str
    preview: bool = False
    generation: int = 0

    def hex(self, digits: int) -> str:
        """Hexadecimal digits that are this resource's own: the same in each run."""
        return hashlib.sha256(f"{self.urn}#{self.generation}".encode()).hexdigest()[:digits]


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """What exists in a stand-in cloud; `urn` is empty for what a cloud made by itself."""

    urn: str
    type: str
    name: str
    id: str
    scope: str
    inputs: Properties
    outputs: Properties


class Invalid(Exception):  # noqa: N818 - what a check says, not a mishap
    """Inputs that the provider refuses before anything is planned: (path, reason) pairs."""

    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__("; ".join(f"{path}: {reason}" for path, reason in problems))
        self.problems = problems


class Refusal(Exception):  # noqa: N818
    """The cloud says no to a create, update or delete; the message words rule and remedy."""


class Kind:
    """One resource type. Override what the type does otherwise than echo its inputs."""

    token: ClassVar[str]
    computed: ClassVar[frozenset[str]] = frozenset()
    """Outputs known only after the create: unknown in its preview."""
    secret_outputs: ClassVar[frozenset[str]] = frozenset()
    replaced_on: ClassVar[frozenset[str]] = frozenset()
    """Input paths, without list indices, whose change makes a new resource; `*` is every path."""
    updated_on: ClassVar[frozenset[str]] = frozenset()
    """Input paths known to change in place; `*` is every path that `replaced_on` does not name.
    A change in neither set is treated as one in place, and warned of as `may replace`."""
    recomputed: ClassVar[frozenset[str]] = frozenset()
    """The part of `computed` that any update may change: unknown in its preview."""
    delete_before_replace: ClassVar[bool] = False
    autonamed: ClassVar[str | None] = None
    """The input that the provider fills with `<logical name>-<7 hex>` where it is absent."""
    autoname_limit: ClassVar[int] = 255
    """Longest physical name in characters; the provider refuses a longer automatic one."""

    def check(self, call: Call, old: Properties | None) -> Properties:
        """The inputs as the provider will take them; `old` are the last checked ones.

        The default validates against the installed SDK's class and fills the automatic name.
        Raises `Invalid` naming every path that is wrong.
        """
        problems = schema.problems(self.token, call.inputs)
        if problems:
            raise Invalid(*problems)
        return self.autoname(call, old)

    def autoname(self, call: Call, old: Properties | None) -> Properties:
        """`call.inputs` with the automatic name, which an existing resource keeps."""
        field = self.autonamed
        if field is None or call.inputs.get(field) is not None:
            return call.inputs
        kept = (old or {}).get(field)
        name = kept if isinstance(kept, str) else f"{call.name}-{call.hex(7)}"
        if len(name) > self.autoname_limit:
            reason = (
                f"the automatic name {name!r} has {len(name)} characters, the limit is "
                f"{self.autoname_limit}: shorten the resource's name or set {field!r}"
            )
            raise Invalid((field, reason))
        return {**call.inputs, field: name}

    @staticmethod
    def is_automatic(name: str, logical_name: str) -> bool:
        """Whether a physical name is one that `autoname` gave."""
        return re.fullmatch(re.escape(logical_name) + "-[0-9a-f]{7}", name) is not None

    def deletes_first(self, logical_name: str, old: Properties, new: Properties) -> bool:
        """Whether a replacement deletes the old resource before it makes the new one.

        A fixed physical name would collide with itself: pulumi/pulumi-terraform-bridge
        pkg/tfbridge/schema.go, nameRequiresDeleteBeforeReplace.
        """
        if self.delete_before_replace or self.autonamed is None:
            return self.delete_before_replace
        kept = new.get(self.autonamed)
        same = kept is not None and kept == old.get(self.autonamed)
        return same and not self.is_automatic(str(kept), logical_name)

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Id and outputs of the new resource. Raises `Refusal` where the cloud would."""
        id = self.identify(call, world)
        return id, {**call.inputs, **self.compute(call, id, world)}

    def identify(self, call: Call, world: World) -> str:
        """The new resource's id: `<type>-<17 hex>`, another one for each life of a URN."""
        short = call.type.rpartition(":")[2].lower()
        return f"{short}-{call.hex(17)}"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """The values of `computed`, in the shape the cloud gives them."""
        return {}

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Outputs after a change in place: computed ones stay, dropped inputs go."""
        kept = {key: value for key, value in old.outputs.items() if key not in old.inputs}
        return {**kept, **call.inputs}

    def delete(self, old: Resource, world: World) -> None:
        """Raises `Refusal` where the cloud would not delete it."""


class Lookup:
    """One data source, such as `aws:ec2/getVpc:getVpc`."""

    token: ClassVar[str]

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """The data source's answer. Raises `Invalid` or `Refusal` as the provider would."""
        raise NotImplementedError


class Construct:
    """One remote component, such as `kubernetes:yaml/v2:ConfigGroup`."""

    token: ClassVar[str]

    def construct(self, request: ConstructRequest, scope: str, world: World) -> ConstructResponse:
        """Registers the component and its children through `request.monitorEndpoint`."""
        raise NotImplementedError
