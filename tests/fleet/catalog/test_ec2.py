import re

import pytest

from fleet.catalog import ec2
from fleet.catalog.ec2 import INSTANCE_TYPES, InstanceType, UnknownInstanceTypeError, instance_type
from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.oci import SHAPES
from fleet.catalog.quotas import UnknownQuotaError, ec2_quota, oci_limits
from tests.cases import for_each

EVERY_TYPE = for_each("instance", INSTANCE_TYPES.values(), ids=lambda instance: instance.name)


@EVERY_TYPE
def test_only_a_type_with_gpus_has_a_model_and_gpu_memory(instance: InstanceType) -> None:
    if instance.gpu is not None:
        assert instance.gpus > 0
        assert instance.gpu in GPU_MODELS
        assert 0 < instance.gpu_memory_gb <= GPU_MODELS[instance.gpu].memory_gb
    else:
        assert (instance.gpus, instance.gpu_memory_gb) == (0, 0)


@EVERY_TYPE
def test_the_figures_of_a_type_are_plausible(instance: InstanceType) -> None:
    assert 1 <= instance.memory_gib / instance.vcpu <= 32
    assert 0.02 < instance.usd_per_hour / instance.vcpu < 1
    assert instance.price_source
    assert instance.network_cards >= instance.efa_interfaces
    assert all(
        re.fullmatch(r"[a-z]{2}-[a-z]+-\d", region) for region in instance.capacity_block_regions
    )


@EVERY_TYPE
def test_an_ec2_quota_counts_every_type(instance: InstanceType) -> None:
    for spot in (False, True):
        default = ec2_quota(instance.family, spot=spot).default_vcpus
        assert (default == 0) == (instance.gpus > 0), "a new account has no GPUs"


def test_names_of_types_are_unique() -> None:
    names = [row[0] for row in ec2._ROWS]  # pyright: ignore[reportPrivateUsage]
    assert len(names) == len(set(names))


def test_a_misspelt_type_is_refused_with_similar_names() -> None:
    with pytest.raises(UnknownInstanceTypeError, match=r'"g4dn.xlage".*did you mean g4dn\.xlarge'):
        instance_type("g4dn.xlage")


def test_a_name_without_similar_names_is_refused_with_the_file_of_the_table() -> None:
    with pytest.raises(UnknownInstanceTypeError, match=r"see fleet/catalog/ec2\.py"):
        instance_type("?")


# From AWS' Spot page and from listings of the Service Quotas API.
@pytest.mark.parametrize(
    ("family", "spot", "code", "name"),
    [
        ("g4dn", False, "L-DB2E81BA", "Running On-Demand G and VT instances"),
        ("gr6", False, "L-DB2E81BA", "Running On-Demand G and VT instances"),
        ("g6e", True, "L-3819A6DF", "All G and VT Spot Instance Requests"),
        ("p3", False, "L-417A185B", "Running On-Demand P instances"),
        ("p5", False, "L-417A185B", "Running On-Demand P instances"),
        ("p4d", True, "L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests"),
        ("p5en", True, "L-C4BD4855", "All P5 Spot Instance Requests"),
        ("p6-b200", True, "L-C4BD4855", "All P5 Spot Instance Requests"),
        ("m6i", False, "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z)"),
        ("m6i", True, "L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot"),
    ],
)
def test_the_ec2_quota_of_a_family(family: str, spot: bool, code: str, name: str) -> None:
    quota = ec2_quota(family, spot=spot)
    assert quota.code == code
    assert quota.name.startswith(name)


def test_a_shape_with_gpus_counts_gpus_and_a_flex_shape_counts_cores_and_memory() -> None:
    for shape in SHAPES.values():
        counted = [limit.counted_in for limit in oci_limits(shape.name)]
        assert counted == (["GPUs"] if shape.gpus else ["OCPUs", "GB of memory"]), shape.name


def test_shapes_with_one_limit_have_one_gpu_model() -> None:
    models: dict[str, set[str | None]] = {}
    for shape in SHAPES.values():
        for limit in oci_limits(shape.name):
            models.setdefault(limit.name, set()).add(shape.gpu)
    assert all(len(found) == 1 for found in models.values()), models


def test_an_unknown_family_or_shape_is_refused_with_the_file_of_the_table() -> None:
    with pytest.raises(UnknownQuotaError, match=r'"x2gd".*fleet/catalog/quotas\.py'):
        ec2_quota("x2gd", spot=False)
    with pytest.raises(UnknownQuotaError, match=r'"BM\.GPU\.X".*fleet/catalog/oci\.py'):
        oci_limits("BM.GPU.X")
