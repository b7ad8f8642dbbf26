"""The files that a diff leaves, and that nothing of an earlier run stays beside them."""

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
class Made:
    """A diff and where it was left; `text` is the engine's."""

    document: Document
    text: tuple[str, ...] = ()
    folder: Path


def cleared(folder: Path) -> Path:
    """The folder, empty: a run that ends early must not leave what an earlier one said."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def written(made: Made, placeholders: Mapping[str, str] = _NONE) -> Made:
    """Leaves the files; a secret found in one of them is a reason to refuse the head."""
    _write(made)
    leaks = secrets.leaks(dict(placeholders), sorted(made.folder.iterdir()))
    told = tuple(
        f"the secret {name} stands in plain text in {file.name}: mark the value as secret where "
        "the program passes it on"
        for name, file in leaks
    )
    if not told:
        return made
    found = made.document.model_copy(update={"refused": (*made.document.refused, *told)})
    changed = Made(document=found, text=made.text, folder=made.folder)
    _write(changed)
    return changed


def as_json(document: Document) -> str:
    """The content of `diff.json`."""
    return document.model_dump_json(indent=2) + "\n"


def _write(made: Made) -> None:
    for name, text in (
        ("diff.txt", "\n".join(made.text) + "\n"),
        ("diff.json", as_json(made.document)),
        ("summary.md", comment.summary(made.document, made.text)),
        ("comment.md", comment.comment(made.document)),
    ):
        (made.folder / name).write_text(text, encoding="utf-8")
