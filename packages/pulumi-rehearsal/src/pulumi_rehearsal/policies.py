"""A policy pack in a rehearsal: the engine starts it and sends it resources as in a real run.

The engine runs a Python pack with the Python language host, which only the official CLI
contains. Without one the engine looks for a program on PATH (pulumi/pulumi
pkg/resource/plugin/analyzer_plugin.go); `Pack.host` writes that program.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pulumi_rehearsal.errors import RehearsalError

STACK_FILE: Final = "PULUMI_REHEARSAL_STACK_FILE"
"""Environment variable that gives the pack the path of the stack file under rehearsal."""

_HOST: Final = "pulumi-analyzer-policy-python"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pack:
    """A folder with PulumiPolicy.yaml and its own `.venv`, and its configuration."""

    folder: Path
    config: Path | None = None
    """JSON by policy; `None` for the pack's defaults."""

    @property
    def options(self) -> dict[str, Any]:
        """The options of a preview or an update that apply the pack."""
        options: dict[str, Any] = {"policy_packs": [str(self.folder)]}
        if self.config is not None:
            options["policy_pack_configs"] = [str(self.config)]
        return options

    def host(self, folder: Path) -> None:
        """Write the program that starts the pack. Raises `RehearsalError` without a `.venv`."""
        python = self.folder / ".venv" / "bin" / "python"
        if not python.exists():
            raise RehearsalError(
                f"{self.folder}: has no .venv; make one there and install the pack's requirements"
            )
        program = folder / _HOST
        program.write_text(
            f'#!/bin/sh\nexec "{python}" -u "{self.folder}" "$@"\n', encoding="utf-8"
        )
        program.chmod(0o755)


def pack_of(folder: Path, stack: str) -> Pack:
    """Return the pack in a folder, with its `<stack>.json` if there is one.

    Raises `RehearsalError` for a folder without a pack.
    """
    found = folder.absolute()
    if not (found / "PulumiPolicy.yaml").is_file():
        raise RehearsalError(
            f"{folder}: holds no PulumiPolicy.yaml; give the folder of a policy pack"
        )
    config = found / f"{stack}.json"
    return Pack(folder=found, config=config if config.is_file() else None)
