"""A diff from its beginning to its files: base and head found, previewed, compared, written.

`.rehearsal/diff/<stack>/` then holds `diff.json` (for programs), `diff.txt` (the engine's words),
`summary.md` and `comment.md` (for people), and `engine.log`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pulumi_rehearsal import cli
from pulumi_rehearsal.errors import RehearsalError

from change import document, environments, files, removed, reports, revision, settings, subjects
from change.document import Base, Document, Operation, Rename
from change.escape import clipped
from change.files import Made
from change.preview import BaseRefused, Preview, Side, Told, preview
from change.revision import Repository, Revision, WrongBase
from fleet.report import compare
from rehearsal import checks, stackfile
from rehearsal.project import ROOT
from rehearsal.stackfile import StackFile

_ROOM: Final = (document.MOST_RESOURCES, 500, 100, 10)
"""Resources, settings and renames to list, fewer where their values are large."""


def make(
    config: Path,
    ref: str | None,
    *,
    exact: bool = False,
    folder: Path | None = None,
    say: Callable[[str], None],
    project: Path = ROOT,
) -> Made:
    """Compares the stack file `config` and the program as they stand with those of a base.

    Raises `WrongBase` where git does not know the base or the stack file is not the project's,
    `RehearsalError` where there is no engine. A file that the head has removed and one that is no stack
    file make a diff too, which says so.
    """
    where = files.cleared(folder or project / ".rehearsal" / "diff" / stackfile.stack_name(config))
    if not config.resolve().is_relative_to(project.resolve()):
        raise WrongBase(f"{config}: is not in {project}, so no base has it; name a file in there")
    repository = revision.repository(project)
    repository.sweep()
    base = repository.base(ref, exact=exact)
    if not config.exists():
        return removed.diff(config, repository, base, where, say)
    try:
        file = stackfile.read(config)
    except RehearsalError as refused:
        say(f"diff of {config.name}: refused, it is no stack file")
        reason = _told(str(refused), project)
        return _unreadable(stackfile.stack_name(config), repository, base, reason, where)
    work = _Work(
        project=project,
        repository=repository,
        base=base,
        file=file,
        say=say,
        log=where / "engine.log",
    )
    return work.done(where)


@dataclass(kw_only=True, slots=True)
class _Work:
    """What is known so far of one diff."""

    project: Path
    repository: Repository
    base: Revision
    file: StackFile
    say: Callable[[str], None]
    log: Path
    notes: list[str] = field(default_factory=list[str])
    problem: str | None = None
    refused: tuple[str, ...] = ()
    base_file: StackFile | None = None
    preview: Preview | None = None
    report: dict[str, Any] | None = None
    base_report: dict[str, Any] | None = None
    engine: str = ""

    def done(self, folder: Path) -> Made:
        """Makes the diff and leaves its files."""
        self.say(f"diff of {self.file.name}: {self.base.ref} ({self.base.commit[:9]}) to here")
        if self.base.note:
            self._note(self.base.note)
        try:
            self.report = checks.report_data(self.file)
        except RehearsalError as refused:
            self.refused = (_told(str(refused), self.project),)
        else:
            self._preview()
        made = Made(
            document=self._document(),
            text=tuple(self.preview.text) if self.preview is not None else (),
            folder=folder,
        )
        return files.written(made, self.preview.placeholders if self.preview is not None else {})

    def _preview(self) -> None:
        taken = cli.find(lambda line: self.say(f"  {line}"))
        self.engine = taken.version
        self.say(f"  pulumi {taken.version}: {taken.why}")
        head = Side(project=self.project, python=Path(sys.executable), file=self.file)
        with self.log.open("w", encoding="utf-8") as log:
            told = Told(say=self.say, log=lambda line: print(line, file=log))
            with self.repository.checked_out(self.base.commit) as root:
                try:
                    base = self._base_side(root)
                    self.preview = preview(head, base, taken, told)
                except BaseRefused as refused:
                    reason = _told(str(refused).replace(f"{root}/", ""), self.project)
                    self.problem = reason
                    self.say(f"  the base cannot be rehearsed: {reason}")
                    self.say("  comparing with nothing instead: everything shows as new")
            if self.preview is None:
                self.preview = preview(head, None, taken, told)
        told = self.preview.refused[: document.MOST_REMARKS]
        self.refused = tuple(_told(reason, self.project) for reason in told)

    def _base_side(self, root: Path) -> Side | None:
        """None where the stack is new."""
        path = root / self.file.path.resolve().relative_to(self.project.resolve())
        if not path.exists():
            self._note(f"{self.base.ref} has no {path.name}: the stack is new")
            return None
        try:
            self.base_file = stackfile.read(path)
            python = environments.interpreter(root, self.project, lambda s: self.say(f"  {s}"))
        except RehearsalError as refused:
            raise BaseRefused(str(refused)) from None
        side = Side(project=root, python=python, file=self.base_file)
        self.base_report = reports.base_report(side)
        if self.base_report is None:
            self._note("the base's report cannot be made: only the engine's words are compared")
        return side

    def _document(self) -> Document:
        """As much of it as a file may hold; the counts are of everything."""
        for most in _ROOM:
            found = self._with_room(most)
            if len(files.as_json(found).encode()) <= document.MOST_BYTES:
                return found
        raise RehearsalError("the diff is too large to be kept: compare with a nearer base")

    def _with_room(self, most: int) -> Document:
        old = self.base_file.stack if self.base_file is not None else None
        difference = self._difference()
        renames = self._renames(old, difference)
        steps = self.preview.steps if self.preview is not None else ()
        things, left_out = subjects.listed(subjects.subjects(steps, renames), most)
        changing: Counter[Operation] = Counter(
            step.operation for step in steps if step.operation is not None
        )
        changed = self.repository.changed_files(self.base.commit)
        whole = settings.settings(old, self.file.stack) if old is not None else ()
        return Document(
            stack=self.file.name,
            engine=self.engine,
            base=Base(ref=self.base.ref[:500], commit=self.base.commit),
            head=self.repository.head(),
            dirty=self.repository.uncommitted(),
            program_changed=any(_is_program(path) for path in changed),
            problem=self.problem,
            refused=self.refused,
            notes=tuple(self.notes),
            counts=dict(changing),
            unchanged=len(steps) - changing.total(),
            settings=whole[:most],
            renames=renames[:most],
            subjects=tuple(things),
            left_out=left_out,
            report=reports.slim(self.report),
            base_report=reports.slim(self.base_report),
            difference=reports.slim_difference(difference),
        )

    def _difference(self) -> dict[str, Any] | None:
        """Of the two reports, where there are two."""
        if self.report is None or self.base_report is None:
            return None
        return compare(self.base_report, self.report)

    def _renames(self, old: object, difference: dict[str, Any] | None) -> tuple[Rename, ...]:
        """By the stack files; then by the reports, which see through what also changed."""
        found = list(settings.renames(old, self.file.stack))
        if difference is None or self.report is None or self.base_report is None:
            return tuple(found)
        known = {(one.kind, one.cluster, one.new) for one in found}
        more = reports.renames(difference, self.base_report, self.report)
        return (*found, *(one for one in more if (one.kind, one.cluster, one.new) not in known))

    def _note(self, text: str) -> None:
        self.notes.append(clipped(text, document.MOST_TEXT))
        self.say(f"  {text}")


def _unreadable(
    stack: str, repository: Repository, base: Revision, reason: str, folder: Path
) -> Made:
    found = Document(
        stack=stack,
        engine="",
        base=Base(ref=base.ref[:500], commit=base.commit),
        head=repository.head(),
        dirty=repository.uncommitted(),
        refused=(reason,),
    )
    return files.written(Made(document=found, folder=folder))


def _told(reason: str, project: Path) -> str:
    """A reason as it may be shown: paths from the project's folder, and not without end."""
    return clipped(reason.replace(f"{project}/", ""), document.MOST_TEXT)


def _is_program(path: str) -> bool:
    """Whether a file can change what the program registers: its code, its packages, its project."""
    folder, slash, _ = path.partition("/")
    if slash:
        return folder in {"components", "fleet", "stacks"}
    return path in {"__main__.py", "Pulumi.yaml", environments.LOCK_FILE}
