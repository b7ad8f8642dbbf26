"""The VCN of an OKE cluster: its subnets and the rules of its network security groups.

Source: https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengnetworkconfig.htm
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Literal

from fleet.config.oke import OkeNetwork

Role = Literal["endpoint", "worker", "pod", "load-balancer"]
ROLES: tuple[Role, ...] = ("endpoint", "worker", "pod", "load-balancer")

SERVICES = "oracle-services"
"""Peer of a rule: the Oracle Services Network."""

_ANYWHERE = "0.0.0.0/0"
_API = 6443
_PROXYMUX = 12250
_KUBELET = 10250
_NODE_PORTS = (30000, 32767)
_HEALTH = 10256


@dataclass(frozen=True, kw_only=True, slots=True)
class SecurityRule:
    """One rule of a network security group."""

    group: Role
    direction: Literal["INGRESS", "EGRESS"]
    peer: str
    """A role, `SERVICES`, or an address range."""
    protocol: Literal["tcp", "icmp", "all"]
    ports: tuple[int, int] | None = None
    """First and last destination port; `None` for all ports."""

    @property
    def name(self) -> str:
        """Name of the rule, unique within a network."""
        peer = self.peer.replace("/", "-")
        ports = "-".join(str(port) for port in dict.fromkeys(self.ports or ()))
        parts = (self.group, self.direction.lower(), peer, self.protocol, ports)
        return "-".join(part for part in parts if part)


@dataclass(frozen=True, kw_only=True, slots=True)
class OkeNewNetwork:
    """A VCN that this program creates."""

    cidr: str
    subnets: dict[Role, str]
    """CIDR range by role."""
    public: frozenset[Role]
    """Roles of subnets whose members may have a public address."""
    rules: tuple[SecurityRule, ...]
    services_cidr: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OkeExistingNetwork:
    """An existing VCN, in which this program changes nothing."""

    vcn_id: str
    subnet_ids: dict[Role, str]
    security_group_ids: dict[Role, tuple[str, ...]]
    services_cidr: str


def oke_network(spec: OkeNetwork, allow: tuple[str, ...]) -> OkeNewNetwork | OkeExistingNetwork:
    """Return the network of a cluster; `allow` are the public CIDR ranges of its endpoint."""
    if spec.cidr is None:
        subnets: dict[Role, str | None] = {
            "endpoint": spec.endpoint_subnet_id,
            "worker": spec.worker_subnet_id,
            "pod": spec.pod_subnet_id or spec.worker_subnet_id,
            "load-balancer": spec.load_balancer_subnet_id,
        }
        return OkeExistingNetwork(
            vcn_id=spec.vcn_id or "",
            subnet_ids={role: subnet for role, subnet in subnets.items() if subnet is not None},
            security_group_ids={
                "endpoint": spec.endpoint_security_group_ids or (),
                "worker": spec.worker_security_group_ids or (),
                "pod": spec.pod_security_group_ids or spec.worker_security_group_ids or (),
            },
            services_cidr=spec.services_cidr,
        )
    return OkeNewNetwork(
        cidr=spec.cidr,
        subnets=subnets_of(spec.cidr),
        public=frozenset(("load-balancer", *(("endpoint",) if allow else ()))),
        rules=tuple(_rules(allow)),
        services_cidr=spec.services_cidr,
    )


def subnets_of(cidr: str) -> dict[Role, str]:
    """Divide a range: half of it for pods, a quarter for nodes, small subnets for the rest.

    With VCN-native pod networking, each pod takes an address of the pod subnet.
    """
    rest, pods = IPv4Network(cidr).subnets()
    few, workers = rest.subnets()
    small = few.subnets(new_prefix=24)
    balancers, endpoint = next(small), next(small)
    return {
        "endpoint": str(next(endpoint.subnets(new_prefix=28))),
        "worker": str(workers),
        "pod": str(pods),
        "load-balancer": str(balancers),
    }


def _rules(allow: tuple[str, ...]) -> Iterator[SecurityRule]:
    for cidr in allow:
        yield _into("endpoint", cidr, _API)
    yield _into("endpoint", "endpoint", _API)
    for peer in ("worker", "pod"):
        yield _into("endpoint", peer, _API)
        yield _into("endpoint", peer, _PROXYMUX)
    yield _out_of("endpoint", SERVICES)
    yield _out_of("endpoint", "worker", _KUBELET)
    yield _out_of("endpoint", "worker", _PROXYMUX)
    yield SecurityRule(group="endpoint", direction="EGRESS", peer="pod", protocol="all")
    for group in ("worker", "pod"):
        for peer in ("worker", "pod"):
            yield SecurityRule(group=group, direction="INGRESS", peer=peer, protocol="all")
            yield SecurityRule(group=group, direction="EGRESS", peer=peer, protocol="all")
        yield SecurityRule(group=group, direction="INGRESS", peer="endpoint", protocol="all")
        for port in (_API, _PROXYMUX, _KUBELET):
            yield _out_of(group, "endpoint", port)
        yield _out_of(group, SERVICES)
        yield SecurityRule(group=group, direction="EGRESS", peer=_ANYWHERE, protocol="all")
    # Path MTU discovery needs ICMP; without it large packets are lost.
    for group in ("endpoint", "worker"):
        yield SecurityRule(group=group, direction="INGRESS", peer=_ANYWHERE, protocol="icmp")
    yield SecurityRule(group="endpoint", direction="EGRESS", peer=_ANYWHERE, protocol="icmp")
    for first, last in (_NODE_PORTS, (_HEALTH, _HEALTH)):
        yield _into("worker", "load-balancer", first, last)
        yield _out_of("load-balancer", "worker", first, last)


def _into(group: Role, peer: str, first: int, last: int | None = None) -> SecurityRule:
    return SecurityRule(
        group=group,
        direction="INGRESS",
        peer=peer,
        protocol="tcp",
        ports=(first, last or first),
    )


def _out_of(
    group: Role, peer: str, first: int | None = None, last: int | None = None
) -> SecurityRule:
    return SecurityRule(
        group=group,
        direction="EGRESS",
        peer=peer,
        protocol="tcp",
        ports=(first, last or first) if first is not None else None,
    )
