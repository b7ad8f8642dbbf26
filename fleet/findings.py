"""Findings about a stack file, and the error that contains all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""An error stops a preview. A preview logs a warning. Only the report shows a note."""

Path = tuple[str | int, ...]


def dotted(path: Path) -> str:
    """Return a path as text, like clusters.ci.eks.pools.t4.instance_types[0]."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One finding: the path in the stack file, what is wrong there, and what to change.

    `message` and `remedy` contain names, keys and sizes, but no value that could be a secret.
    """

    rule: str
    path: str
    message: str
    remedy: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.path or '(the whole stack)'}: {self.message}\n    {self.remedy}"


class StackFileError(Exception):
    """The stack file has errors. `str()` lists every finding with its path and remedy."""

    def __init__(self, source: str, findings: Iterable[Finding]) -> None:
        self.source = source
        self.findings = tuple(findings)
        count = len(self.findings)
        head = f"{source}: {count} problem{'' if count == 1 else 's'}, nothing was changed."
        super().__init__("\n".join([head, *(f"  {finding}" for finding in self.findings)]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Silenced:
    """A finding that the stack file silences, with the reason given there."""

    finding: Finding
    reason: str


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings of severity error."""
    return tuple(finding for finding in findings if finding.severity == "error")
