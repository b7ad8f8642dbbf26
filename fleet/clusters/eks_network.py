"""The VPC of an EKS cluster: its subnets, which use the whole range."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

from fleet.config.eks import EksNetwork


@dataclass(frozen=True, kw_only=True, slots=True)
class Zone:
    """One availability zone of a new VPC: a large private and a small public subnet."""

    name: str
    private_cidr: str
    public_cidr: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NewNetwork:
    """A VPC that this program creates."""

    cidr: str
    zones: tuple[Zone, ...]
    nat_per_zone: bool
    region: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingNetwork:
    """An existing VPC, in which this program changes nothing."""

    vpc_id: str
    subnet_ids: dict[str, str]
    """Private subnet by availability zone."""


def network(spec: EksNetwork, region: str) -> NewNetwork | ExistingNetwork:
    """Return the network of a cluster."""
    if spec.cidr is None:
        return ExistingNetwork(vpc_id=spec.vpc_id or "", subnet_ids=dict(spec.subnet_ids or {}))
    return NewNetwork(
        cidr=spec.cidr,
        zones=zones(spec.cidr, spec.zone_names),
        nat_per_zone=spec.nat == "per-zone",
        region=region,
    )


def zones(cidr: str, names: tuple[str, ...]) -> tuple[Zone, ...]:
    """Divide a range into equal private blocks, and public subnets out of the last block.

    With the VPC CNI, each pod takes an address of its node's private subnet, so private subnets are
    as large as the range allows. Public subnets only hold NAT gateways and load balancers. Adding a
    third zone, or a fifth or sixth, does not move the subnets of the other zones.
    """
    whole = IPv4Network(cidr)
    blocks = list(whole.subnets(prefixlen_diff=len(names).bit_length()))
    public = blocks[-1].subnets(new_prefix=max(24, blocks[-1].prefixlen + len(names).bit_length()))
    return tuple(
        Zone(name=name, private_cidr=str(private), public_cidr=str(small))
        for name, private, small in zip(names, blocks, public, strict=False)
    )
