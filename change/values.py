"""Leaves of two values that differ, by the engine's property paths.

A text that holds JSON (an IAM policy, a job pod's template) is compared by what it says, not by its
spelling.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from change.document import MOST_TEXT, Change, Property, Value

UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine writes for a value that is known only after `up`
(pulumi/pulumi sdk/go/common/resource/plugin/rpc.go, UnknownStringValue)."""

SECRET: Final = "[secret]"
"""What the engine writes in the place of one."""
OUTPUT: Final = re.compile(r"output<[^>]*>")
"""How events show an unknown value."""

ABSENT: Final = object()

_STEP: Final = re.compile(r'\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]')
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def steps(path: str) -> list[str | int]:
    """The keys and indices of a property path."""
    found: list[str | int] = []
    for match in _STEP.finditer(path):
        plain, index, quoted = match.groups()
        if index is not None:
            found.append(int(index))
        else:
            found.append(plain if plain is not None else re.sub(r"\\(.)", r"\1", quoted))
    return found


def at(value: Any, path: str) -> Any:
    """What stands at a path; `ABSENT` where nothing does."""
    for step in steps(path):
        if isinstance(value, Mapping) and step in value:
            value = cast("Mapping[Any, Any]", value)[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):  # pyright: ignore[reportUnknownArgumentType]
            value = cast("list[Any]", value)[step]
        else:
            return ABSENT
    return value


def differences(old: Any, new: Any, path: str) -> Iterator[Property]:
    """Every leaf that differs, `path` before each."""
    old, new = _plain(old), _plain(new)
    if SECRET in (old, new):
        if old != new or old == SECRET:
            yield Property(path=_clipped(path, 500), change=_change(old, new), secret=True)
        return
    if isinstance(old, str) and isinstance(new, str):
        before, after = _json(old), _json(new)
        if before is not None and after is not None:
            old, new = before, after
    if _is_map(old, new):
        before_map = cast("Mapping[str, Any]", {} if old is ABSENT else old)
        after_map = cast("Mapping[str, Any]", {} if new is ABSENT else new)
        for key in {**before_map, **after_map}:
            yield from differences(
                before_map.get(key, ABSENT), after_map.get(key, ABSENT), _join(path, key)
            )
    elif _is_list(old, new):
        before_list = cast("list[Any]", [] if old is ABSENT else old)
        after_list = cast("list[Any]", [] if new is ABSENT else new)
        for index in range(max(len(before_list), len(after_list))):
            yield from differences(
                before_list[index] if index < len(before_list) else ABSENT,
                after_list[index] if index < len(after_list) else ABSENT,
                f"{path}[{index}]",
            )
    elif not _same(old, new):
        unknown = _is_unknown(new)
        yield Property(
            path=_clipped(path, 500),
            change=_change(old, new),
            old=scalar(old),
            new=None if unknown else scalar(new),
            known=not unknown,
        )


def scalar(value: Any) -> Value:
    """A value that `diff.json` can hold: containers as compact JSON, long text cut."""
    if value is ABSENT or value is None:
        return None
    if isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _clipped(text, MOST_TEXT)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 2]} …"


def _plain(value: Any) -> Any:
    return ABSENT if value is None else value


def _same(old: Any, new: Any) -> bool:
    """True is not 1, and 1 is 1.0."""
    return old == new and isinstance(old, bool) == isinstance(new, bool)


def _is_unknown(value: Any) -> bool:
    return isinstance(value, str) and (value == UNKNOWN or OUTPUT.fullmatch(value) is not None)


def _is_map(old: Any, new: Any) -> bool:
    return _both(old, new, Mapping)


def _is_list(old: Any, new: Any) -> bool:
    return _both(old, new, list)


def _both(old: Any, new: Any, kind: type) -> bool:
    """Whether both are of that kind, or one is and the other is absent; empty ones are leaves."""
    sides = [side for side in (old, new) if side is not ABSENT]
    return bool(sides) and all(isinstance(side, kind) for side in sides) and any(sides)


def _json(text: str) -> Any:
    """The map or list that a text holds; None where it holds none."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return cast("Any", found) if isinstance(found, dict | list) else None


def _change(old: Any, new: Any) -> Change:
    if old is ABSENT:
        return "add"
    return "delete" if new is ABSENT else "update"


def _join(path: str, key: str) -> str:
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'{path}["{escaped}"]'
