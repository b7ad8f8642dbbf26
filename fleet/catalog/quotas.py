"""Quotas that stop a pool from growing: EC2 counts vCPUs, OCI counts GPUs, OCPUs or memory.

EC2's quotas are per account and region, OCI's per tenancy and availability domain. A new account
has 0 of every GPU quota; the only symptom is that no node starts.

Sources:
- EC2 names and defaults: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html
  (On-Demand P is one quota for P2 to P6; Spot P is split since P5) and ec2-on-demand-instances.html
  there;
- EC2 codes: the links of AWS' own Spot page (L-7212CCBC, L-C4BD4855, L-34B43A08) and public
  listings of `aws service-quotas list-service-quotas --service-code ec2`, which agree;
- Capacity Blocks: "instances in a Capacity Block don't count against your On-Demand Instances
  limits", https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html ;
- OCI names: see `oci.Shape.limit`.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from fleet.catalog.oci import SHAPES


@dataclass(frozen=True, slots=True)
class Ec2Quota:
    """One quota of the service `ec2`, in vCPUs of all running instances of a region."""

    name: str
    """As Service Quotas shows it."""
    code: str
    default_vcpus: int
    """The quota of a new account."""


class UnknownQuotaError(ValueError):
    """The catalog does not know which quota counts that family or shape."""


G_ON_DEMAND: Final = Ec2Quota("Running On-Demand G and VT instances", "L-DB2E81BA", 0)
P_ON_DEMAND: Final = Ec2Quota("Running On-Demand P instances", "L-417A185B", 0)
STANDARD_ON_DEMAND: Final = Ec2Quota(
    "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "L-1216C47A", 5
)
G_SPOT: Final = Ec2Quota("All G and VT Spot Instance Requests", "L-3819A6DF", 0)
# Named "All P Spot Instance Requests" before P5.
P4_SPOT: Final = Ec2Quota("All P4, P3 and P2 Spot Instance Requests", "L-7212CCBC", 0)
# Not confirmed that it counts P6 too: AWS names no quota for P6, and public tools differ.
P5_SPOT: Final = Ec2Quota("All P5 Spot Instance Requests", "L-C4BD4855", 0)
STANDARD_SPOT: Final = Ec2Quota(
    "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", "L-34B43A08", 5
)


def ec2_quota(family: str, *, spot: bool) -> Ec2Quota:
    """Return the quota that counts instances of that family (`InstanceType.family`).

    No quota counts Capacity Blocks. Raises UnknownQuotaError.
    """
    match = re.match(r"([a-z]+)(\d+)", family)
    letters, generation = (match[1], int(match[2])) if match is not None else (family, 0)
    if letters in ("g", "gr", "vt"):
        return G_SPOT if spot else G_ON_DEMAND
    if letters == "p":
        return P_ON_DEMAND if not spot else P4_SPOT if generation <= 4 else P5_SPOT
    if letters in {*"acdhimrtz"}:
        return STANDARD_SPOT if spot else STANDARD_ON_DEMAND
    raise UnknownQuotaError(
        f'no EC2 quota is known for the family "{family}": add it to fleet/catalog/quotas.py'
    )


@dataclass(frozen=True, slots=True)
class OciLimit:
    """One limit of the service `compute`, per availability domain.

    Preemptible capacity counts against the same limit. A capacity reservation has its own limits
    (`...-reservable`, `...-reserved-count`).
    """

    name: str
    counted_in: Literal["GPUs", "OCPUs", "GB of memory"]


def oci_limits(shape: str) -> tuple[OciLimit, ...]:
    """Return the limits that count instances of that shape. Raises UnknownQuotaError."""
    known = SHAPES.get(shape)
    if known is None:
        raise UnknownQuotaError(
            f'no OCI limit is known for the shape "{shape}": add it to fleet/catalog/oci.py'
        )
    if known.gpus:
        return (OciLimit(f"{known.limit}-count", "GPUs"),)
    return (
        OciLimit(f"{known.limit}-core-count", "OCPUs"),
        OciLimit(f"{known.limit}-memory-count", "GB of memory"),
    )
