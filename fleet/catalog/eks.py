"""EKS: Kubernetes versions with their AMI release, and the enumerations of its API.

Sources of the enumerations: botocore's EKS service model (1.44.5) and the EKS API reference. The
AWS SDK takes all of them as plain strings, so nothing else would notice a wrong one before `up`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final, Literal

_DATES = (
    "https://endoflife.date/amazon-eks ; "
    "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"
)
_AUTOSCALER = "https://github.com/kubernetes/autoscaler/releases"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesVersion:
    """One Kubernetes minor on EKS, and the pins that go with it.

    `ami_release` is what a managed node group takes as release version; one release covers the
    standard and the NVIDIA variant of AL2023 on both architectures (each release's table of AMI
    names). `nvidia_driver` is the driver that the NVIDIA variant holds at least.
    """

    minor: str
    standard_support_end: date
    extended_support_end: date
    """A year after the other; EKS then upgrades the control plane by itself."""
    autoscaler_image_tag: str
    ami_release: str
    nvidia_driver: str
    source: str


# 2026-09-23 is the last release before two with a kernel that panics (`eks_amis`); later
# ones up to 2026-10-23 exist, but their Kubernetes patch numbers were not to be seen.
# Since v20260917 the NVIDIA AMI holds two drivers and picks by instance type at first boot: 595
# (595.91.07 seen) for g7, 580 for every type of our catalog (awslabs/amazon-eks-ami issue 2768).
# 580.159.03 was seen in v20260529 and v20260714; the exact 580 of the pinned releases was not.
_DRIVER_FLOOR: Final = "580.159.03"

KUBERNETES_VERSIONS: Final[Mapping[str, KubernetesVersion]] = MappingProxyType(
    {
        version.minor: version
        for version in (
            KubernetesVersion(
                minor="1.33",
                standard_support_end=date(2026, 7, 29),
                extended_support_end=date(2027, 7, 29),
                autoscaler_image_tag="v1.33.6",
                ami_release="1.33.13-20260923",
                nvidia_driver=_DRIVER_FLOOR,
                source=f"{_DATES} ; {_AUTOSCALER} ; AMI release seen on a public EKS node report",
            ),
            KubernetesVersion(
                minor="1.34",
                standard_support_end=date(2026, 12, 2),
                extended_support_end=date(2027, 12, 2),
                autoscaler_image_tag="v1.34.5",
                ami_release="1.34.10-20260903",
                nvidia_driver=_DRIVER_FLOOR,
                source=(
                    f"{_DATES} ; {_AUTOSCALER} ; AMI release seen on a public EKS node group "
                    "(the patch number of 20260923 was not seen)"
                ),
            ),
            KubernetesVersion(
                minor="1.35",
                standard_support_end=date(2027, 3, 27),
                extended_support_end=date(2028, 3, 27),
                autoscaler_image_tag="v1.35.2",
                ami_release="1.35.8-20260923",
                nvidia_driver=_DRIVER_FLOOR,
                source=f"{_DATES} ; {_AUTOSCALER} ; AMI release seen on a public NVIDIA node group",
            ),
            KubernetesVersion(
                minor="1.36",
                standard_support_end=date(2027, 8, 2),
                extended_support_end=date(2028, 8, 2),
                autoscaler_image_tag="v1.36.1",
                ami_release="1.36.4-20260923",
                nvidia_driver=_DRIVER_FLOOR,
                source=(
                    "standard support as AWS' API gave it on 2026-09-23, quoted in public notes; "
                    "extended support a year later by AWS' rule ; "
                    f"{_AUTOSCALER} ; AMI release seen on public EKS node groups"
                ),
            ),
        )
    }
)
"""Versions that this program offers. AMIs for 1.37 exist since October 2026: not yet offered."""

CLUSTER_USD_PER_HOUR: Final = 0.10
"""Control plane of a version in standard support, in every commercial region."""

EXTENDED_SUPPORT_CLUSTER_USD_PER_HOUR: Final = 0.60
"""The same in extended support, all of it: https://aws.amazon.com/blogs/containers/
amazon-eks-extended-support-for-kubernetes-versions-pricing ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiType:
    """An AMI type of a managed node group; `plugin` says whether it brings a device plugin."""

    name: str
    gpu: bool
    architecture: Literal["x86_64", "arm64"]
    plugin: Literal["none", "ami"]
    root_device: str
    """Device whose size is the disk that pods use."""
    family: Literal["al2023", "bottlerocket"]


def _al2023(name: str, architecture: Literal["x86_64", "arm64"], *, gpu: bool) -> AmiType:
    return AmiType(
        name=name,
        gpu=gpu,
        architecture=architecture,
        plugin="none",
        root_device="/dev/xvda",
        family="al2023",
    )


def _bottlerocket(name: str, architecture: Literal["x86_64", "arm64"], *, gpu: bool) -> AmiType:
    return AmiType(
        name=name,
        gpu=gpu,
        architecture=architecture,
        plugin="ami" if gpu else "none",
        root_device="/dev/xvdb",
        family="bottlerocket",
    )


AMI_TYPES: Final[Mapping[str, AmiType]] = MappingProxyType(
    {
        ami.name: ami
        for ami in (
            _al2023("AL2023_x86_64_STANDARD", "x86_64", gpu=False),
            _al2023("AL2023_ARM_64_STANDARD", "arm64", gpu=False),
            _al2023("AL2023_x86_64_NVIDIA", "x86_64", gpu=True),
            _al2023("AL2023_ARM_64_NVIDIA", "arm64", gpu=True),
            _bottlerocket("BOTTLEROCKET_x86_64", "x86_64", gpu=False),
            _bottlerocket("BOTTLEROCKET_ARM_64", "arm64", gpu=False),
            _bottlerocket("BOTTLEROCKET_x86_64_FIPS", "x86_64", gpu=False),
            _bottlerocket("BOTTLEROCKET_ARM_64_FIPS", "arm64", gpu=False),
            _bottlerocket("BOTTLEROCKET_x86_64_NVIDIA", "x86_64", gpu=True),
            _bottlerocket("BOTTLEROCKET_ARM_64_NVIDIA", "arm64", gpu=True),
            _bottlerocket("BOTTLEROCKET_x86_64_NVIDIA_FIPS", "x86_64", gpu=True),
            _bottlerocket("BOTTLEROCKET_ARM_64_NVIDIA_FIPS", "arm64", gpu=True),
        )
    }
)
"""AMI types that a stack file may name. Mind the lower-case x86_64.

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
"""AMI types that the API still lists but that must not be used, with the reason and remedy.

Source: https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html
"""

CAPACITY_TYPES: Final = ("ON_DEMAND", "SPOT", "CAPACITY_BLOCK")

TAINT_EFFECTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "NoSchedule": "NO_SCHEDULE",
        "NoExecute": "NO_EXECUTE",
        "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    }
)
"""Kubernetes' spelling -> the node group API's spelling."""

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")


ADDONS_BEFORE_NODES: Final = (
    "vpc-cni",
    "kube-proxy",
    "eks-pod-identity-agent",
    "eks-node-monitoring-agent",
)
"""Add-ons made of DaemonSets: healthy while there is no node, and nodes need the first three."""

ADDONS_AFTER_NODES: Final = ("coredns", "metrics-server", "aws-ebs-csi-driver")
"""Add-ons with a Deployment: DEGRADED, and failed after 20 minutes, until a node can run it.

Source: https://github.com/pulumi/pulumi-eks/issues/1819 (coredns; inferred for the other two).
"""
