"""A program in a process of its own."""

import os
import sys
import time
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import language_pb2_grpc
from pulumi_rehearsal.errors import RehearsalError

from change import host
from change.host import served

PYTHON = Path(sys.executable)


def test_a_program_is_served_until_the_context_ends(tmp_path: Path) -> None:
    with served(PYTHON, tmp_path, on_line=lambda _: None) as running:
        address = running.address()
        with grpc.insecure_channel(address) as channel:
            info = language_pb2_grpc.LanguageRuntimeStub(channel).GetPluginInfo(empty_pb2.Empty())
        assert info is not None
        assert running.process is not None
    assert running.process.returncode is not None


def test_a_host_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    with served(PYTHON, tmp_path, on_line=lambda _: None) as running:
        running.address()
        assert running.process is not None
        assert running.process.stdin is not None
        running.process.stdin.close()  # as the kernel does when we die
        assert running.process.wait(10) == 0


def test_a_module_beside_the_script_hides_no_standard_module(tmp_path: Path) -> None:
    (tmp_path / "secrets.py").write_text("raise RuntimeError('shadowed')", encoding="utf-8")
    with served(PYTHON, tmp_path, on_line=lambda _: None) as running:
        assert running.address(), "the SDK is imported before the project is searched"


def test_an_environment_without_the_sdk_is_refused_with_its_reason(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'pulumi'\" >&2\nexit 1\n",
        encoding="utf-8",
    )
    python.chmod(0o755)
    lines: list[str] = []
    with (
        pytest.raises(RehearsalError, match="cannot be served: ModuleNotFoundError"),
        served(python, tmp_path, on_line=lines.append) as running,
    ):
        running.address()
    assert lines


def test_a_script_that_prints_no_port_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(RehearsalError, match="'hello' is no port"),
        served(_script(tmp_path, "echo hello; sleep 60"), tmp_path, on_line=print) as running,
    ):
        running.address()


def test_a_host_without_an_answer_is_refused_after_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "START_S", 0.3)
    started = time.monotonic()
    with (
        pytest.raises(RehearsalError, match="no answer within"),
        served(_script(tmp_path, "sleep 60"), tmp_path, on_line=print) as running,
    ):
        running.address()
    assert time.monotonic() - started < 10, "what it started is killed, not waited for"


def _script(folder: Path, body: str) -> Path:
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(os.stat(file).st_mode | 0o111)
    return file
