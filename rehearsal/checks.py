"""What the project itself says about a stack file before any engine sees it."""

from __future__ import annotations

from fleet.findings import StackFileError
from fleet.load import load
from fleet.plan.secrets import ExternalSecret
from fleet.report import markdown
from rehearsal.errors import Refused
from rehearsal.stackfile import STACK_KEY, StackFile


def report(file: StackFile) -> str:
    """The fleet's report in Markdown. Raises `Refused` with everything that is wrong."""
    if file.stack is None:
        raise Refused(f"{file.path}: config has no key {STACK_KEY}; write it with clusters: in it")
    try:
        # A rehearsal makes a placeholder for every secret that the stack names.
        fleet = load(file.stack, source=str(file.path), has_secret=lambda _: True)
    except StackFileError as error:
        raise Refused(str(error)) from None
    return markdown(fleet.plan, fleet.warnings)


def external_secrets(file: StackFile) -> list[ExternalSecret]:
    """The Kubernetes Secrets that the stack names and somebody else makes; none of a bad file."""
    if file.stack is None:
        return []
    try:
        fleet = load(file.stack, source=str(file.path), has_secret=lambda _: True)
    except StackFileError:
        return []
    return [secret for cluster in fleet.plan.clusters for secret in cluster.external_secrets()]
