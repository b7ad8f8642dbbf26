"""The table of all checks in docs/troubleshooting.md."""

from __future__ import annotations

from pathlib import Path as File

import pytest

from fleet.checks import __main__ as command
from fleet.checks.judge import CHECKS


def test_the_document_has_the_table_of_the_checks() -> None:
    document = command.FILE.read_text(encoding="utf-8")
    assert document == command.with_table(document), "run: make schema"


def test_every_check_has_one_row() -> None:
    rows = command.table().splitlines()[2:]
    assert len(rows) == len(CHECKS)
    for check in CHECKS:
        (row,) = [row for row in rows if row.startswith(f"| `{check.identifier}` |")]
        assert f"| {check.severity}" in row
        assert ("error if strict" in row) is check.strict
        assert row.endswith(f"| {check.summary} |")


@pytest.mark.parametrize("document", ["", command.BEGIN, f"{command.END}\n{command.BEGIN}"])
def test_a_document_without_its_markers_is_refused(document: str) -> None:
    with pytest.raises(ValueError, match="lacks a line"):
        command.with_table(document)


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    command.main([])
    assert capsys.readouterr().out == f"{command.table()}\n"


def test_the_command_writes_between_the_markers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: File
) -> None:
    file = tmp_path / "document.md"
    file.write_text(f"before\n{command.BEGIN}\nold\n{command.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(command, "FILE", file)
    command.main(["--write"])
    text = f"before\n{command.BEGIN}\n{command.table()}\n{command.END}\nafter\n"
    assert file.read_text(encoding="utf-8") == text
