"""The pytest fixture `rehearse`: `pulumi_rehearsal.rehearse` with its files in `tmp_path`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pulumi_rehearsal.result import Result


@pytest.fixture
def rehearse(tmp_path: Path) -> Callable[..., Result]:
    """Return `pulumi_rehearsal.rehearse`; `Result.folder` is in the test's temporary folder."""
    # Imported late: pytest loads the plugin in every run, and the SDK is slow to import.
    from pulumi_rehearsal import driver  # noqa: PLC0415

    def run(project: str | Path = ".", **options: Any) -> Result:
        options.setdefault("folder", tmp_path / "rehearsal")
        return driver.rehearse(project, **options)

    return run
