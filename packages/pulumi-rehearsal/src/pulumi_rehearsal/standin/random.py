"""The stand-in for the random provider: values that hang on the URN and on nothing else.

Every input of these types makes a new value when it changes: hashicorp/terraform-provider-random
internal/provider/resource_{id,string,password,pet,uuid,integer}.go.
"""

from __future__ import annotations

import base64
import hashlib
import string
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Invalid, Kind, Properties
from pulumi_rehearsal.standin.properties import flag, lookup, number, text
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

Problem = tuple[str, str]

SPECIAL: Final = "!@#$%&*()-_=+[]{}<>:?"
"""The provider's default special characters."""

_ADVERBS: Final = ("boldly", "calmly", "duly", "early", "firmly", "gladly", "jointly", "kindly")
_ADJECTIVES: Final = ("able", "brave", "clever", "eager", "fond", "gentle", "keen", "lucky")
_ANIMALS: Final = ("badger", "crane", "dolphin", "gecko", "ibex", "lynx", "marten", "otter")


class RandomKind(Kind):
    """A value drawn once; subclasses say how."""

    replaced_on: ClassVar[frozenset[str]] = frozenset({"*"})

    def check(self, call: Call, old: Properties | None) -> Properties:
        """The SDK's types, then the type's own limits."""
        inputs = super().check(call, old)
        if found := list(self.limit_problems(inputs)):
            raise Invalid(*found)
        return inputs

    def limit_problems(self, inputs: Properties) -> Iterator[Problem]:
        """What the type forbids beyond types."""
        yield from ()

    def identify(self, call: Call, world: World) -> str:
        """The value itself, for most types."""
        return str(self.compute(call, "", world)["result"])


class RandomId(RandomKind):
    """Bytes, spelled in four ways."""

    token: ClassVar[str] = "random:index/randomId:RandomId"
    computed: ClassVar[frozenset[str]] = frozenset({"b64Std", "b64Url", "dec", "hex"})

    def limit_problems(self, inputs: Properties) -> Iterator[Problem]:
        """At least one byte."""
        yield from _at_least(inputs, "byteLength", 1)

    def identify(self, call: Call, world: World) -> str:
        """The bytes in URL-safe base64, without padding or prefix."""
        return _unpadded(base64.urlsafe_b64encode(self._bytes(call)))

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Each spelling has the prefix."""
        raw, prefix = self._bytes(call), text(call.inputs, "prefix") or ""
        return {
            "b64Std": prefix + base64.b64encode(raw).decode(),
            "b64Url": prefix + _unpadded(base64.urlsafe_b64encode(raw)),
            "dec": prefix + str(int.from_bytes(raw, "big")),
            "hex": prefix + raw.hex(),
        }

    def _bytes(self, call: Call) -> bytes:
        return _drawn(call, number(call.inputs, "byteLength") or 1)


class RandomString(RandomKind):
    """Characters of chosen classes."""

    token: ClassVar[str] = "random:index/randomString:RandomString"
    computed: ClassVar[frozenset[str]] = frozenset({"result"})

    def limit_problems(self, inputs: Properties) -> Iterator[Problem]:
        """The minimums of the classes have to fit, and a class that is asked for to be allowed."""
        yield from _at_least(inputs, "length", 1)
        minimums = sum(number(inputs, f"min{name}") or 0 for name in _CLASSES)
        length = number(inputs, "length")
        if length is not None and minimums > length:
            yield "length", f"{length} is less than the {minimums} that the minimums ask for"
        if all(flag(inputs, name.lower()) is False for name in _CLASSES):
            yield "length", "no class of characters is allowed"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """`length` characters; the classes' minimums come first."""
        alphabets = {name: _alphabet(call.inputs, name) for name in _CLASSES}
        everything = "".join(alphabets.values())
        length = number(call.inputs, "length") or 0
        wanted = [
            alphabets[name]
            for name in _CLASSES
            for _ in range(number(call.inputs, f"min{name}") or 0)
        ]
        wanted += [everything] * (length - len(wanted))
        drawn = _drawn(call, length)
        return {"result": "".join(a[byte % len(a)] for a, byte in zip(wanted, drawn, strict=True))}


