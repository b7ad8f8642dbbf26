"""The stand-in for one resource type: its validation, its outputs, and what the cloud refuses.

A module of a cloud subclasses `Kind` once per resource type and `Lookup` once per data source.
`server.Server` calls them. The server does the decoding, the diff and the records in the `World`,
so that a `Kind` has only the rules of its type.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

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
    "Unfinished",
    "Unknown",
    "contains_unknown",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request of the engine, decoded.

    `scope` identifies the provider's configuration: `aws:us-west-2`, `kubernetes:<endpoint>`,
    `gitlab:https://gitlab.com`, `random`; its last part is `?` while the configuration is unknown.
    `preview` is false in `Kind.check`, where the engine does not send it. `generation` is the
    number of resources of this URN that were created before, so that a replacement has another one.
    """

    urn: str
    type: str
    name: str
    inputs: Properties
    scope: str
    preview: bool = False
    generation: int = 0
    settings: Properties = field(default_factory=dict[str, Any])
    """The configuration of the provider."""

    def hex(self, digits: int) -> str:
        """Return hexadecimal digits that depend on URN and generation: the same in each run."""
        return hashlib.sha256(f"{self.urn}#{self.generation}".encode()).hexdigest()[:digits]

    def resource(self, id: str, outputs: Properties, inputs: Properties | None = None) -> Resource:
        """Return the resource of this call, with the call's inputs unless others are given."""
        return Resource(
            urn=self.urn,
            type=self.type,
            name=self.name,
            id=id,
            scope=self.scope,
            inputs=self.inputs if inputs is None else inputs,
            outputs=outputs,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A resource in a stand-in cloud; `urn` is empty for one that the program did not create."""

    urn: str
    type: str
    name: str
    id: str
    scope: str
    inputs: Properties
    outputs: Properties


class Invalid(Exception):  # noqa: N818 - the answer of a check, not a fault
    """Inputs that the provider refuses in its check: pairs of (path, reason)."""

    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__("; ".join(f"{path}: {reason}" for path, reason in problems))
        self.problems = problems


class Refusal(Exception):  # noqa: N818
    """The cloud refuses a create, update or delete; the message has the rule and the remedy."""


class Unfinished(Refusal):
    """The resource exists, but does not become ready: the engine keeps it, and updates it next."""

    def __init__(self, message: str, *, id: str, outputs: Properties) -> None:
        super().__init__(message)
        self.id = id
        self.outputs = outputs


class Kind:
    """One resource type. Without overrides it accepts its inputs and returns them as outputs."""

    token: ClassVar[str]
    computed: ClassVar[frozenset[str]] = frozenset()
    """Outputs that the cloud determines: unknown in the preview of a create."""
    secret_outputs: ClassVar[frozenset[str]] = frozenset()
    replaced_on: ClassVar[frozenset[str]] = frozenset()
    """Input paths, without list indices, whose change replaces the resource; `*` is every path."""
    updated_on: ClassVar[frozenset[str]] = frozenset()
    """Input paths known to change in place; `*` is every path that is not in `replaced_on`.
    A change of any other path counts as one in place, with the warning `may replace`."""
    recomputed: ClassVar[frozenset[str]] = frozenset()
    """The part of `computed` that an update may change: unknown in the preview of an update."""
    delete_before_replace: ClassVar[bool] = False
    autonamed: ClassVar[str | None] = None
    """The input that the provider sets to `<logical name>-<7 hex>` if it is absent."""
    autoname_limit: ClassVar[int] = 255
    """Longest physical name in characters; the provider refuses a longer automatic one."""
    warning: ClassVar[str] = ""
    """A warning for the report if the program uses the type, empty for none."""

    def check(self, call: Call, old: Properties | None) -> Properties:
        """Return the inputs with defaults; `old` are the last checked ones.

        The default validates against the installed SDK's class and sets the automatic name.
        Raises `Invalid` with every path that is wrong.
        """
        problems = schema.problems(self.token, call.inputs)
        if problems:
            raise Invalid(*problems)
        return self.autoname(call, old)

    def autoname(self, call: Call, old: Properties | None) -> Properties:
        """Return `call.inputs` with the automatic name, which an existing resource keeps."""
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

    def replaces(self, settings: Properties) -> frozenset[str]:
        """Return `replaced_on` with this configuration of the provider."""
        return self.replaced_on

    @staticmethod
    def is_automatic(name: str, logical_name: str) -> bool:
        """Whether a physical name was set by `autoname`."""
        return re.fullmatch(re.escape(logical_name) + "-[0-9a-f]{7}", name) is not None

    def deletes_first(self, logical_name: str, old: Properties, new: Properties) -> bool:
        """Whether a replacement deletes the old resource before it creates the new one.

        Two resources cannot have the same fixed physical name: pulumi/pulumi-terraform-bridge
        pkg/tfbridge/schema.go, nameRequiresDeleteBeforeReplace.
        """
        if self.delete_before_replace or self.autonamed is None:
            return self.delete_before_replace
        kept = new.get(self.autonamed)
        same = kept is not None and kept == old.get(self.autonamed)
        return same and not self.is_automatic(str(kept), logical_name)

    def adopts(self, call: Call) -> bool:
        """Whether a create takes over a resource of the same id that exists already."""
        return False

    def read(self, id: str, scope: str, world: World) -> Resource | None:
        """Return the resource as the cloud shows it now, `None` if it does not exist."""
        return world.get(id, self.token, scope)

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Return id and outputs of the new resource. Raises `Refusal` if the cloud refuses it."""
        id = self.identify(call, world)
        return id, {**call.inputs, **self.compute(call, id, world)}

    def identify(self, call: Call, world: World) -> str:
        """Return the new resource's id: `<type>-<17 hex>`, another one for each generation."""
        short = call.type.rpartition(":")[2].lower()
        return f"{short}-{call.hex(17)}"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Return the values of `computed`, in the cloud's format."""
        return {}

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Return the outputs after a change in place: computed ones stay, removed inputs go."""
        kept = {key: value for key, value in old.outputs.items() if key not in old.inputs}
        return {**kept, **call.inputs}

    def delete(self, old: Resource, world: World) -> None:
        """Raise `Refusal` if the cloud would not delete the resource."""

    def delete_missing(self, id: str) -> None:
        """Raise `Refusal` if the provider fails to delete what is gone already; most do not."""

    def remove(self, old: Resource, world: World, timeout_s: float) -> None:
        """Remove the resource from the world, or wait at most `timeout_s` until it is gone.

        Zero is the provider's own limit. Raises `Refusal` if the resource is still there then.
        """
        world.remove(old)


class Lookup:
    """One data source, such as `aws:ec2/getVpc:getVpc`."""

    token: ClassVar[str]
    warning: ClassVar[str] = ""
    """A warning for the report if the program uses the data source, empty for none."""

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Return the data source's answer. Raises `Invalid` or `Refusal` as the provider would."""
        raise NotImplementedError


class Construct:
    """One remote component, such as `kubernetes:yaml/v2:ConfigGroup`."""

    token: ClassVar[str]

    def construct(self, request: ConstructRequest, scope: str, world: World) -> ConstructResponse:
        """Register the component and its children through `request.monitorEndpoint`."""
        raise NotImplementedError
