"""How our stack files are read: strictly, as the engine reads them, with the named secrets."""

from pathlib import Path

import pytest
from pulumi_rehearsal.errors import RehearsalError

from rehearsal import stackfile


def read(tmp_path: Path, text: str) -> stackfile.StackFile:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text(text)
    return stackfile.read(path)


def test_every_named_secret_is_found_and_the_text_stays(tmp_path: Path) -> None:
    text = (
        "# a comment\nconfig:\n  gpu-runners:stack:\n    a: {secret: one}\n"
        "    b: [{c: {secret: two}}]\n    d: {secret: x, with: more}\n"
    )
    file = read(tmp_path, text)
    assert file.text == text
    assert file.name == "dev"
    assert file.secret_keys == ("gpu-runners:one", "gpu-runners:two")
    assert file.stack == {
        "a": {"secret": "one"},
        "b": [{"c": {"secret": "two"}}],
        "d": {"secret": "x", "with": "more"},
    }


def test_encrypted_values_count_as_secrets(tmp_path: Path) -> None:
    file = read(tmp_path, "config:\n  gpu-runners:one:\n    secure: v1:AAA\n  a:b: 1\n")
    assert file.secret_keys == ("gpu-runners:one",)
    assert file.text == "config:\n  a:b: 1\n"


def test_words_and_dates_are_read_as_the_engine_reads_them(tmp_path: Path) -> None:
    text = "config:\n  gpu-runners:stack: {a: yes, b: 2026-11-21, c: true, d: 1.30, e: off}\n"
    assert read(tmp_path, text).stack == {
        "a": "yes",
        "b": "2026-11-21",
        "c": True,
        "d": 1.3,
        "e": "off",
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", "line 5"),
        ("a: [{b: 1, b: 2}]\n", "line 1"),
        ("", "is not a stack file"),
        ("a: &x [*x]\n", "line 1: an alias contains itself"),
        ("? [a]\n: b\n", "found unhashable key"),
    ],
)
def test_a_file_that_the_engine_refuses_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(RehearsalError) as raised:
        read(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path / 'Pulumi.dev.yaml'}: ")
    assert reason in str(raised.value)
