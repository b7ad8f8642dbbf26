"""Fixtures of the tests of the rehearsal itself."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from tiny_project import Rehearse, rehearse_in


@pytest.fixture
def rehearse_tiny(tmp_path: Path) -> Rehearse:
    """Rehearses the small project; see `rehearse_in`."""
    return functools.partial(rehearse_in, tmp_path)
