"""The stand-in for the random provider. Values are derived from the URN, so runs are repeatable.

A change of any input replaces the resource: hashicorp/terraform-provider-random
internal/provider/resource_{id,string,password}.go.
"""

from __future__ import annotations

import base64
import hashlib
import string
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties
from pulumi_rehearsal.standin.properties import flag, number, text
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

SPECIAL: Final = "!@#$%&*()-_=+[]{}<>:?"
"""The provider's default special characters."""


class RandomKind(Kind):
    """A value that is generated once, by `compute` of the subclass."""

    replaced_on: ClassVar[frozenset[str]] = frozenset({"*"})

    def check(self, call: Call, old: Properties | None) -> Properties:
        inputs = super().check(call, old)
        if found := list(self.limit_problems(inputs)):
            raise Invalid(*found)
        return inputs

    def limit_problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check the inputs beyond their types."""
        yield from ()

    def identify(self, call: Call, world: World) -> str:
        return str(self.compute(call, "", world)["result"])


class RandomId(RandomKind):
    """Random bytes, in four encodings."""

    token: ClassVar[str] = "random:index/randomId:RandomId"
    computed: ClassVar[frozenset[str]] = frozenset({"b64Std", "b64Url", "dec", "hex"})

    def limit_problems(self, inputs: Properties) -> Iterator[Problem]:
        yield from _at_least(inputs, "byteLength", 1)

    def identify(self, call: Call, world: World) -> str:
        return _unpadded(base64.urlsafe_b64encode(self._bytes(call)))

    def compute(self, call: Call, id: str, world: World) -> Properties:
        raw, prefix = self._bytes(call), text(call.inputs, "prefix") or ""
        return {
            "b64Std": prefix + base64.b64encode(raw).decode(),
            "b64Url": prefix + _unpadded(base64.urlsafe_b64encode(raw)),
            "dec": prefix + str(int.from_bytes(raw, "big")),
            "hex": prefix + raw.hex(),
        }

    def _bytes(self, call: Call) -> bytes:
        return _bytes_of(call, number(call.inputs, "byteLength") or 1)


class RandomString(RandomKind):
    """A random string of the chosen character classes."""

    token: ClassVar[str] = "random:index/randomString:RandomString"
    computed: ClassVar[frozenset[str]] = frozenset({"result"})

    def limit_problems(self, inputs: Properties) -> Iterator[Problem]:
        yield from _at_least(inputs, "length", 1)
        minimums = sum(number(inputs, f"min{name}") or 0 for name in _CLASSES)
        length = number(inputs, "length")
        if length is not None and minimums > length:
            yield "length", f"{length} is less than {minimums}, the sum of the classes' minimums"
        if all(flag(inputs, name.lower()) is False for name in _CLASSES):
            yield "length", "every class of characters is switched off: allow at least one"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        alphabets = {name: _alphabet(call.inputs, name) for name in _CLASSES}
        everything = "".join(alphabets.values())
        length = number(call.inputs, "length") or 0
        wanted = [
            alphabets[name]
            for name in _CLASSES
            for _ in range(number(call.inputs, f"min{name}") or 0)
        ]
        wanted += [everything] * (length - len(wanted))
        raw = _bytes_of(call, length)
        return {"result": "".join(a[byte % len(a)] for a, byte in zip(wanted, raw, strict=True))}


class RandomPassword(RandomString):
    """A random string that is secret."""

    token: ClassVar[str] = "random:index/randomPassword:RandomPassword"
    computed: ClassVar[frozenset[str]] = frozenset({"bcryptHash", "result"})
    secret_outputs: ClassVar[frozenset[str]] = frozenset({"bcryptHash", "result"})

    def identify(self, call: Call, world: World) -> str:
        # The real id is `none`; ids must be unique in the world.
        return f"none-{call.hex(8)}"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        # The hash has the format of bcrypt, but no password verifies against it.
        digest = base64.b64encode(_bytes_of(call, 40), altchars=b"./").decode()[:53]
        return {**super().compute(call, id, world), "bcryptHash": f"$2a$10${digest}"}


_CLASSES: Final = ("Lower", "Numeric", "Special", "Upper")


def scope(configuration: Properties) -> str:
    """Return the one scope: the provider has no configuration."""
    return "random"


def _alphabet(inputs: Properties, name: str) -> str:
    """Return the characters of a class; empty if the class is switched off."""
    if flag(inputs, name.lower()) is False:
        return ""
    special = text(inputs, "overrideSpecial")
    return {
        "Lower": string.ascii_lowercase,
        "Numeric": string.digits,
        "Special": special if special is not None else SPECIAL,
        "Upper": string.ascii_uppercase,
    }[name]


def _at_least(inputs: Properties, field: str, minimum: int) -> Iterator[Problem]:
    value: Any = inputs.get(field)
    if value is not UNKNOWN and isinstance(value, int) and value < minimum:
        yield field, f"must be at least {minimum}"


def _bytes_of(call: Call, count: int) -> bytes:
    """Return bytes that are the same in each run, and different after a replacement."""
    return hashlib.shake_256(f"{call.urn}#{call.generation}".encode()).digest(count)


def _unpadded(encoded: bytes) -> str:
    return encoded.decode().rstrip("=")


PACKAGE: Final = Package(
    name="random",
    kinds=(RandomId(), RandomString(), RandomPassword()),
    scope=scope,
)
