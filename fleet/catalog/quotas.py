"""Quotas that stop a pool from growing: EC2's, counted in vCPUs, and OCI's, counted in GPUs.

EC2's are per account and region; OCI's are per tenancy and availability domain. A new account has
0 of every GPU quota, so an untouched one shows only as nodes that never come.

Sources:
- EC2 names and defaults: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html
  (On-Demand P is one quota; Spot P is split since P5) and ec2-on-demand-instances.html there;
- EC2 codes: the links of AWS' own Spot page (L-7212CCBC, L-C4BD4855, L-34B43A08) and public
  listings of `aws service-quotas list-service-quotas --service-code ec2`, which agree;
- Capacity Blocks: "instances in a Capacity Block don't count against your On-Demand Instances
  limits", https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html ;
- OCI names and scopes:
  https://docs.oracle.com/en-us/iaas/Content/Quotas/Concepts/resourcequotas_topic-Compute_Quotas.htm
  as of 2026-09-05.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

_SPOT_PAGE: Final = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html"
_ON_DEMAND_PAGE: Final = (
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ec2Quota:
    """One quota of the service `ec2`, in vCPUs of all running instances of a region."""

    name: str
    """As Service Quotas shows it."""
    code: str
    default_vcpus: int
    """What a new account has."""
    source: str


class UnknownQuota(ValueError):  # noqa: N818 (it reads as what it says)
    """The catalog does not know which quota counts that family or shape."""


G_ON_DEMAND: Final = Ec2Quota(
    name="Running On-Demand G and VT instances",
    code="L-DB2E81BA",
    default_vcpus=0,
    source=_ON_DEMAND_PAGE,
)
P_ON_DEMAND: Final = Ec2Quota(
    name="Running On-Demand P instances",
    code="L-417A185B",
    default_vcpus=0,
    source=f"{_ON_DEMAND_PAGE} (one quota for P2 to P6)",
)
STANDARD_ON_DEMAND: Final = Ec2Quota(
    name="Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
    code="L-1216C47A",
    default_vcpus=5,
    source=_ON_DEMAND_PAGE,
)
G_SPOT: Final = Ec2Quota(
    name="All G and VT Spot Instance Requests",
    code="L-3819A6DF",
    default_vcpus=0,
    source=_SPOT_PAGE,
)
P4_SPOT: Final = Ec2Quota(
    name="All P4, P3 and P2 Spot Instance Requests",
    code="L-7212CCBC",
    default_vcpus=0,
    source=f'{_SPOT_PAGE} ("All P Spot Instance Requests" before P5)',
)
P5_SPOT: Final = Ec2Quota(
    name="All P5 Spot Instance Requests",
    code="L-C4BD4855",
    default_vcpus=0,
    source=(
        f"{_SPOT_PAGE} ; that it counts P6 too is not confirmed: AWS names no quota for it, and "
        "public tools differ"
    ),
)
STANDARD_SPOT: Final = Ec2Quota(
    name="All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
    code="L-34B43A08",
    default_vcpus=5,
    source=_SPOT_PAGE,
)

_G: Final = (G_ON_DEMAND, G_SPOT)
_P4: Final = (P_ON_DEMAND, P4_SPOT)
_P5: Final = (P_ON_DEMAND, P5_SPOT)
_STANDARD: Final = (STANDARD_ON_DEMAND, STANDARD_SPOT)

_FAMILIES: Final[tuple[tuple[str, tuple[Ec2Quota, Ec2Quota]], ...]] = (
    ("g4dn g5 g6 g6e g6f g7e gr6 gr6f", _G),
    ("p3 p3dn p4d p4de", _P4),
    ("p5 p5e p5en p6-b200", _P5),
    ("m5 m6i m7i", _STANDARD),
)

EC2_QUOTAS: Final[Mapping[str, tuple[Ec2Quota, Ec2Quota]]] = MappingProxyType(
    {family: quotas for families, quotas in _FAMILIES for family in families.split()}
)
"""Instance family -> its quota on demand and its quota on spot."""


def ec2_quota(family: str, *, spot: bool) -> Ec2Quota:
    """Return the quota that counts instances of that family (`InstanceType.family`).

    Capacity Blocks count against none of them.

    Raises:
        UnknownQuota: the table has no such family.

    """
    quotas = EC2_QUOTAS.get(family)
    if quotas is None:
        raise UnknownQuota(
            f'no EC2 quota is known for the family "{family}": add it to fleet/catalog/quotas.py'
        )
    return quotas[1] if spot else quotas[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class OciLimit:
    """One limit of the service `compute`, per availability domain.

    Preemptible capacity counts against the same limit; a capacity reservation has limits of its
    own (`...-reservable`, `...-reserved-count`).
    """

    name: str
    counted_in: Literal["GPUs", "OCPUs", "GB of memory"]
    source: str


_QUOTA_PAGE: Final = (
    "https://docs.oracle.com/en-us/iaas/Content/Quotas/Concepts/"
    "resourcequotas_topic-Compute_Quotas.htm"
)


def _gpus(name: str, source: str = _QUOTA_PAGE) -> tuple[OciLimit, ...]:
    return (OciLimit(name=name, counted_in="GPUs", source=source),)


def _flex(series: str, source: str = _QUOTA_PAGE) -> tuple[OciLimit, ...]:
    return (
        OciLimit(name=f"{series}-core-count", counted_in="OCPUs", source=source),
        OciLimit(name=f"{series}-memory-count", counted_in="GB of memory", source=source),
    )


_SHAPES: Final[tuple[tuple[str, tuple[OciLimit, ...]], ...]] = (
    ("VM.GPU2.1 BM.GPU2.2", _gpus("gpu2-count")),
    ("VM.GPU3.1 VM.GPU3.2 VM.GPU3.4 BM.GPU3.8", _gpus("gpu3-count")),
    ("VM.GPU.A10.1 VM.GPU.A10.2 BM.GPU.A10.4", _gpus("gpu-a10-count")),
    ("BM.GPU4.8", _gpus("gpu4-count")),
    ("BM.GPU.A100-v2.8", _gpus("gpu-a100-v2-count")),
    (
        "BM.GPU.L40S.4",
        _gpus("gpu-l40s-count", "inferred from the other names: Oracle's page has no L40S"),
    ),
    (
        "BM.GPU.H100.8",
        _gpus(
            "gpu-h100-count", "seen in public tools that ask the Limits API; not on Oracle's page"
        ),
    ),
    ("BM.GPU.H200.8", _gpus("gpu-h200-count")),
    ("BM.GPU.B200.8", _gpus("gpu-b200-count")),
    ("VM.Standard3.Flex", _flex("standard3")),
    ("VM.Standard.E4.Flex", _flex("standard-e4")),
    (
        "VM.Standard.E5.Flex",
        _flex(
            "standard-e5",
            "answers of the Limits API quoted in public; Oracle's page says "
            "standard-e5-core-ad-count",
        ),
    ),
    (
        "VM.Standard.E6.Flex",
        _flex("standard-e6", "`quotaNames` of the shape in a public answer of ListShapes"),
    ),
)

OCI_LIMITS: Final[Mapping[str, tuple[OciLimit, ...]]] = MappingProxyType(
    {shape: limits for shapes, limits in _SHAPES for shape in shapes.split()}
)
"""Shape -> the limits that count it, per availability domain."""


def oci_limits(shape: str) -> tuple[OciLimit, ...]:
    """Return the limits that count instances of that shape, in GPUs where it has any.

    Raises:
        UnknownQuota: the table has no such shape.

    """
    limits = OCI_LIMITS.get(shape)
    if limits is None:
        raise UnknownQuota(
            f'no OCI limit is known for the shape "{shape}": add it to fleet/catalog/quotas.py'
        )
    return limits
