"""What a check is: a function over a stack and its plan, with an identifier and a severity.

A check yields problems; the judge puts the check's identifier and severity on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fleet.checks.view import View
from fleet.findings import Finding, Severity

Find = Callable[[View], "Iterator[Problem]"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One thing that a check found; the fields are those of `fleet.findings.Finding`."""

    path: str
    message: str
    remedy: str
    severity: Severity | None = None
    """Of this problem, where it is not the check's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One rule: what a stack file silences by `identifier`, and the function that judges."""

    identifier: str
    severity: Severity
    strict: bool
    """Whether what it finds is an error where the stack says `strict: true`."""
    find: Find

    @property
    def summary(self) -> str:
        """What it looks for, in one sentence."""
        return (self.find.__doc__ or "").partition("\n")[0]

    def findings(self, view: View) -> Iterator[Finding]:
        """What it finds in a stack, with the severity that the stack asks for."""
        for problem in self.find(view):
            severity = problem.severity or self.severity
            yield Finding(
                rule=self.identifier,
                path=problem.path,
                message=problem.message,
                remedy=problem.remedy,
                severity="error" if self.strict and view.stack.strict else severity,
            )


def check(
    identifier: str, severity: Severity = "error", *, strict: bool = False
) -> Callable[[Find], Check]:
    """Make a check of a function; its docstring begins with what it looks for."""

    def make(find: Find) -> Check:
        return Check(identifier=identifier, severity=severity, strict=strict, find=find)

    return make