class RandomPassword(RandomString):
    """The same, kept secret."""

    token: ClassVar[str] = "random:index/randomPassword:RandomPassword"
    computed: ClassVar[frozenset[str]] = frozenset({"bcryptHash", "result"})
    secret_outputs: ClassVar[frozenset[str]] = frozenset({"bcryptHash", "result"})

    def identify(self, call: Call, world: World) -> str:
        """The provider says `none` for each; here the world has to tell two apart."""
        return f"none-{call.hex(8)}"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """The hash has bcrypt's shape only."""
        digest = base64.b64encode(_drawn(call, 40), altchars=b"./").decode()[:53]
        return {**super().compute(call, id, world), "bcryptHash": f"$2a$10${digest}"}


class RandomPet(RandomKind):
    """A name in words; it is the id."""

    token: ClassVar[str] = "random:index/randomPet:RandomPet"

    def identify(self, call: Call, world: World) -> str:
        """Adverbs, one adjective, one animal."""
        length = number(call.inputs, "length") or 2
        lists = (_ADVERBS,) * max(0, length - 2) + (_ADJECTIVES, _ANIMALS)
        drawn = _drawn(call, length)
        words = [words[byte % 8] for words, byte in zip(lists[-length:], drawn, strict=True)]
        separator = lookup(call.inputs, "separator")
        prefix = text(call.inputs, "prefix")
        return ("-" if separator is None else str(separator)).join(
            [*([prefix] if prefix else []), *words]
        )


class RandomUuid(RandomKind):
    """A version 4 UUID."""

    token: ClassVar[str] = "random:index/randomUuid:RandomUuid"
    computed: ClassVar[frozenset[str]] = frozenset({"result"})

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Sixteen bytes with the bits of version and variant set."""
        return {"result": str(uuid.UUID(bytes=_drawn(call, 16), version=4))}


class RandomInteger(RandomKind):
    """A whole number between two others, both included."""

    token: ClassVar[str] = "random:index/randomInteger:RandomInteger"
    computed: ClassVar[frozenset[str]] = frozenset({"result"})

    def limit_problems(self, inputs: Properties) -> Iterator[Problem]:
        """The range is not empty."""
        least, most = number(inputs, "min"), number(inputs, "max")
        if least is not None and most is not None and least > most:
            yield "min", f"{least} is more than max, {most}"

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Near enough to even for a rehearsal."""
        least, most = number(call.inputs, "min") or 0, number(call.inputs, "max") or 0
        return {"result": least + int.from_bytes(_drawn(call, 8), "big") % (most - least + 1)}


_CLASSES: Final = ("Lower", "Numeric", "Special", "Upper")


def scope(configuration: Properties) -> str:
    """There is one random."""
    return "random"


def _alphabet(inputs: Properties, name: str) -> str:
    """The characters of a class, empty where it is switched off."""
    if flag(inputs, name.lower()) is False:
        return ""
    special = text(inputs, "overrideSpecial")
    return {
        "Lower": string.ascii_lowercase,
        "Numeric": string.digits,
        "Special": special if special is not None else SPECIAL,
        "Upper": string.ascii_uppercase,
    }[name]


def _at_least(inputs: Properties, field: str, least: int) -> Iterator[Problem]:
    value: Any = inputs.get(field)
    if value is not UNKNOWN and isinstance(value, int) and value < least:
        yield field, f"must be at least {least}"


def _drawn(call: Call, count: int) -> bytes:
    """Bytes of this resource's own, the same in each run, others after a replacement."""
    return hashlib.shake_256(f"{call.urn}#{call.generation}".encode()).digest(count)


def _unpadded(encoded: bytes) -> str:
    return encoded.decode().rstrip("=")


PACKAGE: Final = Package(
    name="random",
    kinds=(
        RandomId(),
        RandomString(),
        RandomPassword(),
        RandomPet(),
        RandomUuid(),
        RandomInteger(),
    ),
    scope=scope,
)
