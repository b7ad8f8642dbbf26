"""The add-ons of OKE: their names, a version of the usual form, and their configuration keys.

Sources under https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/ :
contengintroducingclusteraddons.htm, contengconfiguringclusteraddons-configurationarguments.htm and
configuration-arguments-nvidia-gpu-plugin.htm; names as
oracle-terraform-modules/terraform-oci-oke modules/cluster-addons and
oracle-quickstart/oci-hpc-oke spell them. The keys of an add-on that is not in `KEYS` are not
checked.
"""

from __future__ import annotations

from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


AUTOSCALER: Final = "ClusterAutoscaler"
GPU_PLUGIN: Final = "NvidiaGpuPlugin"
GPU_OPERATOR: Final = "NvidiaGpuOperator"

VERSIONS: Final = {
    "AmdGpuPlugin": "v1.31.0.8",
    "CertManager": "v1.18.2",
    AUTOSCALER: "v1.35.0",
    "CoreDNS": "v1.12.4",
    "Flannel": "v0.27.4",
    "Istio": "v1.27.1",
    "KubeProxy": "v1.35.2",
    "KubernetesDashboard": "v2.7.0",
    "KubernetesMetricsServer": "v0.8.0",
    "NativeIngressController": "v1.4.2",
    "NodeFeatureDiscovery": "v0.18.2",
    GPU_OPERATOR: "v25.10.1",
    GPU_PLUGIN: "v0.18.0",
    "OciVcnIpNative": "v3.1.0",
    "OracleDatabaseOperator": "v1.2.0",
    "WeblogicKubernetesOperator": "v4.2.20",
}

ESSENTIAL: Final = frozenset({"CoreDNS", "Flannel", "KubeProxy", "OciVcnIpNative"})
"""Part of every new cluster (of the two networks, one): installing one overrides it."""

COMMON_KEYS: Final = _names(
    "affinity nodeSelectors numOfReplicas rollingUpdate tolerations topologySpreadConstraints"
)

_AUTOSCALER_DURATIONS: Final = _names(
    "leaderElectLeaseDuration leaderElectRenewDeadline leaderElectRetryPeriod maxFailingTime "
    "maxInactivity maxNodeProvisionTime scaleDownDelayAfterAdd scaleDownDelayAfterDelete "
    "scaleDownDelayAfterFailure scaleDownUnneededTime scaleDownUnreadyTime scanInterval "
    "unremovableNodeRecheckTimeout"
)

_AUTOSCALER_FLAGS: Final = _names(
    "balanceSimilarNodeGroups cordonNodeBeforeTerminating daemonsetEvictionForEmptyNodes "
    "daemonsetEvictionForOccupiedNodes debuggingSnapshotEnabled emitPerNodegroupMetrics "
    "enforceNodeGroupMinSize ignoreDaemonsetsUtilization ignoreMirrorPodsUtilization "
    "leaderElect recordDuplicatedEvents scaleDownEnabled skipNodesWithCustomControllerPods "
    "skipNodesWithLocalStorage skipNodesWithSystemPods writeStatusConfigmap"
)

_AUTOSCALER_OTHERS: Final = _names(
    "annotations authType balancingIgnoreLabel balancingLabel "
    "cluster-autoscaler.ContainerResources coresTotal estimator expander "
    "expendablePodsPriorityCutoff "
    "leaderElectResourceLock maxAutoprovisionedNodeGroupCount maxEmptyBulkDelete "
    "maxGracefulTerminationSec maxNodesTotal maxTotalUnreadyPercentage memoryTotal "
    "minReplicaCount nodeGroupAutoDiscovery nodes okTotalUnreadyCount "
    "scaleDownCandidatesPoolMinCount scaleDownCandidatesPoolRatio "
    "scaleDownNonEmptyCandidatesCount scaleDownUtilizationThreshold statusConfigMapName "
    "stderrthreshold v"
)

KEYS: Final = {
    AUTOSCALER: _AUTOSCALER_DURATIONS | _AUTOSCALER_FLAGS | _AUTOSCALER_OTHERS,
    "CoreDNS": _names(
        "coreDnsContainerResources customizeCoreDNSConfigMap minReplica nodesPerReplica"
    ),
    "KubeProxy": _names("customizeKubeProxyConfigMap kube-proxy.ContainerResources"),
}

DURATIONS: Final = {AUTOSCALER: _AUTOSCALER_DURATIONS}
FLAGS: Final = {AUTOSCALER: _AUTOSCALER_FLAGS}

JSON_KEYS: Final = _names(
    "affinity annotations cluster-autoscaler.ContainerResources coreDnsContainerResources "
    "kube-proxy.ContainerResources nodeSelectors rollingUpdate tolerations "
    "topologySpreadConstraints"
)
"""Keys whose value is JSON, as text or in base64."""
