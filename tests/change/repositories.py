"""Git repositories for tests, in a folder of their own."""

import subprocess
from pathlib import Path

_IDENTITY = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *_IDENTITY, "-c", "init.defaultBranch=main", *arguments]
    done = subprocess.run(  # noqa: S603
        command, cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def committed(folder: Path, files: dict[str, str], message: str = "change") -> str:
    """Writes the files and commits everything; the repository is made where there is none."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "--quiet")
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")
