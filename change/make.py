"""A diff: find base and head, preview, compare, and write the files.

The files are in `.rehearsal/diff/<stack>/`: `diff.json` for programs, `diff.txt` with the output of
the engine, `summary.md` and `comment.md` for people, and `engine.log`.
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

from change import document, environments, files, groups, reports, revision, settings
from change.difference import Difference, compare
from change.document import Base, Document, Operation, Rename
from change.escape import clipped
from change.files import Result
from change.preview import BaseFailedError, Log, Preview, Side, preview
from change.revision import Repository, Revision, WrongBaseError
from fleet.report.model import Report
from rehearsal import checks, stackfile
from rehearsal.project import ROOT
from rehearsal.stackfile import StackFile

_LISTED: Final = (document.MAX_RESOURCES, 500, 100, 10)
"""Resources, settings and renames to list: fewer until `diff.json` is small enough."""

_PROGRAM: Final = {"components", "fleet", "stacks"}
"""Folders that decide what the program registers."""


def make(
    config: Path,
    ref: str | None,
    *,
    exact: bool = False,
    folder: Path | None = None,
    say: Callable[[str], None],
    project: Path = ROOT,
) -> Result:
    """Compare the stack file `config` and the program in the working tree with those of a base.

    A removed file, and one that is no stack file, make a diff too. Raises `WrongBaseError` for a
    base that git does not know and for a file outside of the project, `RehearsalError` if there is
    no engine.
    """
    where = files.emptied(folder or project / ".rehearsal" / "diff" / stackfile.stack_name(config))
    if not config.resolve().is_relative_to(project.resolve()):
        raise WrongBaseError(
            f"{config}: is not in {project}, so no base has it; name a file of the project"
        )
    repository = revision.repository(project)
    repository.sweep()
    base = repository.base(ref, exact=exact)
    if not config.exists():
        return _removed(config, repository, base, where, say)
    try:
        file = stackfile.read(config)
    except RehearsalError as error:
        say(f"diff of {config.name}: refused, it is not a stack file")
        reason = _shown(str(error), project)
        return _without_preview(config, repository, base, where, refused=(reason,))
    diff = _Diff(
        project=project,
        repository=repository,
        base=base,
        file=file,
        say=say,
        log_file=where / "engine.log",
    )
    return diff.make(where)


@dataclass(kw_only=True, slots=True)
class _Diff:
    """The state of one diff in progress."""

    project: Path
    repository: Repository
    base: Revision
    file: StackFile
    say: Callable[[str], None]
    log_file: Path
    notes: list[str] = field(default_factory=list[str])
    problem: str | None = None
    refused: tuple[str, ...] = ()
    base_file: StackFile | None = None
    preview: Preview | None = None
    report: Report | None = None
    base_report: Report | None = None
    engine: str = ""

    def make(self, folder: Path) -> Result:
        """Make the diff and write its files."""
        self.say(f"diff of {self.file.name}: {self.base.ref} ({self.base.commit[:9]}) to here")
        if self.base.note:
            self._note(self.base.note)
        try:
            self.report = checks.report_data(self.file)
        except RehearsalError as error:
            self.refused = (_shown(str(error), self.project),)
        else:
            self._preview()
        result = Result(
            document=self._document(),
            engine_output=tuple(self.preview.text) if self.preview is not None else (),
            folder=folder,
        )
        return files.write(result, self.preview.placeholders if self.preview is not None else {})

    def _preview(self) -> None:
        found = cli.find(lambda line: self.say(f"  {line}"))
        self.engine = found.version
        self.say(f"  pulumi {found.version}: {found.why}")
        head = Side(project=self.project, python=Path(sys.executable), file=self.file)
        with self.log_file.open("w", encoding="utf-8") as file:
            log = Log(user=self.say, file=lambda line: print(line, file=file))
            with self.repository.checked_out(self.base.commit) as root:
                try:
                    base = self._base_side(root)
                    self.preview = preview(head, base, found, log)
                except BaseFailedError as error:
                    reason = _shown(str(error).replace(f"{root}/", ""), self.project)
                    self.problem = reason
                    self.say(f"  the base cannot be rehearsed: {reason}")
                    self.say("  continuing without a base: everything shows as new")
            if self.preview is None:
                self.preview = preview(head, None, found, log)
        reasons = self.preview.refused[: document.MAX_REMARKS]
        self.refused = tuple(_shown(reason, self.project) for reason in reasons)

    def _base_side(self, root: Path) -> Side | None:
        """Return the base; `None` if it does not have the stack."""
        path = root / self.file.path.resolve().relative_to(self.project.resolve())
        if not path.exists():
            self._note(f"{self.base.ref} has no {path.name}: the stack is new")
            return None
        try:
            self.base_file = stackfile.read(path)
            python = environments.interpreter(root, self.project, lambda s: self.say(f"  {s}"))
        except RehearsalError as error:
            raise BaseFailedError(str(error)) from None
        side = Side(project=root, python=python, file=self.base_file)
        self.base_report = reports.base_report(side)
        if self.base_report is None:
            self._note("the base has no report: renames and effects on jobs are not known")
        return side

    def _document(self) -> Document:
        """Return the document, with fewer items if it would be too large; counts include all."""
        for limit in _LISTED:
            found = self._with_at_most(limit)
            if len(files.as_json(found).encode()) <= document.MAX_BYTES:
                return found
        raise RehearsalError("the diff is too large for diff.json: compare with a nearer base")

    def _with_at_most(self, limit: int) -> Document:
        difference = self._difference()
        renames = self._renames(difference)
        steps = self.preview.steps if self.preview is not None else ()
        listed, left_out = groups.listed(groups.groups(steps, renames), limit)
        changing: Counter[Operation] = Counter(
            step.operation for step in steps if step.operation is not None
        )
        changed = self.repository.changed_files(self.base.commit)
        stacks = (self.base_file.stack, self.file.stack) if self.base_file is not None else None
        return Document(
            **_common(self.file.name, self.repository, self.base),
            engine=self.engine,
            program_changed=any(_is_program(path) for path in changed),
            problem=self.problem,
            refused=self.refused,
            notes=tuple(self.notes),
            counts=dict(changing),
            unchanged=len(steps) - changing.total(),
            settings=settings.settings(*stacks, renames)[:limit] if stacks is not None else (),
            renames=renames[:limit],
            groups=tuple(listed),
            left_out=left_out,
            report=reports.limited_report(self.report),
            base_report=reports.limited_report(self.base_report),
            difference=reports.limited(difference),
        )

    def _difference(self) -> Difference | None:
        if self.report is None or self.base_report is None:
            return None
        return compare(self.base_report, self.report)

    def _renames(self, difference: Difference | None) -> tuple[Rename, ...]:
        if difference is None or self.report is None or self.base_report is None:
            return ()
        return tuple(reports.renames(difference, self.base_report, self.report))

    def _note(self, text: str) -> None:
        self.notes.append(clipped(text, document.MAX_TEXT))
        self.say(f"  {text}")


def _removed(
    config: Path,
    repository: Repository,
    base: Revision,
    folder: Path,
    say: Callable[[str], None],
) -> Result:
    """Make the diff of a removed stack file: what its stack still has in the account.

    Raises `WrongBaseError` if the base has no such file either.
    """
    project = repository.project
    path = config.resolve().relative_to(project)
    if not repository.has(base.commit, path):
        known = ", ".join(repository.stacks(base.commit)) or "none"
        raise WrongBaseError(
            f"{path}: neither this branch nor {base.ref} has this file; existing stacks: {known}"
        )
    say(f"diff of {path}: {base.ref} ({base.commit[:9]}) has it, this branch removes it")
    notes = [base.note] if base.note else []
    report = None
    with repository.checked_out(base.commit) as root:
        try:
            file = stackfile.read(root / path)
            python = environments.interpreter(root, project, lambda line: say(f"  {line}"))
            report = reports.base_report(Side(project=root, python=python, file=file))
        except RehearsalError as error:
            notes.append(str(error).replace(f"{root}/", ""))
    return _without_preview(
        config,
        repository,
        base,
        folder,
        removed=True,
        notes=tuple(note[:1000] for note in notes),
        base_report=reports.limited_report(report),
    )


def _without_preview(
    config: Path, repository: Repository, base: Revision, folder: Path, **fields: Any
) -> Result:
    common = _common(stackfile.stack_name(config), repository, base)
    return files.write(Result(document=Document(**common, engine="", **fields), folder=folder))


def _common(stack: str, repository: Repository, base: Revision) -> dict[str, Any]:
    """Return the fields that every document has."""
    return {
        "stack": stack,
        "base": Base(ref=base.ref[:500], commit=base.commit),
        "head": repository.head(),
        "dirty": repository.uncommitted(),
    }


def _shown(reason: str, project: Path) -> str:
    """Return a reason with paths relative to the project, limited in length."""
    return clipped(reason.replace(f"{project}/", ""), document.MAX_TEXT)


def _is_program(path: str) -> bool:
    """Return whether a file can change what the program registers."""
    folder, slash, _ = path.partition("/")
    return folder in (_PROGRAM if slash else {"__main__.py", "Pulumi.yaml", environments.LOCK_FILE})
