"""How a stack file is read and copied."""

from __future__ import annotations

from pathlib import Path

import pytest
from pulumi_rehearsal import stackfile
from pulumi_rehearsal.errors import RehearsalError


def read(tmp_path: Path, text: str, name: str = "Pulumi.dev.yaml") -> stackfile.StackFile:
    path = tmp_path / name
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


def test_encrypted_values_are_left_out_and_count_as_secrets(tmp_path: Path) -> None:
    file = read(
        tmp_path,
        "encryptionsalt: v1:abc\nsecretsprovider: awskms://x\nconfig:\n"
        "  gpu-runners:one:\n    secure: v1:AAA\n  gpu-runners:two: {secure: v1:BBB}\n"
        "  # stays\n  gpu-runners:stack:\n    a: 1\n  gpu-runners:three:\n    secure: v1:CCC\n",
    )
    assert file.text == "config:\n  # stays\n  gpu-runners:stack:\n    a: 1\n"
    assert file.secret_keys == ("gpu-runners:one", "gpu-runners:three", "gpu-runners:two")


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
    ("text", "words"),
    [
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", "key 'c' is a duplicate, line 5 (first in line 3)"),
        ("a: [{b: 1, b: 2}]\n", "key 'b' is a duplicate, line 1"),
        ("a: 1\nb: [\n", "is not YAML: line 3: expected the node content"),
        ("- a\n", "is not a stack file; write config:"),
        ("", "is not a stack file; write config:"),
        ("a: &x [*x]\n", "line 1: an alias contains itself"),
        ("{config: {a: {secure: x}}}\n", "line 1: an encrypted value stands in a map in braces"),
        ("? [a]\n: b\n", "is not YAML: line 1: found unhashable key"),
        ("a: \x07", "is not YAML: unacceptable character"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(RehearsalError) as raised:
        read(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path / 'Pulumi.dev.yaml'}: {words}")


def test_a_refusal_does_not_repeat_the_line(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError) as raised:
        read(tmp_path, "a: hunter2: b\n")
    assert "hunter2" not in str(raised.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="no such file; give the path of a stack file"):
        stackfile.read(tmp_path / "none.yaml")
    with pytest.raises(RehearsalError, match="cannot be read: Is a directory"):
        stackfile.read(tmp_path)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RehearsalError, match="it is not UTF-8 text"):
        stackfile.read(tmp_path / "x.yaml")


@pytest.mark.parametrize(
    ("name", "stack"),
    [("Pulumi.prod.yaml", "prod"), ("my stack (2).yaml", "my-stack-2"), ("...yaml", "stack")],
)
def test_the_stack_is_called_after_the_file(tmp_path: Path, name: str, stack: str) -> None:
    assert read(tmp_path, "config: {}\n", name).name == stack
