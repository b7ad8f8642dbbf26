"""`@check` makes a check of a function that looks at a stack and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from fleet.checks.view import View
from fleet.findings import Finding, Severity

Find = Callable[[View], Iterator[Finding]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One check: the function, and the identifier that a stack's `silence` takes."""

    identifier: str
    severity: Severity
    strict: bool
    """Whether its findings are errors in a stack with `strict: true`."""
    find: Find

    @property
    def summary(self) -> str:
        """The first line of the function's docstring, which docs/troubleshooting.md lists."""
        return (self.find.__doc__ or "").partition("\n")[0]

    def finding(
        self, path: str, *, message: str, remedy: str, severity: Severity | None = None
    ) -> Finding:
        """Return a finding of this check; `severity` is the check's unless given."""
        return Finding(
            rule=self.identifier,
            path=path,
            message=message,
            remedy=remedy,
            severity=severity or self.severity,
        )

    def findings(self, view: View) -> Iterator[Finding]:
        """Apply the check to a stack."""
        for finding in self.find(view):
            is_error = self.strict and view.stack.strict
            yield replace(finding, severity="error") if is_error else finding


def check(
    identifier: str, severity: Severity = "error", *, strict: bool = False
) -> Callable[[Find], Check]:
    """Decorate a function as a check; the first line of its docstring is printed in the docs."""

    def decorate(find: Find) -> Check:
        return Check(identifier=identifier, severity=severity, strict=strict, find=find)

    return decorate
