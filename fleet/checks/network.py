"""Networks that this program makes: ranges, addresses, and who reaches the Kubernetes API.

Existing networks are not judged: nothing of them is in the stack file. EKS chooses the range of
Services by the VPC's, so that those two never meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import combinations
from typing import Final

from fleet.catalog.addresses import (
    AWS_RESERVED_PER_SUBNET,
    OCI_RESERVED_PER_SUBNET,
    node_addresses,
)
from fleet.catalog.ec2 import instance_type
from fleet.catalog.kubelet import eks_pod_limit
from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan
from fleet.clusters.eks_network import NewNetwork
from fleet.clusters.eks_pools import EksPool
from fleet.clusters.oke import OkePlan
from fleet.clusters.oke_network import OkeNewNetwork
from fleet.gpu_stack.ownership import gpu_daemonsets, ownership
from fleet.plan import ClusterPlan

_PRIVATE: Final = tuple(
    IPv4Network(one)
    for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15")
)
"""Ranges that are nobody's on the internet: RFC 1918, RFC 6598, RFC 2544."""

_NOT_PUBLIC: Final = (
    *_PRIVATE[:3],
    *(IPv4Network(one) for one in ("127.0.0.0/8", "169.254.0.0/16")),
)
"""EKS refuses them: "The following CIDRs are not allowed in publicAccessCidrs", in public reports
of ranges in 10.0.0.0/8; the others are inferred."""

_EXAMPLES: Final = tuple(
    IPv4Network(one) for one in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")
)
"""Ranges of documentation (RFC 5737), which EKS refuses as well, in public reports."""

_MIG_MANAGER = "nvidia-mig-manager"
"""The one DaemonSet of the GPU stack that is counted where it may not run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Made:
    """A network that this program makes for a cluster."""

    cluster: ClusterPlan
    path: str
    """Where the stack file says its range."""
    cidr: IPv4Network


def _made(view: View) -> Iterator[_Made]:
    for cluster in view.plan.clusters:
        platform = cluster.platform
        if isinstance(platform, EksPlan | OkePlan) and isinstance(
            platform.network, NewNetwork | OkeNewNetwork
        ):
            kind = "eks" if isinstance(platform, EksPlan) else "oke"
            yield _Made(
                cluster=cluster,
                path=f"clusters.{cluster.name}.{kind}.network.cidr",
                cidr=IPv4Network(platform.network.cidr),
            )


@check("network-range")
def network_ranges(view: View) -> Iterator[Problem]:
    """Ranges of a network that no cloud gives, and ranges that are somebody's on the internet."""
    for made in _made(view):
        cidr = made.cidr
        if cidr.is_loopback or cidr.is_link_local or cidr.is_multicast or cidr.is_reserved:
            yield Problem(
                path=made.path,
                message=f"is {cidr}, which is kept for other uses and no cloud accepts",
                remedy="use a private range, like 10.1.0.0/16",
            )
        elif not any(cidr.subnet_of(private) for private in _PRIVATE):
            yield Problem(
                path=made.path,
                message=f"is {cidr}, a public range: nodes could not reach whoever has it",
                remedy="use a private range, like 10.1.0.0/16",
                severity="warning",
            )


@check("network-overlap")
def overlaps(view: View) -> Iterator[Problem]:
    """Ranges that overlap: of Services and of the VCN; of two clusters, which is a warning."""
    made = sorted(_made(view), key=lambda one: one.cidr)
    for one in made:
        network = one.cluster.platform
        if isinstance(network, OkePlan) and one.cidr.overlaps(
            services := IPv4Network(network.network.services_cidr)
        ):
            path = one.path.removesuffix("cidr")
            yield Problem(
                path=f"{path}services_cidr",
                message=f"is {services}, which overlaps the VCN's {one.cidr}; OKE refuses it",
                remedy="use another private range, like 10.96.0.0/16 beside a VCN of 10.2.0.0/16",
            )
    last: _Made | None = None
    for one in made:
        if last is not None and one.cidr.overlaps(last.cidr):
            yield Problem(
                path=one.path,
                message=f"is {one.cidr}, which overlaps {last.cidr} of {last.path}",
                remedy="use ranges apart: networks that overlap can never be peered",
                severity="warning",
            )
        if last is None or one.cidr.broadcast_address > last.cidr.broadcast_address:
            last = one


@check("addresses")
def addresses(view: View) -> Iterator[Problem]:
    """Subnets that hold too few addresses for the nodes and pods of the pools' maximum.

    An error where a pool alone asks for more than its subnets have, at one address for a node, one
    for each DaemonSet of the GPU stack and one for a job. A warning where all pools at their
    maximum, with what the network plugin keeps on each node by default, ask for more.
    """
    for made in _made(view):
        platform = made.cluster.platform
        if isinstance(platform, EksPlan) and isinstance(platform.network, NewNetwork):
            stack = gpu_daemonsets(ownership(view.spec_of(made.cluster)))
            own = sum(pod.name != _MIG_MANAGER for pod in stack)
            yield from _eks_addresses(made, platform, platform.network, own)
        elif isinstance(platform, OkePlan) and isinstance(platform.network, OkeNewNetwork):
            yield from _oke_addresses(made, platform, platform.network)


