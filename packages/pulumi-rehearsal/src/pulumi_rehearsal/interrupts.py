"""Signals that end a run: the first one starts the clean-up, further ones are ignored.

Source: https://docs.python.org/3/library/signal.html.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, the end of a CI job, and a closed terminal."""


def install() -> None:
    """Turn each signal into a `KeyboardInterrupt`; a signal that is ignored (nohup) stays so."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)


@contextmanager
def ignored() -> Generator[None]:
    """Ignore the signals during a clean-up; programs that it starts ignore them too."""
    if threading.current_thread() is not threading.main_thread():
        # Python delivers signals to the main thread and lets only that thread change handlers.
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: object) -> None:
    # The exception starts the clean-up, which a second Ctrl-C would stop half way.
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt
