"""An OKE cluster that this program creates: network, API and node pools.

The stack file contains OCIDs and availability domains, because the plan looks nothing up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from fleet.catalog.oke import OKE_VERSIONS
from fleet.config.base import (
    ApiAccess,
    Cidr,
    Form,
    Model,
    Name,
    Rule,
    VpcCidr,
    exactly_one,
    minor_of,
    one_of,
)
from fleet.config.oke_pools import AvailabilityDomain, OkePool, ocid

_MINORS = tuple(dict.fromkeys(version.minor for version in OKE_VERSIONS.values()))


OkeMinor = Annotated[str, minor_of(_MINORS, "OKE"), one_of(_MINORS)]
CompartmentId = Annotated[str, ocid("(compartment|tenancy)", "compartment")]
VcnId = Annotated[str, ocid("vcn")]
SubnetId = Annotated[str, ocid("subnet")]
SecurityGroupId = Annotated[str, ocid("networksecuritygroup")]
Region = Annotated[str, Form(r"^[a-z]{2}-[a-z]+-\d$", "us-ashburn-1")]


class OkeNetwork(Model):
    """A VCN to create (`cidr`) or an existing one (`vcn_id` and its subnets)."""

    cidr: VpcCidr | None = Field(
        default=None, description="IPv4 range of the VCN to create", examples=["10.2.0.0/16"]
    )
    vcn_id: VcnId | None = Field(default=None, description="existing VCN")
    endpoint_subnet_id: SubnetId | None = Field(
        default=None,
        description="subnet of the existing VCN for the Kubernetes API",
    )
    worker_subnet_id: SubnetId | None = Field(
        default=None,
        description="subnet of the existing VCN for nodes",
    )
    pod_subnet_id: SubnetId | None = Field(
        default=None,
        description="subnet of the existing VCN for pods; default: worker_subnet_id",
    )
    load_balancer_subnet_id: SubnetId | None = Field(
        default=None,
        description="subnet of the existing VCN for load balancers",
    )
    endpoint_security_group_ids: tuple[SecurityGroupId, ...] | None = Field(
        default=None, max_length=5, description="network security groups of the Kubernetes API"
    )
    worker_security_group_ids: tuple[SecurityGroupId, ...] | None = Field(
        default=None, max_length=5, description="network security groups of the nodes"
    )
    pod_security_group_ids: tuple[SecurityGroupId, ...] | None = Field(
        default=None, max_length=5, description="network security groups of the pods"
    )
    services_cidr: Cidr = Field(
        default="10.96.0.0/16",
        description="IPv4 range of Kubernetes services, outside that of the VCN",
    )

    def rules(self) -> Iterator[Rule]:
        yield from exactly_one(self, "cidr", "vcn_id", example="cidr: 10.2.0.0/16")
        existing = [
            name
            for name in type(self).model_fields
            if name.endswith(("_subnet_id", "_security_group_ids"))
        ]
        for field in existing:
            if self.cidr is not None and getattr(self, field) is not None:
                yield Rule(
                    field,
                    "is set together with cidr, but belongs to an existing VCN",
                    f"remove {field}, or replace cidr by vcn_id",
                )
        if self.vcn_id is not None:
            for field in ("endpoint_subnet_id", "worker_subnet_id"):
                if getattr(self, field) is None:
                    yield Rule(
                        field,
                        "is missing, but an existing VCN needs it",
                        f"add {field}: ocid1.subnet.oc1.iad.aaaaexample",
                    )


class Oke(Model):
    """One OKE cluster."""

    region: Region = Field(description="OCI region")
    compartment_id: CompartmentId = Field(
        description="compartment of all resources of the cluster",
    )
    availability_domains: tuple[AvailabilityDomain, ...] = Field(
        min_length=1,
        description="availability domains of the region, in order of preference",
        examples=[["Uocm:US-ASHBURN-AD-1"]],
    )
    version: OkeMinor = Field(
        description='Kubernetes minor version, quoted: "1.35"', examples=["1.35"]
    )
    network: OkeNetwork = Field(description="VCN of the nodes", examples=[{"cidr": "10.2.0.0/16"}])
    api: ApiAccess = Field(default=ApiAccess(), description="access to the Kubernetes API server")
    profile: str | None = Field(
        default=None,
        description="profile of the OCI configuration file for the provider and the kubeconfig",
    )
    pools: dict[Name, OkePool] = Field(
        min_length=1,
        description="node pools by name",
        examples=[{"a10": {"shape": "VM.GPU.A10.1", "max_size": 4}}],
    )

    def rules(self) -> Iterator[Rule]:
        if len(set(self.availability_domains)) != len(self.availability_domains):
            yield Rule("availability_domains", "lists a domain twice", "list each domain once")
        for name, pool in self.pools.items():
            for domain in pool.availability_domains or ():
                if domain not in self.availability_domains:
                    yield Rule(
                        f"pools.{name}.availability_domains",
                        f"lists {domain}, which is not a domain of the cluster",
                        f"choose from {', '.join(self.availability_domains)}",
                    )
            if (
                pool.capacity_reservation_id
                and len(pool.availability_domains or self.availability_domains) != 1
            ):
                yield Rule(
                    f"pools.{name}.capacity_reservation_id",
                    "is set, but the pool has more than one availability domain and a reservation "
                    "belongs to one",
                    "list the reservation's domain under the pool's availability_domains",
                )
        if not any(not pool.gpus and pool.min_size for pool in self.pools.values()):
            yield Rule(
                "pools",
                "has no CPU pool with min_size of 1 or more, so add-ons and controllers would have "
                "no node",
                "add one, like system: {shape: VM.Standard.E5.Flex, ocpus: 2, memory_gb: 16, "
                "min_size: 2, max_size: 4}",
            )
