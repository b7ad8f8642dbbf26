"""The other report of a comparison: another file, or the same one at a git revision.

A stack file is judged with this revision's code; a report of an older one is taken as it is.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

ReadStack = Callable[[str, str], dict[str, Any]]
"""Makes a report of a stack file's text; the other text names it in messages."""


class NoSuchBase(ValueError):  # noqa: N818 (it reads as what it says)
    """The base is neither a file nor a git revision, or cannot be read; the message says which."""


def base_report(base: str, file: Path, read_stack: ReadStack) -> dict[str, Any] | None:
    """The report of `base`: a report as JSON, a stack file, or a revision of `file`.

    None where the revision has no such file. Raises NoSuchBase, and whatever `read_stack` raises.
    """
    other = Path(base)
    if not other.is_file():
        text = at_revision(file, base)
        return None if text is None else read_stack(text, f"{base}:{file.name}")
    try:
        text = other.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise NoSuchBase(f"{base}: cannot be read as text") from None
    return _report(base, text) if other.suffix == ".json" else read_stack(text, base)


def at_revision(file: Path, revision: str) -> str | None:
    """A file's text at a git revision; None where it was not there. Raises NoSuchBase."""
    known = _git(
        file, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    commit = known.stdout.strip()
    if known.returncode or not commit:
        raise NoSuchBase(f"{revision}: is neither a file nor a git revision here")
    found = _git(file, "show", "--end-of-options", f"{commit}:./{file.name}")
    return None if found.returncode else found.stdout


def _git(file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - no shell, and a revision is no option
            ["git", "-C", str(file.parent), *arguments],  # noqa: S607 - git is found on the PATH
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise NoSuchBase("git is not installed; name a file as the base") from None


def _report(name: str, text: str) -> dict[str, Any]:
    try:
        report: object = json.loads(text)
    except ValueError:
        report = None
    if not isinstance(report, dict) or "clusters" not in report:
        raise NoSuchBase(f"{name}: is not a report that --format json wrote")
    return cast("dict[str, Any]", report)
