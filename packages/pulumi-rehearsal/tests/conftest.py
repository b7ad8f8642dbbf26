"""Fixtures of the package's own tests."""

from __future__ import annotations

import functools
import gc
from pathlib import Path

import pytest
from tiny_project import Rehearse, rehearse_in

# The SDKs are a million objects that last as long as the process: the default thresholds let the
# garbage collector visit them all several times, a fifth of the time of a test run.
gc.set_threshold(50_000, 20, 100)


@pytest.fixture
def rehearse_tiny(tmp_path: Path) -> Rehearse:
    """Rehearse the small project; see `rehearse_in`."""
    return functools.partial(rehearse_in, tmp_path)
