"""What the DaemonSets of a node take from it, so that a lane's fair share leaves room for them.

CPU in millicores, memory in MiB, both per node. `declared` figures are the requests that the
manifest carries: the scheduler counts exactly them. The others ask for nothing, so the scheduler
counts nothing, but they do use memory: a node whose jobs take every last MiB would evict. Their
figures are a margin set aside for that, inferred from what such agents use, not confirmed.
"""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSetRequest:
    """What one DaemonSet takes on each node on which it runs, and who puts it there."""

    name: str
    cpu_m: int
    memory_mib: int
    where: Literal["every_node", "gpu_nodes", "efa_nodes"]
    owner: str
    declared: bool
    """True where CPU and memory are the manifest's own requests."""
    source: str


_MARGIN = "no memory request in the manifest; margin inferred"

EKS_NODE_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="aws-node",
        cpu_m=50,
        memory_mib=128,
        where="every_node",
        owner="eks addon vpc-cni",
        declared=False,
        source=(
            "aws/amazon-vpc-cni-k8s charts/aws-vpc-cni/values.yaml: 25m for each of the CNI and "
            "the network policy agent, 50m seen on a node; memory: pytorch/ci-infra "
            "osdc/scripts/python/daemonset_overhead.py"
        ),
    ),
    DaemonSetRequest(
        name="kube-proxy",
        cpu_m=100,
        memory_mib=80,
        where="every_node",
        owner="eks addon kube-proxy",
        declared=False,
        source=(
            "100m seen on a public EKS 1.36 node description; memory: pytorch/ci-infra "
            "osdc/scripts/python/daemonset_overhead.py"
        ),
    ),
    DaemonSetRequest(
        name="eks-pod-identity-agent",
        cpu_m=10,
        memory_mib=32,
        where="every_node",
        owner="eks addon eks-pod-identity-agent",
        declared=False,
        source=(
            "aws/eks-pod-identity-agent hack/testdata/"
            f"expected_eks_pod_identity_agent_default_helm_template.yaml: {_MARGIN}"
        ),
    ),
    DaemonSetRequest(
        name="ebs-csi-node",
        cpu_m=30,
        memory_mib=120,
        where="every_node",
        owner="eks addon aws-ebs-csi-driver",
        declared=True,
        source=(
            "kubernetes-sigs/aws-ebs-csi-driver charts/aws-ebs-csi-driver/values.yaml "
            "(node.resources: 10m and 40Mi for each of three containers)"
        ),
    ),
)
"""On every node of a cluster made here."""

NODE_MONITORING_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="eks-node-monitoring-agent",
        cpu_m=10,
        memory_mib=30,
        where="every_node",
        owner="eks addon eks-node-monitoring-agent",
        declared=True,
        source="aws/eks-node-monitoring-agent charts/eks-node-monitoring-agent/values.yaml",
    ),
    # Its tolerations are empty by default: it reaches a tainted GPU node only if the add-on's
    # configuration gives it some.
    DaemonSetRequest(
        name="dcgm-server",
        cpu_m=50,
        memory_mib=256,
        where="gpu_nodes",
        owner="eks addon eks-node-monitoring-agent",
        declared=False,
        source=(
            "aws/eks-node-monitoring-agent charts/eks-node-monitoring-agent/templates/"
            f"dcgm-daemonset.yaml: {_MARGIN}"
        ),
    ),
)
"""With the add-on that node repair needs."""

DEVICE_PLUGIN_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="nvidia-device-plugin",
        cpu_m=10,
        memory_mib=64,
        where="gpu_nodes",
        owner="chart nvidia-device-plugin",
        declared=False,
        source=f"chart nvidia-device-plugin 0.20.0 (resources: empty): {_MARGIN}",
    ),
)
"""With the stand-alone device plugin."""

_OPERATOR_ASSETS = "NVIDIA/gpu-operator assets/*/*_daemonset.yaml and chart v26.7.0"

