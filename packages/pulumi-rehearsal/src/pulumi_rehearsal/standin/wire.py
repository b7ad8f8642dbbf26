"""Conversion between the engine's protobuf structs and the plain properties of a `Kind`.

Signatures and sentinels: pulumi/pulumi sdk/go/common/resource/plugin/rpc.go and
sdk/go/common/resource/sig/sig.go. Whole numbers are floats on the wire. Assets and
archives stay mappings, as on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from google.protobuf import struct_pb2

from pulumi_rehearsal.standin.values import UNKNOWN, Properties, Unknown

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"
OUTPUT: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
RESOURCE: Final = "5cf8f73096256a8f31e491e813e4eb8e"
UNKNOWN_TEXT: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

_UNKNOWN_TEXTS: Final = frozenset(
    {
        UNKNOWN_TEXT,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)

Path = tuple[str | int, ...]
"""Keys and list indices that lead from the top of the properties to a value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoded:
    """Properties without markers, and the paths at which the engine marked a secret."""

    properties: Properties
    secrets: frozenset[Path]


def decode(struct: struct_pb2.Struct) -> Decoded:
    """Unwrap secrets and outputs; a whole number becomes an `int`, keys are sorted."""
    secrets: set[Path] = set()
    properties = {
        key: _plain(value, (key,), secrets) for key, value in sorted(_fields(struct).items())
    }
    return Decoded(properties=properties, secrets=frozenset(secrets))


def encode(
    properties: Mapping[str, Any], secrets: frozenset[Path] = frozenset()
) -> struct_pb2.Struct:
    """Reverse `decode`: mark the values at `secrets`; a path without a value is ignored."""
    struct = struct_pb2.Struct()
    for key, value in properties.items():
        _fields(struct)[key].CopyFrom(_value(value, (key,), secrets))
    return struct


def _fields(struct: struct_pb2.Struct) -> dict[str, struct_pb2.Value]:
    return cast("dict[str, struct_pb2.Value]", struct.fields)


def _plain(value: struct_pb2.Value, path: Path, secrets: set[Path]) -> Any:
    match value.WhichOneof("kind"):
        case "string_value":
            text = value.string_value
            return UNKNOWN if text in _UNKNOWN_TEXTS else text
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case "list_value":
            items = enumerate(value.list_value.values)
            return [_plain(item, (*path, index), secrets) for index, item in items]
        case "struct_value":
            return _plain_struct(_fields(value.struct_value), path, secrets)
        case _:
            return None


def _plain_struct(fields: dict[str, struct_pb2.Value], path: Path, secrets: set[Path]) -> Any:
    signature = fields[SIGNATURE].string_value if SIGNATURE in fields else ""
    if signature == RESOURCE:
        return _referred(fields)
    if signature in (SECRET, OUTPUT):
        if signature == SECRET or ("secret" in fields and fields["secret"].bool_value):
            secrets.add(path)
        return _plain(fields["value"], path, secrets) if "value" in fields else UNKNOWN
    return {key: _plain(value, (*path, key), secrets) for key, value in sorted(fields.items())}


def _referred(fields: dict[str, struct_pb2.Value]) -> Any:
    """Return the id of a resource, or the URN of a component, which has no id."""
    if "id" not in fields:
        return fields["urn"].string_value
    id = fields["id"].string_value
    return UNKNOWN if id in ("", *_UNKNOWN_TEXTS) else id


def _value(value: Any, path: Path, secrets: frozenset[Path]) -> struct_pb2.Value:
    if path not in secrets:
        return _unmarked(value, path, secrets)
    marked = struct_pb2.Struct()
    fields = _fields(marked)
    fields[SIGNATURE].string_value = SECRET
    fields["value"].CopyFrom(_unmarked(value, path, secrets))
    return struct_pb2.Value(struct_value=marked)


def _unmarked(value: Any, path: Path, secrets: frozenset[Path]) -> struct_pb2.Value:
    match value:
        case Unknown():
            return struct_pb2.Value(string_value=UNKNOWN_TEXT)
        case None:
            return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
        case bool():
            return struct_pb2.Value(bool_value=value)
        case int() | float():
            return struct_pb2.Value(number_value=value)
        case str():
            return struct_pb2.Value(string_value=value)
        case _:
            return _nested(value, path, secrets)


def _nested(value: Any, path: Path, secrets: frozenset[Path]) -> struct_pb2.Value:
    if isinstance(value, Mapping):
        struct = struct_pb2.Struct()
        for key, item in cast("Mapping[str, Any]", value).items():
            _fields(struct)[key].CopyFrom(_value(item, (*path, key), secrets))
        return struct_pb2.Value(struct_value=struct)
    if isinstance(value, list | tuple):
        items = enumerate(cast("list[Any]", value))
        values = [_value(item, (*path, index), secrets) for index, item in items]
        return struct_pb2.Value(list_value=struct_pb2.ListValue(values=values))
    where = ".".join(str(part) for part in path)
    raise TypeError(f"{where}: {type(value).__name__} cannot be sent to the engine")
