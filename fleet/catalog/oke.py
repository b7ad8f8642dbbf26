"""OKE: Kubernetes versions, node images and their names, labels, taints and add-ons.

Versions and image names are those of Oracle's documentation in 2026. OCI's SDK takes every
enumeration here as a plain string, so nothing else would notice a wrong one before `up`.
Sources: https://docs.oracle.com/en-us/iaas/Content/ContEng (the page is named at each table), and
the field descriptions of pulumi_oci 5.5.0.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final, NamedTuple

_VERSIONS = (
    "https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengaboutk8sversions.htm"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OkeVersion:
    """One Kubernetes version that OKE runs or ran; OKE names all three parts, with a leading v.

    `support_end` is the day on which OKE stops making new clusters of it, None where Oracle has
    only named the release that will end it (`support_end_rule`).
    """

    version: str
    oke_release: date
    upstream_end: date
    support_end: date | None
    support_end_rule: str
    source: str

    @property
    def minor(self) -> str:
        """The minor version, such as `1.35`."""
        return self.version.removeprefix("v").rpartition(".")[0]


OKE_VERSIONS: Final[Mapping[str, OkeVersion]] = MappingProxyType(
    {
        version.version: version
        for version in (
            OkeVersion(
                version="v1.34.2",
                oke_release=date(2026, 2, 3),
                upstream_end=date(2026, 10, 27),
                support_end=date(2026, 9, 22),
                support_end_rule="replaced by v1.34.10",
                source=_VERSIONS,
            ),
            OkeVersion(
                version="v1.34.10",
                oke_release=date(2026, 8, 20),
                upstream_end=date(2026, 10, 27),
                support_end=None,
                support_end_rule="30 days after OKE releases 1.37.1",
                source=_VERSIONS,
            ),
            OkeVersion(
                version="v1.35.2",
                oke_release=date(2026, 4, 28),
                upstream_end=date(2027, 2, 28),
                support_end=None,
                support_end_rule="30 days after OKE releases 1.38.1",
                source=_VERSIONS,
            ),
            OkeVersion(
                version="v1.36.1",
                oke_release=date(2026, 7, 7),
                upstream_end=date(2027, 6, 28),
                support_end=None,
                support_end_rule="30 days after OKE releases 1.39.1",
                source=_VERSIONS,
            ),
        )
    }
)
"""Versions of Oracle's table, oldest first; previews (x.y.0) left out, 1.33 is no longer in it."""


class NodeImage(NamedTuple):
    """One source that `get_node_pool_option` lists: `source_name` and `image_id`."""

    name: str
    ocid: str


class NoNodeImage(ValueError):  # noqa: N818 (it reads as what it says)
    """No image of the list fits; the message names the Kubernetes versions that it has."""


_IMAGE_NAME = re.compile(
    r"Oracle-Linux-(?P<os>\d+\.\d+)(?:-(?P<variant>Gen2-GPU|aarch64))?"
    r"-(?P<day>\d{4}\.\d{2}\.\d{2})-(?P<revision>\d+)"
    r"-OKE-(?P<kubernetes>\d+\.\d+\.\d+)-(?P<build>\d+)"
)
"""Such as Oracle-Linux-9.8-Gen2-GPU-2026.08.14-0-OKE-1.36.1-1699.

Source: https://docs.oracle.com/iaas/images/oke-worker-node-oracle-linux-9x/index.htm
"""


def newest_gpu_image(images: Iterable[NodeImage], kubernetes_version: str) -> NodeImage:
    """Return the newest x86 image with NVIDIA's driver for that version (a leading v is ignored).

    Newest by the day in the name, then OKE's build, then the release of Oracle Linux. Only names
    of Oracle's own OKE images count. The list changes weekly: pin what this returns for production.

    Raises:
        NoNodeImage: the list has none.

    """
    return _newest(images, kubernetes_version, variant="Gen2-GPU", what="GPU image")


def newest_image(images: Iterable[NodeImage], kubernetes_version: str) -> NodeImage:
    """Return the newest x86 image without GPU for that version, chosen as `newest_gpu_image` does.

    Raises:
        NoNodeImage: the list has none.

    """
    return _newest(images, kubernetes_version, variant=None, what="image")


def _newest(
    images: Iterable[NodeImage], kubernetes_version: str, *, variant: str | None, what: str
) -> NodeImage:
    wanted = kubernetes_version.removeprefix("v")
    fitting: dict[tuple[int, ...], NodeImage] = {}
    seen: set[tuple[int, ...]] = set()
    for image in images:
        match = _IMAGE_NAME.fullmatch(image.name)
        if match is None or match["variant"] != variant:
            continue
        seen.add(_numbers(match["kubernetes"]))
        if match["kubernetes"] == wanted:
            day = _numbers(match["day"])
            build = (int(match["revision"]), int(match["build"]))
            fitting[*day, *build, *_numbers(match["os"])] = image
    if not fitting:
        versions = ", ".join(".".join(map(str, version)) for version in sorted(seen))
        raise NoNodeImage(
            f"no x86 {what} of OKE for Kubernetes {wanted}: the list has {versions or 'none'}; "
            "use one of these versions, or name an image by its OCID"
        )
    return fitting[max(fitting)]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


GPU_IMAGE_DRIVER: Final = "580.95.05"
"""Driver of Oracle's GPU images, as seen; taken as the least that a newer image has.

Seen with nvidia-smi on VM.GPU.A10.2 on 2025-12-01, image Oracle-Linux-9.6-Gen2-GPU-2025.10.23-0
(oracle-japan/ocitutorials); OKE's GPU images are built on such images. The driver of the images of
2026 was not confirmed: Oracle's release notes do not name it. If it is 595 or newer, P100 and V100
have lost it.
"""


def is_fully_qualified(image: str) -> bool:
    """Say whether CRI-O needs no search for the registry of that image.

    As for container tools: the part before the first slash is a registry if it has a dot or a
    port, or is localhost. From 1.34 OKE's nodes refuse a short name that several registries could
    have (_VERSIONS; https://github.com/cri-o/cri-o/pull/9401).
    """
    registry, slash, rest = image.partition("/")
    return bool(slash and rest) and ("." in registry or ":" in registry or registry == "localhost")


CLUSTER_TYPES: Final = ("BASIC_CLUSTER", "ENHANCED_CLUSTER")
"""Add-on configuration, workload identity and OIDC need the second."""

CNI_TYPES: Final = ("FLANNEL_OVERLAY", "OCI_VCN_IP_NATIVE")
PREEMPTION_ACTION: Final = "TERMINATE"
IMAGE_SOURCE_TYPE: Final = "IMAGE"

ENDPOINTS: Final = ("PUBLIC_ENDPOINT", "PRIVATE_ENDPOINT", "VCN_HOSTNAME", "LEGACY_KUBERNETES")
"""That a kubeconfig can be made for; the last two are from memory."""

CYCLE_MODES: Final = ("INSTANCE_REPLACE", "BOOT_VOLUME_REPLACE")
"""Ways of node cycling, from memory: the SDK names none."""

KUBELET_ARGUMENTS_METADATA: Final = "kubelet-extra-args"
"""Node metadata key that the autoscaler reads for the taints of an empty pool.

Source: kubernetes/autoscaler cluster-autoscaler/cloudprovider/oci. It taints nothing by itself.
"""

USER_DATA_METADATA: Final = "user_data"
"""Node metadata key of the base64 cloud-init script."""

EPHEMERAL_STORAGE_TAG: Final = "cluster-autoscaler/node-ephemeral-storage"
"""Free-form tag of a pool: the ephemeral storage that the autoscaler imagines on an empty one."""


GPU_TAINT_KEY: Final = "nvidia.com/gpu"
GPU_TAINT_VALUE: Final = ""
"""OKE taints GPU nodes with effect NoSchedule; the autoscaler imagines an empty value.

Oracle's own examples write `present` (oracle/karpenter-provider-oci docs/guide/faqs.md), so
tolerate with Exists. Source of the empty value: kubernetes/autoscaler, OCI provider.
"""

DISABLE_GPU_PLUGIN_LABEL: Final = "oci.oraclecloud.com/disable-gpu-device-plugin"
"""Value `true` as an initial label of the pool keeps Oracle's device plugin off its nodes."""

PREEMPTIBLE_KEY: Final = "oci.oraclecloud.com/oke-is-preemptible"
"""Label (value `true`) and taint of nodes on preemptible capacity.

The taint's effect is NoSchedule; its value is `present` in Oracle's examples: tolerate with Exists.
Source: oracle/karpenter-provider-oci docs/guide/faqs.md.
"""

NODE_PROBLEM_DETECTOR_LABEL: Final = "oci.oraclecloud.com/oke-node-problem-detector-enabled"
OBSERVABILITY_AGENT_LABEL: Final = "oci.oraclecloud.com/oke-observability-agent-enabled"
"""Value `false` keeps Oracle's two observability DaemonSets off a node (public Terraform)."""


GPU_PLUGIN_ADDON: Final = "NvidiaGpuPlugin"
AUTOSCALER_ADDON: Final = "ClusterAutoscaler"

DEFAULT_ADDONS: Final = (
    "CoreDNS",
    "KubeProxy",
    "Flannel",
    "OciVcnIpNative",
    GPU_PLUGIN_ADDON,
)
"""On from the start where they apply; an Addon resource for one needs `override_existing`."""

OPTIONAL_ADDONS: Final = (
    AUTOSCALER_ADDON,
    "CertManager",
    "KubernetesMetricsServer",
    "NativeIngressController",
    "NodeFeatureDiscovery",
    "NvidiaGpuOperator",
    "AmdGpuPlugin",
)

COMMON_ADDON_KEYS: Final = (
    "affinity",
    "nodeSelectors",
    "numOfReplicas",
    "rollingUpdate",
    "tolerations",
    "topologySpreadConstraints",
)
"""Of every add-on; all but the number of replicas are JSON text.

Source: Tasks/configuration-arguments-nvidia-gpu-plugin.htm and its siblings.
"""

AUTOSCALER_KEYS: Final = (
    "nodes",
    "nodeGroupAutoDiscovery",
    "authType",
    "maxNodeProvisionTime",
    "scaleDownDelayAfterAdd",
    "scaleDownUnneededTime",
    "unremovableNodeRecheckTimeout",
    "balanceSimilarNodeGroups",
    "balancingIgnoreLabel",
    "annotations",
    "v",
    *COMMON_ADDON_KEYS,
)
"""Of ClusterAutoscaler; values are strings. `nodes` is `min:max:<pool OCID>`, comma separated.

Beyond the common ones, `nodes` and `authType`, they were seen in third-party Terraform only.
"""

AUTOSCALER_AUTH_TYPES: Final = ("workload", "instance")
