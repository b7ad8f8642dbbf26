"""A policy pack in a rehearsal: the engine starts it as it does in earnest, and asks it everything.

The engine runs a Python pack by the Python language host, which comes with the official CLI only.
Where there is none it looks for a program on PATH instead (pulumi/pulumi
pkg/resource/plugin/analyzer_plugin.go); `Pack.host` writes that program.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pulumi_rehearsal.errors import RehearsalError

STACK_FILE: Final = "GPU_RUNNERS_STACK_FILE"
"""Tells the pack which stack file is rehearsed (policy/declared.py)."""

_HOST: Final = "pulumi-analyzer-policy-python"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pack:
    """A folder with PulumiPolicy.yaml and its own environment, and its configuration."""

    folder: Path
    config: Path | None = None
    """JSON by policy; None for the pack's defaults."""

    @property
    def options(self) -> dict[str, Any]:
        """What a preview or an update takes to be judged by the pack."""
        options: dict[str, Any] = {"policy_packs": [str(self.folder)]}
        if self.config is not None:
            options["policy_pack_configs"] = [str(self.config)]
        return options

    def host(self, folder: Path) -> None:
        """Writes the program that starts the pack. Raises `RehearsalError` without its environment."""
        python = self.folder / ".venv" / "bin" / "python"
        if not python.exists():
            raise RehearsalError(f"{self.folder}: has no environment of its own; run make policy")
        program = folder / _HOST
        program.write_text(
            f'#!/bin/sh\nexec "{python}" -u "{self.folder}" "$@"\n', encoding="utf-8"
        )
        program.chmod(0o755)


def pack_of(folder: Path, stack: str) -> Pack:
    """The pack in a folder, with what it says of that stack where it says anything.

    Raises `RehearsalError` for a folder that holds no pack.
    """
    found = folder.absolute()
    if not (found / "PulumiPolicy.yaml").is_file():
        raise RehearsalError(
            f"{folder}: holds no PulumiPolicy.yaml; name a folder with a policy pack"
        )
    config = found / f"{stack}.json"
    return Pack(folder=found, config=config if config.is_file() else None)
