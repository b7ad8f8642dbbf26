"""Diffs that end before any engine starts: what is left of them, and of the run before."""

from pathlib import Path

import pytest

from change.document import read
from change.files import Result
from change.make import make
from change.revision import WrongBaseError
from tests.change.repositories import committed, git
from tests.stackfiles import ROOT

STAGING = "Pulumi.staging.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    stack = (ROOT / STAGING).read_text(encoding="utf-8")
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    ignored = ".rehearsal/\n"
    committed(folder, {STAGING: stack, "requirements.txt": lock, ".gitignore": ignored})
    old = folder / ".rehearsal" / "diff" / "staging" / "comment.md"
    old.parent.mkdir(parents=True)
    old.write_text("of an earlier run", encoding="utf-8")
    return folder


def made(project: Path, ref: str = "main", file: str = STAGING) -> Result:
    return make(project / file, ref, say=print, project=project)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not a stack file"),
        ("config: [\n", "is not YAML"),
        ("config: {a: 1, a: 2}\n", "key 'a' is a duplicate"),
        ("config: {a: 1}\n", "config has no key gpu-runners:stack"),
    ],
)
def test_a_head_that_is_no_stack_file_makes_a_diff_that_refuses_it(
    project: Path, text: str, words: str
) -> None:
    (project / STAGING).write_text(text, encoding="utf-8")
    found = made(project)
    (reason,) = found.document.refused
    assert words in reason
    assert reason.startswith(f"{STAGING}: "), "no path of a machine"
    assert read(found.folder / "diff.json") == found.document
    comment = (found.folder / "comment.md").read_text(encoding="utf-8")
    assert "`staging`: refused" in comment
    assert words in comment


def test_an_unknown_base_leaves_no_files_of_an_earlier_run(project: Path) -> None:
    with pytest.raises(WrongBaseError, match="BASE=nosuch"):
        made(project, "nosuch")
    assert list((project / ".rehearsal" / "diff" / "staging").iterdir()) == []


def test_a_removed_stack_file_makes_a_diff(project: Path) -> None:
    git(project, "rm", "--quiet", STAGING)
    found = made(project)
    assert (found.document.removed, found.document.refused) == (True, ())
    assert read(found.folder / "diff.json") == found.document
    comment = (found.folder / "comment.md").read_text(encoding="utf-8")
    assert "that deletes nothing" in comment
    assert "- cluster `ci-staging`; pools `system`, `t4`; lanes `github/gpu-t4-staging`" in comment
    assert len(git(project, "worktree", "list").splitlines()) == 1, "the scratch folder is gone"


def test_a_removed_file_that_is_no_stack_file_makes_a_diff_with_a_note(project: Path) -> None:
    committed(project, {STAGING: "config: [\n"})
    git(project, "rm", "--quiet", STAGING)
    found = made(project)
    assert found.document.notes[0].startswith(f"{STAGING}: is not YAML")
    assert "the content of the stack is unknown" in (found.folder / "comment.md").read_text("utf-8")


def test_a_stack_that_neither_side_has_is_refused_with_the_existing_ones(project: Path) -> None:
    committed(project, {"Pulumi.prod.yaml": "config: {}\n"})
    (project / "Pulumi.next.yaml").write_text("config: {}\n", encoding="utf-8")
    git(project, "rm", "--quiet", "Pulumi.prod.yaml")
    with pytest.raises(WrongBaseError, match="existing stacks: next, prod, staging"):
        made(project, file="Pulumi.nowhere.yaml")
