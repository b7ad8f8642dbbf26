from __future__ import annotations

import contextlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from tools import hostile
from tools.hostile import HostileError, marker, rendered, unpacked

MARKER = marker("prod")
RUN = "https://github.com/example-org/gpu-runners/actions/runs/7"


def archive(method: int = zipfile.ZIP_DEFLATED, /, **members: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", method) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return written.getvalue()


def diff(text: str) -> bytes:
    return json.dumps({"text": text}).encode()


def test_the_one_file_of_an_artifact_is_taken() -> None:
    assert unpacked(archive(**{"diff.json": b"{}"})) == b"{}"


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"other.json": b"{}"},
        {"../diff.json": b"{}"},
        {"diff.json": b"{}", "change/comment.py": b"print()"},
    ],
)
def test_an_artifact_with_anything_else_is_refused(members: dict[str, bytes]) -> None:
    with pytest.raises(HostileError, match="something other than"):
        unpacked(archive(**members))


def test_a_file_that_grows_when_unpacked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = archive(**{"diff.json": b" " * (hostile.MEMBER_LIMIT + 1)})
    assert len(packed) < hostile.ARCHIVE_LIMIT, "the archive alone does not show it"
    with pytest.raises(HostileError, match="larger than"):
        unpacked(packed)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_would_be_unpacked_all_at_once_is_refused(method: int) -> None:
    with pytest.raises(HostileError, match="neither stored nor deflated"):
        unpacked(archive(method, **{"diff.json": bytes(hostile.MEMBER_LIMIT + 1)}))


def test_a_damaged_archive_is_refused_and_ends_nothing_else() -> None:
    data = archive(**{"diff.json": b'{"stack": "prod"}' * 20})
    for place in range(len(data)):
        for byte in (0, 0xAB, 0xFF):
            damaged = bytearray(data)
            damaged[place] = byte
            # Some bytes mean nothing; whatever else is raised would hide the next stack's diff.
            with contextlib.suppress(HostileError):
                unpacked(bytes(damaged))


@pytest.mark.parametrize("data", [b"", b"no archive", archive(**{"diff.json": b"{}"})[:-30]])
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(HostileError, match="cannot be read"):
        unpacked(data)


@pytest.mark.usefixtures("renderer")
def test_a_comment_begins_with_the_marker_of_its_stack_and_links_to_its_run() -> None:
    assert rendered(diff("see RUN"), marker=MARKER, run=RUN) == f"{MARKER}\nsee {RUN}"


@pytest.mark.usefixtures("renderer")
def test_the_diff_of_another_stack_is_refused() -> None:
    with pytest.raises(HostileError, match="another stack"):
        rendered(diff("text"), marker=marker("staging"), run=RUN)


@pytest.mark.usefixtures("renderer")
def test_the_renderer_sees_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_a-token")
    seen = rendered(diff("ENVIRONMENT"), marker=MARKER, run=RUN).split()
    assert "PATH" in seen
    assert "GITHUB_TOKEN" not in seen


@pytest.mark.usefixtures("renderer")
def test_what_the_renderer_refuses_is_not_posted() -> None:
    with pytest.raises(HostileError, match="refused it with status 1"):
        rendered(b"not JSON", marker=MARKER, run=RUN)


def test_a_renderer_that_writes_nothing_is_told(renderer: Path) -> None:
    (renderer / "change" / "comment.py").write_text("")
    with pytest.raises(HostileError, match="refused it with status 0"):
        rendered(diff("text"), marker=MARKER, run=RUN)


def test_a_renderer_that_never_ends_is_ended(
    renderer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (renderer / "change" / "comment.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(hostile, "RENDER_S", 0.2)
    with pytest.raises(HostileError, match="did not end"):
        rendered(diff("text"), marker=MARKER, run=RUN)


@pytest.mark.usefixtures("renderer")
def test_a_comment_over_the_limit_of_github_is_refused() -> None:
    room = hostile.BODY_LIMIT - len(MARKER) - 1
    assert len(rendered(diff("x" * room), marker=MARKER, run=RUN)) == hostile.BODY_LIMIT
    with pytest.raises(HostileError, match="over 65536"):
        rendered(diff("x" * (room + 1)), marker=MARKER, run=RUN)
