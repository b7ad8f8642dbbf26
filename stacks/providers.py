"""Every provider of the program. No other module builds one.

A cloud's SDK is imported only for a cluster of that cloud, because the import takes seconds.
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
    """Return the provider of the cluster's cloud, or of an existing cluster itself.

    It has no default tags. Resources have them, where a diff shows them.
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
            return _kubernetes(f"{plan.name}-kubernetes", plan.kubeconfig, plan.context)


def gitlab_provider(cluster: str, plan: GitLabPlan, token: pulumi.Input[str]) -> gitlab.Provider:
    """Return the provider that creates runners at the cluster's GitLab."""
    return gitlab.Provider(
        f"{cluster}-gitlab",
        base_url=f"{plan.url.rstrip('/')}/api/v4/",
        token=token,
    )


def kubernetes_provider(name: str, kubeconfig: pulumi.Output[str]) -> kubernetes.Provider:
    """Return the provider of one new cluster."""
    return _kubernetes(name, kubeconfig)


def lane_provider(plan: PlatformPlan, kubeconfig: pulumi.Output[str] | None) -> kubernetes.Provider:
    """Return the provider of the lanes of a cluster; an existing cluster has no `kubeconfig`.

    It adopts objects that exist. An `up` that is killed between the creation of an object and the
    engine's note of it would otherwise block the next `up` with "already exists". The names of a
    lane's objects belong to the lane. For namespaces and definitions, which may belong to others,
    the error of the other provider is right.
    """
    name = f"{plan.name}-lanes"
    if isinstance(plan, ExistingPlan):
        return _kubernetes(name, plan.kubeconfig, plan.context, adopts=True)
    return _kubernetes(name, kubeconfig, adopts=True)


def _kubernetes(
    name: str,
    kubeconfig: pulumi.Input[str] | None,
    context: str | None = None,
    *,
    adopts: bool = False,
) -> kubernetes.Provider:
    """Return a provider that updates a Secret in place when a token is rotated."""
    return kubernetes.Provider(
        name,
        kubeconfig=kubeconfig,
        context=context,
        enable_secret_mutable=True,
        enable_config_map_mutable=True,
        upsert_existing_objects=adopts or None,
        # What a killed up left may differ from the file of the next one.
        enable_patch_force=adopts or None,
    )
