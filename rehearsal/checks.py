"""What the project itself says about a stack file before any engine sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.stackfile import STACK_KEY, StackFile

from bootstrap.config import KEY, parse
from bootstrap.plan import build
from bootstrap.report import claims_table
from fleet.findings import StackFileError
from fleet.load import load
from fleet.report import data, markdown
from fleet.runners.secrets import ExternalSecret


def report(file: StackFile) -> str:
    """The fleet's report in Markdown. Raises `RehearsalError` with everything that is wrong."""
    return markdown(report_data(file))


def report_data(file: StackFile) -> dict[str, Any]:
    """The fleet's report as data. Raises `RehearsalError` with everything that is wrong."""
    if file.stack is None:
        raise RehearsalError(
            f"{file.path}: config has no key {STACK_KEY}; write it with clusters: in it"
        )
    try:
        # A rehearsal makes a placeholder for every secret that the stack names.
        fleet = load(file.stack, source=str(file.path), has_secret=lambda _: True)
    except StackFileError as error:
        raise RehearsalError(str(error)) from None
    return data(fleet, stack=file.name)


def bootstrap(file: StackFile) -> str:
    """Return the table of roles and claims. Raises `RehearsalError` with every error."""
    data = file.value(KEY)
    if data is None:
        raise RehearsalError(f"{file.path}: config has no key {KEY}; write it")
    try:
        plan = build(parse(data, source=str(file.path)))
    except StackFileError as error:
        raise RehearsalError(str(error)) from None
    return claims_table(plan)


@dataclass(frozen=True, kw_only=True, slots=True)
class External:
    """What the stack's clusters hold that somebody else puts there."""

    secrets: tuple[ExternalSecret, ...] = ()
    namespaces: tuple[str, ...] = ()
    runtime_classes: tuple[str, ...] = ()


def external(file: StackFile) -> External:
    """What the stack names and somebody else makes; nothing of a bad file."""
    if file.stack is None:
        return External()
    try:
        fleet = load(file.stack, source=str(file.path), has_secret=lambda _: True)
    except StackFileError:
        return External()
    clusters = fleet.plan.clusters
    return External(
        secrets=tuple(secret for cluster in clusters for secret in cluster.external_secrets()),
        namespaces=tuple(
            name
            for cluster in clusters
            for access in cluster.accesses()
            for name in access.namespaces
            if name not in access.made_namespaces
        ),
        runtime_classes=tuple(
            pool.runtime_class
            for cluster in clusters
            for pool in cluster.pools
            if pool.runtime_class is not None
        ),
    )
