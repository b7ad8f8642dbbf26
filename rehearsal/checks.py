"""What the project itself says about a stack file before any engine sees it."""

from __future__ import annotations

from rehearsal.errors import Refused
from rehearsal.stackfile import STACK_KEY, StackFile


def report(file: StackFile) -> str:
    """The findings in Markdown. Raises `Refused` with everything that is wrong."""
    if file.stack is None:
        raise Refused(f"{file.path}: config has no key {STACK_KEY}; write it with clusters: in it")
    return ""
