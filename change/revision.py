"""The base of a comparison: a commit found by git, and its files in a scratch folder.

Nothing of the working tree is touched. The scratch folder is a worktree of the same repository:
https://git-scm.com/docs/git-worktree.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pulumi_rehearsal import interrupts
from pulumi_rehearsal.errors import RehearsalError

DEFAULTS: Final = ("origin/main", "main")
"""Tried in this order where no base is named."""

LIMIT_S: Final = 120.0
"""A command of git's on local files; one that takes longer waits for what never comes."""


SCRATCH: Final = "gpu-runners-base-"
"""What the names of scratch folders begin with."""

LOCK: Final = "lock"
"""A file in each, locked while its run lives: the kernel lets go of it however the run ends."""


class WrongBase(RehearsalError):
    """The base that was asked for cannot be found: an option to correct, not a fault of a stack."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """A commit, the name it was asked for by, and in words what was taken instead of it."""

    ref: str
    commit: str
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """The git repository that holds the project; `project` is the project's folder in it."""

    top: Path
    project: Path

    def base(self, ref: str | None, *, exact: bool = False) -> Revision:
        """The commit to compare with: where the branch left `ref`, or `ref` itself if `exact`.

        What others added to `ref` since then is not of this branch. Raises `WrongBase`.
        """
        name, commit = self._named(ref)
        if exact:
            return Revision(ref=name, commit=commit)
        shared = self._ask("merge-base", commit, "HEAD")
        if shared == commit:
            return Revision(ref=name, commit=commit)
        if shared:
            note = (
                f"{name} has moved on; compared with {shared[:9]}, where this branch left it "
                "(EXACT=1 compares with its tip)"
            )
            return Revision(ref=name, commit=shared, note=note)
        why = "the clone is shallow" if self._is_shallow() else "they share no history"
        note = f"no common ancestor of {name} and this branch ({why}); compared with its tip"
        return Revision(ref=name, commit=commit, note=note)

    def head(self) -> str:
        """The commit that is checked out."""
        return self._ask("rev-parse", "HEAD")

    def changed_files(self, commit: str) -> list[str]:
        """Paths in the project that the working tree has different from `commit`, new ones too."""
        folder = str(self.project)
        told = self._ask("diff", "--name-only", "-z", "--relative", commit, "--", folder)
        new = self._ask("ls-files", "--others", "--exclude-standard", "-z", "--", folder)
        return sorted({path for path in f"{told}\0{new}".split("\0") if path})

    def uncommitted(self) -> bool:
        """Whether the project has changes that are in no commit."""
        return bool(self._ask("status", "--porcelain", "--", str(self.project)))

    @contextmanager
    def checked_out(self, commit: str) -> Generator[Path]:
        """The project's folder as it was at `commit`; removed at the end. Raises `RehearsalError`."""
        scratch = Path(tempfile.mkdtemp(prefix=SCRATCH))
        tree = scratch / "tree"
        lock = (scratch / LOCK).open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # No hook of the repository's runs: it would act on a folder that nobody works in.
            done = self._git(
                "-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", "--quiet",
                str(tree), commit,
            )  # fmt: skip
            if done.returncode != 0:
                raise RehearsalError(f"git worktree add: {_last_line(done)}")
            yield tree / self.project.relative_to(self.top)
        finally:
            with interrupts.ignored(), lock:
                self._remove(tree)

    def sweep(self) -> None:
        """Removes what runs that were killed have left of `checked_out`; a living run keeps its."""
        self._git("worktree", "prune")
        for line in self._ask("worktree", "list", "--porcelain", "-z").split("\0"):
            tree = Path(line.removeprefix("worktree "))
            if not line.startswith("worktree ") or not tree.parent.name.startswith(SCRATCH):
                continue
            try:
                # Not made where there is none: without one the folder is not of this program.
                with (tree.parent / LOCK).open("r+") as lock, interrupts.ignored():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._remove(tree)
            except OSError:
                continue

    def has(self, commit: str, path: Path) -> bool:
        """Whether a file of the project, by its path from there, is in a commit."""
        return " blob " in self._ask("ls-tree", "-z", commit, "--", str(path))

    def stacks(self, commit: str) -> list[str]:
        """Names of the project's stacks, in the working tree or in a commit."""
        then = self._ask("ls-tree", "-z", "--name-only", commit).split("\0")
        names = {*then, *(file.name for file in self.project.iterdir())}
        found = (re.fullmatch(r"Pulumi\.(.+)\.yaml", name) for name in names)
        return sorted(match[1] for match in found if match is not None)

    def _remove(self, tree: Path) -> None:
        self._git("worktree", "remove", "--force", str(tree))
        shutil.rmtree(tree.parent, ignore_errors=True)
        self._git("worktree", "prune")

    def _named(self, ref: str | None) -> tuple[str, str]:
        for name in (ref,) if ref else DEFAULTS:
            commit = self._ask(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
            )
            if commit:
                return name, commit
        wanted = f"BASE={ref}" if ref else f"none of {', '.join(DEFAULTS)}"
        problem = f"{wanted}: is no commit, branch or tag here"
        if self._is_shallow():
            raise WrongBase(f"{problem}: the clone is shallow; run git fetch --unshallow")
        remedy = "run git fetch" if ref else "name the base, as in make diff BASE=HEAD~1"
        raise WrongBase(f"{problem}; {remedy}, or correct it (git branch --all lists the names)")

    def _is_shallow(self) -> bool:
        return self._ask("rev-parse", "--is-shallow-repository") == "true"

    def _ask(self, *arguments: str) -> str:
        """What git prints; empty where it fails."""
        done = self._git(*arguments)
        return done.stdout.strip("\n") if done.returncode == 0 else ""

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return _run_git(self.project, *arguments)


def repository(project: Path) -> Repository:
    """The repository that `project` is in. Raises `WrongBase` where it is in none."""
    try:
        done = _run_git(project, "rev-parse", "--show-toplevel")
    except FileNotFoundError:
        raise WrongBase("there is no git on PATH; install it") from None
    if done.returncode != 0:
        raise WrongBase(
            f"{project}: is not a git checkout ({_last_line(done)}); a diff needs the base's "
            "files: clone the repository, or use make rehearse FROM=old.yaml TO=new.yaml"
        )
    return Repository(top=Path(done.stdout.strip("\n")), project=project.resolve())


def _run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Variables of a hook that runs us would point git at another tree.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(  # noqa: S603
        ["git", *arguments],  # noqa: S607 - the user's own git
        cwd=folder,
        env={**environment, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
        timeout=LIMIT_S,
    )


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines()
    return lines[-1].removeprefix("fatal: ") if lines else f"git ended with {done.returncode}"
