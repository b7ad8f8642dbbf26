"""Every component is judged as an update sees it, and as a first preview does."""

from __future__ import annotations

import pytest


@pytest.fixture(params=[True, False], ids=["known", "unknown"])
def known(request: pytest.FixtureRequest) -> bool:
    """Whether ids and computed outputs are known."""
    return bool(request.param)
