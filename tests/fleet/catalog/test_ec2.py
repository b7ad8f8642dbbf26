import pytest

from fleet.catalog.ec2 import INSTANCE_TYPES, InstanceType, UnknownInstanceType, instance_type
from fleet.catalog.gpus import GPU_MODELS

EVERY_TYPE = pytest.mark.parametrize(
    "instance", INSTANCE_TYPES.values(), ids=lambda instance: instance.name
)


def test_every_ec2_row_of_the_facts_sheet_and_the_usual_cpu_types_are_there() -> None:
    families: dict[str, set[str]] = {}
    for name in INSTANCE_TYPES:
        family, _, size = name.partition(".")
        families.setdefault(family, set()).add(size)
    small = {"xlarge", "2xlarge", "4xlarge"}
    up_to_48 = {*small, "8xlarge", "12xlarge", "16xlarge", "24xlarge", "48xlarge"}
    assert families == {
        "g4dn": {*small, "8xlarge", "12xlarge", "16xlarge", "metal"},
        "g5": up_to_48,
        "g6": up_to_48,
        "g6f": {"large", *small},
        "gr6": {"4xlarge", "8xlarge"},
        "gr6f": {"4xlarge"},
        "g6e": up_to_48,
        "g7e": {"2xlarge", "4xlarge", "8xlarge", "12xlarge", "24xlarge", "48xlarge"},
        "p3": {"2xlarge", "8xlarge", "16xlarge"},
        "p3dn": {"24xlarge"},
        "p4d": {"24xlarge"},
        "p4de": {"24xlarge"},
        "p5": {"4xlarge", "48xlarge"},
        "p5en": {"48xlarge"},
        "p6-b200": {"48xlarge"},
        "m5": {"large", *small},
        "m6i": {"large", *small},
        "m7i": {"large", *small},
    }


# Read off EC2's own pages and the facts sheet, not off the table.
@pytest.mark.parametrize(
    ("name", "vcpu", "gib", "gpus", "gpu", "gpu_gb", "nvme_gb", "usd"),
    [
        ("g4dn.xlarge", 4, 16, 1, "T4", 16, 125, 0.526),
        ("g5.48xlarge", 192, 768, 8, "A10G", 24, 7600, 16.288),
        ("g6e.12xlarge", 48, 384, 4, "L40S", 48, 3800, 10.49264),
        ("g6f.large", 2, 8, 1, "L4", 3, 100, 0.202),
        ("p3.2xlarge", 8, 61, 1, "V100", 16, 0, 3.06),
        ("p3dn.24xlarge", 96, 768, 8, "V100-32GB", 32, 1800, 31.212),
        ("p4d.24xlarge", 96, 1152, 8, "A100-40GB", 40, 8000, 21.957642),
        ("p5.48xlarge", 192, 2048, 8, "H100", 80, 30400, 55.04),
        ("m6i.large", 2, 8, 0, None, 0, 0, 0.096),
    ],
)
def test_well_known_types_have_their_well_known_figures(
    name: str,
    vcpu: int,
    gib: int,
    gpus: int,
    gpu: str | None,
    gpu_gb: int,
    nvme_gb: int,
    usd: float,
) -> None:
    instance = instance_type(name)
    assert (instance.vcpu, instance.memory_mib) == (vcpu, gib * 1024)
    assert (instance.gpus, instance.gpu, instance.gpu_memory_gb) == (gpus, gpu, gpu_gb)
    assert instance.nvme_gb == nvme_gb
    assert instance.usd_per_hour == usd


@EVERY_TYPE
def test_a_type_has_a_gpu_model_and_memory_exactly_where_it_has_gpus(
    instance: InstanceType,
) -> None:
    if instance.gpus:
        assert instance.gpu in GPU_MODELS
        assert 0 < instance.gpu_memory_gb <= GPU_MODELS[instance.gpu].memory_gb
    else:
        assert (instance.gpu, instance.gpu_memory_gb) == (None, 0)


@EVERY_TYPE
def test_an_instance_store_has_disks_of_equal_size(instance: InstanceType) -> None:
    assert (instance.nvme_gb > 0) == (instance.nvme_disks > 0)
    assert not instance.nvme_disks or instance.nvme_gb % instance.nvme_disks == 0


@EVERY_TYPE
def test_efa_interfaces_do_not_outnumber_the_network_cards(instance: InstanceType) -> None:
    assert 0 <= instance.efa_interfaces <= instance.network_cards


def test_a_row_cannot_hide_behind_another_of_the_same_name() -> None:
    assert all(name == instance.name for name, instance in INSTANCE_TYPES.items())
    assert len(INSTANCE_TYPES) == 66, "49 rows of the facts sheet, 5 fractional, 12 for CPU pools"


def test_fractional_types_advertise_one_device_with_part_of_a_card() -> None:
    fractional = {name: i for name, i in INSTANCE_TYPES.items() if i.fractional}
    assert set(fractional) == {
        "g6f.large", "g6f.xlarge", "g6f.2xlarge", "g6f.4xlarge", "gr6f.4xlarge",
    }  # fmt: skip
    assert {i.gpus for i in fractional.values()} == {1}
    assert {i.gpu_memory_gb for i in fractional.values()} == {3, 6, 12}


def test_the_family_of_a_type_is_what_stands_before_the_dot() -> None:
    assert instance_type("p6-b200.48xlarge").family == "p6-b200"


def test_a_misspelt_type_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(UnknownInstanceType, match=r'"g4dn.xlage".*did you mean g4dn\.xlarge'):
        instance_type("g4dn.xlage")


def test_a_name_like_no_other_is_refused_with_where_to_look() -> None:
    with pytest.raises(UnknownInstanceType, match=r"see fleet/catalog/ec2\.py"):
        instance_type("?")


def test_the_table_of_types_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        del INSTANCE_TYPES["g4dn.xlarge"]  # type: ignore[attr-defined]
