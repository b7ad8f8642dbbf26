"""Which CI job may assume which role or user, as a Markdown table for the administrator."""

from __future__ import annotations

from bootstrap.plan import BootstrapPlan


def claims_table(plan: BootstrapPlan) -> str:
    """Return one row for each accepted token claim of each role and user."""
    lines = ["## Roles and users of CI jobs", "", "| Cloud | Role or user | Claim of the token |"]
    lines.append("|---|---|---|")
    if plan.aws is not None:
        lines += [
            f"| AWS | `{role.name}` | `{claim.name}: {value}` |"
            for role in (plan.aws.preview, *plan.aws.deploy.values())
            for _, claim in role.claims.values()
            for value in claim.values
        ]
    if plan.oci is not None:
        lines += [
            f"| OCI | `{rule.user}` | `{rule.expression}` |"
            for trust in plan.oci.trusts
            for rule in trust.rules
        ]
    return "\n".join(lines)
