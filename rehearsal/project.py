"""The Pulumi programs of this repository that can be rehearsed."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rehearsal import checks
from rehearsal.stackfile import StackFile

ROOT: Final = Path(__file__).parent.parent


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """One program: its folder holds `Pulumi.yaml`, `__main__.py` and the stack files."""

    folder: Path
    default_stack: str
    check: Callable[[StackFile], str]
    """Returns a report on a stack file; raises `RehearsalError` for a bad one."""
    prefix: str = ""
    """Prefix of its folders in `.rehearsal/`, before the stack's name."""

    def stack_file(self, stack: str) -> Path:
        """Return the path of a stack's file."""
        return self.folder / f"Pulumi.{stack}.yaml"

    def artifacts(self, stack: str) -> Path:
        """Return the folder for the files of a rehearsal of that stack."""
        return ROOT / ".rehearsal" / f"{self.prefix}{stack}"

    def program(self) -> None:
        """Run its `__main__.py` as the engine's language host does.

        The project's modules stay imported between the commands of the engine, which saves two
        seconds: none of them registers a resource when it is imported.
        """
        runpy.run_path(str(self.folder / "__main__.py"), run_name="__main__")


FLEET: Final = Project(folder=ROOT, default_stack="staging", check=checks.report)
BOOTSTRAP: Final = Project(
    folder=ROOT / "bootstrap",
    default_stack="ci",
    check=checks.bootstrap,
    prefix="bootstrap-",
)
PROJECTS: Final[Mapping[str, Project]] = {"fleet": FLEET, "bootstrap": BOOTSTRAP}
"""Projects by the name that `make rehearse PROJECT=` takes."""
