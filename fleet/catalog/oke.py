"""OKE: Kubernetes versions, names of node images, labels, taints and add-ons.

Versions and image names are those of Oracle's documentation in 2026. OCI's SDK accepts any string
for them, so a wrong value would fail only in `pulumi up`.
Sources: https://docs.oracle.com/en-us/iaas/Content/ContEng (the page is named at each table), and
the field descriptions of pulumi_oci 5.5.0.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Final, NamedTuple


@dataclass(frozen=True, slots=True)
class OkeVersion:
    """One Kubernetes version of OKE, with all three numbers and a leading v."""

    version: str
    support_end: date | None
    """Day on which OKE stops creating new clusters of it; `None` if it depends on a release."""
    support_end_rule: str

    @property
    def minor(self) -> str:
        """Return the minor version, such as `1.35`."""
        return self.version.removeprefix("v").rpartition(".")[0]


OKE_VERSIONS: Final[Mapping[str, OkeVersion]] = MappingProxyType(
    {
        version.version: version
        for version in (
            OkeVersion("v1.34.2", date(2026, 9, 22), "replaced by v1.34.10"),
            OkeVersion("v1.34.10", None, "30 days after OKE releases 1.37.1"),
            OkeVersion("v1.35.2", None, "30 days after OKE releases 1.38.1"),
            OkeVersion("v1.36.1", None, "30 days after OKE releases 1.39.1"),
        )
    }
)
"""Oracle's table without previews (x.y.0), the oldest first.

Source: https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengaboutk8sversions.htm
"""


class NodeImage(NamedTuple):
    """One source of `get_node_pool_option`: `source_name` and `image_id`."""

    name: str
    ocid: str


class NoNodeImageError(ValueError):
    """No image fits. The message has the Kubernetes versions of the list."""


_IMAGE_NAME = re.compile(
    r"Oracle-Linux-(?P<os>\d+\.\d+)(?:-(?P<variant>Gen2-GPU|aarch64))?"
    r"-(?P<day>\d{4}\.\d{2}\.\d{2})-(?P<revision>\d+)"
    r"-OKE-(?P<kubernetes>\d+\.\d+\.\d+)-(?P<build>\d+)"
)
"""Such as Oracle-Linux-9.8-Gen2-GPU-2026.08.14-0-OKE-1.36.1-1699.

Source: https://docs.oracle.com/iaas/images/oke-worker-node-oracle-linux-9x/index.htm
"""


def newest_gpu_image(images: Iterable[NodeImage], kubernetes_version: str) -> NodeImage:
    """Return the newest x86 image with NVIDIA's driver for that version, with or without v.

    The newest has the latest day in the name, then OKE build, then release of Oracle Linux. Names
    that are not of Oracle's OKE images are ignored. The list changes weekly: pin the image for
    production. Raises NoNodeImageError.
    """
    return _newest(images, kubernetes_version, variant="Gen2-GPU", what="GPU image")


def newest_image(images: Iterable[NodeImage], kubernetes_version: str) -> NodeImage:
    """Return the newest x86 image without GPU driver, by the rules of `newest_gpu_image`."""
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
        raise NoNodeImageError(
            f"no x86 {what} of OKE for Kubernetes {wanted}: the list has {versions or 'none'}; "
            "use one of these versions, or name an image by its OCID"
        )
    return fitting[max(fitting)]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


GPU_IMAGE_DRIVER: Final = "580.95.05"
"""Driver of one of Oracle's GPU images, used as the minimum for newer images.

Seen with nvidia-smi on VM.GPU.A10.2 on 2025-12-01, image Oracle-Linux-9.6-Gen2-GPU-2025.10.23-0
(oracle-japan/ocitutorials); OKE's GPU images are built on such images. The driver of the images of
2026 was not confirmed: Oracle's release notes do not name it. If it is 595 or newer, it does not
support P100 and V100.
"""


def is_fully_qualified(image: str) -> bool:
    """Return whether the image names its registry, so that CRI-O does not search for it.

    The part before the first slash is a registry if it has a dot or a port, or is localhost. From
    1.34 on, OKE's nodes refuse a short name that several registries could have
    (contengaboutk8sversions.htm; https://github.com/cri-o/cri-o/pull/9401).
    """
    registry, slash, rest = image.partition("/")
    return bool(slash and rest) and ("." in registry or ":" in registry or registry == "localhost")


KUBELET_ARGUMENTS_METADATA: Final = "kubelet-extra-args"
"""Node metadata key from which the autoscaler reads the taints of an empty pool.

The key itself sets no taint. Source: kubernetes/autoscaler cluster-autoscaler/cloudprovider/oci.
"""

USER_DATA_METADATA: Final = "user_data"
"""Node metadata key of the base64 cloud-init script."""

EPHEMERAL_STORAGE_TAG: Final = "cluster-autoscaler/node-ephemeral-storage"
"""Free-form tag of a pool: the ephemeral storage that the autoscaler assumes for an empty pool."""

GPU_TAINT_KEY: Final = "nvidia.com/gpu"
GPU_TAINT_VALUE: Final = ""
"""OKE taints GPU nodes with effect NoSchedule. The autoscaler assumes an empty value.

Oracle's own examples have `present` (oracle/karpenter-provider-oci docs/guide/faqs.md), so
tolerate with Exists. Source of the empty value: kubernetes/autoscaler, OCI provider.
"""

DISABLE_GPU_PLUGIN_LABEL: Final = "oci.oraclecloud.com/disable-gpu-device-plugin"
"""Initial label of a pool; the value `true` keeps Oracle's device plugin off its nodes."""

PREEMPTIBLE_KEY: Final = "oci.oraclecloud.com/oke-is-preemptible"
"""Label (value `true`) and taint of nodes on preemptible capacity.

The taint has the effect NoSchedule and, in Oracle's examples, the value `present`: tolerate it with
Exists.
Source: oracle/karpenter-provider-oci docs/guide/faqs.md.
"""

GPU_PLUGIN_ADDON: Final = "NvidiaGpuPlugin"
AUTOSCALER_ADDON: Final = "ClusterAutoscaler"
