"""Reading a stack file as the engine reads it: `yes` and dates are strings, no key stands twice."""

from __future__ import annotations

import re
from typing import Any, Final, cast

import yaml

PROJECT: Final = "gpu-runners"
STACK_KEY: Final = f"{PROJECT}:stack"

Entry = tuple[yaml.Node, yaml.Node]


class NotAStackFile(ValueError):  # noqa: N818 (it reads as what it says)
    """The text is no stack file; the message says why, and where in it."""


class Loader(yaml.SafeLoader):
    """Reads what the engine reads: `yes` and dates are strings, only true and false are truth."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own class attribute
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag not in {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"}
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
    "tag:yaml.org,2002:bool", re.compile("true|True|TRUE|false|False|FALSE"), list("tTfF")
)


def stack_value(text: str) -> object:
    """The value of `gpu-runners:stack` in a stack file's text.

    Raises NotAStackFile where it is not YAML, has a key twice, or no such value.
    """
    _, data = parsed(text)
    config = data.get("config")
    if not isinstance(config, dict) or STACK_KEY not in config:
        raise NotAStackFile(f"config has no key {STACK_KEY}; write it with clusters: in it")
    return cast("dict[str, object]", config)[STACK_KEY]


def parsed(text: str) -> tuple[yaml.MappingNode, dict[str, Any]]:
    """A stack file's text as YAML's nodes and as data. Raises NotAStackFile."""
    try:
        root = yaml.compose(text, Loader=Loader)
        if not isinstance(root, yaml.MappingNode):
            raise NotAStackFile(f"is not a stack file; write config: and, under it, {STACK_KEY}:")
        _refuse_twins(root)
        return root, cast("dict[str, Any]", yaml.load(text, Loader=Loader))  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise NotAStackFile(f"is not YAML: {_reason(error)}") from None


def entries(node: yaml.MappingNode) -> list[Entry]:
    """Keys and values of a map."""
    return cast("list[Entry]", node.value)


def _reason(error: yaml.YAMLError) -> str:
    """What and where, without the line itself."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())


def _refuse_twins(node: yaml.Node, seen: frozenset[int] = frozenset()) -> None:
    """PyYAML keeps the last of two equal keys; the engine's reader refuses the file."""
    if id(node) in seen:
        raise NotAStackFile(f"line {node.start_mark.line + 1}: an alias contains itself")
    seen |= {id(node)}
    if isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in entries(node):
            name = str(key.value)
            line = key.start_mark.line + 1
            if name in lines:
                raise NotAStackFile(
                    f"key {name!r} stands twice, line {line} (first in line "
                    f"{lines[name]}); remove one of the two"
                )
            lines[name] = line
            _refuse_twins(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for item in cast("list[yaml.Node]", node.value):
            _refuse_twins(item, seen)
