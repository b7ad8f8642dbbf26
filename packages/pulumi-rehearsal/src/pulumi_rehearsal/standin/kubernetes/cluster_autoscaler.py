"""The cluster-autoscaler chart on EKS: the cluster's name and region, and an identity on AWS.

Sources: kubernetes/autoscaler cluster-autoscaler-chart-9.59.0
cluster-autoscaler/charts/cluster-autoscaler (values.yaml, templates/_helpers.tpl,
templates/deployment.yaml).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kubernetes import cluster
from pulumi_rehearsal.standin.kubernetes.release import Chart, Release, enabled, key_set
from pulumi_rehearsal.standin.properties import given, mapping, text
from pulumi_rehearsal.standin.rules import Problem

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

ROLE_ANNOTATION: Final = "eks.amazonaws.com/role-arn"


class ClusterAutoscaler(Chart):
    """The chart of the autoscaler."""

    name: ClassVar[str] = "cluster-autoscaler"
    keys: ClassVar[Mapping[str, frozenset[str]]] = {
        "": key_set(
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
        "autoDiscovery": key_set("clusterName labels namespace roles tags"),
        "image": key_set("pullPolicy pullSecrets repository tag"),
    }

    def value_problems(self, release: Release) -> Iterator[Problem]:
        groups = ("autoDiscovery.clusterName", "autoscalingGroups")
        if _is_for_aws(release) and not any(given(release.values, path) for path in groups):
            yield f"values.{groups[0]}", "is required on AWS, unless autoscalingGroups are given"
        expander = text(release.values, "extraArgs.expander") or ""
        if "priority" in expander.split(",") and not given(release.values, "expanderPriorities"):
            yield "values.expanderPriorities", "is required for the expander 'priority'"

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        eks = cluster.cloud_cluster(world, release.scope)
        if eks is None or eks.type != cluster.EKS_CLUSTER or not _is_for_aws(release):
            return
        name, region = text(eks.outputs, "name"), eks.scope.rpartition(":")[2]
        wanted = text(release.values, "autoDiscovery.clusterName")
        if wanted not in (None, name):
            yield (
                f"autoDiscovery.clusterName is {wanted!r}, the cluster is called {name!r}: the "
                "autoscaler would find none of its node groups"
            )
        wanted = text(release.values, "awsRegion") or "us-east-1"
        if wanted != region:
            yield (
                f"awsRegion is {wanted!r} (the chart's default is us-east-1), the cluster is in "
                f"{region}: set awsRegion to it"
            )
        account = service_account(release)
        identity = {"namespace": release.namespace, "serviceAccount": account}
        annotations = mapping(release.values, "rbac.serviceAccount.annotations")
        if ROLE_ANNOTATION not in annotations and not world.find(
            cluster.POD_IDENTITY, eks.scope, clusterName=name, **identity
        ):
            yield (
                f"no Pod Identity association for {release.namespace}/{account} exists yet: "
                "credentials are injected when the pod starts, so create the association first"
            )


def service_account(release: Release) -> str:
    """Return the account of the autoscaler's pod: templates/_helpers.tpl."""
    named = text(release.values, "rbac.serviceAccount.name")
    if named or not enabled(release, "rbac.serviceAccount.create", True):
        return named or "default"
    full = text(release.values, "fullnameOverride")
    if full:
        return full
    # The provider is part of the chart's name in a full name.
    provider = text(release.values, "cloudProvider") or "aws"
    base = text(release.values, "nameOverride") or f"{provider}-cluster-autoscaler"
    full = base if base == release.name else f"{release.name}-{base}"
    return full[:63].rstrip("-")


def _is_for_aws(release: Release) -> bool:
    return text(release.values, "cloudProvider") in (None, "", "aws")


CHARTS: Final[tuple[Chart, ...]] = (ClusterAutoscaler(),)
