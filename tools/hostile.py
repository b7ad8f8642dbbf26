"""From the artifact of a stranger's pull request to Markdown that may be posted.

Limits are bytes and seconds. Everything here is text that somebody else wrote: it is never run,
never unpacked to a name of its own choice, and rendered in a process that sees no token.
"""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
MEMBER: Final = "diff.json"
ARCHIVE_LIMIT: Final = 2 * 1024 * 1024
MEMBER_LIMIT: Final = 8 * 1024 * 1024
RENDER_S: Final = 60.0
BODY_LIMIT: Final = 65_536
"""Characters of a comment that GitHub takes."""

_UNREADABLE: Final = (
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What `zipfile` raises for bytes of any kind."""


class HostileError(Exception):
    """The artifact is not what `make diff` writes."""


def unpacked(archive: bytes) -> bytes:
    """Return the one file of an artifact's archive.

    Raises HostileError where it holds anything else.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            if opened.namelist() != [MEMBER]:
                raise HostileError(f"the archive holds something other than {MEMBER}")
            # Of bzip2 and LZMA the module unpacks all at once: 3 kB may be 4 GB.
            if opened.infolist()[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise HostileError(f"{MEMBER} is neither stored nor deflated")
            # The size in the archive's directory is the stranger's word; what is read is counted.
            with opened.open(MEMBER) as member:
                data = member.read(MEMBER_LIMIT + 1)
    except _UNREADABLE as error:
        raise HostileError(f"the archive cannot be read: {type(error).__name__}") from None
    if len(data) > MEMBER_LIMIT:
        raise HostileError(f"{MEMBER} is larger than {MEMBER_LIMIT} bytes")
    return data


def rendered(diff: bytes, *, marker: str, run: str) -> str:
    """Return the comment for a diff, with a link to the run that has the full text.

    Raises HostileError, also where the diff is of another stack than the one of the marker.
    """
    with tempfile.TemporaryDirectory(prefix="gpu-runners-comment-") as folder:
        source, target = Path(folder, MEMBER), Path(folder, "comment.md")
        source.write_bytes(diff)
        command = [sys.executable, "-m", "change.comment"]
        command += ["--from", str(source), "--output", str(target), "--run", run]
        try:
            done = subprocess.run(  # noqa: S603
                command,
                cwd=ROOT,
                env={name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
                capture_output=True,
                timeout=RENDER_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise HostileError(f"the renderer did not end within {RENDER_S:.0f} s") from None
        if done.returncode != 0 or not target.is_file():
            raise HostileError(f"the renderer refused it with status {done.returncode}")
        body = target.read_text(encoding="utf-8")
    if not body.startswith(marker):
        raise HostileError("it is the diff of another stack")
    if len(body) > BODY_LIMIT:
        raise HostileError(f"the comment has {len(body)} characters, over {BODY_LIMIT}")
    return body


def marker(stack: str) -> str:
    """Return the hidden first line by which the comment of a stack is found again."""
    return f"<!-- gpu-runners diff: {stack} -->"
