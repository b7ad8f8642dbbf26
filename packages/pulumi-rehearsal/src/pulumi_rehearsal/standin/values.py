"""The value of a property that the engine does not know yet."""

from __future__ import annotations

from typing import Any, Final, final

Properties = dict[str, Any]
"""Wire names (camelCase) to plain Python values; secrets unwrapped, `UNKNOWN` if not known yet."""


@final
class Unknown:
    """A value that is known only after `up`; use its one instance, `UNKNOWN`.

    Its truth value is false, so that `inputs.get("name") or default` treats it as absent.
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
    """Whether `value` is unknown or contains an unknown value at any depth."""
    match value:
        case Unknown():
            return True
        case dict():
            return any(contains_unknown(item) for item in value.values())  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        case list():
            return any(contains_unknown(item) for item in value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        case _:
            return False
