"""What a command of the engine did, in the words that a rehearsal prints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pulumi_rehearsal.engine import Complaint, Outcome

ECHOES: Final = frozenset({"update failed", "preview failed", "destroy failed"})
"""Messages that the engine prints after the reason, without adding anything to it."""


def verdict(outcome: Outcome, protected: int = 0) -> str:
    """Return a summary of a command; `protected` counts the resources it must not destroy."""
    if not outcome.ok:
        refused = any("it is protected" in complaint.message for complaint in outcome.complaints)
        return f"refused, {protected} protected" if protected and refused else "failed"
    counts = Counter(change.operation for change in outcome.differences)
    unchanged = len(outcome.changes) - len(outcome.differences)
    parts = [f"{count} {operation}" for operation, count in sorted(counts.items())]
    if not parts:
        return f"no changes, {unchanged} same"
    return ", ".join([*parts, f"{unchanged} same"] if unchanged else parts)


def reasons(complaints: Sequence[Complaint]) -> list[str]:
    """Return each reason once, without the SDK's traceback and without `ECHOES`."""
    texts = list(dict.fromkeys(_without_traceback(str(complaint)) for complaint in complaints))
    found = [text for text in texts if text not in ECHOES]
    return found or texts or ["the engine failed and gave no reason; see engine.log"]


def _without_traceback(text: str) -> str:
    """Return the message of an exception that arrives with its traceback, and both again."""
    text = text.partition("\nTraceback (most recent call last)")[0]
    return re.sub(
        r"^(an unhandled error occurred: |python inline source runtime error: )+", "", text
    )


def short(path: Path) -> str:
    """Return a path relative to the current folder if it is inside it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
