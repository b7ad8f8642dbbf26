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

_LIBRARY: Final = re.compile(
    r"[/\\](site-packages|dist-packages|pulumi_rehearsal|python3\.\d+)[/\\]"
)


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
    """Return each reason once, without `ECHOES`; a bug of the program with its file and line."""
    texts = list(dict.fromkeys(_shortened(str(complaint)) for complaint in complaints))
    found = [text for text in texts if text not in ECHOES]
    return found or texts or ["the engine failed and gave no reason; see engine.log"]


def _shortened(text: str) -> str:
    """Return the message of an exception that arrives with its traceback, and both again."""
    text, _, trace = text.partition("\nTraceback (most recent call last)")
    text = re.sub(
        r"^(an unhandled error occurred: |python inline source runtime error: )+", "", text
    )
    # The engine repeats type and name of a resource with a wrong property, and prints the value.
    text = re.sub(
        r"^(\S+ \S+): \S+ resource '[^']*': (property \S+ value \{.*?\} )?has a problem: ",
        r"\1: ",
        text,
        flags=re.DOTALL,
    )
    return f"{text}{_location(text, trace)}"


def _location(text: str, trace: str) -> str:
    """Return the type of a built-in exception and the last line of the program in `trace`.

    Exceptions of other types, such as `pulumi.RunError`, have a message for users.
    """
    _, _, last = trace.rpartition("Traceback (most recent call last)")
    kinds = re.findall(r"^(\w+)(?=:|$)", last, flags=re.MULTILINE)
    frames = re.findall(r'^  File "([^"<]+)", line (\d+)', last, flags=re.MULTILINE)
    own = [f for f in frames if not _LIBRARY.search(f[0])]
    if not kinds or not own:
        return ""
    remedy = {
        "ModuleNotFoundError": "; install the package in the environment of the rehearsal",
    }.get(kinds[-1], "")
    return f" ({kinds[-1]} at {short(Path(own[-1][0]))}, line {own[-1][1]}){remedy}"


def short(path: Path) -> str:
    """Return a path relative to the current folder if it is inside it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
