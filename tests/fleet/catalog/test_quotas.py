import pytest

from fleet.catalog.oci import SHAPES
from fleet.catalog.quotas import UnknownQuotaError, ec2_quota, oci_limits


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
