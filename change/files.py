"""The files of a diff."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pulumi_rehearsal import secrets

from change import comment
from change.document import Document

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A diff, the output of the engine, and the folder of its files."""

    document: Document
    engine_output: tuple[str, ...] = ()
    folder: Path


def emptied(folder: Path) -> Path:
    """Empty the folder, so that a run that fails leaves no files of an earlier one."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write(result: Result, placeholders: Mapping[str, str] = _NONE) -> Result:
    """Write the files; refuse the head if one of them contains a secret."""
    _write(result)
    leaks = secrets.leaks(dict(placeholders), sorted(result.folder.iterdir()))
    reasons = tuple(
        f"{file.name} contains the secret {name} in plain text: mark the value as secret where the "
        "program passes it on"
        for name, file in leaks
    )
    if not reasons:
        return result
    found = result.document.model_copy(update={"refused": (*result.document.refused, *reasons)})
    changed = Result(document=found, engine_output=result.engine_output, folder=result.folder)
    _write(changed)
    return changed


def as_json(document: Document) -> str:
    """Return the content of `diff.json`."""
    return document.model_dump_json(indent=2) + "\n"


def _write(result: Result) -> None:
    for name, text in (
        ("diff.txt", "\n".join(result.engine_output) + "\n"),
        ("diff.json", as_json(result.document)),
        ("summary.md", comment.summary(result.document, result.engine_output)),
        ("comment.md", comment.comment(result.document)),
    ):
        (result.folder / name).write_text(text, encoding="utf-8")
