"""The leaves in which two JSON values differ: of resources, of stack files and of reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, cast

SECRET: Final = "[secret]"  # noqa: S105
"""The engine's mark for a secret value."""

Change = Literal["add", "update", "delete"]

ABSENT: Final = object()

_STEP: Final = re.compile(r'\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]')
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


class Leaf(NamedTuple):
    """One difference; `old` or `new` is `ABSENT` if only one side has the path."""

    path: str
    old: Any
    new: Any

    @property
    def change(self) -> Change:
        """Whether the value was added, updated or deleted."""
        if self.old is ABSENT:
            return "add"
        return "delete" if self.new is ABSENT else "update"


def leaves(
    old: Any, new: Any, path: str = "", *, one_sided: bool = True, engine: bool = False
) -> Iterator[Leaf]:
    """Yield every leaf that differs; null counts as absent, and an empty map as a leaf.

    `one_sided`: also descend into a map that only one side has. Otherwise it is one leaf.
    `engine`: values of the engine's events. Paths are property paths, lists are compared item by
    item, a text that holds JSON (an IAM policy) by its content, and two secrets always differ.
    """
    old, new = (ABSENT if value is None else value for value in (old, new))
    if engine and isinstance(old, str) and isinstance(new, str):
        parsed = _json(old), _json(new)
        old, new = (old, new) if None in parsed else parsed
    if _are(Mapping, old, new, one_sided=one_sided):
        maps = [cast("Mapping[Any, Any]", {} if value is ABSENT else value) for value in (old, new)]
        items = [(_join(path, str(key), engine), key) for key in {**maps[0], **maps[1]}]
        pairs = [(at, *(one.get(key, ABSENT) for one in maps)) for at, key in items]
    elif engine and _are(list, old, new, one_sided=one_sided):
        lists = [cast("list[Any]", [] if value is ABSENT else value) for value in (old, new)]
        pairs = [
            (f"{path}[{index}]", *(one[index] if index < len(one) else ABSENT for one in lists))
            for index in range(max(map(len, lists)))
        ]
    else:
        # In Python True == 1, which is a difference here; 1 and 1.0 are equal.
        same = old == new and isinstance(old, bool) == isinstance(new, bool)
        if not same or (engine and old == SECRET):
            yield Leaf(path, old, new)
        return
    for at, before, after in pairs:
        yield from leaves(before, after, at, one_sided=one_sided, engine=engine)


def at(value: Any, path: str) -> Any:
    """Return the value at a property path, or `ABSENT`."""
    for step in steps(path):
        if isinstance(value, Mapping) and step in value:
            value = cast("Mapping[Any, Any]", value)[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):  # pyright: ignore[reportUnknownArgumentType]
            value = cast("list[Any]", value)[step]
        else:
            return ABSENT
    return value


def steps(path: str) -> list[str | int]:
    """Return the keys and indices of a property path."""
    found: list[str | int] = []
    for match in _STEP.finditer(path):
        plain, index, quoted = match.groups()
        if index is not None:
            found.append(int(index))
        else:
            found.append(plain if plain is not None else re.sub(r"\\(.)", r"\1", quoted))
    return found


def _are(kind: type, *sides: Any, one_sided: bool) -> bool:
    """Return whether both sides are of that kind, or the only one is (unless it is empty)."""
    present = [side for side in sides if side is not ABSENT]
    if not all(isinstance(side, kind) for side in present):
        return False
    return len(present) == 2 or (one_sided and any(present))


def _json(text: str) -> Any:
    """Return the map or list that a text holds, or None."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return cast("Any", found) if isinstance(found, dict | list) else None


def _join(path: str, key: str, engine: bool) -> str:
    if engine and not _PLAIN_KEY.fullmatch(key):
        escaped = key.replace("\\", "\\\\").replace('"', '\\"')
        return f'{path}["{escaped}"]'
    return f"{path}.{key}" if path else key
