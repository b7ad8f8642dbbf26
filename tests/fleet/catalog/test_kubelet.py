import pytest

from fleet.catalog.ec2 import INSTANCE_TYPES, InstanceType, instance_type
from fleet.catalog.kubelet import eks_allocatable, eks_pod_limit, eks_reserved, kernel_memory_mib
from fleet.kubernetes.resources import Resources
from tests.cases import for_each

EVERY_TYPE = for_each("instance", INSTANCE_TYPES.values(), ids=lambda instance: instance.name)

# Bytes that a kernel did not show, as Karpenter measured them on running instances:
# aws/karpenter-provider-aws pkg/providers/instancetype/zz_generated.memory_overhead.go
KARPENTER_OVERHEAD_BYTES = {
    "g4dn.xlarge": 733_085_696,
    "g4dn.2xlarge": 1_203_826_688,
    "g4dn.4xlarge": 2_145_304_576,
    "g4dn.8xlarge": 3_927_588_864,
    "g4dn.12xlarge": 5_808_451_584,
    "g4dn.16xlarge": 7_525_875_712,
    "g4dn.metal": 6_974_574_592,
    "g5.xlarge": 617_742_336,
    "g5.2xlarge": 1_088_483_328,
    "g5.4xlarge": 2_029_961_216,
    "g5.8xlarge": 3_812_245_504,
    "g5.12xlarge": 5_693_108_224,
    "g5.16xlarge": 7_477_497_856,
    "g5.24xlarge": 11_040_006_144,
    "g5.48xlarge": 21_549_379_584,
    "m5.large": 585_805_824,
    "m5.xlarge": 909_246_464,
    "m5.2xlarge": 1_203_826_688,
    "m5.4xlarge": 2_849_939_456,
    "m6i.large": 424_321_024,
    "m6i.xlarge": 703_729_664,
    "m6i.2xlarge": 1_262_546_944,
    "m6i.4xlarge": 2_380_177_408,
    "p3.2xlarge": 1_255_772_160,
    "p3.8xlarge": 4_454_129_664,
    "p3.16xlarge": 8_346_714_112,
}


@for_each("name", KARPENTER_OVERHEAD_BYTES)
def test_the_kernel_memory_is_a_lower_bound_on_measured_types(name: str) -> None:
    instance = instance_type(name)
    measured_mib = (instance.memory_mib * 2**20 - KARPENTER_OVERHEAD_BYTES[name]) // 2**20
    assert kernel_memory_mib(instance) <= measured_mib


def test_the_kernel_memory_is_a_lower_bound_on_the_worst_g6_nodes() -> None:
    # g6.xlarge: capacity of a described node. g6.4xlarge: allocatable 58981Mi plus what the
    # kubelet kept back there (https://github.com/pytorch/ci-infra/pull/1082).
    assert kernel_memory_mib(instance_type("g6.xlarge")) <= 15_735_928 // 1024
    assert kernel_memory_mib(instance_type("g6.4xlarge")) <= 58_981 + 255 + 11 * 234 + 100


@EVERY_TYPE
def test_the_kernel_memory_is_90_to_95_percent_of_the_nominal_memory(
    instance: InstanceType,
) -> None:
    share = kernel_memory_mib(instance) / instance.memory_mib
    assert 0.9 < share < 0.95, "more is optimistic, less wastes memory"


@for_each(
    ("name", "cpu_m", "memory_mib"),
    [
        ("m5.large", 70, 574),
        ("g4dn.xlarge", 80, 574),
        ("g6.xlarge", 80, 893),
        ("g4dn.2xlarge", 90, 574),
        ("p4d.24xlarge", 310, 8362),
        ("p5.48xlarge", 550, 1355),
    ],
)
def test_the_kubelet_reserves_what_nodeadm_computes(name: str, cpu_m: int, memory_mib: int) -> None:
    assert eks_reserved(instance_type(name)) == Resources(
        cpu_m=cpu_m, memory_mib=memory_mib, disk_mib=1024
    )


def test_allocatable_is_a_close_lower_bound_of_a_described_g6_node() -> None:
    reported = Resources(
        cpu_m=3920, memory_mib=14_719_096 // 1024, disk_mib=95_491_281_146 // 2**20
    )
    ours = eks_allocatable(instance_type("g6.xlarge"), 100, instance_store_raid0=False)

    assert ours.fits_in(reported)
    assert ours.cpu_m == reported.cpu_m
    assert ours.memory_mib > reported.memory_mib - 64, "close enough to waste nothing"
    assert ours.disk_mib > reported.disk_mib * 0.98


@for_each("raid0", [False, True])
@EVERY_TYPE
def test_every_type_has_allocatable_resources(instance: InstanceType, raid0: bool) -> None:
    left = eks_allocatable(instance, 20, instance_store_raid0=raid0)
    nominal = Resources(
        cpu_m=instance.vcpu * 1000,
        memory_mib=instance.memory_mib,
        disk_mib=max(20 * 1024, instance.nvme_gb * 1024),
    )
    assert min(left.cpu_m, left.memory_mib, left.disk_mib) > 0
    assert left.fits_in(nominal)


def test_raid0_uses_the_instance_store_in_place_of_the_root_volume() -> None:
    g4dn = instance_type("g4dn.xlarge")
    on_root = eks_allocatable(g4dn, 200, instance_store_raid0=False)
    on_store = eks_allocatable(g4dn, 200, instance_store_raid0=True)

    assert on_store.disk_mib < on_root.disk_mib, "125 GB of NVMe is less than 200 GiB"
    assert on_store == eks_allocatable(g4dn, 500, instance_store_raid0=True)
    assert (on_store.cpu_m, on_store.memory_mib) == (on_root.cpu_m, on_root.memory_mib)


def test_raid0_without_instance_store_uses_the_root_volume() -> None:
    p3 = instance_type("p3.2xlarge")
    assert eks_allocatable(p3, 200, instance_store_raid0=True) == eks_allocatable(
        p3, 200, instance_store_raid0=False
    )


def test_disk_grows_with_the_root_volume() -> None:
    small, large = (
        eks_allocatable(instance_type("m6i.large"), gib, instance_store_raid0=False)
        for gib in (50, 100)
    )
    assert large.disk_mib - small.disk_mib == pytest.approx(50 * 1024 * 0.99 * 0.9, abs=2)


@for_each(
    ("name", "pods"),
    [
        ("g4dn.xlarge", 29),
        ("g6.xlarge", 58),
        ("g5.4xlarge", 110),
        ("g5.8xlarge", 234),
        ("p4d.24xlarge", 250),
        ("p5.48xlarge", 100),
    ],
)
def test_a_managed_node_group_limits_the_pods_by_vcpus(name: str, pods: int) -> None:
    assert eks_pod_limit(instance_type(name)) == pods
