"""Settings and fixtures of all tests."""

import gc
import os
from datetime import date

import pytest
from hypothesis import HealthCheck, settings

# The SDKs are a million objects that last as long as the process. By default the collector walks
# over all of them once or twice in each program, which is a fifth of the time of a test run.
gc.set_threshold(50_000, 20, 100)

# Every run tries the same examples and writes no database. EXHAUSTIVE=1 tries many more.
settings.register_profile(
    "default",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("exhaustive", settings.get_profile("default"), max_examples=100)
settings.load_profile("exhaustive" if os.environ.get("EXHAUSTIVE") else "default")


@pytest.fixture(autouse=True)
def fixed_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge end-of-life dates on the same day in every test."""
    monkeypatch.setattr("fleet.load._today", lambda: date(2026, 11, 21))
