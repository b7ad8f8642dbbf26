"""The first signal ends a run, and further ones do not disturb the clean-up."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest
from pulumi_rehearsal import interrupts

SCRIPT = """
import os, signal, sys
from pulumi_rehearsal import interrupts
# Whoever runs the tests may have ignored it: nohup, or a shell's background job.
signal.signal(getattr(signal, sys.argv[1]), signal.{before})
interrupts.install()
number = getattr(signal, sys.argv[1])
try:
    os.kill(os.getpid(), number)
    print("went on")
except KeyboardInterrupt:
    for _ in range(3):
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGINT)
    print("cleaned up")
"""


def ended(number: signal.Signals, before: str = "SIG_DFL") -> str:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", SCRIPT.format(before=before), number.name],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("number", interrupts.SIGNALS, ids=lambda one: one.name)
def test_the_first_signal_interrupts_and_those_after_it_change_nothing(
    number: signal.Signals,
) -> None:
    assert ended(number) == "cleaned up"


def test_a_signal_that_nohup_ignores_is_still_ignored() -> None:
    assert ended(signal.SIGHUP, before="SIG_IGN") == "went on"


def test_during_a_clean_up_a_signal_is_ignored_and_after_it_works_again() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interrupts.ignored():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_a_clean_up_runs_as_it_is() -> None:
    ran: list[bool] = []

    def clean() -> None:
        with interrupts.ignored():
            ran.append(True)

    thread = threading.Thread(target=clean)
    thread.start()
    thread.join()
    assert ran == [True]
