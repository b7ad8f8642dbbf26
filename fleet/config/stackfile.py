"""Read a stack file as Pulumi's engine does: `yes` is text, and duplicate keys are errors."""

from __future__ import annotations

import re
from typing import Any, Final, cast

import yaml

PROJECT: Final = "gpu-runners"
STACK_KEY: Final = f"{PROJECT}:stack"


class NotAStackFile(ValueError):  # noqa: N818
    """The text is not a stack file; the message names the reason and the line."""


class Loader(yaml.SafeLoader):
    """A YAML loader for which `yes` and dates are text; only true and false are booleans."""

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
    """Return the value of `gpu-runners:stack` in the text of a stack file.

    Raises NotAStackFile if the text is not YAML, has a duplicate key, or lacks that value.
    """
    config = parsed(text).get("config")
    if not isinstance(config, dict) or STACK_KEY not in config:
        raise NotAStackFile(f"config has no key {STACK_KEY}; add it, with clusters: under it")
    return cast("dict[str, object]", config)[STACK_KEY]


def parsed(text: str) -> dict[str, Any]:
    """Return the data of a stack file's text. Raises NotAStackFile."""
    try:
        root = yaml.compose(text, Loader=Loader)
        if not isinstance(root, yaml.MappingNode):
            raise NotAStackFile(f"is not a stack file; add config: with {STACK_KEY}: under it")
        _refuse_duplicate_keys(root)
        return cast("dict[str, Any]", yaml.load(text, Loader=Loader))  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise NotAStackFile(f"is not YAML: {_reason(error)}") from None


def _reason(error: yaml.YAMLError) -> str:
    """Return the line number and the problem, without the line's text, which could be a secret."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return " ".join(str(error).split())


def _refuse_duplicate_keys(node: yaml.Node, seen: frozenset[int] = frozenset()) -> None:
    """Raise on a duplicate key: PyYAML would keep the last one, the engine refuses the file."""
    if id(node) in seen:
        raise NotAStackFile(f"line {node.start_mark.line + 1}: an alias contains itself")
    seen |= {id(node)}
    if isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            name = str(key.value)
            line = key.start_mark.line + 1
            if name in lines:
                raise NotAStackFile(
                    f"key {name!r} is a duplicate, line {line} (first in line {lines[name]}); "
                    "remove one of the two"
                )
            lines[name] = line
            _refuse_duplicate_keys(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for item in cast("list[yaml.Node]", node.value):
            _refuse_duplicate_keys(item, seen)
