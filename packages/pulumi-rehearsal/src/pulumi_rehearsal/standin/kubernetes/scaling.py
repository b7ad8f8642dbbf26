"""The cluster-autoscaler chart: it has to find its groups, its rights, and its own minor version.

Sources: kubernetes/autoscaler cluster-autoscaler-chart-9.59.0
cluster-autoscaler/charts/cluster-autoscaler (values.yaml, templates/_helpers.tpl,
templates/deployment.yaml) and cluster-autoscaler/README.md (image of the cluster's minor version).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kubernetes import clouds, cluster
from pulumi_rehearsal.standin.kubernetes.release import Chart, Release, enabled, words
from pulumi_rehearsal.standin.properties import given, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kubernetes.grammar import Problem
    from pulumi_rehearsal.standin.world import World


class ClusterAutoscaler(Chart):
    """The autoscaler of one cluster."""

    name: ClassVar[str] = "cluster-autoscaler"
    keys: ClassVar[Mapping[str, frozenset[str]]] = {
        "": words(
            "additionalLabels affinity autoDiscovery autoscalingGroups autoscalingGroupsnamePrefix "
            "awsAccessKeyID awsRegion awsSecretAccessKey azureClientID azureClientSecret "
            "azureEnableForceDelete azureEnableVMSSEtag azureResourceGroup azureSubscriptionID "
            "azureTenantID azureUseManagedIdentityExtension azureUseWorkloadIdentityExtension "
            "azureUserAssignedIdentityID azureVMType civoApiKey civoApiUrl civoClusterID "
            "civoRegion cloudConfigPath cloudProvider clusterAPICloudConfigPath "
            "clusterAPIConfigMapsNamespace clusterAPIKubeconfigSecret clusterAPIMode "
            "clusterAPIWorkloadKubeconfigPath containerSecurityContext customArgs deployment "
            "dnsConfig dnsPolicy envFromConfigMap envFromSecret expanderPriorities extraArgs "
            "extraEnv extraEnvConfigMaps extraEnvSecrets extraObjects extraVolumeMounts "
            "extraVolumeSecrets extraVolumes fullnameOverride hostNetwork image initContainers "
            "kubeTargetVersionOverride kwokConfigMapName magnumCABundlePath magnumClusterName "
            "nameOverride nodeSelector podAnnotations podDisruptionBudget podLabels "
            "priorityClassName priorityConfigMapAnnotations prometheusRule rbac replicaCount "
            "resources revisionHistoryLimit secretKeyRefNameOverride securityContext service "
            "serviceMonitor tolerations topologySpreadConstraints updateStrategy vpa"
        ),
        "autoDiscovery": words("clusterName labels namespace roles tags"),
        "image": words("pullPolicy pullSecrets repository tag"),
    }

    def value_problems(self, release: Release) -> Iterator[Problem]:
        """What it needs on AWS, and no keys in clear text."""
        provider = text(release.values, "cloudProvider") or "aws"
        for path in ("autoDiscovery.clusterName", "awsRegion", "image.tag"):
            if provider == "aws" and not given(release.values, path):
                yield f"values.{path}", "is needed on AWS"
        for path in ("awsAccessKeyID", "awsSecretAccessKey"):
            if given(release.values, path):
                yield f"values.{path}", "is a credential in clear text: use Pod Identity"
        expander = text(release.values, "extraArgs.expander") or ""
        priorities = given(release.values, "expanderPriorities")
        if "priority" in expander.split(",") and not priorities:
            yield "values.expanderPriorities", "is needed for the expander 'priority'"

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        """The cluster's name and minor version, and an identity for its account."""
        eks = clouds.cloud_cluster(world, release.scope)
        if eks is None:
            return
        if eks.type != clouds.EKS_CLUSTER:
            yield (
                "the cluster is OKE's, whose autoscaler is the add-on ClusterAutoscaler: it gets "
                "its identity and version from OKE; use that instead of the chart"
            )
            return
        name, version = text(eks.outputs, "name"), text(eks.outputs, "version") or ""
        wanted = text(release.values, "autoDiscovery.clusterName")
        if wanted != name:
            yield f"autoDiscovery.clusterName is {wanted!r}, the cluster is called {name!r}"
        tag = (text(release.values, "image.tag") or "").removeprefix("v")
        if version and ".".join(tag.split(".")[:2]) != version:
            yield (
                f"image.tag {tag!r} is not of the cluster's minor version {version}: the "
                "autoscaler simulates the scheduler of its own version"
            )
        account = service_account(release)
        if (
            world.find(
                cluster.POD_IDENTITY,
                eks.scope,
                clusterName=name,
                namespace=release.namespace,
                serviceAccount=account,
            )
            is None
        ):
            yield (
                f"no Pod Identity association for {release.namespace}/{account} exists yet: "
                "credentials are injected when the pod starts, so make the association first"
            )


def service_account(release: Release) -> str:
    """The account of the autoscaler's pod."""
    named = text(release.values, "rbac.serviceAccount.name")
    if named or not enabled(release, "rbac.serviceAccount.create", True):
        return named or "default"
    full = text(release.values, "fullnameOverride")
    if full:
        return full
    # templates/_helpers.tpl: the provider is part of the chart's name in a full name.
    provider = text(release.values, "cloudProvider") or "aws"
    base = text(release.values, "nameOverride") or f"{provider}-cluster-autoscaler"
    full = base if base == release.name else f"{release.name}-{base}"
    return full[:63].rstrip("-")


CHARTS: Final[tuple[Chart, ...]] = (ClusterAutoscaler(),)
