"""Pulumi's wire form of properties, as plain data and back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pulumi.runtime import rpc

UNKNOWN: str = rpc.UNKNOWN
"""The wire form of a value that a preview does not know."""

Path = tuple[str | int, ...]

_SIGNATURE = rpc._special_sig_key
_SECRET = rpc._special_secret_sig


@dataclass(frozen=True, kw_only=True, slots=True)
class Values:
    """Inputs or outputs as they went over the wire: markers of secrets removed but remembered."""

    data: dict[str, Any]
    secret_paths: frozenset[Path]

    def is_secret(self, *path: str | int) -> bool:
        """Whether the value at a path, or anything around it, is marked secret."""
        return any(path[:length] in self.secret_paths for length in range(1, len(path) + 1))

    def texts(self) -> Iterator[tuple[Path, str]]:
        """Yield every string, keys of maps included, with its path."""
        yield from _texts(self.data, ())


def values(raw: dict[str, Any]) -> Values:
    """Decode a map of properties."""
    secret_paths: set[Path] = set()
    return Values(data=_plain(raw, (), secret_paths), secret_paths=frozenset(secret_paths))


def _plain(value: Any, path: Path, secret_paths: set[Path]) -> Any:
    if isinstance(value, dict):
        if value.get(_SIGNATURE) == _SECRET:
            secret_paths.add(path)
            return _plain(value["value"], path, secret_paths)
        return {key: _plain(item, (*path, key), secret_paths) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, (*path, index), secret_paths) for index, item in enumerate(value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)  # JSON has one kind of number
    return value


def may_become(preview: Any, update: Any) -> bool:
    """Whether the values of a preview equal those of the update, wherever they are known."""
    if preview == UNKNOWN:
        return True
    if isinstance(preview, dict) and isinstance(update, dict):
        same = preview.keys() == update.keys()
        return same and all(may_become(value, update[key]) for key, value in preview.items())
    if isinstance(preview, list) and isinstance(update, list):
        return len(preview) == len(update) and all(map(may_become, preview, update))
    return preview == update


def unknown(added: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return computed outputs as a preview has them: unknown, unless they repeat inputs."""
    return {
        key: unknown(value, inputs[key])
        if isinstance(value, dict) and isinstance(inputs.get(key), dict)
        else UNKNOWN
        for key, value in added.items()
    }


def merged(inputs: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs, completed with computed outputs."""
    whole = dict(inputs)
    for key, value in added.items():
        if isinstance(value, dict) and isinstance(whole.get(key), dict):
            whole[key] = merged(whole[key], value)
        else:
            whole.setdefault(key, value)
    return whole


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), key
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
    elif isinstance(value, str):
        yield path, value


def secret(value: Any) -> dict[str, Any]:
    """Mark a value secret, as the engine does with additional secret outputs."""
    return {_SIGNATURE: _SECRET, "value": value}
