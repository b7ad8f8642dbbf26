import pytest

from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.oci import (
    SHAPES,
    BadShapeSize,
    Ocpus,
    Shape,
    UnknownShape,
    shape,
    sized,
)

EVERY_SHAPE = pytest.mark.parametrize("kind", SHAPES.values(), ids=lambda kind: kind.name)
FIXED = [kind for kind in SHAPES.values() if kind.flex is None]
FLEX = [kind for kind in SHAPES.values() if kind.flex is not None]


# Read off Oracle's shape page and price list, not off the table: total GPU memory and total price.
@pytest.mark.parametrize(
    ("name", "ocpus", "memory_gb", "gpus", "gpu", "gpu_total_gb", "nvme_gb", "usd"),
    [
        ("VM.GPU2.1", 12, 72, 1, "P100", 16, 0, 1.275),
        ("VM.GPU3.1", 6, 90, 1, "V100", 16, 0, 2.95),
        ("VM.GPU3.2", 12, 180, 2, "V100", 32, 0, 5.90),
        ("VM.GPU3.4", 24, 360, 4, "V100", 64, 0, 11.80),
        ("VM.GPU.A10.1", 15, 240, 1, "A10", 24, 0, 2.0),
        ("VM.GPU.A10.2", 30, 480, 2, "A10", 48, 0, 4.0),
        ("BM.GPU2.2", 28, 192, 2, "P100", 32, 0, 2.55),
        ("BM.GPU3.8", 52, 768, 8, "V100", 128, 0, 23.60),
        ("BM.GPU.A10.4", 64, 1024, 4, "A10", 96, 7_680, 8.0),
        ("BM.GPU4.8", 64, 2048, 8, "A100-40GB", 320, 27_200, 24.40),
        ("BM.GPU.A100-v2.8", 128, 2048, 8, "A100-80GB", 640, 27_200, 32.0),
        ("BM.GPU.L40S.4", 112, 1024, 4, "L40S", 192, 7_680, 14.0),
        ("BM.GPU.H100.8", 112, 2048, 8, "H100", 640, 61_440, 80.0),
        ("BM.GPU.H200.8", 112, 3072, 8, "H200", 1128, 30_720, 80.0),
        ("BM.GPU.B200.8", 128, 4096, 8, "B200", 1440, 30_720, 112.0),
    ],
)
def test_every_gpu_shape_has_the_figures_of_oracles_page(
    name: str,
    ocpus: int,
    memory_gb: int,
    gpus: int,
    gpu: str,
    gpu_total_gb: int,
    nvme_gb: int,
    usd: float,
) -> None:
    kind = shape(name)
    machine = sized(kind)
    assert (machine.ocpus, machine.memory_gb) == (Ocpus(ocpus), memory_gb)
    assert (kind.gpus, kind.gpu) == (gpus, gpu)
    assert kind.gpus * kind.gpu_memory_gb == gpu_total_gb
    assert kind.nvme_gb == nvme_gb
    assert machine.usd_per_hour == pytest.approx(usd)


def test_the_catalog_has_fifteen_gpu_shapes_and_four_flex_ones() -> None:
    assert len(FIXED) == 15
    assert [kind.name for kind in FLEX] == [
        "VM.Standard3.Flex", "VM.Standard.E4.Flex", "VM.Standard.E5.Flex", "VM.Standard.E6.Flex",
    ]  # fmt: skip
    assert all(name == kind.name for name, kind in SHAPES.items())


@EVERY_SHAPE
def test_a_shape_agrees_with_its_own_name(kind: Shape) -> None:
    assert kind.kind == kind.name.partition(".")[0].lower()
    assert (kind.flex is not None) == kind.name.endswith(".Flex")
    if kind.flex is None:
        assert kind.gpus == int(kind.name.rpartition(".")[2])


@EVERY_SHAPE
def test_a_shape_has_a_model_memory_price_and_part_exactly_where_it_has_gpus(kind: Shape) -> None:
    has_gpus = kind.gpus > 0
    assert has_gpus == (kind.gpu in GPU_MODELS) == (kind.gpu_memory_gb > 0)
    assert has_gpus == (kind.usd_per_gpu > 0) == (kind.part_number is not None)
    if kind.gpu is not None:
        assert kind.gpu_memory_gb == GPU_MODELS[kind.gpu].memory_gb, "OCI sells whole cards"


