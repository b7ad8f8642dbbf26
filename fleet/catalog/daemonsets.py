"""CPU and memory of the DaemonSets on a node, which a lane's fair share leaves free.

CPU in millicores, memory in MiB, both per node. A row marked "declared" has the requests of the
manifest, which the scheduler counts. The other DaemonSets have no request, or none for memory: the
scheduler counts nothing, but they use memory, and a node whose jobs use all the rest would evict
pods. Their figures are a margin, inferred from what such agents use, not confirmed.
"""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class DaemonSetRequest:
    """What one DaemonSet takes on each node on which it runs."""

    name: str
    cpu_m: int
    memory_mib: int
    where: Literal["every_node", "gpu_nodes", "efa_nodes"] = "every_node"


EKS_NODE_DAEMONSETS: Final = (
    # aws/amazon-vpc-cni-k8s charts/aws-vpc-cni/values.yaml: 25m for each of the CNI and the network
    # policy agent, 50m seen on a node. Memory: pytorch/ci-infra
    # osdc/scripts/python/daemonset_overhead.py
    DaemonSetRequest("aws-node", 50, 128),
    # 100m seen on a public EKS 1.36 node description. Memory: as for aws-node.
    DaemonSetRequest("kube-proxy", 100, 80),
    # Margin; aws/eks-pod-identity-agent hack/testdata/
    # expected_eks_pod_identity_agent_default_helm_template.yaml has no memory request.
    DaemonSetRequest("eks-pod-identity-agent", 10, 32),
    # Declared: kubernetes-sigs/aws-ebs-csi-driver charts/aws-ebs-csi-driver/values.yaml
    # (node.resources: 10m and 40Mi for each of three containers).
    DaemonSetRequest("ebs-csi-node", 30, 120),
)
"""DaemonSets on every node of an EKS cluster that this program creates."""

NODE_MONITORING_DAEMONSETS: Final = (
    # Declared: aws/eks-node-monitoring-agent charts/eks-node-monitoring-agent/values.yaml
    DaemonSetRequest("eks-node-monitoring-agent", 10, 30),
    # Margin; templates/dcgm-daemonset.yaml of the same chart. It has no tolerations by default, so
    # it runs on a tainted GPU node only if the configuration of the add-on adds them.
    DaemonSetRequest("dcgm-server", 50, 256, "gpu_nodes"),
)
"""DaemonSets of the add-on that node repair needs."""

DEVICE_PLUGIN_DAEMONSETS: Final = (
    # Margin; chart nvidia-device-plugin 0.20.0 has empty resources.
    DaemonSetRequest("nvidia-device-plugin", 10, 64, "gpu_nodes"),
)
"""The DaemonSet of NVIDIA's own device plugin chart."""

# Margins, except the worker: NVIDIA/gpu-operator assets/*/*_daemonset.yaml and chart v26.7.0 have
# no memory request.
GPU_OPERATOR_DAEMONSETS: Final = (
    # Declared: kubernetes-sigs/node-feature-discovery chart values worker.resources.requests, which
    # users of the chart quote as the default; not read at 0.19.0 itself.
    DaemonSetRequest("node-feature-discovery-worker", 5, 64),
    DaemonSetRequest("gpu-feature-discovery", 10, 64, "gpu_nodes"),
    DaemonSetRequest("nvidia-operator-validator", 10, 32, "gpu_nodes"),
    DaemonSetRequest("nvidia-dcgm-exporter", 100, 512, "gpu_nodes"),
    # Runs only on nodes with MIG; counted on all GPU nodes, so the sum may be too high.
    DaemonSetRequest("nvidia-mig-manager", 10, 64, "gpu_nodes"),
)
"""DaemonSets of a GPU Operator that installs no driver, toolkit or device plugin."""

GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS: Final = (
    DaemonSetRequest("nvidia-device-plugin-daemonset", 10, 64, "gpu_nodes"),
)
"""Further DaemonSets if the GPU Operator's own plugin is the advertiser."""

EFA_DAEMONSETS: Final = (
    # Declared: aws/eks-charts stable/aws-efa-k8s-device-plugin/values.yaml
    DaemonSetRequest("aws-efa-k8s-device-plugin", 10, 20, "efa_nodes"),
)
"""DaemonSets on pools with EFA."""

# Requests of a node description of 2025-04-18 in the issues of kubernetes-sigs/kueue (OKE 1.31).
OKE_NODE_DAEMONSETS: Final = (
    DaemonSetRequest("csi-oci-node", 30, 70),
    DaemonSetRequest("proxymux-client", 50, 64),
    # Margin: on that node the DaemonSet had no request.
    DaemonSetRequest("kube-proxy", 10, 64),
)
"""DaemonSets on every node of an OKE cluster that this program creates."""

OKE_NATIVE_NETWORK_DAEMONSETS: Final = (
    # Margin: on that node the DaemonSet had no request.
    DaemonSetRequest("vcn-native-ip-cni", 10, 64),
)
"""DaemonSets of VCN-native pod networking."""

OKE_GPU_PLUGIN_DAEMONSETS: Final = (
    # Margin; the manifest of the add-on NvidiaGpuPlugin was not seen.
    DaemonSetRequest("nvidia-gpu-device-plugin", 50, 64, "gpu_nodes"),
)
"""The DaemonSet of Oracle's device plugin, if that is the advertiser."""

# Margins; the manifests of the add-ons NodeProblemDetector and ObservabilityAgent were not seen.
OKE_OBSERVABILITY_DAEMONSETS: Final = (
    DaemonSetRequest("oke-node-problem-detector", 50, 128),
    DaemonSetRequest("oke-dataplane-observability-agent", 50, 128),
)
"""DaemonSets that a pool turns off by label (`oci.oraclecloud.com/oke-...-enabled: "false"`)."""

HOST_DEVICE_DAEMONSETS: Final = (
    # Declared: the limits in squat/generic-device-plugin manifests/generic-device-plugin.yaml
    DaemonSetRequest("generic-device-plugin", 50, 20),
)
"""The DaemonSet on a pool that offers devices of the host."""
