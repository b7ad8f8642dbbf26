import re

import pytest

from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.catalog.oci import SHAPES
from fleet.catalog.quotas import (
    EC2_QUOTAS,
    OCI_LIMITS,
    Ec2Quota,
    UnknownQuota,
    ec2_quota,
    oci_limits,
)

EVERY_QUOTA = {quota.code: quota for quotas in EC2_QUOTAS.values() for quota in quotas}


def test_every_instance_type_and_every_shape_of_the_catalog_is_counted_by_a_quota() -> None:
    families = {instance.family for instance in INSTANCE_TYPES.values()}
    assert families <= set(EC2_QUOTAS)
    assert set(OCI_LIMITS) == set(SHAPES)


# From AWS' Spot page and from listings of the Service Quotas API, not from the table.
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
        ("m6i", False, "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z)"),
        ("m6i", True, "L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot"),
    ],
)
def test_a_family_counts_against_the_quota_that_aws_names(
    family: str, spot: bool, code: str, name: str
) -> None:
    quota = ec2_quota(family, spot=spot)
    assert quota.code == code
    assert quota.name.startswith(name)


@pytest.mark.parametrize("quota", EVERY_QUOTA.values(), ids=lambda quota: quota.code)
def test_a_quota_is_either_of_spot_or_of_on_demand(quota: Ec2Quota) -> None:
    assert re.fullmatch(r"L-[0-9A-F]{8}", quota.code)
    assert ("Spot" in quota.name) != ("On-Demand" in quota.name)


def test_spot_and_on_demand_of_a_family_are_two_quotas() -> None:
    for family, (on_demand, spot) in EC2_QUOTAS.items():
        assert on_demand.code != spot.code, family
        assert "On-Demand" in on_demand.name, family
        assert "Spot" in spot.name, family


def test_a_new_account_has_no_gpu_at_all() -> None:
    for instance in INSTANCE_TYPES.values():
        for spot in (False, True):
            default = ec2_quota(instance.family, spot=spot).default_vcpus
            assert (default == 0) == (instance.gpus > 0), instance.name


def test_a_shape_with_gpus_counts_gpus_and_a_flex_shape_counts_cores_and_memory() -> None:
    for shape in SHAPES.values():
        counted = [limit.counted_in for limit in oci_limits(shape.name)]
        assert counted == (["GPUs"] if shape.gpus else ["OCPUs", "GB of memory"]), shape.name


def test_the_virtual_and_the_bare_a10_share_one_limit_and_the_two_a100_do_not() -> None:
    assert oci_limits("VM.GPU.A10.2") == oci_limits("BM.GPU.A10.4")
    assert oci_limits("BM.GPU4.8")[0].name == "gpu4-count"
    assert oci_limits("BM.GPU.A100-v2.8")[0].name == "gpu-a100-v2-count"


def test_shapes_of_one_limit_have_cards_of_one_model() -> None:
    models: dict[str, set[str | None]] = {}
    for shape in SHAPES.values():
        for limit in oci_limits(shape.name):
            models.setdefault(limit.name, set()).add(shape.gpu)
    assert all(len(found) == 1 for found in models.values()), models


def test_an_unknown_family_or_shape_is_refused_with_where_to_add_it() -> None:
    with pytest.raises(UnknownQuota, match=r'"x2gd".*fleet/catalog/quotas\.py'):
        ec2_quota("x2gd", spot=False)
    with pytest.raises(UnknownQuota, match=r'"BM\.GPU\.X".*fleet/catalog/quotas\.py'):
        oci_limits("BM.GPU.X")
