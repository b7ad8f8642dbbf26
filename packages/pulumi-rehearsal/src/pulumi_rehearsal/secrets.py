"""Placeholders in the place of secrets, and the search for them where none may be.

A placeholder is marked text, so that finding one in a state, a log or a report proves that a real
secret would have leaked there. It exists in the scratch copy of the stack only, encrypted.
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
    """One placeholder for each secret's name."""
    return {name: f"{MARK}{secrets.token_hex(16)}" for name in sorted(set(names))}


def leaks(values: Mapping[str, str], files: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Each secret's name with each file where its value stands: as it is, base64 or URL-quoted."""
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
        # Base64 of longer text that holds the value: three bytes a group, so three alignments;
        # the groups at both ends hold neighbours too and are left out.
        encoded = base64.b64encode(b"\0" * shift + raw)
        yield encoded[4 if shift else 0 : len(encoded) - 4]
