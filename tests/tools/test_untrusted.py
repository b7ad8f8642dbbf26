import contextlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from tools import untrusted
from tools.untrusted import ArtifactError, marker, rendered, unpacked

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


def test_the_only_file_of_an_artifact_is_returned() -> None:
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
    with pytest.raises(ArtifactError, match="contains something other than"):
        unpacked(archive(**members))


def test_a_file_that_grows_when_unpacked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = archive(**{"diff.json": b" " * (untrusted.MEMBER_LIMIT + 1)})
    assert len(packed) < untrusted.ARCHIVE_LIMIT, "the size of the archive does not show it"
    with pytest.raises(ArtifactError, match="larger than"):
        unpacked(packed)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compression_that_unpacks_at_once_is_refused(method: int) -> None:
    with pytest.raises(ArtifactError, match="neither stored nor deflated"):
        unpacked(archive(method, **{"diff.json": bytes(untrusted.MEMBER_LIMIT + 1)}))


def test_a_damaged_archive_raises_no_other_error() -> None:
    data = archive(**{"diff.json": b'{"stack": "prod"}' * 20})
    for position in range(len(data)):
        for byte in (0, 0xAB, 0xFF):
            damaged = bytearray(data)
            damaged[position] = byte
            # Some bytes do not matter. Any other exception would prevent the next stack's comment.
            with contextlib.suppress(ArtifactError):
                unpacked(bytes(damaged))


@pytest.mark.parametrize("data", [b"", b"no archive", archive(**{"diff.json": b"{}"})[:-30]])
def test_data_that_is_not_an_archive_is_refused(data: bytes) -> None:
    with pytest.raises(ArtifactError, match="cannot be read"):
        unpacked(data)


@pytest.mark.usefixtures("renderer")
def test_a_comment_begins_with_the_marker_of_its_stack_and_links_to_its_run() -> None:
    assert rendered(diff("see RUN"), marker=MARKER, run=RUN) == f"{MARKER}\nsee {RUN}"


@pytest.mark.usefixtures("renderer")
def test_the_diff_of_another_stack_is_refused() -> None:
    with pytest.raises(ArtifactError, match="another stack"):
        rendered(diff("text"), marker=marker("staging"), run=RUN)


@pytest.mark.usefixtures("renderer")
def test_the_renderer_has_no_token_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_a-token")
    seen = rendered(diff("ENVIRONMENT"), marker=MARKER, run=RUN).split()
    assert "PATH" in seen
    assert "GITHUB_TOKEN" not in seen


@pytest.mark.usefixtures("renderer")
def test_an_error_of_the_renderer_is_reported() -> None:
    with pytest.raises(ArtifactError, match="failed with status 1"):
        rendered(b"not JSON", marker=MARKER, run=RUN)


def test_a_renderer_without_output_is_reported(renderer: Path) -> None:
    (renderer / "change" / "comment.py").write_text("")
    with pytest.raises(ArtifactError, match="failed with status 0"):
        rendered(diff("text"), marker=MARKER, run=RUN)


def test_a_renderer_that_hangs_is_killed(renderer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (renderer / "change" / "comment.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(untrusted, "RENDER_S", 0.2)
    with pytest.raises(ArtifactError, match="did not end"):
        rendered(diff("text"), marker=MARKER, run=RUN)


@pytest.mark.usefixtures("renderer")
def test_a_comment_over_the_limit_of_github_is_refused() -> None:
    remaining = untrusted.BODY_LIMIT - len(MARKER) - 1
    assert len(rendered(diff("x" * remaining), marker=MARKER, run=RUN)) == untrusted.BODY_LIMIT
    with pytest.raises(ArtifactError, match="more than 65536"):
        rendered(diff("x" * (remaining + 1)), marker=MARKER, run=RUN)
