"""A stack file of this repository: strictly read, with the names of the secrets that it uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pulumi_rehearsal import stackfile
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.stackfile import stack_name

from fleet.config.stackfile import PROJECT, STACK_KEY, NotAStackFile, parsed

__all__ = ["StackFile", "read", "stack_name"]


@dataclass(frozen=True, kw_only=True, slots=True)
class StackFile(stackfile.StackFile):
    """A stack file and its data, as the engine reads it."""

    data: dict[str, Any]

    @property
    def stack(self) -> object:
        """The value of `gpu-runners:stack`, `None` if it is absent."""
        return self.value(STACK_KEY)

    def value(self, key: str) -> object:
        """Return the value of a full key under `config`, `None` if it is absent."""
        config = self.data.get("config")
        return cast("dict[str, Any]", config).get(key) if isinstance(config, dict) else None


def read(path: Path) -> StackFile:
    """Read a stack file. Raises `RehearsalError`, for a duplicate key too."""
    file = stackfile.read(path)
    try:
        data = parsed(path.read_text(encoding="utf-8"))
    except NotAStackFile as error:
        raise RehearsalError(f"{path}: {error}") from None
    named = (f"{PROJECT}:{name}" for name in _named_secrets(data))
    return StackFile(
        path=path,
        name=file.name,
        text=file.text,
        secret_keys=tuple(sorted({*file.secret_keys, *named})),
        data=data,
    )


def _named_secrets(value: object) -> Iterator[str]:
    """Yield the name in every `{secret: name}`."""
    if isinstance(value, dict):
        mapping = cast("dict[str, object]", value)
        name = mapping.get("secret")
        if len(mapping) == 1 and isinstance(name, str):
            yield name
        for item in mapping.values():
            yield from _named_secrets(item)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _named_secrets(item)
