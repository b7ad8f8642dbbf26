from fleet.catalog.kubelet_oke import (
    kernel_memory_mib,
    oke_allocatable,
    oke_pod_limit,
    oke_reserved,
)
from fleet.catalog.oci import SHAPES, Ocpus, SizedShape, shape, sized
from fleet.kubernetes.resources import Resources
from tests.cases import for_each

GIB = 1024


def flex(ocpus: int, memory_gb: int) -> SizedShape:
    return sized(shape("VM.Standard.E5.Flex"), Ocpus(ocpus), memory_gb)


EVERY_MACHINE = for_each(
    "machine",
    [
        flex(1, 4),
        flex(2, 16),
        flex(126, 1049),
        *(sized(kind) for kind in SHAPES.values() if kind.flex is None),
    ],
    ids=lambda machine: f"{machine.shape.name}-{machine.ocpus.count}",
)

# Nodes in public reports: machine, allocatable CPU and memory, and memory capacity in KiB if shown.
DESCRIBED = for_each(
    ("machine", "cpu_m", "memory_kib", "capacity_kib"),
    [
        (flex(8, 32), 15_783, 29_508_936, 32_859_464),
        (flex(12, 24), 23_763, 20_947_480, 24_298_008),
        (sized(shape("VM.GPU.A10.2")), 179_019 // 3, 1_432_813_104 // 3, None),
    ],
)


@DESCRIBED
def test_allocatable_is_a_close_lower_bound_of_described_nodes(
    machine: SizedShape, cpu_m: int, memory_kib: int, capacity_kib: int | None
) -> None:
    ours = oke_allocatable(machine, 400, grown=True)
    reported_mib = memory_kib // 1024

    assert cpu_m - 1 <= ours.cpu_m <= cpu_m
    assert ours.memory_mib <= reported_mib
    assert ours.memory_mib > reported_mib * 0.96, "close enough to waste little"
    if capacity_kib is not None:
        assert kernel_memory_mib(machine) <= capacity_kib // 1024


@DESCRIBED
def test_the_reservation_is_an_upper_bound_of_described_nodes(
    machine: SizedShape, cpu_m: int, memory_kib: int, capacity_kib: int | None
) -> None:
    reserved = oke_reserved(machine)
    assert reserved.cpu_m >= machine.ocpus.cpu_m - cpu_m
    if capacity_kib is not None:
        assert reserved.memory_mib + 100 >= (capacity_kib - memory_kib) // 1024


# Oracle's bands computed by hand: 25 % of 4 GB, 20 % of 4, 10 % of 8, 6 % of 112, 2 % of the
# rest; 72 and 85 millicores for one and two OCPUs, then 90 and 2.5 for each CPU above five; and
# 100m and 100Mi for the system.
@for_each(
    ("machine", "cpu_m", "memory_mib"),
    [
        (flex(1, 4), 172, 1124),
        (flex(2, 16), 185, 2763),
        (flex(3, 16), 193, 2763),
        (flex(4, 128), 198, 9644),
        (sized(shape("VM.GPU.A10.1")), 253, 11_938),
        (sized(shape("VM.GPU.A10.2")), 328, 16_853),
    ],
)
def test_the_kubelet_reserves_oracles_bands(
    machine: SizedShape, cpu_m: int, memory_mib: int
) -> None:
    assert oke_reserved(machine) == Resources(cpu_m=cpu_m, memory_mib=memory_mib)


@for_each("grown", [False, True])
@EVERY_MACHINE
def test_every_machine_has_allocatable_resources(machine: SizedShape, grown: bool) -> None:
    left = oke_allocatable(machine, 50, grown=grown)
    nominal = Resources(cpu_m=machine.ocpus.cpu_m, memory_mib=machine.memory_mib, disk_mib=50 * GIB)
    assert min(left.cpu_m, left.memory_mib, left.disk_mib) > 0
    assert left.fits_in(nominal)


@for_each(
    ("boot_volume_gb", "grown", "capacity_mib"),
    [
        (500, True, 512_628_992 // 1024),
        (200, True, 183 * GIB),
        (50, False, 37_206_272 // 1024),
        (500, False, 37_206_272 // 1024),
        (200, False, int(29.5 * GIB)),
    ],
)
def test_disk_is_less_than_90_percent_of_observed_root_file_systems(
    boot_volume_gb: int, grown: bool, capacity_mib: int
) -> None:
    ours = oke_allocatable(flex(2, 16), boot_volume_gb, grown=grown).disk_mib
    assert ours < capacity_mib * 0.9
    assert ours > capacity_mib * 0.9 * 0.6


def test_a_boot_volume_that_is_not_grown_has_the_size_of_the_image() -> None:
    small, large = (oke_allocatable(flex(2, 16), gb, grown=False).disk_mib for gb in (50, 1000))
    assert small == large
    assert oke_allocatable(flex(2, 16), 1000, grown=True).disk_mib > 30 * large


def test_the_kubelet_or_the_vnics_limit_the_pods() -> None:
    a10 = sized(shape("VM.GPU.A10.1"))
    assert oke_pod_limit(a10, "FLANNEL_OVERLAY") == 110
    assert oke_pod_limit(a10, "OCI_VCN_IP_NATIVE") == 110
    assert oke_pod_limit(flex(1, 4), "OCI_VCN_IP_NATIVE") == 31
    assert oke_pod_limit(flex(3, 16), "OCI_VCN_IP_NATIVE") == 62
