"""Placeholders, and the search for them."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import quote

import pytest
from pulumi_rehearsal import secrets

VALUE = "placeholder-0123456789abcdef0123456789abcdef"


def test_each_name_has_a_placeholder_of_its_own_and_of_this_run() -> None:
    first = secrets.placeholders(["a", "b", "a"])
    assert list(first) == ["a", "b"]
    assert len({*first.values(), *secrets.placeholders(["a", "b"]).values()}) == 4
    assert all(value.startswith("placeholder-") for value in first.values())


@pytest.mark.parametrize(
    "content",
    [
        VALUE,
        f"before {VALUE} after",
        quote(VALUE, safe=""),
        base64.b64encode(VALUE.encode()).decode(),
        base64.b64encode(f"a{VALUE}".encode()).decode(),
        base64.b64encode(f"ab{VALUE}z".encode()).decode(),
        base64.b64encode(f"abc{VALUE}yz".encode()).decode(),
    ],
)
def test_a_secret_is_found_in_every_spelling(tmp_path: Path, content: str) -> None:
    file = tmp_path / "state.json"
    file.write_text(content)
    assert list(secrets.leaks({"token": VALUE, "other": "x" * 40}, [file])) == [("token", file)]


def test_other_text_is_no_leak(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text("placeholder-" + VALUE.removeprefix("placeholder-")[::-1])
    assert list(secrets.leaks({"token": VALUE}, [file])) == []
