"""Unpack and render the artifact of an untrusted pull request.

The content of the artifact is never executed and never chooses a file name. It is rendered in a
process without tokens. Limits are in bytes and seconds.
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
"""Maximum characters of a comment on GitHub."""

_UNREADABLE: Final = (
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""Exceptions of `zipfile` for arbitrary bytes."""


class ArtifactError(Exception):
    """The artifact is not a diff of `make diff`, or too large."""


def unpacked(archive: bytes) -> bytes:
    """Return the content of `MEMBER`, the only file in the archive of an artifact.

    Raises ArtifactError for any other archive.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            if opened.namelist() != [MEMBER]:
                raise ArtifactError(f"the archive contains something other than {MEMBER}")
            # The module unpacks bzip2 and LZMA at once: 3 kB may become 4 GB.
            if opened.infolist()[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ArtifactError(f"{MEMBER} is neither stored nor deflated")
            # The size in the archive's directory is untrusted: count the bytes while reading.
            with opened.open(MEMBER) as member:
                data = member.read(MEMBER_LIMIT + 1)
    except _UNREADABLE as error:
        raise ArtifactError(f"the archive cannot be read: {type(error).__name__}") from None
    if len(data) > MEMBER_LIMIT:
        raise ArtifactError(f"{MEMBER} is larger than {MEMBER_LIMIT} bytes")
    return data


def rendered(diff: bytes, *, marker: str, run: str) -> str:
    """Return the comment for a diff, with a link to the run that has the full text.

    Raises ArtifactError if it cannot be rendered or belongs to another stack than the marker.
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
            raise ArtifactError(f"the renderer did not end within {RENDER_S:.0f} s") from None
        if done.returncode != 0 or not target.is_file():
            raise ArtifactError(f"the renderer failed with status {done.returncode}")
        body = target.read_text(encoding="utf-8")
    if not body.startswith(marker):
        raise ArtifactError("the diff belongs to another stack")
    if len(body) > BODY_LIMIT:
        raise ArtifactError(f"the comment has {len(body)} characters, more than {BODY_LIMIT}")
    return body


def marker(stack: str) -> str:
    """Return the hidden first line that identifies the comment of a stack."""
    return f"<!-- gpu-runners diff: {stack} -->"
