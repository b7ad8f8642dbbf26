"""A stack file as the rehearsal takes it: read strictly, its secrets named, its copy made.

The copy keeps the file's text, so that the engine reads exactly what it will read in earnest. Left
out are values that only the owner's key opens, and what says which key that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import yaml

from fleet.config.stackfile import PROJECT, STACK_KEY, NotAStackFile, entries, parsed
from pulumi_rehearsal.errors import RehearsalError

KEY_MATERIAL: Final = frozenset({"secretsprovider", "encryptedkey", "encryptionsalt"})


@dataclass(frozen=True, kw_only=True, slots=True)
class StackFile:
    """A stack file: `text` without encrypted entries, and the full keys of all its secrets."""

    path: Path
    name: str
    text: str
    data: dict[str, Any]
    secret_keys: tuple[str, ...]

    @property
    def stack(self) -> object:
        """The value of `gpu-runners:stack`, None where it is absent."""
        return self.value(STACK_KEY)

    def value(self, key: str) -> object:
        """The value of a full key under `config`, None where it is absent."""
        config = self.data.get("config")
        return cast("dict[str, Any]", config).get(key) if isinstance(config, dict) else None


def read(path: Path) -> StackFile:
    """Reads a stack file. Raises `RehearsalError` for what cannot be read, and for a key twice."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RehearsalError(f"{path}: no such file; give the path of a stack file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RehearsalError(f"{path}: cannot be read: {_reason(error)}") from None
    try:
        root, data = parsed(text)
    except NotAStackFile as error:
        raise RehearsalError(f"{path}: {error}") from None
    config = data.get("config")
    encrypted = _encrypted(cast("dict[str, Any]", config)) if isinstance(config, dict) else ()
    named = (f"{PROJECT}:{name}" for name in _named_secrets(data))
    return StackFile(
        path=path,
        name=stack_name(path),
        text=_without_encrypted(text, root, path),
        data=data,
        secret_keys=tuple(sorted({*encrypted, *named})),
    )


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not UTF-8 text"


def stack_name(path: Path) -> str:
    """What its stack is called; the engine takes letters, digits, `-`, `_` and `.`."""
    stem = path.stem.removeprefix("Pulumi.")
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.") or "stack"


def _named_secrets(value: object) -> Iterator[str]:
    """The name in every `{secret: name}`."""
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


def _encrypted(config: dict[str, Any]) -> tuple[str, ...]:
    return tuple(key for key, value in config.items() if _is_encrypted(value))


def _is_encrypted(value: object) -> bool:
    return isinstance(value, dict) and list(cast("dict[str, object]", value)) == ["secure"]


def _without_encrypted(text: str, root: yaml.MappingNode, path: Path) -> str:
    cut: list[range] = []
    for key, value, lines in _with_lines(root):
        if key.value in KEY_MATERIAL:
            cut.append(_whole_lines(root, lines, path))
        elif key.value == "config" and isinstance(value, yaml.MappingNode):
            for _, item, item_lines in _with_lines(value):
                if isinstance(item, yaml.MappingNode) and [
                    str(inner.value) for inner, _ in entries(item)
                ] == ["secure"]:
                    cut.append(_whole_lines(value, item_lines, path))
    gone = {number for lines in cut for number in lines}
    kept = [line for number, line in enumerate(text.splitlines(True)) if number not in gone]
    return "".join(kept)


def _with_lines(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node, range]]:
    """Every entry with the lines it takes up."""
    for key, value in entries(node):
        end = value.end_mark
        yield key, value, range(key.start_mark.line, end.line + (1 if end.column else 0))


def _whole_lines(node: yaml.MappingNode, lines: range, path: Path) -> range:
    if node.flow_style:
        raise RehearsalError(
            f"{path}: line {lines.start + 1}: an encrypted value stands in a map in braces; "
            "write that map with one key per line"
        )
    return lines
