"""What a rehearsal found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulumi_rehearsal.artifacts import Phase
from pulumi_rehearsal.engine import Outcome
from pulumi_rehearsal.standin.world import World


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What a rehearsal found. `state` is the export after the last `up`; None where none ended."""

    name: str
    folder: Path
    phases: tuple[Phase, ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    placeholders: Mapping[str, str]
    world: World
    state: dict[str, Any] | None
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether everything was as it should be."""
        return not self.problems

    def phase(self, title: str) -> Outcome:
        """The outcome of the phase with that title. Raises `KeyError` where it was not reached."""
        for phase in self.phases:
            if phase.title == title:
                return phase.outcome
        raise KeyError(f"{title!r} is none of {[phase.title for phase in self.phases]}")
