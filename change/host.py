"""A Pulumi program that runs in its own process and Python environment."""

from __future__ import annotations

import os
import queue
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pulumi_rehearsal import children
from pulumi_rehearsal.errors import RehearsalError

SCRIPT: Final = Path(__file__).with_name("program_host.py")

START_S: Final = 60.0
"""Time limit of a start. Importing the SDK takes a second, more on a loaded machine."""

POLL_S: Final = 0.1


class Host:
    """A process that serves a program; `on_line` receives its output except the port."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._ports: queue.Queue[str] = queue.Queue()
        self._has_port = False
        self._last_error = "no message"
        self.process: subprocess.Popen[str] | None = None

    def output(self, line: str) -> None:
        """Receive a line of standard output: the first one is the port."""
        if self._has_port:
            self._on_line(line)
        else:
            self._has_port = True
            self._ports.put(line)

    def error(self, line: str) -> None:
        """Receive a line of standard error."""
        self._last_error = line or self._last_error
        self._on_line(line)

    def address(self) -> str:
        """Wait for the address of the program. Raises `RehearsalError` if there is none."""
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            ended = self.process is not None and self.process.poll() is not None
            try:
                line = self._ports.get(timeout=POLL_S)
            except queue.Empty:
                if ended:
                    raise RehearsalError(
                        f"the program cannot be served: {self._last_error}"
                    ) from None
                continue
            if not line.isdigit():
                raise RehearsalError(f"the program cannot be served: {line!r} is no port")
            return f"127.0.0.1:{line}"
        raise RehearsalError(f"the program cannot be served: no answer within {START_S:.0f} s")


@contextmanager
def served(python: Path, project: Path, *, on_line: Callable[[str], None]) -> Generator[Host]:
    """Serve the `__main__.py` of `project`, run by `python`."""
    host = Host(on_line)
    # -P: modules come from the project's folder, which the script adds, not from the script's.
    with children.background(
        [str(python), "-P", str(SCRIPT)],
        folder=project,
        environment=dict(os.environ),
        on_output=host.output,
        on_error=host.error,
    ) as process:
        host.process = process
        yield host
