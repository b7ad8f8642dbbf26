"""Allocatable resources of an EKS node with AL2023, by EC2 instance type.

Allocatable memory is the nominal memory, less what hypervisor, firmware and kernel take, less the
kubelet's reservation, less the eviction threshold. CPU in millicores, memory and disk in MiB. Every
figure is a lower bound: a pod that fits here fits on the node.

Sources: awslabs/amazon-eks-ami nodeadm/internal/kubelet/config.go (reservation, eviction) and
nodeadm/internal/kubelet/maxpods/maxpods.go; checked against a g6.xlarge node description of
2026-07-27 (Kubernetes 1.36.2, kernel 6.18, 100 GiB root): capacity 15735928Ki, 104779756Ki and
58 pods, allocatable 3920m, 14719096Ki and 95491281146 bytes, which these formulas reproduce
exactly from that capacity.
"""

from typing import Final

from fleet.catalog.ec2 import InstanceType
from fleet.kubernetes.resources import Resources

EVICTION_MEMORY_MIB: Final = 100
"""Hard eviction threshold memory.available."""

EVICTION_DISK_PERCENT: Final = 10
"""Hard eviction threshold nodefs.available, as a share of the file system's capacity."""

_KERNEL_PERMILLE: Final = 55
_KERNEL_FIXED_MIB: Final = 160
_FILE_SYSTEM_PERCENT: Final = 1

_RESERVED_DISK_MIB: Final = 1024
_RESERVED_MEMORY_MIB: Final = 255
_RESERVED_MEMORY_MIB_PER_POD: Final = 11
_RESERVED_CPU: Final = ((1000, 600), (1000, 100), (2000, 50))
"""Bands of millicores, and the reserved share of each in 1/10000. Above: `_RESERVED_CPU_ABOVE`."""
_RESERVED_CPU_ABOVE: Final = 25


def kernel_memory_mib(instance: InstanceType) -> int:
    """Return the minimum MiB that the kernel shows: nominal less 5.5 % less 160 MiB.

    The largest observed differences: g6.xlarge 6.2 % (the node above), g6.4xlarge 5.5 %
    (allocatable 58981Mi, https://github.com/pytorch/ci-infra/pull/1082), which fit 5.3 % + 147 MiB;
    m5.large 6.8 % and m5.xlarge 5.3 % in Karpenter's table of measured overheads
    (aws/karpenter-provider-aws pkg/providers/instancetype/zz_generated.memory_overhead.go). Large
    types lose less (g5.48xlarge 2.6 % there): a fleet with A100, H100 and B200 nodes saw 1.7 to
    5.3 % (https://github.com/pytorch/ci-infra/pull/910). Karpenter itself assumes 7.5 %.
    """
    taken = -(-instance.memory_mib * _KERNEL_PERMILLE // 1000) + _KERNEL_FIXED_MIB
    return instance.memory_mib - taken


def eks_reserved(instance: InstanceType) -> Resources:
    """Return kube-reserved as nodeadm computes it, without the eviction threshold.

    Memory depends on `InstanceType.max_pods`, even if a managed node group has a lower limit
    (`eks_pod_limit`). Versions of nodeadm differ in that case; this is the larger reservation.
    """
    cpu_m = 0
    rest_m = instance.vcpu * 1000
    for width_m, share in _RESERVED_CPU:
        cpu_m += min(rest_m, width_m) * share // 10000
        rest_m = max(rest_m - width_m, 0)
    return Resources(
        cpu_m=cpu_m + rest_m * _RESERVED_CPU_ABOVE // 10000,
        memory_mib=_RESERVED_MEMORY_MIB + _RESERVED_MEMORY_MIB_PER_POD * instance.max_pods,
        disk_mib=_RESERVED_DISK_MIB,
    )


def eks_allocatable(
    instance: InstanceType, root_disk_gib: int, instance_store_raid0: bool
) -> Resources:
    """Return the allocatable resources of a node, from which DaemonSets take their share.

    Disk is the instance store if the type has one and nodeadm's RAID0 strategy is on (kubelet and
    containerd both move there), otherwise the root volume. It is reduced by 1 % for the structures
    of the file system (0.07 % were seen on a root volume), the eviction threshold and the
    reservation, but not by the container images on it.
    """
    raid0 = instance_store_raid0 and instance.nvme_gb > 0
    raw_disk_mib = instance.nvme_gb * 10**9 // 2**20 if raid0 else root_disk_gib * 1024
    disk_mib = raw_disk_mib * (100 - _FILE_SYSTEM_PERCENT) // 100
    capacity = Resources(
        cpu_m=instance.vcpu * 1000,
        memory_mib=kernel_memory_mib(instance),
        disk_mib=disk_mib,
    )
    eviction = Resources(
        cpu_m=0,
        memory_mib=EVICTION_MEMORY_MIB,
        disk_mib=-(-disk_mib * EVICTION_DISK_PERCENT // 100),
    )
    return capacity - eks_reserved(instance) - eviction


def eks_pod_limit(instance: InstanceType) -> int:
    """Return the maximum number of pods on a node of a managed node group.

    The limit by addresses, but at most 110 below 30 vCPUs and 250 otherwise
    (https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html).
    """
    return min(instance.max_pods, 110 if instance.vcpu < 30 else 250)
