"""The README's own program, tests and stand-in, in an empty git repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"^```(?:python|yaml)\n# (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HIDDEN = ("PYTHONPATH", "PYTEST_ADDOPTS", "COV_CORE_SOURCE")

pytestmark = pytest.mark.engine


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository with the README's files; this one is not importable from it."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # noqa: S603, S607
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert len(blocks) == 6
    for name, text in blocks:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def run(folder: Path, *command: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in HIDDEN}
    done = subprocess.run(  # noqa: S603
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_foreign_program_is_rehearsed_in_one_call(repository: Path) -> None:
    run(repository, "rehearse_shop.py")
    left = {path.name for path in (repository / "shop/.rehearsal/dev").iterdir()}
    assert left == {"report.md", "preview.json", "state.json", "engine.log"}
    assert sorted(path.name for path in (repository / "shop").iterdir()) == [
        ".rehearsal",
        "Pulumi.dev.yaml",
        "Pulumi.yaml",
        "__main__.py",
    ]


def test_the_fixture_and_the_stand_in_work_as_written(repository: Path) -> None:
    printed = run(repository, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider")
    assert "3 passed" in printed


def test_the_command_line_rehearses_a_stack(repository: Path) -> None:
    # The other tests rehearse the program of the README: this one saves the imports of its SDKs.
    (repository / "shop/__main__.py").write_text("import pulumi\n\npulumi.export('team', 'web')\n")
    command = ("-m", "pulumi_rehearsal", "shop", "--stack", "dev", "--output", "left")
    printed = run(repository, *command)
    assert "rehearsal of dev passed: nothing is left" in printed
    assert (repository / "left" / "report.md").is_file()
