"""An EKS cluster that this program makes: network, API, admins and pools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from fleet.config.base import (
    KubernetesMinor,
    Model,
    Name,
    Rule,
    SourceRange,
    VpcCidr,
    Zone,
    exactly_one,
)
from fleet.config.pools import EksPool

SubnetId = Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8,17}$")]
_ARN = r"^arn:aws[a-z-]*:iam::\d{12}:(role|user)/.+$"

_OTHER_PARTITIONS = ("cn-", "us-gov-", "us-iso", "eu-iso", "eusc-")


def _principal(value: str) -> str:
    if re.match(r"arn:aws[a-z-]*:sts:", value):
        raise ValueError(
            "is the ARN of a session; use the ARN of the IAM role, not of the session, like "
            "arn:aws:iam::111122223333:role/platform"
        )
    if not re.search(_ARN, value):
        raise ValueError(
            "does not have the form that is wanted; write the ARN of an IAM role or user, like "
            "arn:aws:iam::111122223333:role/platform"
        )
    return value


Arn = Annotated[
    str, AfterValidator(_principal), WithJsonSchema({"type": "string", "pattern": _ARN})
]


class EksNetwork(Model):
    """A VPC to make (`cidr`, `zones`, `nat`) or one to use (`vpc_id`, `subnet_ids`)."""

    cidr: VpcCidr | None = Field(
        default=None, description="range of the VPC to make", examples=["10.0.0.0/16"]
    )
    zones: tuple[Zone, ...] | None = Field(
        default=None, max_length=6, description="availability zones of the VPC to make, two to six"
    )
    nat: Literal["one", "per-zone"] | None = Field(
        default=None, description="NAT gateways of the VPC to make; default: one"
    )
    vpc_id: str | None = Field(
        default=None,
        pattern=r"^vpc-[0-9a-f]{8,17}$",
        description="VPC to use",
        examples=["vpc-0123456789abcdef0"],
    )
    subnet_ids: dict[Zone, SubnetId] | None = Field(
        default=None,
        description="private subnet of the VPC to use, by zone: {us-west-2a: subnet-…}",
    )

    def rules(self) -> Iterator[Rule]:
        """A VPC to make or a VPC to use, over two zones or more."""
        yield from exactly_one(self, "cidr", "vpc_id")
        if self.cidr is not None and self.subnet_ids is not None:
            yield Rule("subnet_ids", "belongs to a VPC that exists", "remove it, or cidr")
        for field in ("zones", "nat"):
            if self.vpc_id is not None and getattr(self, field) is not None:
                yield Rule(field, "belongs to a VPC to make", "remove it, or vpc_id")
        if self.cidr is None and self.vpc_id is None:
            return
        where = "zones" if self.cidr is not None else "subnet_ids"
        if len(set(self.zone_names)) < 2:
            yield Rule(
                where,
                "names under two zones; EKS needs two or more",
                "name another zone",
            )
        if len(set(self.zone_names)) != len(self.zone_names):
            yield Rule(where, "names a zone twice", "name each zone once")
        subnets = tuple((self.subnet_ids or {}).values())
        if len(set(subnets)) != len(subnets):
            yield Rule(
                "subnet_ids",
                "names a subnet for two zones; a subnet lies in one",
                "name the subnet of each zone",
            )

    @property
    def zone_names(self) -> tuple[str, ...]:
        """Zones that pools can use, in the order of the file."""
        return self.zones or tuple(self.subnet_ids or {})


class EksApi(Model):
    """Who reaches the Kubernetes API server."""

    allow: tuple[SourceRange, ...] = Field(
        default=(),
        description="public ranges that may reach the endpoint; none: private endpoint only",
    )


class Eks(Model):
    """One EKS cluster."""

    region: str = Field(
        pattern=r"^[a-z]{2}(-[a-z]+)+-\d$", description="AWS region", examples=["us-west-2"]
    )
    version: KubernetesMinor = Field(
        description='Kubernetes minor version, quoted: "1.35"', examples=["1.35"]
    )
    network: EksNetwork = Field(description="VPC of the nodes, to make or to use")
    api: EksApi = Field(default=EksApi(), description="who reaches the API server")
    admins: tuple[Arn, ...] = Field(
        default=(), description="IAM principals with cluster-admin, by ARN"
    )
    profile: str | None = Field(
        default=None, description="AWS profile for the provider and the kubeconfig"
    )
    pools: dict[Name, EksPool] = Field(min_length=1, description="node groups by name")

    def rules(self) -> Iterator[Rule]:
        """Zones lie in the region, pools in the zones, releases suit, a CPU pool always runs."""
        if self.region.startswith(_OTHER_PARTITIONS):
            yield Rule(
                "region",
                "is outside AWS' commercial partition, whose ARNs this program writes",
                "use a commercial region",
            )
        for zone in self.network.zone_names:
            if zone[:-1] != self.region:
                yield Rule(
                    "region",
                    f"is {self.region}, but the network names zone {zone}",
                    "correct the region or the zone",
                )
        for name, pool in self.pools.items():
            for zone in (pool.zones or ()) if self.network.zone_names else ():
                if zone not in self.network.zone_names:
                    yield Rule(
                        f"pools.{name}.zones",
                        f"names {zone}, which the network lacks",
                        f"use some of {', '.join(self.network.zone_names)}",
                    )
            if pool.release_version and not pool.release_version.startswith(f"{self.version}."):
                yield Rule(
                    f"pools.{name}.release_version",
                    f"is not a release for Kubernetes {self.version}",
                    "use one of that version, or remove it for the one that this program pins",
                )
        if len(set(self.admins)) != len(self.admins):
            yield Rule("admins", "names a principal twice", "name each principal once")
        always = [pool for pool in self.pools.values() if not pool.gpus and pool.min_size]
        if not always:
            yield Rule(
                "pools",
                "has no CPU pool that always runs; add-ons and controllers would have no node",
                "add one, like system: {instance_types: [m6i.large], min_size: 2, max_size: 4}",
            )