def _eks_addresses(
    made: _Made, plan: EksPlan, network: NewNetwork, gpu_pods: int
) -> Iterator[Problem]:
    room = {
        zone.name: IPv4Network(zone.private_cidr).num_addresses - AWS_RESERVED_PER_SUBNET
        for zone in network.zones
    }
    too_large = False
    for pool in plan.pools:
        least = 2 + (gpu_pods if pool.gpu is not None else 0)
        has = sum(room.get(zone, 0) for zone in pool.zones)
        if pool.max_size * least > has:
            too_large = True
            yield _too_few(
                made,
                f"{pool.path}.max_size",
                f"is {pool.max_size}: nodes and pods would take {pool.max_size * least} addresses "
                f"({least} a node), the private subnets of its zones have {has}",
            )
    if not too_large:
        yield from _appetite(made, plan, room)


def _appetite(made: _Made, plan: EksPlan, room: Mapping[str, int]) -> Iterator[Problem]:
    """Pools spread over their zones: a set of zones must hold the pools that have no other."""
    asked: dict[frozenset[str], int] = {}
    for pool in plan.pools:
        zones = frozenset(pool.zones)
        asked[zones] = asked.get(zones, 0) + pool.max_size * _kept(pool)
    for count in range(1, len(room) + 1):
        for several in combinations(room, count):
            total = sum(amount for zones, amount in asked.items() if zones <= set(several))
            has = sum(room[zone] for zone in several)
            if total > has:
                yield _too_few(
                    made,
                    made.path,
                    f"leaves {has} addresses in {', '.join(several)}; all pools at their maximum "
                    f"take about {total} with what the VPC CNI keeps warm on each node",
                    warning=True,
                )
                return


def _kept(pool: EksPool) -> int:
    """Addresses that a node keeps at its usual pods: DaemonSets and as many jobs as GPUs."""
    return max(
        node_addresses(
            instance_type(node.kind),
            eks_pod_limit(instance_type(node.kind)) - node.pods + max(1, node.advertised),
        )
        for node in pool.nodes
    )


def _oke_addresses(made: _Made, plan: OkePlan, network: OkeNewNetwork) -> Iterator[Problem]:
    nodes, pods = (
        IPv4Network(network.subnets[role]).num_addresses - OCI_RESERVED_PER_SUBNET
        for role in ("worker", "pod")
    )
    too_large = False
    for pool in plan.pools:
        if pool.max_size > nodes:
            too_large = True
            yield _too_few(
                made,
                f"{pool.path}.max_size",
                f"is {pool.max_size}, the subnet of nodes has {nodes} addresses",
            )
    if too_large:
        return
    most = sum(pool.max_size for pool in plan.pools)
    kept = sum(pool.max_size * pool.max_pods for pool in plan.pools)
    for asked, has, what in ((most, nodes, "nodes"), (kept, pods, "pods")):
        if asked > has:
            yield _too_few(
                made,
                made.path,
                f"leaves {has} addresses for {what}; all pools at their maximum take up to {asked}",
                warning=True,
            )
            return


def _too_few(made: _Made, path: str, message: str, *, warning: bool = False) -> Problem:
    return Problem(
        path=path,
        message=message,
        remedy=f"lower max_size, or make {made.path} larger (/16 at most) before anything is made",
        severity="warning" if warning else None,
    )


@check("api-range")
def api_ranges(view: View) -> Iterator[Problem]:
    """Ranges that EKS refuses as sources of a public endpoint; those of examples are a note."""
    for cluster in view.plan.clusters:
        platform = cluster.platform
        if not isinstance(platform, EksPlan):
            continue
        for cidr in platform.allow:
            network = IPv4Network(cidr)
            private = any(network.subnet_of(other) for other in _NOT_PUBLIC)
            if private or any(network.subnet_of(other) for other in _EXAMPLES):
                yield Problem(
                    path=f"clusters.{cluster.name}.eks.api.allow",
                    message=(
                        f"holds {cidr}, a range {'of private use' if private else 'of examples'}, "
                        "which EKS refuses for a public endpoint"
                    ),
                    remedy=(
                        "name the public addresses from which people and CI come; inside the VPC "
                        "the private endpoint answers anyway"
                    ),
                    severity=None if private else "note",
                )


@check("private-endpoint", "note")
def private_endpoints(view: View) -> Iterator[Problem]:
    """Clusters whose API answers only inside their network, where this program must run then."""
    for cluster in view.plan.clusters:
        platform = cluster.platform
        if isinstance(platform, EksPlan | OkePlan) and not platform.allow:
            kind = "eks" if isinstance(platform, EksPlan) else "oke"
            yield Problem(
                path=f"clusters.{cluster.name}.{kind}.api.allow",
                message=(
                    "names nobody, so the endpoint is private: pulumi installs charts through it, "
                    "and from elsewhere an update stops half way"
                ),
                remedy=(
                    "run pulumi inside the network, by VPN or peering, or allow the ranges from "
                    "which it runs"
                ),
            )
