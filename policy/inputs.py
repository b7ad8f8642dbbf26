"""A resource's inputs as plain data, with `UNKNOWN` for values that are not known yet.

Keys are those of the provider, in camelCase. In a preview, outputs of other resources are unknown:
a rule skips such a property in the preview and checks it in `up`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast


class Unknown:
    """The type of `UNKNOWN`, an output of another resource that does not exist yet."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """One resource that the engine passes to a policy."""

    type: str
    name: str
    inputs: Mapping[str, Any]

    def at(self, *path: str) -> Any:
        """Return the input at that path; UNKNOWN if a part of it is, `None` if it is absent."""
        value: Any = self.inputs
        for key in path:
            if value is UNKNOWN:
                return UNKNOWN
            value = (
                cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
            )
        return value

    def items(self, *path: str) -> list[Any] | Unknown:
        """Return the list at that path; empty if it is absent."""
        value = self.at(*path)
        if value is UNKNOWN:
            return UNKNOWN
        return list(cast("Sequence[Any]", value)) if isinstance(value, list) else []


def plain(value: Any, unknown: type[Exception]) -> Any:
    """Copy the proxies of pulumi-policy, which raise `unknown` for an unknown value."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        return {key: _known(mapping.__getitem__, key, unknown) for key in mapping}
    if isinstance(value, Sequence):
        sequence = cast("Sequence[Any]", value)
        return [_known(sequence.__getitem__, index, unknown) for index in range(len(sequence))]
    return value


def _known(get: Callable[[Any], Any], key: Any, unknown: type[Exception]) -> Any:
    try:
        return plain(get(key), unknown)
    except unknown:
        return UNKNOWN


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string with its path; user data also decoded from base64."""
    if isinstance(value, str):
        yield path, value
        if path.rpartition(".")[2] in {"userData", "user_data"}:
            yield path, decoded(value)
    elif isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, Any]", value).items():
            yield from texts(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from texts(inner, f"{path}[{index}]")


def decoded(text: str) -> str:
    """Return the text encoded in base64; empty if it is not base64."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def is_true(value: Any) -> bool:
    """Return whether a flag is set. Some flags of AWS are strings."""
    return value is True or value == "true"
