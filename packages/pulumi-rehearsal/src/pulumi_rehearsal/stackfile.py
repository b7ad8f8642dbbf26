"""A stack file as the rehearsal uses it: which values are encrypted, and the text without them.

The rest of the text stays as it is, so that the engine reads what it reads in a real run. Encrypted
values and the entries about the encryption key are left out, because only the owner's key opens
them; the rehearsal sets placeholders instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import yaml

from pulumi_rehearsal.errors import RehearsalError

KEY_MATERIAL: Final = frozenset({"secretsprovider", "encryptedkey", "encryptionsalt"})


@dataclass(frozen=True, kw_only=True, slots=True)
class StackFile:
    """A stack file: its text without encrypted values, and the full keys of all its secrets."""

    path: Path
    name: str
    text: str
    secret_keys: tuple[str, ...]


def read(path: Path) -> StackFile:
    """Read a stack file. Raises `RehearsalError` if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RehearsalError(f"{path}: no such file; give the path of a stack file") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise RehearsalError(f"{path}: cannot be read: {reason}") from None
    return parse(text, path)


def parse(text: str, path: Path) -> StackFile:
    """Return the stack file with that text; `path` gives its name. Raises `RehearsalError`."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise RehearsalError(f"{path}: is not YAML: {_reason(error)}") from None
    name = stack_name(path)
    if root is None:
        return StackFile(path=path, name=name, text="", secret_keys=())
    if not isinstance(root, yaml.MappingNode):
        raise RehearsalError(f"{path}: is not a stack file; write config: and the values under it")
    keys: list[str] = []
    left_out: set[int] = set()
    for key, value, lines in _with_lines(root):
        if str(key.value) in KEY_MATERIAL:
            left_out.update(_whole_lines(root, lines, path))
        elif key.value == "config" and isinstance(value, yaml.MappingNode):
            for item_key, item, item_lines in _with_lines(value):
                if _is_encrypted(item):
                    keys.append(str(item_key.value))
                    left_out.update(_whole_lines(value, item_lines, path))
    kept = [line for number, line in enumerate(text.splitlines(True)) if number not in left_out]
    return StackFile(path=path, name=name, text="".join(kept), secret_keys=tuple(sorted(keys)))


def stack_name(path: Path) -> str:
    """Return the stack's name; the engine accepts letters, digits, `-`, `_` and `.`."""
    stem = path.stem.removeprefix("Pulumi.")
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.") or "stack"


def _reason(error: yaml.YAMLError) -> str:
    """Return what is wrong and where, without the line, which may hold a secret."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())


def _entries(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    return cast("list[tuple[yaml.Node, yaml.Node]]", node.value)


def _is_encrypted(node: yaml.Node) -> bool:
    if not isinstance(node, yaml.MappingNode):
        return False
    return [str(key.value) for key, _ in _entries(node)] == ["secure"]


def _with_lines(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node, range]]:
    """Yield each entry with the numbers of its lines."""
    for key, value in _entries(node):
        yield key, value, range(key.start_mark.line, _end_line(value))


def _end_line(node: yaml.Node) -> int:
    """Return the number of the line after the node.

    PyYAML ends a map in block style where the next key starts: use its last value.
    """
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _end_line(_entries(node)[-1][1])
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return node.end_mark.line
    return node.end_mark.line + 1


def _whole_lines(node: yaml.MappingNode, lines: range, path: Path) -> range:
    if node.flow_style:
        raise RehearsalError(
            f"{path}: line {lines.start + 1}: an encrypted value is inside a map in braces; "
            "write that map with one key per line"
        )
    return lines
