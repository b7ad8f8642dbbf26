"""An OKE cluster that this program makes: network, API and pools.

OCIDs and names of availability domains are written, never looked up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from fleet.catalog.oke import OKE_VERSIONS
from fleet.config.base import Cidr, Model, Name, Rule, SourceRange, VpcCidr, exactly_one
from fleet.config.oke_pools import AvailabilityDomain, OkePool, ocid

_MINORS = tuple(dict.fromkeys(version.minor for version in OKE_VERSIONS.values()))


def _oke_minor(value: str) -> str:
    if value not in _MINORS:
        raise ValueError(
            "is not a Kubernetes version that this program offers on OKE; "
            f"use one of {', '.join(_MINORS)}, in quotes"
        )
    return value


OkeMinor = Annotated[
    str,
    AfterValidator(_oke_minor),
    WithJsonSchema({"type": "string", "enum": list(_MINORS)}),
]
CompartmentId = Annotated[str, ocid("(compartment|tenancy)")]
VcnId = Annotated[str, ocid("vcn")]
SubnetId = Annotated[str, ocid("subnet")]
SecurityGroupId = Annotated[str, ocid("networksecuritygroup")]

_SERVICES = "10.96.0.0/16"


class OkeNetwork(Model):
    """A VCN to make (`cidr`) or one to use (`vcn_id` and its subnets)."""

    cidr: VpcCidr | None = Field(
        default=None, description="range of the VCN to make", examples=["10.2.0.0/16"]
    )
    vcn_id: VcnId | None = Field(
        default=None, description="VCN to use", examples=["ocid1.vcn.oc1.iad.aaaaexample"]
    )
    endpoint_subnet_id: SubnetId | None = Field(
        default=None,
        description="subnet of the Kubernetes API, of the VCN to use",
        examples=["ocid1.subnet.oc1.iad.aaaaexample"],
    )
    worker_subnet_id: SubnetId | None = Field(
        default=None,
        description="subnet of the nodes, of the VCN to use",
        examples=["ocid1.subnet.oc1.iad.aaaaexample"],
    )
    pod_subnet_id: SubnetId | None = Field(
        default=None,
        description="subnet of the pods; default: that of the nodes",
        examples=["ocid1.subnet.oc1.iad.aaaaexample"],
    )
    load_balancer_subnet_id: SubnetId | None = Field(
        default=None,
        description="subnet of load balancers, of the VCN to use",
        examples=["ocid1.subnet.oc1.iad.aaaaexample"],
    )
    endpoint_security_group_ids: tuple[SecurityGroupId, ...] | None = Field(
        default=None, max_length=5, description="security groups of the Kubernetes API"
    )
    worker_security_group_ids: tuple[SecurityGroupId, ...] | None = Field(
        default=None, max_length=5, description="security groups of the nodes"
    )
    pod_security_group_ids: tuple[SecurityGroupId, ...] | None = Field(
        default=None, max_length=5, description="security groups of the pods"
    )
    services_cidr: Cidr = Field(
        default=_SERVICES, description="range of Kubernetes services, outside the VCN's"
    )

    def rules(self) -> Iterator[Rule]:
        """A VCN to make or a VCN to use with the subnets that a cluster needs."""
        yield from exactly_one(self, "cidr", "vcn_id")
        of_existing = [
            name
            for name in type(self).model_fields
            if name.endswith(("_subnet_id", "_security_group_ids"))
        ]
        for field in of_existing:
            if self.cidr is not None and getattr(self, field) is not None:
                yield Rule(field, "belongs to a VCN that exists", "remove it, or cidr")
        if self.vcn_id is not None:
            for field in ("endpoint_subnet_id", "worker_subnet_id"):
                if getattr(self, field) is None:
                    yield Rule(field, "is missing", f"add {field}: ocid1.subnet.…")


class OkeApi(Model):
    """Who reaches the Kubernetes API server."""

    allow: tuple[SourceRange, ...] = Field(
        default=(),
        description="public ranges that may reach the endpoint; none: private endpoint only",
    )


class Oke(Model):
    """One OKE cluster."""

    region: str = Field(
        pattern=r"^[a-z]{2}-[a-z]+-\d$", description="OCI region", examples=["us-ashburn-1"]
    )
    compartment_id: CompartmentId = Field(
        description="compartment of everything that is made",
        examples=["ocid1.compartment.oc1..aaaaexample"],
    )
    availability_domains: tuple[AvailabilityDomain, ...] = Field(
        min_length=1,
        description="availability domains of the region, in order of preference",
        examples=[["Uocm:US-ASHBURN-AD-1"]],
    )
    version: OkeMinor = Field(
        description='Kubernetes minor version, quoted: "1.35"', examples=["1.35"]
    )
    network: OkeNetwork = Field(description="VCN of the nodes, to make or to use")
    api: OkeApi = Field(default=OkeApi(), description="who reaches the API server")
    profile: str | None = Field(
        default=None, description="profile of OCI's configuration file, also in the kubeconfig"
    )
    pools: dict[Name, OkePool] = Field(min_length=1, description="node pools by name")

    def rules(self) -> Iterator[Rule]:
        """Pools lie in the availability domains, and a CPU pool always runs."""
        if len(set(self.availability_domains)) != len(self.availability_domains):
            yield Rule("availability_domains", "names one twice", "name each once")
        for name, pool in self.pools.items():
            for domain in pool.availability_domains or ():
                if domain not in self.availability_domains:
                    yield Rule(
                        f"pools.{name}.availability_domains",
                        f"names {domain}, which the cluster lacks",
                        f"use some of {', '.join(self.availability_domains)}",
                    )
            if (
                pool.capacity_reservation_id
                and len(pool.availability_domains or self.availability_domains) != 1
            ):
                yield Rule(
                    f"pools.{name}.capacity_reservation_id",
                    "is set without exactly one availability domain; a reservation lives in one",
                    "name its domain under the pool's availability_domains",
                )
        if not any(not pool.gpus and pool.min_size for pool in self.pools.values()):
            yield Rule(
                "pools",
                "has no CPU pool that always runs; add-ons and controllers would have no node",
                "add one, like system: {shape: VM.Standard.E5.Flex, ocpus: 2, memory_gb: 16, "
                "min_size: 2, max_size: 4}",
            )
