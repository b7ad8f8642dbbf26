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
    """What a rehearsal found. `state` is the stack's export after the last `up`, or `None`."""

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
        """Whether the rehearsal found no problem."""
        return not self.problems

    @property
    def resources(self) -> tuple[dict[str, Any], ...]:
        """The resources in the state after the last `up`, as `pulumi stack export` has them."""
        deployment: dict[str, Any] = (self.state or {}).get("deployment") or {}
        return tuple(deployment.get("resources") or ())

    def phase(self, title: str) -> Outcome:
        """Return the outcome of a phase. Raises `KeyError` if the rehearsal did not reach it."""
        for phase in self.phases:
            if phase.title == title:
                return phase.outcome
        raise KeyError(f"{title!r} is none of {[phase.title for phase in self.phases]}")
