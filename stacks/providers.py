"""Every provider of the program, explicit: the only place where one is built.

A cloud's SDK is imported only where a cluster of that cloud needs it, since it takes seconds.
"""

from __future__ import annotations

import pulumi
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes

from fleet.clusters.eks import EksPlan
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.oke import OkePlan
from fleet.plan import GitLabPlan, PlatformPlan


def cloud_provider(plan: PlatformPlan) -> pulumi.ProviderResource:
    """Talks to the cluster's cloud; to the cluster itself, where somebody else made it.

    Tags come with the resources, where diffs show them.
    """
    match plan:
        case EksPlan():
            import pulumi_aws as aws  # noqa: PLC0415 -- see above

            return aws.Provider(f"{plan.name}-aws", region=plan.region, profile=plan.profile)
        case OkePlan():
            import pulumi_oci as oci  # noqa: PLC0415 -- see above

            return oci.Provider(
                f"{plan.name}-oci", region=plan.region, config_file_profile=plan.profile
            )
        case ExistingPlan():
            return kubernetes.Provider(
                f"{plan.name}-kubernetes",
                context=plan.context,
                kubeconfig=plan.kubeconfig,
                enable_secret_mutable=True,
                enable_config_map_mutable=True,
            )


def gitlab_provider(cluster: str, plan: GitLabPlan, token: pulumi.Input[str]) -> gitlab.Provider:
    """Creates runners at the cluster's GitLab."""
    return gitlab.Provider(
        f"{cluster}-gitlab",
        base_url=f"{plan.url.rstrip('/')}/api/v4/",
        token=token,
    )


def kubernetes_provider(name: str, kubeconfig: pulumi.Output[str]) -> kubernetes.Provider:
    """Talks to one cluster. A rotated token updates its Secret instead of replacing it."""
    return kubernetes.Provider(
        name, kubeconfig=kubeconfig, enable_secret_mutable=True, enable_config_map_mutable=True
    )
