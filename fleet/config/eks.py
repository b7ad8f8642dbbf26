"""An EKS cluster that this program creates: network, API, admins and node groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.config.base import (
    ApiAccess,
    Form,
    Model,
    Name,
    Rule,
    VpcCidr,
    Zone,
    exactly_one,
    minor_of,
    one_of,
    refusal,
)
from fleet.config.pools import EksPool

SubnetId = Annotated[str, Form(r"^subnet-[0-9a-f]{8,17}$", "subnet-0123456789abcdef0")]
VpcId = Annotated[str, Form(r"^vpc-[0-9a-f]{8,17}$", "vpc-0123456789abcdef0")]
Region = Annotated[str, Form(r"^[a-z]{2}(-[a-z]+)+-\d$", "us-west-2")]
_OTHER_PARTITIONS = ("cn-", "us-gov-", "us-iso", "eu-iso", "eusc-")


def _principal(value: str) -> str:
    if re.match(r"arn:aws[a-z-]*:sts:", value):
        raise refusal(
            "is the ARN of a session, but an access entry needs that of the IAM role",
            "use the ARN of the role, like arn:aws:iam::111122223333:role/platform",
        )
    return value


Arn = Annotated[
    str,
    AfterValidator(_principal),
    Form(
        r"^arn:aws[a-z-]*:iam::\d{12}:(role|user)/.+$",
        "arn:aws:iam::111122223333:role/platform",
        "is not the ARN of an IAM role or user",
    ),
]
KubernetesMinor = Annotated[str, minor_of(KUBERNETES_VERSIONS, "EKS"), one_of(KUBERNETES_VERSIONS)]


class EksNetwork(Model):
    """A VPC to create (`cidr`, `zones`, `nat`) or an existing one (`vpc_id`, `subnet_ids`)."""

    cidr: VpcCidr | None = Field(
        default=None, description="IPv4 range of the VPC to create", examples=["10.0.0.0/16"]
    )
    zones: tuple[Zone, ...] | None = Field(
        default=None,
        max_length=6,
        description="availability zones of the VPC to create, two to six",
        examples=[["us-west-2a", "us-west-2b"]],
    )
    nat: Literal["one", "per-zone"] | None = Field(
        default=None, description="NAT gateways of the VPC to create; default: one"
    )
    vpc_id: VpcId | None = Field(default=None, description="existing VPC")
    subnet_ids: dict[Zone, SubnetId] | None = Field(
        default=None,
        description="private subnets of the existing VPC by zone",
        examples=[{"us-west-2a": "subnet-0123456789abcdef0"}],
    )

    def rules(self) -> Iterator[Rule]:
        yield from exactly_one(self, "cidr", "vpc_id", example="cidr: 10.0.0.0/16")
        if self.cidr is not None and self.subnet_ids is not None:
            yield Rule(
                "subnet_ids",
                "is set together with cidr, but belongs to an existing VPC",
                "remove subnet_ids, or replace cidr by vpc_id",
            )
        for field in ("zones", "nat"):
            if self.vpc_id is not None and getattr(self, field) is not None:
                yield Rule(
                    field,
                    "is set together with vpc_id, but belongs to a VPC to create",
                    f"remove {field}, or replace vpc_id by cidr",
                )
        if self.cidr is None and self.vpc_id is None:
            return
        where = "zones" if self.cidr is not None else "subnet_ids"
        if (count := len(set(self.zone_names))) < 2:
            yield Rule(
                where,
                f"lists {('no zone', 'one zone')[count]}, but EKS needs subnets in at least two",
                "add another zone",
            )
        if len(set(self.zone_names)) != len(self.zone_names):
            yield Rule(where, "lists a zone twice", "list each zone once")
        subnets = tuple((self.subnet_ids or {}).values())
        if len(set(subnets)) != len(subnets):
            yield Rule(
                "subnet_ids",
                "lists one subnet for two zones, but a subnet belongs to one zone",
                "list a different subnet for each zone",
            )

    @property
    def zone_names(self) -> tuple[str, ...]:
        """Zones of the VPC's private subnets, in the order of the file."""
        return self.zones or tuple(self.subnet_ids or {})


class Eks(Model):
    """One EKS cluster."""

    region: Region = Field(description="AWS region")
    version: KubernetesMinor = Field(
        description='Kubernetes minor version, quoted: "1.35"', examples=["1.35"]
    )
    network: EksNetwork = Field(
        description="VPC of the nodes",
        examples=[{"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]}],
    )
    api: ApiAccess = Field(default=ApiAccess(), description="access to the Kubernetes API server")
    admins: tuple[Arn, ...] = Field(
        default=(),
        description="ARNs of IAM roles and users with cluster-admin",
        examples=[["arn:aws:iam::111122223333:role/platform"]],
    )
    profile: str | None = Field(
        default=None, description="AWS profile for the provider and the kubeconfig"
    )
    pools: dict[Name, EksPool] = Field(
        min_length=1,
        description="node groups by name",
        examples=[{"t4": {"instance_types": ["g4dn.xlarge"], "max_size": 10}}],
    )

    def rules(self) -> Iterator[Rule]:
        if self.region.startswith(_OTHER_PARTITIONS):
            yield Rule(
                "region",
                "is outside AWS' commercial partition, but this program writes ARNs of that one",
                "use a commercial region, like us-west-2",
            )
        for zone in self.network.zone_names:
            if zone[:-1] != self.region:
                yield Rule(
                    "region",
                    f"is {self.region}, but the network lists zone {zone} of another region",
                    f"use region: {zone[:-1]}, or correct the zone",
                )
        for name, pool in self.pools.items():
            for zone in (pool.zones or ()) if self.network.zone_names else ():
                if zone not in self.network.zone_names:
                    yield Rule(
                        f"pools.{name}.zones",
                        f"lists {zone}, where the network has no subnet",
                        f"choose from {', '.join(self.network.zone_names)}",
                    )
            if pool.release_version and not pool.release_version.startswith(f"{self.version}."):
                yield Rule(
                    f"pools.{name}.release_version",
                    f"is {pool.release_version}, but the cluster runs Kubernetes {self.version}",
                    f"use a release {self.version}.*, or remove it for the pinned release",
                )
        if len(set(self.admins)) != len(self.admins):
            yield Rule("admins", "lists an ARN twice", "list each ARN once")
        if not any(not pool.gpus and pool.min_size for pool in self.pools.values()):
            yield Rule(
                "pools",
                "has no CPU pool with min_size of 1 or more, so add-ons and controllers would have "
                "no node",
                "add one, like system: {instance_types: [m6i.large], min_size: 2, max_size: 4}",
            )
