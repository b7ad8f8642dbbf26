"""The base of a comparison: a commit, and its files in a scratch folder.

The scratch folder is a worktree of the same repository, so the working tree is not changed:
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
"""Tried in this order if no base is named."""

LIMIT_S: Final = 120.0
"""Limit of one git command; it only reads local files."""

SCRATCH: Final = "gpu-runners-base-"
"""Prefix of scratch folders."""

LOCK: Final = "lock"
"""A file in each scratch folder, locked by its run: the kernel unlocks it when the run ends."""


class WrongBaseError(RehearsalError):
    """The base cannot be found: an option is wrong, not a stack."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """A commit, the ref that names it, and a note if it is not the tip of that ref."""

    ref: str
    commit: str
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """A git repository and the folder of the project in it."""

    top: Path
    project: Path

    def base(self, ref: str | None, *, exact: bool = False) -> Revision:
        """Return the merge base of the branch and `ref`, or `ref` itself if `exact`.

        Commits that others added to `ref` later do not belong to this branch. Raises
        `WrongBaseError`.
        """
        name, commit = self._named(ref)
        if exact:
            return Revision(ref=name, commit=commit)
        shared = self._ask("merge-base", commit, "HEAD")
        if shared == commit:
            return Revision(ref=name, commit=commit)
        if shared:
            note = (
                f"{name} has newer commits; compared with the merge base {shared[:9]} "
                "(EXACT=1 compares with the tip)"
            )
            return Revision(ref=name, commit=shared, note=note)
        why = "the clone is shallow" if self._is_shallow() else "they share no history"
        note = f"no common ancestor of {name} and this branch ({why}); compared with its tip"
        return Revision(ref=name, commit=commit, note=note)

    def head(self) -> str:
        return self._ask("rev-parse", "HEAD")

    def changed_files(self, commit: str) -> list[str]:
        """Return the paths in the project that differ from `commit`, untracked ones too."""
        folder = str(self.project)
        changed = self._ask("diff", "--name-only", "-z", "--relative", commit, "--", folder)
        new = self._ask("ls-files", "--others", "--exclude-standard", "-z", "--", folder)
        return sorted({path for path in f"{changed}\0{new}".split("\0") if path})

    def uncommitted(self) -> bool:
        """Return whether the project has uncommitted changes."""
        return bool(self._ask("status", "--porcelain", "--", str(self.project)))

    @contextmanager
    def checked_out(self, commit: str) -> Generator[Path]:
        """Check out the project's folder at `commit`; remove it at the end."""
        scratch = Path(tempfile.mkdtemp(prefix=SCRATCH))
        tree = scratch / "tree"
        lock = (scratch / LOCK).open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Disable the repository's hooks, which are written for the user's working tree.
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
        """Remove the scratch folders of runs that were killed, but not those of running ones."""
        self._git("worktree", "prune")
        for line in self._ask("worktree", "list", "--porcelain", "-z").split("\0"):
            tree = Path(line.removeprefix("worktree "))
            if not line.startswith("worktree ") or not tree.parent.name.startswith(SCRATCH):
                continue
            try:
                # Do not create the file: a folder without it does not belong to this program.
                with (tree.parent / LOCK).open("r+") as lock, interrupts.ignored():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._remove(tree)
            except OSError:
                continue

    def has(self, commit: str, path: Path) -> bool:
        """Return whether a commit has a file of the project."""
        return " blob " in self._ask("ls-tree", "-z", commit, "--", str(path))

    def text(self, commit: str, name: str) -> str | None:
        """Return a file of the project at a commit, `None` if it does not exist there."""
        done = self._git("show", "--end-of-options", f"{commit}:./{name}")
        return done.stdout if done.returncode == 0 else None

    def stacks(self, commit: str) -> list[str]:
        """Return the names of the stacks in the working tree and in a commit."""
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
        problem = f"{wanted}: is not a commit, branch or tag of this repository"
        if self._is_shallow():
            raise WrongBaseError(f"{problem}: the clone is shallow; run git fetch --unshallow")
        remedy = (
            "run git fetch, or correct it" if ref else "name a base, like make diff BASE=HEAD~1"
        )
        raise WrongBaseError(f"{problem}; {remedy} (git branch --all lists the names)")

    def _is_shallow(self) -> bool:
        return self._ask("rev-parse", "--is-shallow-repository") == "true"

    def _ask(self, *arguments: str) -> str:
        """Return the output of git, an empty text if it fails."""
        done = self._git(*arguments)
        return done.stdout.strip("\n") if done.returncode == 0 else ""

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return _run_git(self.project, *arguments)


def repository(project: Path) -> Repository:
    """Return the repository of `project`. Raises `WrongBaseError` if there is none."""
    try:
        done = _run_git(project, "rev-parse", "--show-toplevel")
    except FileNotFoundError:
        raise WrongBaseError("git is not on PATH; install it") from None
    if done.returncode != 0:
        raise WrongBaseError(
            f"{project}: is not in a git repository ({_last_line(done)}); clone the repository, or "
            "compare two files: make rehearse FROM=old.yaml TO=new.yaml"
        )
    return Repository(top=Path(done.stdout.strip("\n")), project=project.resolve())


def _run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # In a hook, these variables would point git to another tree.
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
