"""Signals that end a run: the first lets it clean up, those after it change nothing.

Source: https://docs.python.org/3/library/signal.html.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, the end of a job, and a terminal that is closed."""


def install() -> None:
    """Makes each of them a `KeyboardInterrupt`, once; what is ignored already (nohup) stays so."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)


@contextmanager
def ignored() -> Generator[None]:
    """Lets a clean-up end whatever is pressed meanwhile; programs it starts ignore it too."""
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread may say what becomes of signals, and only there they arrive.
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: object) -> None:
    # From here on everything is clean-up: a second Ctrl-C would leave half of it undone.
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt
