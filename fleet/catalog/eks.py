"""EKS: Kubernetes versions with their AMI release, AMI types, add-ons and prices.

Sources of the enumerations: botocore's EKS service model (1.44.5) and the EKS API reference. The
AWS SDK accepts any string for them, so a wrong value would fail only in `pulumi up`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class KubernetesVersion:
    """One Kubernetes minor on EKS, and the versions pinned for it."""

    minor: str
    standard_support_end: date
    autoscaler_image_tag: str
    ami_release: str
    """Release version of a managed node group. One release covers the standard and the NVIDIA
    variant of AL2023 on both architectures (each release's table of AMI names)."""
    nvidia_driver: str
    """Minimum driver version of the NVIDIA variant."""


# 20260923 is the last release before two with a kernel that panics (`eks_amis`). Later releases up
# to 20261023 exist, but their Kubernetes patch numbers were not found.
# Since v20260917 the NVIDIA AMI contains two drivers and selects one by instance type at first
# boot: 595 (595.91.07 seen) for g7, 580 for every type of our catalog (awslabs/amazon-eks-ami issue
# 2768). 580.159.03 was seen in v20260529 and v20260714, the exact 580 of the pinned releases was
# not.
_DRIVER: Final = "580.159.03"

# Support: https://endoflife.date/amazon-eks and
# https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html ; 1.36 as AWS' API had
# it on 2026-09-23, quoted in public notes. Extended support ends a year later; then EKS upgrades
# the control plane. Autoscaler: https://github.com/kubernetes/autoscaler/releases . AMI releases:
# seen on public EKS node groups (1.35 on an NVIDIA one); the patch number of 1.34 on 20260923 was
# not seen.
_VERSIONS: Final = (
    KubernetesVersion("1.33", date(2026, 7, 29), "v1.33.6", "1.33.13-20260923", _DRIVER),
    KubernetesVersion("1.34", date(2026, 12, 2), "v1.34.5", "1.34.10-20260903", _DRIVER),
    KubernetesVersion("1.35", date(2027, 3, 27), "v1.35.2", "1.35.8-20260923", _DRIVER),
    KubernetesVersion("1.36", date(2027, 8, 2), "v1.36.1", "1.36.4-20260923", _DRIVER),
)

KUBERNETES_VERSIONS: Final[Mapping[str, KubernetesVersion]] = MappingProxyType(
    {version.minor: version for version in _VERSIONS}
)
"""Versions that this program offers. AMIs for 1.37 exist since October 2026: not yet offered."""

CLUSTER_USD_PER_HOUR: Final = 0.10
"""Control plane of a version in standard support, in each commercial region."""

EXTENDED_SUPPORT_CLUSTER_USD_PER_HOUR: Final = 0.60
"""Total price in extended support: https://aws.amazon.com/blogs/containers/
amazon-eks-extended-support-for-kubernetes-versions-pricing ."""


@dataclass(frozen=True, slots=True)
class AmiType:
    """One AMI type of a managed node group. Its name contains its attributes."""

    name: str

    @property
    def gpu(self) -> bool:
        return "NVIDIA" in self.name

    @property
    def architecture(self) -> Literal["x86_64", "arm64"]:
        return "arm64" if "ARM_64" in self.name else "x86_64"

    @property
    def family(self) -> Literal["al2023", "bottlerocket"]:
        return "al2023" if self.name.startswith("AL2023") else "bottlerocket"

    @property
    def plugin(self) -> Literal["none", "ami"]:
        """Return whether the AMI contains a device plugin."""
        return "ami" if self.gpu and self.family == "bottlerocket" else "none"

    @property
    def root_device(self) -> str:
        """Return the device of the volume that holds the pods' disk."""
        return "/dev/xvda" if self.family == "al2023" else "/dev/xvdb"


AMI_TYPES: Final[Mapping[str, AmiType]] = MappingProxyType(
    {
        name: AmiType(name)
        for name in (
            "AL2023_x86_64_STANDARD",
            "AL2023_ARM_64_STANDARD",
            "AL2023_x86_64_NVIDIA",
            "AL2023_ARM_64_NVIDIA",
            "BOTTLEROCKET_x86_64",
            "BOTTLEROCKET_ARM_64",
            "BOTTLEROCKET_x86_64_FIPS",
            "BOTTLEROCKET_ARM_64_FIPS",
            "BOTTLEROCKET_x86_64_NVIDIA",
            "BOTTLEROCKET_ARM_64_NVIDIA",
            "BOTTLEROCKET_x86_64_NVIDIA_FIPS",
            "BOTTLEROCKET_ARM_64_NVIDIA_FIPS",
        )
    }
)
"""AMI types of the EKS API; note the lower-case x86_64.

Device plugin: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-k8s-device-plugin.html .
Root devices: awslabs/amazon-eks-ami and bottlerocket-os/bottlerocket QUICKSTART-EKS.md.
"""

_AL2_ENDED = "publishing ended 2025-11-26 and there is none for Kubernetes 1.33 or later"

DEAD_AMI_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "AL2_x86_64_GPU": f"{_AL2_ENDED}; use AL2023_x86_64_NVIDIA",
        "AL2_x86_64": f"{_AL2_ENDED}; use AL2023_x86_64_STANDARD",
        "AL2_ARM_64": f"{_AL2_ENDED}; use AL2023_ARM_64_STANDARD",
    }
)
"""AMI types that the API still lists, with the reason not to use them and the remedy.

Source: https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html
"""

TAINT_EFFECTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "NoSchedule": "NO_SCHEDULE",
        "NoExecute": "NO_EXECUTE",
        "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    }
)
"""Spelling of Kubernetes -> spelling of the node group API."""

ADDONS_BEFORE_NODES: Final = (
    "vpc-cni",
    "kube-proxy",
    "eks-pod-identity-agent",
    "eks-node-monitoring-agent",
)
"""Add-ons with only DaemonSets: healthy without a node, and nodes need the first three."""

ADDONS_AFTER_NODES: Final = ("coredns", "metrics-server", "aws-ebs-csi-driver")
"""Add-ons with a Deployment: DEGRADED without a node, and failed after 20 minutes.

Source: https://github.com/pulumi/pulumi-eks/issues/1819 (coredns; inferred for the other two).
"""
