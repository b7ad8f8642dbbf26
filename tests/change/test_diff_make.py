"""Whole diffs: a branch of a repository, by the real engine."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from change.alerts import alerts
from change.document import Group, read
from change.files import Result
from change.make import make
from change.revision import WrongBaseError
from change.wording import plain
from tests.change.repositories import committed, git
from tests.stackfiles import ROOT, config

PROGRAM = ("components", "fleet", "stacks", "__main__.py", "Pulumi.yaml", "requirements.txt")
STAGING = "Pulumi.staging.yaml"
SMALL = "Pulumi.small.yaml"
"""A stack in an existing cluster: its program imports no cloud's SDK, so that it starts sooner."""
PROTECTED = "Pulumi.protected.yaml"
"""A protected EKS cluster with its network and nodes, and nothing in it."""

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project in a repository of its own, as `main` has it."""
    folder = tmp_path_factory.mktemp("repository") / "project"
    folder.mkdir()
    for name in (*PROGRAM, STAGING):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder)
    shutil.copy(ROOT / "examples" / "ska-dp.yaml", folder / SMALL)
    settings = config("staging")
    stack = settings["gpu-runners:stack"]
    stack["protect"] = True
    cluster = stack["clusters"]["ci-staging"]
    del cluster["eks"]["pools"]["t4"]
    stack["clusters"]["ci-staging"] = {"eks": cluster["eks"]}
    (folder / PROTECTED).write_text(yaml.safe_dump({"config": settings}), encoding="utf-8")
    (folder / ".gitignore").write_text(".rehearsal/\n__pycache__/\n", encoding="utf-8")
    committed(folder, {})
    return folder


@pytest.fixture
def branch(project: Path) -> Iterator[Path]:
    """The project on a branch, clean again afterwards."""
    git(project, "switch", "--quiet", "--create", "branch")
    yield project
    git(project, "reset", "--quiet", "--hard")
    git(project, "clean", "--quiet", "--force", "-d", "-x")
    git(project, "switch", "--quiet", "main")
    git(project, "branch", "--quiet", "--delete", "--force", "branch")


def edited(project: Path, *changes: tuple[str, str], file: str = STAGING) -> None:
    text = (project / file).read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    (project / file).write_text(text, encoding="utf-8")


def made(project: Path, file: str = STAGING) -> tuple[Result, list[str]]:
    progress: list[str] = []
    found = make(project / file, "main", say=progress.append, project=project)
    assert len(git(project, "worktree", "list").splitlines()) == 1, "the scratch folder is gone"
    return found, progress


def called(groups: tuple[Group, ...]) -> dict[str, str]:
    return {f"{one.kind} {one.name}": one.operation for one in groups}


def test_a_renamed_lane_a_resized_pool_another_instance_type_and_changed_code(branch: Path) -> None:
    edited(
        branch,
        ("            gpu-t4-staging:\n", "            gpu-t4-next:\n"),
        ("max_size: 3", "max_size: 5"),
        ("[g4dn.xlarge]", "[g4dn.2xlarge]"),
    )
    # The base's code runs from the base's files: an import of the head's would hide this change.
    edited(branch, ('"max_unavailable": 1', '"max_unavailable": 2'), file="components/aws/pool.py")
    found, _ = made(branch)
    diff = found.document
    assert (diff.refused, diff.problem, diff.program_changed, diff.dirty) == ((), None, True, True)
    assert [(one.path, one.old, one.new) for one in diff.settings] == [
        ("clusters.ci-staging.eks.pools.system.max_size", 3, 5),
        ("clusters.ci-staging.eks.pools.t4.instance_types", '["g4dn.xlarge"]', '["g4dn.2xlarge"]'),
    ]
    assert [(one.kind, one.old, one.new, one.lost) for one in diff.renames] == [
        ("GitHub lane", "gpu-t4-staging", "gpu-t4-next", ("gpu-t4-staging",))
    ]
    assert called(diff.groups) == {
        "pool t4": "replace",
        "GitHub lane gpu-t4-next": "replace",
        "pool system": "update",
        "GitLab lane t4-staging": "update",
    }, "the GitLab lane's fair share follows the larger node; nothing else changes"
    pool, lane, system, _ = diff.groups
    assert (pool.called_out, lane.called_out, system.called_out) == (True, True, False)
    assert [(one.path, one.old, one.new) for one in pool.causes] == [
        ("instanceTypes[0]", "g4dn.xlarge", "g4dn.2xlarge")
    ]
    assert {one.type for one in pool.resources} == {
        "aws:eks/nodeGroup:NodeGroup",
        "aws:autoscaling/tag:Tag",
    }, "the tags that follow are under their pool"
    assert lane.renamed_from == "gpu-t4-staging"
    assert {(one.path, one.old, one.new) for one in system.causes} >= {
        ("scalingConfig.maxSize", 3, 5),
        ("updateConfig.maxUnavailable", 1, 2),
    }
    assert diff.difference is not None
    assert set(diff.difference.pools.changed) == {"ci-staging/system", "ci-staging/t4"}
    full = diff.difference.money["ceiling"]
    assert float(str(full.new)) > float(str(full.old))
    _check_files(found)


def test_a_lane_and_its_successor_are_one_sentence_with_the_jobs_and_the_limit(
    branch: Path,
) -> None:
    """The engine creates and deletes a dozen objects of each; nothing of them is replaced."""
    edited(
        branch,
        ("max_runners: 2", "max_runners: 2\n              labels: [more]"),
        ("{group_id: 42}", "{group_id: 43}"),
    )
    diff = made(branch)[0].document
    assert called(diff.groups) == {
        "GitHub lane gpu-t4-staging": "replace",
        "GitLab lane t4-staging": "replace",
    }
    assert all(len(one.resources) >= 10 for one in diff.groups)
    waits = "The update waits at most 60 minutes for its running jobs (at most 2). The change ends"
    github, gitlab = map(plain, alerts(diff))
    assert github.startswith(
        "GitHub lane gpu-t4-staging of ci-staging is REPLACED because of its labels: a new scale "
        f"set takes the next jobs, and the old one is deleted. {waits}"
    )
    assert gitlab.startswith(
        "GitLab lane t4-staging of ci-staging is REPLACED because of the group or project of its "
        f"runner: a new runner takes the next jobs, and the old one is deleted. {waits}"
    )


def _check_files(found: Result) -> None:
    names = {file.name for file in found.folder.iterdir()}
    assert names == {"comment.md", "diff.json", "diff.txt", "engine.log", "summary.md"}
    assert read(found.folder / "diff.json") == found.document
    assert "placeholder-" not in (found.folder / "diff.json").read_text(encoding="utf-8")
    words = (found.folder / "diff.txt").read_text(encoding="utf-8")
    assert "+-aws:eks/nodeGroup:NodeGroup: (replace)" in words
    assert '"g4dn.xlarge" => "g4dn.2xlarge"' in words
    comment = (found.folder / "comment.md").read_text(encoding="utf-8")
    assert len(comment) < 65_536
    unfolded = comment.partition("<details>")[0]
    assert "Cost per month" in unfolded
    assert "is RENAMED to `gpu-t4-next`" in unfolded
    after_details = comment.rpartition("</details>")[2]
    assert "```mermaid" in after_details
    assert "### Properties" in after_details
    assert words.strip().splitlines()[-1] in (found.folder / "summary.md").read_text("utf-8")


def test_a_branch_without_changes_has_an_empty_diff(branch: Path) -> None:
    found, _ = made(branch, SMALL)
    diff = found.document
    assert (diff.groups, diff.counts, diff.settings, diff.renames) == ((), {}, (), ())
    assert diff.unchanged > 10, "the base has resources"
    assert (diff.program_changed, diff.dirty, diff.notes) == (False, False, ())


def test_a_base_that_fails_is_a_problem_and_the_head_shows_as_new(branch: Path) -> None:
    broken = 'raise RuntimeError("the base is broken")\n'
    program = (branch / "__main__.py").read_text(encoding="utf-8")
    git(branch, "switch", "--quiet", "main")
    before = git(branch, "rev-parse", "HEAD")
    committed(branch, {"__main__.py": broken})
    git(branch, "switch", "--quiet", "branch")
    git(branch, "merge", "--quiet", "main")
    (branch / "__main__.py").write_text(program, encoding="utf-8")
    try:
        found, progress = made(branch, SMALL)
    finally:
        git(branch, "update-ref", "refs/heads/main", before)
    assert found.document.problem is not None
    assert "the base is broken" in found.document.problem
    assert "\n" not in found.document.problem
    assert any("continuing without a base" in line for line in progress)
    assert found.document.refused == (), "that is no fault of the head's"
    assert set(found.document.counts) == {"create"}


def test_a_protected_replacement_is_refused_and_shown(branch: Path) -> None:
    edited(branch, ("cidr: 10.0.0.0/16", "cidr: 10.9.0.0/16"), file=PROTECTED)
    found, _ = made(branch, PROTECTED)
    diff = found.document
    (reason,) = diff.refused
    assert "protected resources would be replaced" in reason
    assert "set protect: false" in reason
    comment = (found.folder / "comment.md").read_text(encoding="utf-8")
    assert "aws:ec2/vpc:Vpc ci-staging-network-vpc" in comment
    assert "state unprotect" not in comment, "the README's way is another"
    network = diff.groups[0]
    assert (network.kind, network.operation, network.called_out) == ("network", "replace", True)
    assert any(one.protected for one in network.resources)


def test_a_head_that_is_refused_needs_no_engine(branch: Path) -> None:
    edited(branch, ("min_size: 0", "min_size: 9"))
    found, progress = made(branch)
    (reason,) = found.document.refused
    assert reason.startswith("Pulumi.staging.yaml: 1 problem"), "no path of a machine"
    assert not any("base is up" in line for line in progress)
    assert "refused" in (found.folder / "comment.md").read_text(encoding="utf-8")


def test_a_new_stack_has_no_base(branch: Path) -> None:
    shutil.copy(branch / SMALL, branch / "Pulumi.next.yaml")
    found, _ = made(branch, "Pulumi.next.yaml")
    assert found.document.notes == ("main has no Pulumi.next.yaml: the stack is new",)
    assert set(found.document.counts) == {"create"}
    assert not [one for one in found.document.groups if one.called_out]


def test_a_file_outside_of_the_repository_has_no_base(branch: Path, tmp_path: Path) -> None:
    with pytest.raises(WrongBaseError, match="no base has it"):
        make(tmp_path / STAGING, "main", say=print, project=branch)
