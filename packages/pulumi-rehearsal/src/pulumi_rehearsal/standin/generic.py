"""Resource types and data sources without a stand-in of their own: outputs are made up.

A made-up output has the type that the SDK declares, so that a program can pass it on. No rule of
the cloud is checked and each change counts as a change in place; the report says so once per type.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, ClassVar, Final, cast, get_args, get_origin

from pulumi_rehearsal.standin import schema
from pulumi_rehearsal.standin.kind import Call, Kind, Lookup
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.values import Properties
from pulumi_rehearsal.standin.world import World

WARNING: Final = (
    "has no stand-in: its inputs are checked against the SDK, its outputs are made up, and no rule "
    "of the cloud is checked"
)


LOOKUP_WARNING: Final = (
    "has no stand-in: its answer is made up, with empty lists; pass lookups=[...] for real values"
)


class GenericKind(Kind):
    """A resource type without rules; `kind_of` makes a subclass for each type."""

    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})
    warning: ClassVar[str] = WARNING
    output_types: ClassVar[Mapping[str, Any]] = {}

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {name: _made_up(name, hint, id) for name, hint in self.output_types.items()}


def kind_of(token: str) -> Kind | None:
    """Return the kind of a resource type, or `None` if no installed SDK has the type."""
    args = schema.args_class(token)
    if args is None:
        return None
    inputs = schema.fields(args)
    outputs = {name: hint for name, hint in schema.outputs(token).items() if name not in inputs}
    members = {
        "token": token,
        "computed": frozenset(outputs),
        "autonamed": "name" if "name" in inputs and not inputs["name"].required else None,
        "output_types": outputs,
    }
    return cast("Kind", type("Generic", (GenericKind,), members)())


class GenericLookup(Lookup):
    """A data source without rules; `lookup_of` makes a subclass for each."""

    warning: ClassVar[str] = LOOKUP_WARNING
    output_types: ClassVar[Mapping[str, Any]] = {}

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        source = self.token.rpartition(":")[2]
        made_up = {name: _made_up(name, hint, source) for name, hint in self.output_types.items()}
        return {**made_up, **args}


def lookup_of(token: str) -> Lookup | None:
    """Return the data source, or `None` if no installed SDK has it."""
    outputs = schema.lookup_outputs(token)
    if outputs is None:
        return None
    members = {"token": token, "output_types": outputs}
    return cast("Lookup", type("Generic", (GenericLookup,), members)())


def packages(known: frozenset[str]) -> list[Package]:
    """Return a package for each installed Pulumi SDK that is none of `known`."""
    return [
        Package(name=name, scope=lambda _, name=name: name) for name in sorted(_installed() - known)
    ]


@functools.cache
def _installed() -> frozenset[str]:
    """Names of the providers whose Python SDK is installed, such as `azure-native`."""
    names = (one.metadata["Name"].lower().replace("_", "-") for one in metadata.distributions())
    return frozenset(
        name.removeprefix("pulumi-")
        for name in names
        if name.startswith("pulumi-") and name not in ("pulumi-policy", "pulumi-rehearsal")
    )


def _made_up(name: str, hint: Any, id: str) -> Any:
    origin = get_origin(hint) or hint
    if origin in (bool, int, float):
        return origin()
    if origin is str:
        return id if name == "id" else f"{name}-of-{id}"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return []
    # An object, a mapping, or a union of types.
    is_mapping = isinstance(origin, type) and issubclass(origin, Mapping)
    return {} if is_mapping or not get_args(hint) else None