@EVERY_SHAPE
def test_local_disks_are_of_equal_size(kind: Shape) -> None:
    assert (kind.nvme_gb > 0) == (kind.nvme_disks > 0)
    assert not kind.nvme_disks or kind.nvme_gb % kind.nvme_disks == 0


@EVERY_SHAPE
def test_bare_metal_is_never_preemptible_and_a_virtual_machine_may_be(kind: Shape) -> None:
    assert (kind.preemptible == "never") == (kind.kind == "bm")


def test_oracles_list_of_preemptible_shapes_lacks_the_a10() -> None:
    assert {kind.name for kind in SHAPES.values() if kind.preemptible == "unlisted"} == {
        "VM.GPU.A10.1",
        "VM.GPU.A10.2",
    }


def test_an_ocpu_is_two_vcpus_and_no_number() -> None:
    assert Ocpus(15).vcpus == 30
    assert Ocpus(15).cpu_m == 30_000
    assert Ocpus(15) != 15
    with pytest.raises(TypeError):
        Ocpus(15) * 1000  # type: ignore[operator]
    with pytest.raises(TypeError):
        Ocpus(15) + 1  # type: ignore[operator]


def test_a_flex_shape_costs_what_its_parts_cost() -> None:
    machine = sized(shape("VM.Standard.E5.Flex"), Ocpus(4), 32)
    assert machine.usd_per_hour == pytest.approx(4 * 0.03 + 32 * 0.002)
    assert (machine.ocpus.cpu_m, machine.memory_mib) == (8000, 32 * 1024)


@pytest.mark.parametrize(
    ("ocpus", "memory_gb", "why"),
    [
        (None, None, "give ocpus and memory_gb"),
        (4, None, "give ocpus and memory_gb"),
        (None, 32, "give ocpus and memory_gb"),
        (0, 1, "1 to 64 OCPUs, not 0"),
        (65, 128, r"1 to 64 OCPUs, not 65 \(an OCPU is two vCPUs\)"),
        (4, 3, "4 OCPUs has 4 to 256 GB of memory, not 3"),
        (4, 257, "4 to 256 GB of memory, not 257"),
        (64, 1025, "64 to 1024 GB of memory, not 1025"),
    ],
)
def test_a_flex_shape_without_a_size_or_beyond_its_limits_is_refused(
    ocpus: int | None, memory_gb: int | None, why: str
) -> None:
    with pytest.raises(BadShapeSize, match=why):
        sized(shape("VM.Standard.E4.Flex"), None if ocpus is None else Ocpus(ocpus), memory_gb)


@pytest.mark.parametrize("kind", FLEX, ids=lambda kind: kind.name)
def test_a_flex_shape_can_be_had_at_both_of_its_limits(kind: Shape) -> None:
    assert kind.flex is not None
    assert sized(kind, Ocpus(1), 1).usd_per_hour > 0
    largest = sized(kind, Ocpus(kind.flex.max_ocpus), kind.flex.max_memory_gb)
    assert largest.usd_per_hour > 1


def test_a_fixed_shape_takes_no_size() -> None:
    with pytest.raises(BadShapeSize, match="always has 15 OCPUs and 240 GB: leave ocpus"):
        sized(shape("VM.GPU.A10.1"), Ocpus(15), 240)
    with pytest.raises(BadShapeSize, match="leave ocpus and memory_gb out"):
        sized(shape("VM.GPU.A10.1"), memory_gb=240)


@pytest.mark.parametrize(("ocpus", "vnics"), [(1, 2), (2, 2), (8, 8), (24, 24), (64, 24)])
def test_a_flex_shape_has_a_vnic_for_each_ocpu_within_bounds(ocpus: int, vnics: int) -> None:
    assert sized(shape("VM.Standard.E4.Flex"), Ocpus(ocpus), ocpus).max_vnics == vnics


def test_a_misspelt_shape_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(UnknownShape, match=r'"VM.GPU.A10.4".*did you mean .*VM\.GPU\.A10\.[12]'):
        shape("VM.GPU.A10.4")


def test_a_name_like_no_other_shape_is_refused_with_where_to_look() -> None:
    with pytest.raises(UnknownShape, match=r"see fleet/catalog/oci\.py"):
        shape("?")


def test_the_table_of_shapes_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        del SHAPES["BM.GPU4.8"]  # type: ignore[attr-defined]
