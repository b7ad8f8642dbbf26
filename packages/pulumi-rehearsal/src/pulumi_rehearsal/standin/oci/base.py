"""What every OCI resource type of the stand-in shares: OCIDs, compartments, tags, times.

An OCID is `ocid1.<type>.oc1.<region>.<60 characters>`, its last part made up from the URN and
nothing else, so that two rehearsals of one stack file give one state. The region comes from the
provider configuration. Replacement and what changes in place: the marks `(Updatable)` in the
docstrings of the installed pulumi_oci, which a test compares with the tables here, and ForceNew in
oracle/terraform-provider-oci internal/service/{core,containerengine,identity} where they differ.
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
"""One instant for everything, in the provider's own spelling."""

TENANCY: Final = "ocid1.tenancy.oc1..aaaaaaaarehearsal"

MAX_FREEFORM_TAGS: Final = 10
"""https://docs.oracle.com/en-us/iaas/Content/Tagging/Concepts/taggingoverview.htm#limits"""

_OCID: Final = re.compile(r"ocid1\.[a-z0-9]+\.oc\d+\.[a-z0-9-]*\.[a-z0-9]+")


def region_of(scope: str) -> str:
    """The region of the provider that a call came through."""
    return scope.rpartition(":")[2]


def ocid(kind: str, region: str, seed: str) -> str:
    """An OCID; `region` is empty for identity's own resources."""
    digest = base64.b32encode(hashlib.sha256(f"{kind}/{region}/{seed}".encode()).digest())
    unique = digest.decode().lower().rstrip("=")
    return f"ocid1.{kind}.oc1.{regions.in_ocid(region)}.aaaaaaaa{unique}"


def is_ocid(value: str, *kinds: str) -> bool:
    """Whether `value` has the form of an OCID, of one of `kinds` where any are named."""
    return _OCID.fullmatch(value) is not None and (not kinds or value.split(".")[1] in kinds)


class OciKind(Kind):
    """A resource type of OCI.

    `updated_on` is everything that `replaced_on` leaves, because the marks cover each type whole;
    a type whose sources are silent on something says so itself.
    """

    updated_on: ClassVar[frozenset[str]] = frozenset({"*"})
    id_type: ClassVar[str] = ""
    """The second part of the OCID."""
    regional: ClassVar[bool] = True
    state: ClassVar[str] = "AVAILABLE"
    """What the resource says of itself once it is made; empty for a type without a state."""
    error: ClassVar[str] = "404-NotAuthorizedOrNotFound"

    def check(self, call: Call, old: Properties | None) -> Properties:
        """Adds the provider's own validation to the SDK's. Raises `Invalid` with all of it."""
        inputs = super().check(call, old)
        problems = [*_compartment_problems(inputs), *_tag_problems(inputs), *self.problems(inputs)]
        if problems:
            raise Invalid(*problems)
        return inputs

    def problems(self, inputs: Properties) -> Iterable[Problem]:
        """What the provider's validation says of inputs that fit the SDK's class."""
        return ()

    def identify(self, call: Call, world: World) -> str:
        """An OCID of `id_type`."""
        region = region_of(call.scope) if self.regional else ""
        return ocid(self.id_type, region, world.fresh_hex(call.urn, 32))

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Asks `refuse`, then answers. Raises `Refusal` where the cloud would."""
        self.refuse(call, None, world)
        made_id, outputs = super().create(call, world)
        common: Properties = {"timeCreated": CREATED_AT} if "timeCreated" in self.computed else {}
        if self.state:
            common["state"] = self.state
        return made_id, {**common, **outputs}

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Asks `refuse`, then changes in place. Raises `Refusal` where the cloud would."""
        self.refuse(call, old, world)
        return super().update(call, old, world)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Raises `Refusal` where the cloud would not make the resource so; `old` on an update."""


def refuse_while_used(thing: Resource, users: Iterable[Resource], remedy: str) -> None:
    """Raises `Refusal` where anything still uses `thing`."""
    names = [f"{user.type.rpartition(':')[2]} {user.name}" for user in users]
    if names:
        noun = thing.type.rpartition(":")[2]
        raise Refusal(
            f"409-Conflict: {noun} {thing.name} is in use by {', '.join(names)}; {remedy}"
        )


def _compartment_problems(inputs: Properties) -> Iterator[Problem]:
    compartment = text(inputs, "compartmentId")
    if compartment is not None and not is_ocid(compartment, "compartment", "tenancy"):
        yield "compartmentId", f"{compartment!r} is no OCID of a compartment or tenancy"


def _tag_problems(inputs: Properties) -> Iterator[Problem]:
    tags = strings(inputs, "freeformTags")
    if len(tags) > MAX_FREEFORM_TAGS:
        yield (
            "freeformTags",
            f"{len(tags)} free-form tags are more than the {MAX_FREEFORM_TAGS} that OCI takes",
        )
    for name, value in tags.items():
        path = f"freeformTags.{name}"
        if not re.fullmatch(r"[!-\-/-~]{1,100}", name):
            yield path, "a tag key is 1 to 100 printable characters without periods and spaces"
        if len(value) > 256:
            yield path, f"a tag value has at most 256 characters, this one {len(value)}"
    for name in strings(inputs, "definedTags"):
        if name.count(".") != 1:
            yield f"definedTags.{name}", "a defined tag is written <namespace>.<key>"
