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


def test_the_text_of_a_file_without_encrypted_values_stays(tmp_path: Path) -> None:
    text = "# a comment\nconfig:\n  app:stack:\n    a: [1, {b: 2}]\n"
    file = read(tmp_path, text)
    assert (file.text, file.name, file.secret_keys) == (text, "dev", ())
    assert read(tmp_path, "").secret_keys == ()


def test_encrypted_values_are_left_out_and_count_as_secrets(tmp_path: Path) -> None:
    file = read(
        tmp_path,
        "encryptionsalt: v1:abc\nsecretsprovider: awskms://x\nconfig:\n"
        "  app:one:\n    secure: v1:AAA\n  app:two: {secure: v1:BBB}\n"
        "  # stays\n  app:stack:\n    a: 1\n  app:three:\n    secure: v1:CCC\n",
    )
    assert file.text == "config:\n  # stays\n  app:stack:\n    a: 1\n"
    assert file.secret_keys == ("app:one", "app:three", "app:two")


def test_the_entry_after_an_encrypted_value_stays(tmp_path: Path) -> None:
    plain = "  app:region: west\n"
    for value in ("\n    secure: v1:AAA\n", "\n    secure: >-\n      v1:AAA\n", ' {secure: "x"}\n'):
        file = read(tmp_path, f"config:\n  app:token:{value}{plain}")
        assert (file.text, file.secret_keys) == (f"config:\n{plain}", ("app:token",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: [\n", "is not YAML: line 3: expected the node content"),
        ("- a\n", "is not a stack file; write config:"),
        ("{config: {a: {secure: x}}}\n", "line 1: an encrypted value is inside a map in braces"),
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
