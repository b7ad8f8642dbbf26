"""The plan as components under explicit providers, and the variables that CI wants to know.

A cloud's SDK is imported only where the plan has a part in it, since that takes seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi

from bootstrap.oci_plan import OciPlan
from bootstrap.plan import AwsPlan, BootstrapPlan

if TYPE_CHECKING:
    from bootstrap.components.aws_identity import AwsIdentity
    from bootstrap.components.oci_identity import OciIdentity
    from bootstrap.components.state_store import StateStore


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """What was registered; a part that the plan does not have is None."""

    state: StateStore | None
    aws: AwsIdentity | None
    oci: OciIdentity | None


def deploy(plan: BootstrapPlan) -> Deployed:
    """Register every part of the plan."""
    state, aws = _aws(plan.name, plan.aws) if plan.aws is not None else (None, None)
    oci = _oci(plan.name, plan.oci) if plan.oci is not None else None
    return Deployed(state=state, aws=aws, oci=oci)


def export(plan: BootstrapPlan, made: Deployed) -> None:
    """Stack outputs: the variables of GitHub and GitLab, under their own names."""
    if plan.aws is not None and made.state is not None and made.aws is not None:
        pulumi.export("AWS_REGION", plan.aws.region)
        pulumi.export("AWS_PREVIEW_ROLE_ARN", made.aws.preview_role_arn)
        # One variable in each environment: its value is a role that only this one may take.
        pulumi.export("AWS_DEPLOY_ROLE_ARN", made.aws.deploy_role_arns)
        pulumi.export(
            "PULUMI_BACKEND_URL", made.state.bucket_name.apply(plan.aws.state.backend_url)
        )
        pulumi.export("PULUMI_SECRETS_PROVIDER", plan.aws.state.secrets_provider)
    if plan.oci is not None and made.oci is not None:
        variables = made.oci.client_id.apply(plan.oci.variables)
        for name in plan.oci.variables(""):
            pulumi.export(name, variables[name])


def _aws(name: str, plan: AwsPlan) -> tuple[StateStore, AwsIdentity]:
    import pulumi_aws as aws  # noqa: PLC0415 -- see above

    from bootstrap.components.aws_identity import AwsIdentity, AwsIdentityArgs  # noqa: PLC0415
    from bootstrap.components.state_store import StateStore, StateStoreArgs  # noqa: PLC0415

    provider = aws.Provider(
        f"{name}-aws",
        region=plan.region,
        profile=plan.profile,
        # Another account's profile is refused before anything is made in it.
        allowed_account_ids=[plan.account_id],
    )
    opts = pulumi.ResourceOptions(providers=[provider])
    state = StateStore(name, StateStoreArgs(plan=plan.state), opts)
    identity = AwsIdentity(
        name,
        AwsIdentityArgs(plan=plan, bucket_arn=state.bucket_arn, key_arn=state.key_arn),
        opts,
    )
    return state, identity


def _oci(name: str, plan: OciPlan) -> OciIdentity:
    import pulumi_oci as oci  # noqa: PLC0415 -- see above

    from bootstrap.components.oci_identity import OciIdentity, OciIdentityArgs  # noqa: PLC0415

    provider = oci.Provider(f"{name}-oci", region=plan.region, config_file_profile=plan.profile)
    return OciIdentity(
        name, OciIdentityArgs(plan=plan), pulumi.ResourceOptions(providers=[provider])
    )
