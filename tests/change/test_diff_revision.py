"""The base as git knows it."""

import os
import shutil
from pathlib import Path

import pytest

from change.revision import LOCK, SCRATCH, WrongBaseError, repository
from tests.change.repositories import committed, git


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    committed(folder, {"a.txt": "one"})
    return folder


def test_the_base_is_the_merge_base(project: Path) -> None:
    left = git(project, "rev-parse", "HEAD")
    git(project, "switch", "--quiet", "--create", "branch")
    committed(project, {"b.txt": "mine"})
    git(project, "switch", "--quiet", "main")
    tip = committed(project, {"c.txt": "theirs"})
    git(project, "switch", "--quiet", "branch")
    found = repository(project).base("main")
    assert (found.ref, found.commit) == ("main", left)
    assert "main has newer commits" in found.note
    exact = repository(project).base("main", exact=True)
    assert (exact.commit, exact.note) == (tip, "")


def test_the_default_base_is_origin_main_then_main(project: Path) -> None:
    assert repository(project).base(None).ref == "main"
    git(project, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert repository(project).base(None).ref == "origin/main"


def test_an_unknown_ref_is_refused_with_a_remedy(project: Path) -> None:
    with pytest.raises(WrongBaseError, match=r"BASE=nope: is not a commit.*git fetch"):
        repository(project).base("nope")
    with pytest.raises(WrongBaseError, match="BASE=--help: is not a commit"):
        repository(project).base("--help")
    git(project, "branch", "--move", "trunk")
    with pytest.raises(WrongBaseError, match=r"none of origin/main, main.*BASE=HEAD~1"):
        repository(project).base(None)


def test_a_shallow_clone_is_refused_with_a_remedy(project: Path, tmp_path: Path) -> None:
    first = git(project, "rev-parse", "HEAD")
    committed(project, {"a.txt": "two"})
    git(tmp_path, "clone", "--quiet", "--depth=1", project.as_uri(), "shallow")
    with pytest.raises(WrongBaseError, match="git fetch --unshallow"):
        repository(tmp_path / "shallow").base(first)


def test_without_a_common_ancestor_the_base_is_the_tip(project: Path) -> None:
    git(project, "switch", "--quiet", "--orphan", "other")
    tip = committed(project, {"z.txt": "z"})
    git(project, "switch", "--quiet", "main")
    found = repository(project).base("other")
    assert found.commit == tip
    assert "no common ancestor" in found.note
    assert "share no history" in found.note


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongBaseError, match=r"is not in a git repository .*make rehearse FROM="):
        repository(tmp_path)


def test_without_git_the_remedy_is_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WrongBaseError, match="install it"):
        repository(tmp_path)


def test_the_files_of_the_base_are_removed_at_the_end(project: Path) -> None:
    base = git(project, "rev-parse", "HEAD")
    (project / "a.txt").write_text("changed", encoding="utf-8")
    with repository(project).checked_out(base) as root:
        assert (root / "a.txt").read_text(encoding="utf-8") == "one"
    assert not root.exists()
    assert len(git(project, "worktree", "list").splitlines()) == 1, "nothing is left in .git"
    assert (project / "a.txt").read_text(encoding="utf-8") == "changed"


def test_the_files_are_removed_after_an_interrupt_too(project: Path) -> None:
    with pytest.raises(KeyboardInterrupt), repository(project).checked_out("HEAD") as root:
        raise KeyboardInterrupt
    assert not root.exists()
    assert len(git(project, "worktree", "list").splitlines()) == 1


def test_no_hook_runs_in_the_scratch_folder(project: Path, tmp_path: Path) -> None:
    hook = project / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n", encoding="utf-8")
    hook.chmod(0o755)
    with repository(project).checked_out("HEAD"):
        pass
    assert not (tmp_path / "ran").exists()


def test_a_project_in_a_folder_of_the_repository(tmp_path: Path) -> None:
    committed(tmp_path / "all", {"sub/a.txt": "one", "other.txt": "x"})
    found = repository(tmp_path / "all" / "sub")
    with found.checked_out("HEAD") as root:
        assert (root / "a.txt").exists()
    (tmp_path / "all" / "other.txt").write_text("y", encoding="utf-8")
    assert found.changed_files("HEAD") == []
    assert not found.uncommitted()


def test_changed_and_new_files_are_named(project: Path) -> None:
    found = repository(project)
    assert (found.changed_files("HEAD"), found.uncommitted()) == ([], False)
    (project / "a.txt").write_text("two", encoding="utf-8")
    (project / "ä b.txt").write_text("new", encoding="utf-8")
    assert found.changed_files("HEAD") == ["a.txt", "ä b.txt"]
    assert found.uncommitted()
    committed(project, {})
    assert not found.uncommitted()


def test_git_variables_of_a_hook_are_ignored(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", os.devnull)
    assert repository(project).base("main").commit


def test_scratch_folders_of_killed_runs_are_removed_those_of_running_ones_stay(
    project: Path, tmp_path: Path
) -> None:
    found = repository(project)
    dead, foreign = (tmp_path / name / "tree" for name in (f"{SCRATCH}dead", f"{SCRATCH}foreign"))
    own = tmp_path / "own" / "tree"
    for tree in (dead, foreign, own):
        git(project, "worktree", "add", "--quiet", "--detach", str(tree), "HEAD")
    for tree in (dead, own):
        (tree.parent / LOCK).touch()
    with found.checked_out("HEAD") as living:
        found.sweep()
        assert (living / "a.txt").exists(), "its process lives"
        assert not dead.parent.exists()
        assert foreign.exists(), "without the lock file it may belong to another program"
        assert own.exists(), "a worktree of the user's"
        assert len(git(project, "worktree", "list").splitlines()) == 4


def test_a_worktree_without_a_folder_is_pruned(project: Path, tmp_path: Path) -> None:
    git(project, "worktree", "add", "--quiet", "--detach", str(tmp_path / "gone"), "HEAD")
    shutil.rmtree(tmp_path / "gone")
    repository(project).sweep()
    assert len(git(project, "worktree", "list").splitlines()) == 1
