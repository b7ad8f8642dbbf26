"""The Pulumi programs of this repository that can be rehearsed, and where each one's parts are."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pulumi_rehearsal.stackfile import StackFile
from pulumi_rehearsal.workspace import ROOT

from rehearsal import checks


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """One program: its folder holds `Pulumi.yaml`, `__main__.py` and the stack files."""

    folder: Path
    default_stack: str
    check: Callable[[StackFile], str]
    """What it says of a stack file; raises `RehearsalError` for a bad one."""
    prefix: str = ""
    """What its folders in `.rehearsal/` begin with, beside the stack's name."""

    @property
    def settings(self) -> Path:
        """Its `Pulumi.yaml`."""
        return self.folder / "Pulumi.yaml"

    def stack_file(self, stack: str) -> Path:
        """The shipped stack file of that name."""
        return self.folder / f"Pulumi.{stack}.yaml"

    def artifacts(self, stack: str) -> Path:
        """Where a rehearsal of that stack leaves its files."""
        return ROOT / ".rehearsal" / f"{self.prefix}{stack}"

    def program(self) -> None:
        """Runs its `__main__.py` as the engine's language host would."""
        runpy.run_path(str(self.folder / "__main__.py"), run_name="__main__")


FLEET: Final = Project(folder=ROOT, default_stack="staging", check=checks.report)
BOOTSTRAP: Final = Project(
    folder=ROOT / "bootstrap",
    default_stack="ci",
    check=checks.bootstrap,
    prefix="bootstrap-",
)
PROJECTS: Final[Mapping[str, Project]] = {"fleet": FLEET, "bootstrap": BOOTSTRAP}
"""By the name that `make rehearse PROJECT=` takes."""
