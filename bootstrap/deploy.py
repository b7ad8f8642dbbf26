"""Register the plan's components under explicit providers, and export the variables of CI.

Each stack output has the name of the variable that GitHub or GitLab needs. The SDK of a cloud takes
seconds to import, so it is imported only if the plan uses that cloud.
"""

from __future__ import annotations

import pulumi

from bootstrap.oci_plan import OciPlan
from bootstrap.plan import AwsPlan, BootstrapPlan


def deploy(plan: BootstrapPlan) -> None:
    """Register and export what the plan contains."""
    if plan.aws is not None:
        _aws(plan.name, plan.aws)
    if plan.oci is not None:
        _oci(plan.name, plan.oci)


def _aws(name: str, plan: AwsPlan) -> None:
    import pulumi_aws as aws  # noqa: PLC0415 -- see the module docstring

    from bootstrap.components.aws_identity import AwsIdentity, AwsIdentityArgs  # noqa: PLC0415
    from bootstrap.components.state_store import StateStore  # noqa: PLC0415

    provider = aws.Provider(
        f"{name}-aws",
        region=plan.region,
        profile=plan.profile,
        # Refuses a profile of another account before anything is created in it.
        allowed_account_ids=[plan.account_id],
    )
    opts = pulumi.ResourceOptions(providers=[provider])
    state = StateStore(name, plan.state, opts)
    identity = AwsIdentity(
        name,
        AwsIdentityArgs(plan=plan, bucket_arn=state.bucket_arn, key_arn=state.key_arn),
        opts,
    )
    pulumi.export("AWS_REGION", plan.region)
    pulumi.export("AWS_PREVIEW_ROLE_ARN", identity.preview_role_arn)
    # By environment. Only jobs of that environment may assume the role.
    pulumi.export("AWS_DEPLOY_ROLE_ARN", identity.deploy_role_arns)
    pulumi.export("PULUMI_BACKEND_URL", state.bucket_name.apply(plan.state.backend_url))
    pulumi.export("PULUMI_SECRETS_PROVIDER", plan.state.secrets_provider)


def _oci(name: str, plan: OciPlan) -> None:
    import pulumi_oci as oci  # noqa: PLC0415 -- see the module docstring

    from bootstrap.components.oci_identity import OciIdentity  # noqa: PLC0415

    provider = oci.Provider(f"{name}-oci", region=plan.region, config_file_profile=plan.profile)
    identity = OciIdentity(name, plan, pulumi.ResourceOptions(providers=[provider]))
    variables = identity.client_id.apply(plan.variables)
    for variable in plan.variables(""):
        pulumi.export(variable, variables[variable])
