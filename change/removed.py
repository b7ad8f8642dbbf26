"""A diff of a stack whose file the head removes: what its base holds, which nobody destroys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pulumi_rehearsal.errors import RehearsalError

from change import environments, reports
from change.document import Base, Document
from change.files import Made, written
from change.preview import Side
from change.revision import Repository, Revision, WrongBase
from rehearsal import stackfile


def diff(
    config: Path,
    repository: Repository,
    base: Revision,
    folder: Path,
    say: Callable[[str], None],
) -> Made:
    """Says what stays in the account; no engine runs, for the head has nothing to preview.

    Raises `WrongBase` where the base has no such file either.
    """
    project = repository.project
    inside = config.resolve().relative_to(project)
    if not repository.has(base.commit, inside):
        known = ", ".join(repository.stacks(base.commit)) or "none"
        raise WrongBase(
            f"{inside}: neither this branch nor {base.ref} has it; the stacks that there are: "
            f"{known}"
        )
    say(f"diff of {inside}: {base.ref} ({base.commit[:9]}) has it, this branch removes it")
    notes = [base.note] if base.note else []
    report = None
    with repository.checked_out(base.commit) as root:
        try:
            file = stackfile.read(root / inside)
            python = environments.interpreter(root, project, lambda line: say(f"  {line}"))
            report = reports.base_report(Side(project=root, python=python, file=file))
        except RehearsalError as refused:
            notes.append(str(refused).replace(f"{root}/", ""))
    document = Document(
        stack=stackfile.stack_name(config),
        engine="",
        base=Base(ref=base.ref[:500], commit=base.commit),
        head=repository.head(),
        dirty=repository.uncommitted(),
        removed=True,
        notes=tuple(note[:1000] for note in notes),
        base_report=reports.slim(report),
    )
    return written(Made(document=document, folder=folder))
