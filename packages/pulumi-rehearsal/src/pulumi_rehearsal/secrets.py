"""Placeholders for secrets, and the search for them in files that must not hold secrets.

A placeholder is recognisable text: to find one in a state, a log or a report proves that a real
secret would be there too. The scratch copy of the stack holds it encrypted.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

MARK: Final = "placeholder-"


def placeholders(names: Iterable[str]) -> dict[str, str]:
    """Return one placeholder for each name of a secret."""
    return {name: f"{MARK}{secrets.token_hex(16)}" for name in sorted(set(names))}


def leaks(values: Mapping[str, str], files: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Yield (name, file) for each file that holds a value as it is, in base64 or URL-quoted."""
    needles = {name: tuple(_spellings(value)) for name, value in values.items()}
    for file in files:
        content = file.read_bytes()
        for name, spellings in needles.items():
            if any(spelling in content for spelling in spellings):
                yield name, file


def _spellings(value: str) -> Iterator[bytes]:
    raw = value.encode()
    yield raw
    yield quote(value, safe="").encode()
    for shift in range(3):
        # In base64 of a longer text the value has one of three alignments, because a group encodes
        # three bytes. The groups at both ends encode neighbouring bytes too and are left out.
        encoded = base64.b64encode(b"\0" * shift + raw)
        yield encoded[4 if shift else 0 : len(encoded) - 4]
