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

from rehearsal.errors import Refused

PROJECT: Final = "gpu-runners"
STACK_KEY: Final = f"{PROJECT}:stack"
KEY_MATERIAL: Final = frozenset({"secretsprovider", "encryptedkey", "encryptionsalt"})

Entry = tuple[yaml.Node, yaml.Node]


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
    """Reads a stack file. Raises `Refused` for what cannot be read, and for a key twice."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Refused(f"{path}: no such file; give the path of a stack file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: cannot be read: {_reason(error)}") from None
    try:
        root = yaml.compose(text, Loader=_Loader)
        if not isinstance(root, yaml.MappingNode):
            raise Refused(f"{path}: is not a stack file; write config: and, under it, {STACK_KEY}:")
        _refuse_twins(root, path)
        data = cast("dict[str, Any]", yaml.load(text, Loader=_Loader))  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise Refused(f"{path}: is not YAML: {_yaml_reason(error)}") from None
    config = data.get("config")
    encrypted = _encrypted(cast("dict[str, Any]", config)) if isinstance(config, dict) else ()
    named = (f"{PROJECT}:{name}" for name in _named_secrets(data))
    return StackFile(
        path=path,
        name=_stack_name(path),
        text=_without_encrypted(text, root, path),
        data=data,
        secret_keys=tuple(sorted({*encrypted, *named})),
    )


class _Loader(yaml.SafeLoader):
    """Reads what the engine reads: `yes` and dates are strings, only true and false are truth."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own class attribute
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag not in {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"}
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
    "tag:yaml.org,2002:bool", re.compile("true|True|TRUE|false|False|FALSE"), list("tTfF")
)


def _yaml_reason(error: yaml.YAMLError) -> str:
    """What and where, without the line itself."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not UTF-8 text"


def _stack_name(path: Path) -> str:
    """The engine takes letters, digits, `-`, `_` and `.`."""
    stem = path.stem.removeprefix("Pulumi.")
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.") or "stack"


def _refuse_twins(node: yaml.Node, path: Path, seen: frozenset[int] = frozenset()) -> None:
    """PyYAML keeps the last of two equal keys; the engine's reader refuses the file."""
    if id(node) in seen:
        raise Refused(f"{path}: line {node.start_mark.line + 1}: an alias contains itself")
    seen |= {id(node)}
    if isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in _entries(node):
            name = str(key.value)
            line = key.start_mark.line + 1
            if name in lines:
                raise Refused(
                    f"{path}: key {name!r} stands twice, line {line} (first in line "
                    f"{lines[name]}); remove one of the two"
                )
            lines[name] = line
            _refuse_twins(value, path, seen)
    elif isinstance(node, yaml.SequenceNode):
        for item in cast("list[yaml.Node]", node.value):
            _refuse_twins(item, path, seen)


def _entries(node: yaml.MappingNode) -> list[Entry]:
    return cast("list[Entry]", node.value)


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
                    str(inner.value) for inner, _ in _entries(item)
                ] == ["secure"]:
                    cut.append(_whole_lines(value, item_lines, path))
    gone = {number for lines in cut for number in lines}
    kept = [line for number, line in enumerate(text.splitlines(True)) if number not in gone]
    return "".join(kept)


def _with_lines(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node, range]]:
    """Every entry with the lines it takes up."""
    for key, value in _entries(node):
        end = value.end_mark
        yield key, value, range(key.start_mark.line, end.line + (1 if end.column else 0))


def _whole_lines(node: yaml.MappingNode, lines: range, path: Path) -> range:
    if node.flow_style:
        raise Refused(
            f"{path}: line {lines.start + 1}: an encrypted value stands in a map in braces; "
            "write that map with one key per line"
        )
    return lines
