"""The Python for a revision of the project: one environment for each lock file.

Environments are kept in `$XDG_CACHE_HOME/gpu-runners/environments/<hash of the lock file>/`, a few
hundred MB each. A folder there may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pulumi_rehearsal import children, cli
from pulumi_rehearsal.errors import RehearsalError

LOCK_FILE: Final = "requirements.txt"
"""Lock file of the program; requirements for development do not count."""

INSTALL_S: Final = 900.0

Say = Callable[[str], None]
"""Callback for one line of progress."""


def interpreter(base: Path, head: Path, say: Say, cache: Path | None = None) -> Path:
    """Return a Python with the requirements of the project in `base`.

    This is the running Python if `head` has the same lock file. Raises `RehearsalError`.
    """
    lock = base / LOCK_FILE
    if not lock.is_file():
        raise RehearsalError(f"the base has no {LOCK_FILE}")
    wanted = lock.read_bytes()
    own = head / LOCK_FILE
    if own.is_file() and own.read_bytes() == wanted:
        return Path(sys.executable)
    digest = hashlib.sha256(wanted + sys.version.encode()).hexdigest()[:16]
    folder = (cache or cache_folder()) / digest
    python = folder / "venv" / "bin" / "python"
    complete = folder / "complete"
    folder.mkdir(parents=True, exist_ok=True)
    with cli.one_at_a_time(folder, say, "another run installs this environment; waiting for it"):
        if not (complete.exists() and python.exists()):
            complete.unlink(missing_ok=True)
            say(f"installing the base's {LOCK_FILE}: takes minutes, once")
            _make(folder / "venv", lock)
            complete.touch()
    return python


def _make(venv: Path, lock: Path) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    python = str(venv / "bin" / "python")
    _run([sys.executable, "-m", "venv", str(venv)], "python -m venv")
    uv = _uv()
    if uv is not None:
        installed = [uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes"]
        try:
            _run([*installed, str(lock)], "uv pip sync")
        except RehearsalError:
            # The site may have a mirror that only pip is configured for.
            pass
        else:
            return
    quiet = ["--quiet", "--disable-pip-version-check"]
    _run(
        [python, "-m", "pip", "install", *quiet, "--require-hashes", "-r", str(lock)],
        "pip install",
    )


def _uv() -> str | None:
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("uv")


def _run(command: list[str], what: str) -> None:
    errors: list[str] = []
    try:
        code = children.run(command, on_error=errors.append, timeout_s=INSTALL_S)
    except subprocess.TimeoutExpired:
        raise RehearsalError(f"{what} did not end within {INSTALL_S:.0f} s") from None
    if code != 0:
        reason = next((line for line in reversed(errors) if line.strip()), "no message")
        raise RehearsalError(f"{what} ended with {code}: {reason.strip()}")


def cache_folder() -> Path:
    """Return the folder that contains all environments."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "gpu-runners" / "environments"
