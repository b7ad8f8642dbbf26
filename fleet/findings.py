"""What a check says about a stack file, and the one error that carries all of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""An error stops a preview; a warning is logged; a note stands in the report only."""

Path = tuple[str | int, ...]


def dotted(path: Path) -> str:
    """A path as a person writes it: clusters.ci.eks.pools.t4.instance_types[0]."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong: where (dotted path in the stack file), what, and what to change.

    `message` and `remedy` never hold a value that could be a secret: only names, keys and sizes.
    """

    rule: str
    path: str
    message: str
    remedy: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.path or '(the whole stack)'}: {self.message}\n    {self.remedy}"


class StackFileError(Exception):
    """The stack file cannot be used; `str()` lists every finding with its path and remedy."""

    def __init__(self, source: str, findings: Iterable[Finding]) -> None:
        self.source = source
        self.findings = tuple(findings)
        count = len(self.findings)
        head = f"{source}: {count} problem{'' if count == 1 else 's'}, nothing was changed."
        super().__init__("\n".join([head, *(f"  {finding}" for finding in self.findings)]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Silenced:
    """A finding that the stack file silences by naming its rule, and the reason it gives."""

    finding: Finding
    reason: str


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Only what must stop a preview."""
    return tuple(finding for finding in findings if finding.severity == "error")
