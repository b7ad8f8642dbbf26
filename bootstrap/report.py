"""What the bootstrap will let whom do, in Markdown: for the administrator who runs it."""

from __future__ import annotations

from collections.abc import Iterator

from bootstrap.oci_plan import OciPlan
from bootstrap.plan import AwsPlan, BootstrapPlan, RolePlan


def roles(plan: BootstrapPlan) -> str:
    """Roles and users, with the claims by which a job is known."""
    lines = ["## Who may become what", "", "| Cloud | Role or user | Claim of the job's token |"]
    lines.append("|---|---|---|")
    if plan.aws is not None:
        lines += _aws(plan.aws)
    if plan.oci is not None:
        lines += _oci(plan.oci)
    return "\n".join(lines)


def _aws(plan: AwsPlan) -> Iterator[str]:
    for role in (plan.preview, *plan.deploy.values()):
        yield from (f"| AWS | `{role.name}` | `{claim}` |" for claim in _claims(role))


def _claims(role: RolePlan) -> Iterator[str]:
    for _, claim in role.claims.values():
        yield from (f"{claim.name}: {value}" for value in claim.values)


def _oci(plan: OciPlan) -> Iterator[str]:
    for trust in plan.trusts:
        yield from (f"| OCI | `{rule.user}` | `{rule.expression}` |" for rule in trust.rules)
