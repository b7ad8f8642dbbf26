"""Programs that a rehearsal starts: each in a process group of its own that never outlives it."""

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
"""How long an interrupted program may take to end in its own way."""

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
    """Runs `command` to its end and gives its exit status; hands on its lines as they come.

    Raises `subprocess.TimeoutExpired` after `timeout_s`, `OSError` where there is no such program.
    Whatever ends the wait, an interrupt too, ends the program and all that it started.
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
    # A program may leave children behind that hold its pipes: they go with it.
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
    """Runs `command` while the context lasts, then kills it; hands on its lines as they come.

    Its standard input is a pipe that ends with this process, however that ends: a program that
    reads it to its end never outlives us. Raises `OSError` where there is no such program.
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
    _signal(process, signal.SIGINT)
    end = time.monotonic() + GRACE_S
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
