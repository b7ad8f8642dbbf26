"""A rehearsal's findings in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pulumi_rehearsal.engine import Complaint, Outcome
from pulumi_rehearsal.workspace import ROOT

ECHOES: Final = frozenset({"update failed", "preview failed", "destroy failed"})
"""What the engine adds to a reason that it has told."""


def verdict(outcome: Outcome, protected: int = 0) -> str:
    """What came of a command; `protected` counts the resources that it should refuse to destroy."""
    if not outcome.ok:
        refused = any("it is protected" in complaint.message for complaint in outcome.complaints)
        return f"refused, {protected} protected" if protected and refused else "failed"
    counts = Counter(change.operation for change in outcome.differences)
    unchanged = len(outcome.changes) - len(outcome.differences)
    words = [f"{count} {operation}" for operation, count in sorted(counts.items())]
    if not words:
        return f"no changes, {unchanged} same"
    return ", ".join([*words, f"{unchanged} same"] if unchanged else words)


def reasons(complaints: Sequence[Complaint]) -> list[str]:
    """Each reason once, without the SDK's traceback and without the echo that something failed."""
    told = list(dict.fromkeys(_without_traceback(str(complaint)) for complaint in complaints))
    found = [text for text in told if text not in ECHOES]
    return found or told or ["the engine failed and gave no reason; see engine.log"]


def _without_traceback(text: str) -> str:
    """An exception of the program's arrives as its message, its traceback, and both again."""
    text = text.partition("\nTraceback (most recent call last)")[0]
    return re.sub(
        r"^(an unhandled error occurred: |python inline source runtime error: )+", "", text
    )


def short(path: Path) -> str:
    """A path as a person in the project's folder would type it."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
