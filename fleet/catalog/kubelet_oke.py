"""Allocatable resources of an OKE node with Oracle's image, by OCI shape.

Allocatable memory is the nominal memory, less what the kernel takes, less kube-reserved and
system-reserved, less the eviction threshold. CPU in millicores, memory and disk in MiB. Every
figure is a lower bound.

OKE reserves by default since Kubernetes 1.30 (Concepts/contengaboutk8sversions.htm). The bands are
those of oracle/karpenter-provider-oci pkg/providers/instancetype/provider.go. That code applies
them to twice the CPUs; applied to the CPUs, they agree with the nodes:
- VM.Standard.E5.Flex, 16 CPUs, capacity 32859464Ki: allocatable 15783m and 29508936Ki
  (https://github.com/kubernetes-sigs/kueue, a node described on 2025-04-18, Kubernetes 1.31);
- 24 CPUs, capacity 24298008Ki and 37206272Ki of disk: 23763m, 20947480Ki, 34289300219 bytes
  (a Korean guide to OKE of 2026);
- VM.GPU.A10.2, three nodes: 179019m and 1432813104Ki in all (a public Kueue example of 2026).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from fleet.catalog.oci import SizedShape
from fleet.kubernetes.resources import Resources

EVICTION_MEMORY_MIB: Final = 100
"""Hard eviction threshold memory.available: the default of the kubelet and OKE."""

EVICTION_DISK_PERCENT: Final = 10
"""Hard eviction threshold nodefs.available, as a share of the capacity: the kubelet's default."""

_KERNEL_PERCENT: Final = 2
_KERNEL_FIXED_MIB: Final = 500

_SYSTEM_RESERVED: Final = Resources(cpu_m=100, memory_mib=100)

_RESERVED_CPU: Final[Mapping[int, int]] = MappingProxyType({2: 72, 4: 85})
"""CPUs of the node -> reserved millicores. Above: 90 for five CPUs and 2.5 for each further CPU."""

_RESERVED_MEMORY: Final = ((4, 25), (4, 20), (8, 10), (112, 6))
"""Bands of GB, and the reserved percentage of each. Above: `_RESERVED_MEMORY_ABOVE`.

Observed nodes round the sum down to whole GiB (3.08 and 3.56 both gave 3); this code does not.
"""
_RESERVED_MEMORY_ABOVE: Final = 2

_SYSTEM_PARTITIONS_GIB: Final = 23
_UNGROWN_ROOT_GIB: Final = 24
_FILE_SYSTEM_PERCENT: Final = 1

FLANNEL_POD_LIMIT: Final = 110
PODS_PER_VNIC: Final = 31
"""With VCN-native pod networking, which has one VNIC for pods by default (31 pods were seen)."""


def kernel_memory_mib(machine: SizedShape) -> int:
    """Return the minimum MiB that the kernel shows: nominal less 2 % less 500 MiB.

    Observed: 3.4 % less at 24 GB and 2.1 % less at 32 GB (the nodes above); about 1.7 % less on
    VM.GPU.A10.2, inferred from its allocatable memory. No figure of bare metal was found.
    """
    taken = -(-machine.memory_mib * _KERNEL_PERCENT // 100) + _KERNEL_FIXED_MIB
    return machine.memory_mib - taken


def oke_reserved(machine: SizedShape) -> Resources:
    """Return the sum of kube-reserved and system-reserved, without the eviction threshold.

    CPU is rounded up. Observed nodes round it down, by less than a millicore.
    """
    return _SYSTEM_RESERVED + Resources(
        cpu_m=_kube_reserved_cpu_m(machine.ocpus.vcpus),
        memory_mib=_kube_reserved_memory_mib(machine.memory_gb),
    )


def oke_allocatable(machine: SizedShape, boot_volume_gb: int, *, grown: bool) -> Resources:
    """Return the allocatable resources of a node, from which DaemonSets take their share.

    `grown`: cloud-init runs oci-growfs. Without it, the root file system keeps the size of the
    image, however large the boot volume. Grown, it is the volume less the other partitions of
    Oracle Linux: 1 to 2 GiB for booting and 10 (release 8) or 15 to 20 GiB (release 9) for
    /var/oled. 500 GB gave 488.9 GiB on 8, 200 GB gave 183 GiB on 9 (public node reports).
    Container images on it are not subtracted. Local NVMe disks are not used.
    """
    root_gib = boot_volume_gb - _SYSTEM_PARTITIONS_GIB if grown else _UNGROWN_ROOT_GIB
    disk_mib = root_gib * 1024 * (100 - _FILE_SYSTEM_PERCENT) // 100
    capacity = Resources(
        cpu_m=machine.ocpus.cpu_m,
        memory_mib=kernel_memory_mib(machine),
        disk_mib=disk_mib,
    )
    eviction = Resources(
        cpu_m=0,
        memory_mib=EVICTION_MEMORY_MIB,
        disk_mib=-(-disk_mib * EVICTION_DISK_PERCENT // 100),
    )
    return capacity - oke_reserved(machine) - eviction


def oke_pod_limit(
    machine: SizedShape, cni_type: Literal["FLANNEL_OVERLAY", "OCI_VCN_IP_NATIVE"]
) -> int:
    """Return the maximum of `max_pods_per_node`.

    VCN-native: 31 addresses on each VNIC except the first, up to the kubelet's 110. The default of
    a pool is 31 (`PODS_PER_VNIC`).
    """
    if cni_type == "FLANNEL_OVERLAY":
        return FLANNEL_POD_LIMIT
    return min(FLANNEL_POD_LIMIT, PODS_PER_VNIC * (machine.max_vnics - 1))


def _kube_reserved_cpu_m(vcpus: int) -> int:
    known = _RESERVED_CPU.get(vcpus)
    return 90 + -(-5 * (vcpus - 5) // 2) if known is None else known


def _kube_reserved_memory_mib(memory_gb: int) -> int:
    percents = 0
    rest_gb = memory_gb
    for width_gb, percent in _RESERVED_MEMORY:
        percents += min(rest_gb, width_gb) * percent
        rest_gb = max(rest_gb - width_gb, 0)
    percents += rest_gb * _RESERVED_MEMORY_ABOVE
    return -(-percents * 1024 // 100)
