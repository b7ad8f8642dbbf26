"""What a property may hold besides plain data: the value the engine does not know yet."""

from __future__ import annotations

from typing import Any, Final, final

Properties = dict[str, Any]
"""Wire names (camelCase) to plain Python; secrets unwrapped, `UNKNOWN` where nothing is known."""


@final
class Unknown:
    """A value that only a later `up` will give; use the one instance, `UNKNOWN`.

    It is false, so that `inputs.get("name") or default` treats it as absent.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        return False

    def __copy__(self) -> Unknown:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Unknown:
        return self


UNKNOWN: Final = Unknown()


def contains_unknown(value: object) -> bool:
    """Whether `value` is unknown, or holds an unknown at any depth."""
    match value:
        case Unknown():
            return True
        case dict():
            return any(contains_unknown(item) for item in value.values())  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        case list():
            return any(contains_unknown(item) for item in value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        case _:
            return False
