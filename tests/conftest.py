"""What holds for every test."""

from __future__ import annotations

import gc
from datetime import date

import pytest

# The SDKs are a million objects that live as long as the process. By default the collector walks
# over all of them once or twice in each program, which is a fifth of the time of a test run.
gc.set_threshold(50_000, 20, 100)


@pytest.fixture(autouse=True)
def a_day_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is at its end of life is a matter of the day: tests have one of their own."""
    monkeypatch.setattr("fleet.load._today", lambda: date(2026, 11, 21))
