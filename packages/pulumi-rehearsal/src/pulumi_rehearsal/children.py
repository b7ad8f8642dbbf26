"""Programs that a rehearsal starts, each in its own process group that ends with the program."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

GRACE_S: Final = 10.0
"""Seconds that an interrupted program has to end by itself before it is killed."""

OnLine = Callable[[str], None]


def run(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    on_output: OnLine | None = None,
    on_error: OnLine | None = None,
    timeout_s: float | None = None,
) -> int:
    """Run `command` and return its exit status; pass on each line of output as it comes.

    Raises `subprocess.TimeoutExpired` after `timeout_s`, and `OSError` if there is no such program.
    Any exception, an interrupt too, ends the program and everything that it started.
    """
    process = subprocess.Popen(  # noqa: S603
        command,
        cwd=folder,
        env=environment,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    readers = [_reader(process.stdout, on_output), _reader(process.stderr, on_error)]
    try:
        code = process.wait(timeout_s)
    except BaseException:
        _end(process)
        raise
    # Children that the program left behind hold its pipes open: end them too.
    _signal(process, signal.SIGKILL)
    for reader in readers:
        reader.join()
    return code


@contextmanager
def background(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    on_output: OnLine,
    on_error: OnLine,
) -> Generator[subprocess.Popen[str]]:
    """Run `command` while the context lasts, then kill it; pass on each line of output.

    Its standard input is a pipe that closes when this process ends, even if it is killed, so that a
    program that reads it to the end stops too. Raises `OSError` if there is no such program.
    """
    process = subprocess.Popen(  # noqa: S603
        command,
        cwd=folder,
        env=environment,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    readers = [_reader(process.stdout, on_output), _reader(process.stderr, on_error)]
    try:
        yield process
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()
        for reader in readers:
            reader.join()
        if process.stdin is not None:
            process.stdin.close()


def _reader(stream: IO[str] | None, on_line: OnLine | None) -> threading.Thread:
    def read() -> None:
        for line in stream or ():
            if on_line is not None:
                on_line(line.rstrip())

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _end(process: subprocess.Popen[str]) -> None:
    # SIGTERM cancels an update as SIGINT does (pulumi/pulumi pkg/backend/cancellation_scope.go).
    # Programs started from a shell's background job ignore SIGINT, but not SIGTERM.
    _signal(process, signal.SIGTERM)
    end = time.monotonic() + GRACE_S
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
