"""The base class of OCI's resource types: OCIDs, compartments, tags and times.

An OCID is `ocid1.<type>.oc1.<region>.<60 characters>`. Its last part is derived from the URN, so
that two runs of a program give the same state. The region comes from the provider configuration.
`replaced_on` and `updated_on` come from the marks `(Updatable)` in the docstrings of the installed
pulumi_oci, with which a test compares them, and from ForceNew in oracle/terraform-provider-oci
internal/service/{core,containerengine,identity} where the two differ.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import regions
from pulumi_rehearsal.standin.properties import strings, text
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

CREATED_AT: Final = "2026-11-01 00:00:00 +0000 UTC"
"""The creation time of every resource, in the provider's format."""

MAX_FREEFORM_TAGS: Final = 10
"""https://docs.oracle.com/en-us/iaas/Content/Tagging/Concepts/taggingoverview.htm#limits"""

_OCID: Final = re.compile(r"ocid1\.[a-z0-9]+\.oc\d+\.[a-z0-9-]*\.[a-z0-9]+")


def region_of(scope: str) -> str:
    """Return the region of the provider configuration."""
    return scope.rpartition(":")[2]


def ocid(kind: str, region: str, seed: str) -> str:
    """Return an OCID; `region` is empty for resources of the identity service."""
    digest = base64.b32encode(hashlib.sha256(f"{kind}/{region}/{seed}".encode()).digest())
    unique = digest.decode().lower().rstrip("=")
    return f"ocid1.{kind}.oc1.{regions.in_ocid(region)}.aaaaaaaa{unique}"


def is_ocid(value: str, *kinds: str) -> bool:
    """Whether `value` has the form of an OCID, and its type is one of `kinds` if any are given."""
    return _OCID.fullmatch(value) is not None and (not kinds or value.split(".")[1] in kinds)


class OciKind(Kind):
    """A resource type of OCI.

    By default every input that is not in `replaced_on` changes in place, because the docstrings
    mark all inputs. A type with inputs that have no mark lists its `updated_on` itself.
    """

    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})
    id_type: ClassVar[str] = ""
    """The second part of the OCID."""
    regional: ClassVar[bool] = True
    state: ClassVar[str] = "AVAILABLE"
    """The output `state` after the create; empty for a type without one."""
    error: ClassVar[str] = "404-NotAuthorizedOrNotFound"

    def check(self, call: Call, old: Properties | None) -> Properties:
        inputs = super().check(call, old)
        problems = [*_compartment_problems(inputs), *_tag_problems(inputs), *self.problems(inputs)]
        if problems:
            raise Invalid(*problems)
        return inputs

    def problems(self, inputs: Properties) -> Iterable[Problem]:
        """Check inputs that fit the SDK's class by the provider's own validation."""
        return ()

    def identify(self, call: Call, world: World) -> str:
        region = region_of(call.scope) if self.regional else ""
        return ocid(self.id_type, region, world.fresh_hex(call.urn, 32))

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        self.refuse(call, None, world)
        made_id, outputs = super().create(call, world)
        common: Properties = {"timeCreated": CREATED_AT} if "timeCreated" in self.computed else {}
        if self.state:
            common["state"] = self.state
        return made_id, {**common, **outputs}

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        self.refuse(call, old, world)
        return super().update(call, old, world)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Raise `Refusal` if the cloud would; `old` is `None` for a create."""


def refuse_while_used(resource: Resource, users: Iterable[Resource], remedy: str) -> None:
    """Raise `Refusal` if there are any `users` of `resource`."""
    names = [f"{user.type.rpartition(':')[2]} {user.name}" for user in users]
    if names:
        noun = resource.type.rpartition(":")[2]
        raise Refusal(
            f"409-Conflict: {noun} {resource.name} is in use by {', '.join(names)}; {remedy}"
        )


def _compartment_problems(inputs: Properties) -> Iterator[Problem]:
    compartment = text(inputs, "compartmentId")
    if compartment is not None and not is_ocid(compartment, "compartment", "tenancy"):
        yield "compartmentId", f"{compartment!r} is not the OCID of a compartment or tenancy"


def _tag_problems(inputs: Properties) -> Iterator[Problem]:
    tags = strings(inputs, "freeformTags")
    if len(tags) > MAX_FREEFORM_TAGS:
        yield (
            "freeformTags",
            f"has {len(tags)} free-form tags, the limit is {MAX_FREEFORM_TAGS}",
        )
    for name, value in tags.items():
        path = f"freeformTags.{name}"
        if not re.fullmatch(r"[!-\-/-~]{1,100}", name):
            yield (
                path,
                "a tag's key must be 1 to 100 printable characters without periods and spaces",
            )
        if len(value) > 256:
            yield path, f"has {len(value)} characters, the limit for a tag's value is 256"
    for name in strings(inputs, "definedTags"):
        if name.count(".") != 1:
            yield f"definedTags.{name}", "a defined tag is written <namespace>.<key>"
