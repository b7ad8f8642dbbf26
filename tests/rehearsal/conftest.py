"""Fixtures of the tests of the rehearsal itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rehearsal.life import rehearse
from rehearsal.result import Result
from rehearsal.standin.faults import Fault
from rehearsal.standin.server import Package
from tests.rehearsal.tiny_project import AWS, KUBERNETES, TINY, tiny_program

Rehearse = Callable[..., Result]


@pytest.fixture
def rehearse_tiny(tmp_path: Path) -> Rehearse:
    """Rehearses the small program; `change` is appended to its stack file, `then` is a second."""

    def run(
        change: str = "",
        *,
        then: str | None = None,
        faults: Sequence[Fault] = (),
        program: Callable[[], None] = tiny_program,
        packages: Sequence[Package] = (AWS, KUBERNETES),
        **more: Any,
    ) -> Result:
        first, second = tmp_path / "Pulumi.tiny.yaml", tmp_path / "then.yaml"
        first.write_text(TINY + change)
        if then is not None:
            second.write_text(TINY + then)
        return rehearse(
            first,
            to=None if then is None else second,
            faults=faults,
            folder=tmp_path / "out",
            check=lambda file: "",
            program=program,
            packages=packages,
            **more,
        )

    return run
