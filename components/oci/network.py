"""The VCN of one OKE cluster. An existing VCN stays unchanged; the component returns its IDs.

https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengnetworkconfigexample.htm
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_oci as oci

from fleet.clusters.oke_network import (
    ROLES,
    SERVICES,
    OkeExistingNetwork,
    OkeNewNetwork,
    Role,
    SecurityRule,
)

_ANYWHERE = "0.0.0.0/0"
_PROTOCOLS = {"tcp": "6", "icmp": "1", "all": "all"}


class OkeNetwork(pulumi.ComponentResource):
    """VCN, gateways, route tables; per role a subnet and a security group with its rules."""

    vcn_id: pulumi.Output[str]
    subnet_ids: dict[Role, pulumi.Output[str]]
    security_group_ids: dict[Role, list[pulumi.Output[str]]]
    ready: list[pulumi.Resource]
    """Security rules. The cluster and its nodes need them to reach each other."""

    def __init__(
        self,
        name: str,
        *,
        plan: OkeNewNetwork | OkeExistingNetwork,
        compartment_id: pulumi.Input[str],
        tags: dict[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpu-runners:oci:OkeNetwork", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        match plan:
            case OkeExistingNetwork():
                self._use(plan)
            case OkeNewNetwork():
                self._make(name, plan, compartment_id, tags, child)
        self.register_outputs({"vcn_id": self.vcn_id, "subnet_ids": self.subnet_ids})

    def _use(self, plan: OkeExistingNetwork) -> None:
        self.vcn_id = pulumi.Output.from_input(plan.vcn_id)
        self.subnet_ids = {
            role: pulumi.Output.from_input(subnet) for role, subnet in plan.subnet_ids.items()
        }
        self.security_group_ids = {
            role: [pulumi.Output.from_input(group) for group in groups]
            for role, groups in plan.security_group_ids.items()
        }
        self.ready = []

    def _make(
        self,
        name: str,
        plan: OkeNewNetwork,
        compartment_id: pulumi.Input[str],
        tags: dict[str, str],
        child: pulumi.ResourceOptions,
    ) -> None:
        vcn = oci.core.Vcn(
            f"{name}-vcn",
            compartment_id=compartment_id,
            cidr_blocks=[plan.cidr],
            display_name=name,
            freeform_tags=tags,
            opts=child,
        )
        self.vcn_id = vcn.id
        services = oci.core.get_services_output(
            filters=[
                oci.core.GetServicesFilterArgs(
                    name="name", values=["All .* Services In Oracle Services Network"], regex=True
                )
            ],
            opts=pulumi.InvokeOutputOptions(parent=self),
        ).services[0]
        public, private = _route_tables(
            name, vcn.id, services, compartment_id=compartment_id, tags=tags, child=child
        )
        closed = oci.core.SecurityList(
            f"{name}-closed",
            compartment_id=compartment_id,
            vcn_id=vcn.id,
            # The VCN's default list admits SSH from anywhere. Security groups alone admit traffic.
            display_name=f"{name}-closed",
            freeform_tags=tags,
            opts=child,
        )
        self.subnet_ids = {
            role: oci.core.Subnet(
                f"{name}-{role}",
                compartment_id=compartment_id,
                vcn_id=vcn.id,
                cidr_block=plan.subnets[role],
                display_name=f"{name}-{role}",
                prohibit_public_ip_on_vnic=role not in plan.public,
                route_table_id=public.id if role in plan.public else private.id,
                security_list_ids=[closed.id],
                freeform_tags=tags,
                opts=child,
            ).id
            for role in ROLES
        }
        groups: dict[Role, oci.core.NetworkSecurityGroup] = {
            role: oci.core.NetworkSecurityGroup(
                f"{name}-{role}",
                compartment_id=compartment_id,
                vcn_id=vcn.id,
                display_name=f"{name}-{role}",
                freeform_tags=tags,
                opts=child,
            )
            for role in ROLES
        }
        self.security_group_ids = {role: [groups[role].id] for role in ROLES}
        ids: dict[str, pulumi.Input[str]] = {role: group.id for role, group in groups.items()}
        self.ready = [
            _security_rule(f"{name}-{rule.name}", rule, ids, services.cidr_block, child)
            for rule in plan.rules
        ]


def _route_tables(
    name: str,
    vcn_id: pulumi.Input[str],
    services: pulumi.Output[oci.core.outputs.GetServicesServiceResult],
    *,
    compartment_id: pulumi.Input[str],
    tags: dict[str, str],
    child: pulumi.ResourceOptions,
) -> tuple[oci.core.RouteTable, oci.core.RouteTable]:
    """Register the public table (internet gateway) and the private one (NAT, service gateway)."""
    internet = oci.core.InternetGateway(
        f"{name}-internet",
        compartment_id=compartment_id,
        vcn_id=vcn_id,
        display_name=f"{name}-internet",
        freeform_tags=tags,
        opts=child,
    )
    nat = oci.core.NatGateway(
        f"{name}-nat",
        compartment_id=compartment_id,
        vcn_id=vcn_id,
        display_name=f"{name}-nat",
        freeform_tags=tags,
        opts=child,
    )
    service = oci.core.ServiceGateway(
        f"{name}-services",
        compartment_id=compartment_id,
        vcn_id=vcn_id,
        services=[{"service_id": services.id}],
        display_name=f"{name}-services",
        freeform_tags=tags,
        opts=child,
    )
    out: oci.core.RouteTableRouteRuleArgsDict = {
        "destination": _ANYWHERE,
        "destination_type": "CIDR_BLOCK",
        "network_entity_id": internet.id,
    }
    private: list[oci.core.RouteTableRouteRuleArgsDict] = [
        {"destination": _ANYWHERE, "destination_type": "CIDR_BLOCK", "network_entity_id": nat.id},
        # Requests to Oracle's registry and API bypass the NAT gateway.
        {
            "destination": services.cidr_block,
            "destination_type": "SERVICE_CIDR_BLOCK",
            "network_entity_id": service.id,
        },
    ]

    def table(label: str, rules: list[oci.core.RouteTableRouteRuleArgsDict]) -> oci.core.RouteTable:
        return oci.core.RouteTable(
            f"{name}-{label}",
            compartment_id=compartment_id,
            vcn_id=vcn_id,
            route_rules=rules,
            display_name=f"{name}-{label}",
            freeform_tags=tags,
            opts=child,
        )

    return table("public", [out]), table("private", private)


def _security_rule(
    name: str,
    rule: SecurityRule,
    groups: Mapping[str, pulumi.Input[str]],
    services: pulumi.Input[str],
    child: pulumi.ResourceOptions,
) -> oci.core.NetworkSecurityGroupSecurityRule:
    peer, kind = groups.get(rule.peer), "NETWORK_SECURITY_GROUP"
    if peer is None:
        is_service = rule.peer == SERVICES
        peer = services if is_service else rule.peer
        kind = "SERVICE_CIDR_BLOCK" if is_service else "CIDR_BLOCK"
    inward = rule.direction == "INGRESS"
    return oci.core.NetworkSecurityGroupSecurityRule(
        name,
        network_security_group_id=groups[rule.group],
        direction=rule.direction,
        protocol=_PROTOCOLS[rule.protocol],
        source=peer if inward else None,
        source_type=kind if inward else None,
        destination=None if inward else peer,
        destination_type=None if inward else kind,
        tcp_options=(
            {"destination_port_range": ({"min": rule.ports[0], "max": rule.ports[1]})}
            if rule.ports is not None
            else None
        ),
        icmp_options=(
            # Type 3 code 4, "fragmentation needed", for path MTU discovery.
            {"type": 3, "code": 4} if rule.protocol == "icmp" else None
        ),
        opts=child,
    )
