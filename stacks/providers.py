"""Every provider of the program, explicit: the only place where one is built."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes

from fleet.plan.build import GitLabPlan
from fleet.plan.eks import EksPlan


def aws_provider(plan: EksPlan) -> aws.Provider:
    """Talks to AWS in the cluster's region; tags come with the resources, where diffs show them."""
    return aws.Provider(f"{plan.name}-aws", region=plan.region, profile=plan.profile)


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
