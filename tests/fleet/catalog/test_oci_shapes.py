import pytest

from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.oci import SHAPES, Ocpus, Shape, ShapeSizeError, UnknownShapeError, shape, sized
from tests.cases import for_each

EVERY_SHAPE = for_each("kind", SHAPES.values(), ids=lambda kind: kind.name)
FLEX = [kind for kind in SHAPES.values() if kind.flex is not None]


@EVERY_SHAPE
def test_a_shape_agrees_with_its_name(kind: Shape) -> None:
    assert (kind.flex is not None) == kind.name.endswith(".Flex")
    assert (kind.preemptible == "never") == kind.name.startswith("BM."), "by Oracle's rule"
    if kind.flex is None:
        assert kind.gpus == int(kind.name.rpartition(".")[2])


@EVERY_SHAPE
def test_only_a_shape_with_gpus_has_a_model_memory_and_price_per_gpu(kind: Shape) -> None:
    has_gpus = kind.gpus > 0
    assert (
        has_gpus == (kind.gpu in GPU_MODELS) == (kind.gpu_memory_gb > 0) == (kind.usd_per_gpu > 0)
    )
    assert len(kind.part_numbers) == (1 if has_gpus else 2)
    if kind.gpu is not None:
        assert kind.gpu_memory_gb == GPU_MODELS[kind.gpu].memory_gb, "OCI sells whole cards"


def test_an_ocpu_is_two_vcpus_and_not_a_number() -> None:
    assert Ocpus(15).vcpus == 30
    assert Ocpus(15).cpu_m == 30_000
    assert Ocpus(15) != 15
    with pytest.raises(TypeError):
        Ocpus(15) * 1000  # type: ignore[operator]
    with pytest.raises(TypeError):
        Ocpus(15) + 1  # type: ignore[operator]


def test_the_price_of_a_flex_shape_is_the_sum_of_its_parts() -> None:
    machine = sized(shape("VM.Standard.E5.Flex"), Ocpus(4), 32)
    assert machine.usd_per_hour == pytest.approx(4 * 0.03 + 32 * 0.002)
    assert (machine.ocpus.cpu_m, machine.memory_mib) == (8000, 32 * 1024)


@for_each(
    ("ocpus", "memory_gb", "message"),
    [
        (None, None, "add ocpus and memory_gb"),
        (4, None, "add ocpus and memory_gb"),
        (None, 32, "add ocpus and memory_gb"),
        (0, 1, "1 to 64 OCPUs, not 0"),
        (65, 128, r"1 to 64 OCPUs, not 65 \(an OCPU is two vCPUs\)"),
        (4, 3, "4 OCPUs has 4 to 256 GB of memory, not 3"),
        (4, 257, "4 to 256 GB of memory, not 257"),
        (64, 1025, "64 to 1024 GB of memory, not 1025"),
    ],
)
def test_a_flex_shape_without_a_size_or_beyond_its_limits_is_refused(
    ocpus: int | None, memory_gb: int | None, message: str
) -> None:
    with pytest.raises(ShapeSizeError, match=message):
        sized(shape("VM.Standard.E4.Flex"), None if ocpus is None else Ocpus(ocpus), memory_gb)


@for_each("kind", FLEX, ids=lambda kind: kind.name)
def test_a_flex_shape_accepts_its_minimum_and_maximum(kind: Shape) -> None:
    assert kind.flex is not None
    assert sized(kind, Ocpus(1), 1).usd_per_hour > 0
    largest = sized(kind, Ocpus(kind.flex.max_ocpus), kind.flex.max_memory_gb)
    assert largest.usd_per_hour > 1


def test_a_fixed_shape_refuses_a_size() -> None:
    with pytest.raises(ShapeSizeError, match="always has 15 OCPUs and 240 GB: remove ocpus"):
        sized(shape("VM.GPU.A10.1"), Ocpus(15), 240)
    with pytest.raises(ShapeSizeError, match="remove ocpus and memory_gb"):
        sized(shape("VM.GPU.A10.1"), memory_gb=240)


@for_each(("ocpus", "vnics"), [(1, 2), (2, 2), (8, 8), (24, 24), (64, 24)])
def test_a_flex_shape_has_one_vnic_per_ocpu_within_limits(ocpus: int, vnics: int) -> None:
    assert sized(shape("VM.Standard.E4.Flex"), Ocpus(ocpus), ocpus).max_vnics == vnics


def test_a_misspelt_shape_is_refused_with_similar_names() -> None:
    with pytest.raises(
        UnknownShapeError, match=r'"VM.GPU.A10.4".*did you mean .*VM\.GPU\.A10\.[12]'
    ):
        shape("VM.GPU.A10.4")


def test_a_shape_without_similar_names_is_refused_with_the_file_of_the_table() -> None:
    with pytest.raises(UnknownShapeError, match=r"see fleet/catalog/oci\.py"):
        shape("?")
