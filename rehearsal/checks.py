"""Our own checks of a stack file, which run before the engine starts."""

from __future__ import annotations

from pulumi_rehearsal import existing as outside
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.standin.kind import Resource

from bootstrap.config import KEY, parse
from bootstrap.plan import build
from bootstrap.report import claims_table
from fleet.clusters.existing import ExistingPlan
from fleet.config.stackfile import STACK_KEY
from fleet.findings import StackFileError
from fleet.kubernetes.labels import PRIVILEGED
from fleet.load import load
from fleet.report import Report, build_report, markdown
from rehearsal.stackfile import StackFile


def report(file: StackFile) -> str:
    """Return the fleet's report in Markdown. Raises `RehearsalError` with every error."""
    return markdown(report_data(file))


def report_data(file: StackFile) -> Report:
    """Return the fleet's report as data. Raises `RehearsalError` with every error."""
    if file.stack is None:
        raise RehearsalError(
            f"{file.path}: config has no key {STACK_KEY}; write it with clusters: in it"
        )
    try:
        # A rehearsal sets a placeholder for every secret that the stack names.
        fleet = load(file.stack, source=str(file.path), has_secret=lambda _: True)
    except StackFileError as error:
        raise RehearsalError(str(error)) from None
    return build_report(fleet, stack=file.name)


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


def existing(file: StackFile) -> list[Resource]:
    """Return what its user makes before the `up` of a stack file; nothing for a bad file."""
    if file.stack is None:
        return []
    try:
        fleet = load(file.stack, source=str(file.path), has_secret=lambda _: True)
    except StackFileError:
        return []
    found: list[Resource] = []
    for cluster in fleet.plan.clusters:
        platform = cluster.platform
        here = platform.context if isinstance(platform, ExistingPlan) else cluster.name
        for secret in cluster.external_secrets:
            found.append(outside.secret(secret.namespace, secret.name, secret.keys, cluster=here))
        for name, privileged in cluster.existing_namespaces.items():
            labels = PRIVILEGED if privileged else {}
            found.append(outside.namespace(name, labels, cluster=here))
        for pool in cluster.pools:
            if pool.runtime_class is not None:
                found.append(outside.runtime_class(pool.runtime_class))
    return found
