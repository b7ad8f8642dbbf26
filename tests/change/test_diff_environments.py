"""The interpreter for the base's lock file."""

import sys
from pathlib import Path
from typing import Any

import pytest
from pulumi_rehearsal import children
from pulumi_rehearsal.errors import RehearsalError

from change import environments
from change.environments import LOCK_FILE, interpreter


class Installers:
    """Stands for venv, uv and pip; `broken` are words of commands that fail."""

    def __init__(self, *broken: str) -> None:
        self.broken = broken
        self.asked: list[str] = []

    def run(self, command: list[str], **_: Any) -> int:
        self.asked.append(" ".join(command))
        if any(word in self.asked[-1] for word in self.broken):
            _["on_error"]("no matching distribution")
            return 1
        if "venv" in command:
            python = Path(command[-1]) / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.touch()
        return 0


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    base, head = tmp_path / "base", tmp_path / "head"
    for folder, text in ((base, "pulumi==1"), (head, "pulumi==2")):
        folder.mkdir()
        (folder / LOCK_FILE).write_text(text, encoding="utf-8")
    return base, head


def use(monkeypatch: pytest.MonkeyPatch, installers: Installers) -> None:
    monkeypatch.setattr(children, "run", installers.run)
    monkeypatch.setattr(environments, "_uv", lambda: "uv")


def test_an_equal_lock_file_needs_no_other_environment(sides: tuple[Path, Path]) -> None:
    base, _ = sides
    assert interpreter(base, base, pytest.fail) == Path(sys.executable)


def test_an_environment_is_made_once_for_each_lock_file(
    sides: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installers, progress = Installers(), list[str]()
    use(monkeypatch, installers)
    python = interpreter(*sides, progress.append, tmp_path / "cache")
    assert python.is_file()
    assert ["venv" in installers.asked[0], "uv pip sync" in installers.asked[1]] == [True, True]
    assert "--require-hashes" in installers.asked[1]
    assert progress == ["installing the base's requirements.txt: takes minutes, once"]
    assert interpreter(*sides, pytest.fail, tmp_path / "cache") == python
    assert len(installers.asked) == 2, "the second time it is there"


def test_pip_installs_if_uv_fails(
    sides: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installers = Installers("uv pip")
    use(monkeypatch, installers)
    assert interpreter(*sides, lambda _: None, tmp_path).is_file()
    assert "-m pip install" in installers.asked[-1]


def test_an_incomplete_environment_is_made_again(
    sides: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Installers("pip"))
    with pytest.raises(RehearsalError, match="pip install ended with 1: no matching distribution"):
        interpreter(*sides, lambda _: None, tmp_path)
    installers = Installers()
    use(monkeypatch, installers)
    assert interpreter(*sides, lambda _: None, tmp_path).is_file()
    assert "venv" in installers.asked[0]


def test_a_base_without_a_lock_file_is_refused(sides: tuple[Path, Path]) -> None:
    base, head = sides
    (base / LOCK_FILE).unlink()
    with pytest.raises(RehearsalError, match=r"the base has no requirements\.txt"):
        interpreter(base, head, pytest.fail)


def test_the_cache_folder_follows_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert environments.cache_folder() == tmp_path / "gpu-runners" / "environments"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert environments.cache_folder().is_relative_to(tmp_path / "home" / ".cache")