GPU_OPERATOR_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="node-feature-discovery-worker",
        cpu_m=5,
        memory_mib=64,
        where="every_node",
        owner="chart gpu-operator",
        declared=True,
        source=(
            "kubernetes-sigs/node-feature-discovery chart values: worker.resources.requests, "
            "quoted as the default by users of the chart; not read at 0.19.0 itself"
        ),
    ),
    *(
        DaemonSetRequest(
            name=name,
            cpu_m=cpu_m,
            memory_mib=memory_mib,
            where="gpu_nodes",
            owner="chart gpu-operator",
            declared=False,
            source=f"{_OPERATOR_ASSETS}: {_MARGIN}",
        )
        for name, cpu_m, memory_mib in (
            ("gpu-feature-discovery", 10, 64),
            ("nvidia-operator-validator", 10, 32),
            ("nvidia-dcgm-exporter", 100, 512),
            # Only on nodes with GPUs that can be partitioned; counted on all, which is more.
            ("nvidia-mig-manager", 10, 64),
        )
    ),
)
"""With the GPU Operator, driver and toolkit off, as on AL2023 NVIDIA; without its plugin."""

GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="nvidia-device-plugin-daemonset",
        cpu_m=10,
        memory_mib=64,
        where="gpu_nodes",
        owner="chart gpu-operator",
        declared=False,
        source=f"{_OPERATOR_ASSETS}: {_MARGIN}",
    ),
)
"""On top, where the GPU Operator's own plugin is the advertiser."""

EFA_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="aws-efa-k8s-device-plugin",
        cpu_m=10,
        memory_mib=20,
        where="efa_nodes",
        owner="chart aws-efa-k8s-device-plugin",
        declared=True,
        source="aws/eks-charts stable/aws-efa-k8s-device-plugin/values.yaml",
    ),
)
"""With EFA on a pool."""

_OKE_NODE = "node description of 2025-04-18 in the issues of kubernetes-sigs/kueue (OKE 1.31)"
_OKE_MARGIN = f"no request in {_OKE_NODE}; margin inferred"

OKE_NODE_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="csi-oci-node",
        cpu_m=30,
        memory_mib=70,
        where="every_node",
        owner="oke",
        declared=True,
        source=_OKE_NODE,
    ),
    DaemonSetRequest(
        name="proxymux-client",
        cpu_m=50,
        memory_mib=64,
        where="every_node",
        owner="oke",
        declared=True,
        source=_OKE_NODE,
    ),
    DaemonSetRequest(
        name="kube-proxy",
        cpu_m=10,
        memory_mib=64,
        where="every_node",
        owner="oke addon KubeProxy",
        declared=False,
        source=_OKE_MARGIN,
    ),
)
"""On every node of a cluster made here."""

OKE_NATIVE_NETWORK_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="vcn-native-ip-cni",
        cpu_m=10,
        memory_mib=64,
        where="every_node",
        owner="oke addon OciVcnIpNative",
        declared=False,
        source=_OKE_MARGIN,
    ),
)
"""With VCN-native pod networking."""

OKE_FLANNEL_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="kube-flannel-ds",
        cpu_m=100,
        memory_mib=50,
        where="every_node",
        owner="oke addon Flannel",
        declared=False,
        source="flannel-io/flannel's own manifest; OKE's was not seen",
    ),
)
"""With the flannel overlay."""

OKE_GPU_PLUGIN_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="nvidia-gpu-device-plugin",
        cpu_m=50,
        memory_mib=64,
        where="gpu_nodes",
        owner="oke addon NvidiaGpuPlugin",
        declared=False,
        source="the add-on's manifest was not seen; margin inferred",
    ),
)
"""Where Oracle's plugin is the advertiser."""

OKE_OBSERVABILITY_DAEMONSETS: Final = tuple(
    DaemonSetRequest(
        name=name,
        cpu_m=50,
        memory_mib=128,
        where="every_node",
        owner=f"oke addon {addon}",
        declared=False,
        source="the add-on's manifest was not seen; margin inferred",
    )
    for name, addon in (
        ("oke-node-problem-detector", "NodeProblemDetector"),
        ("oke-dataplane-observability-agent", "ObservabilityAgent"),
    )
)
"""On a node whose pool does not turn them off by label (`oke.NODE_PROBLEM_DETECTOR_LABEL`)."""

HOST_DEVICE_DAEMONSETS: Final = (
    DaemonSetRequest(
        name="generic-device-plugin",
        cpu_m=50,
        memory_mib=20,
        where="every_node",
        owner="this program",
        declared=True,
        source="squat/generic-device-plugin manifests/generic-device-plugin.yaml (its limits)",
    ),
)
"""On a pool that offers devices of the host."""
