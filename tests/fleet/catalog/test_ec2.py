import re

import pytest

from fleet.catalog import ec2
from fleet.catalog.ec2 import INSTANCE_TYPES, InstanceType, UnknownInstanceTypeError, instance_type
from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.quotas import ec2_quota
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
