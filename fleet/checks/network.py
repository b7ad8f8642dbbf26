"""Networks that this program creates: ranges, addresses, and who reaches the Kubernetes API.

Existing networks are not checked, because the stack file does not have their ranges. EKS chooses
the range of Services so that it does not overlap the VPC's.
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
from fleet.checks.check import check
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan, EksPool
from fleet.clusters.eks_network import NewNetwork
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.oke import OkePlan
from fleet.clusters.oke_network import OkeNewNetwork
from fleet.findings import Finding, Severity
from fleet.gpu_stack.ownership import gpu_daemonsets, ownership
from fleet.plan import ClusterPlan

_PRIVATE: Final = tuple(
    IPv4Network(one)
    for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15")
)
"""Ranges that are not routed on the internet: RFC 1918, RFC 6598, RFC 2544."""

_NOT_PUBLIC: Final = (
    *_PRIVATE[:3],
    *(IPv4Network(one) for one in ("127.0.0.0/8", "169.254.0.0/16")),
)
"""EKS refuses them: "The following CIDRs are not allowed in publicAccessCidrs", in public reports
of ranges in 10.0.0.0/8; the others are inferred."""

_EXAMPLES: Final = tuple(
    IPv4Network(one) for one in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")
)
"""Ranges for documentation (RFC 5737). By public reports, EKS refuses them too."""

_MIG_MANAGER = "nvidia-mig-manager"
"""The only DaemonSet of the GPU stack that the node's size includes and that may not run there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _CreatedNetwork:
    """A network that this program creates, and the path of its range in the stack file."""

    cluster: ClusterPlan
    path: str
    cidr: IPv4Network


def _created(view: View) -> Iterator[_CreatedNetwork]:
    for cluster in view.plan.clusters:
        platform = cluster.platform
        if not isinstance(platform, ExistingPlan) and isinstance(
            platform.network, NewNetwork | OkeNewNetwork
        ):
            yield _CreatedNetwork(
                cluster=cluster,
                path=f"{platform.path}.network.cidr",
                cidr=IPv4Network(platform.network.cidr),
            )


@check("network-range")
def network_ranges(view: View) -> Iterator[Finding]:
    """Network ranges that clouds refuse, and public ranges that belong to others."""
    for network in _created(view):
        cidr = network.cidr
        if cidr.is_loopback or cidr.is_link_local or cidr.is_multicast or cidr.is_reserved:
            yield network_ranges.finding(
                network.path,
                message=f"is {cidr}, a range reserved for other uses, which clouds refuse",
                remedy="use a private range, like 10.1.0.0/16",
            )
        elif not any(cidr.subnet_of(private) for private in _PRIVATE):
            yield network_ranges.finding(
                network.path,
                message=(
                    f"is {cidr}, a public range: nodes could not reach the hosts on the internet "
                    "that have these addresses"
                ),
                remedy="use a private range, like 10.1.0.0/16",
                severity="warning",
            )


@check("network-overlap")
def overlaps(view: View) -> Iterator[Finding]:
    """Ranges that overlap: an OKE cluster's Services and VCN, or the networks of two clusters."""
    created = sorted(_created(view), key=lambda network: network.cidr)
    for network in created:
        platform = network.cluster.platform
        if isinstance(platform, OkePlan) and network.cidr.overlaps(
            services := IPv4Network(platform.network.services_cidr)
        ):
            yield overlaps.finding(
                network.path.removesuffix("cidr") + "services_cidr",
                message=f"is {services}, which overlaps the VCN's {network.cidr}: OKE refuses it",
                remedy="use another private range, like 10.96.0.0/16 with a VCN of 10.2.0.0/16",
            )
    last: _CreatedNetwork | None = None
    for network in created:
        if last is not None and network.cidr.overlaps(last.cidr):
            yield overlaps.finding(
                network.path,
                message=(
                    f"is {network.cidr}, which overlaps {last.cidr} of {last.path}: these "
                    "networks can never be peered"
                ),
                remedy="use ranges that do not overlap, like 10.1.0.0/16 and 10.2.0.0/16",
                severity="warning",
            )
        if last is None or network.cidr.broadcast_address > last.cidr.broadcast_address:
            last = network


@check("addresses")
def addresses(view: View) -> Iterator[Finding]:
    """Subnets with too few addresses for the nodes and pods of the pools at their maximum.

    An error if one pool alone needs more than its subnets have, counting one address for a node,
    one for each DaemonSet of the GPU stack and one for a job. A warning if all pools together need
    more, counting also the addresses that the network plugin keeps on each node by default.
    """
    for network in _created(view):
        platform = network.cluster.platform
        if isinstance(platform, EksPlan) and isinstance(platform.network, NewNetwork):
            spec = view.spec_of(network.cluster)
            stack = gpu_daemonsets(ownership(spec.gpu_stack, spec.default_advertiser))
            gpu_pods = sum(pod.name != _MIG_MANAGER for pod in stack)
            yield from _eks_addresses(network.path, platform, platform.network, gpu_pods)
        elif isinstance(platform, OkePlan) and isinstance(platform.network, OkeNewNetwork):
            yield from _oke_addresses(network.path, platform, platform.network)


def _eks_addresses(
    path: str, plan: EksPlan, network: NewNetwork, gpu_pods: int
) -> Iterator[Finding]:
    available = {
        zone.name: IPv4Network(zone.private_cidr).num_addresses - AWS_RESERVED_PER_SUBNET
        for zone in network.zones
    }
    too_large = False
    for pool in plan.pools:
        each = 2 + (gpu_pods if pool.gpu is not None else 0)
        has = sum(available.get(zone, 0) for zone in pool.zones)
        if pool.max_size * each > has:
            too_large = True
            yield _too_few(
                path,
                f"{pool.path}.max_size",
                f"is {pool.max_size}: at {each} addresses a node, the nodes and their pods need "
                f"{pool.max_size * each}, but the private subnets of its zones have {has}",
            )
    if not too_large:
        yield from _all_eks_pools(path, plan, available)


def _all_eks_pools(path: str, plan: EksPlan, available: Mapping[str, int]) -> Iterator[Finding]:
    """Compare each set of zones with the pools that have no other zones."""
    needed: dict[frozenset[str], int] = {}
    for pool in plan.pools:
        zones = frozenset(pool.zones)
        needed[zones] = needed.get(zones, 0) + pool.max_size * _addresses_of_node(pool)
    for count in range(1, len(available) + 1):
        for several in combinations(available, count):
            total = sum(amount for zones, amount in needed.items() if zones <= set(several))
            has = sum(available[zone] for zone in several)
            if total > has:
                yield _too_few(
                    path,
                    path,
                    f"leaves {has} addresses in {', '.join(several)}, but all pools at their "
                    f"maximum need about {total}, including those the VPC CNI keeps on each node",
                    severity="warning",
                )
                return


def _addresses_of_node(pool: EksPool) -> int:
    """Return the addresses that a node keeps with its DaemonSets and one job for each GPU."""
    return max(
        node_addresses(
            instance_type(node.kind),
            eks_pod_limit(instance_type(node.kind)) - node.pods + max(1, node.advertised),
        )
        for node in pool.nodes
    )


def _oke_addresses(path: str, plan: OkePlan, network: OkeNewNetwork) -> Iterator[Finding]:
    for_nodes, for_pods = (
        IPv4Network(network.subnets[role]).num_addresses - OCI_RESERVED_PER_SUBNET
        for role in ("worker", "pod")
    )
    too_large = [pool for pool in plan.pools if pool.max_size > for_nodes]
    for pool in too_large:
        yield _too_few(
            path,
            f"{pool.path}.max_size",
            f"is {pool.max_size}, but the subnet of the nodes has {for_nodes} addresses",
        )
    if too_large:
        return
    nodes = sum(pool.max_size for pool in plan.pools)
    pods = sum(pool.max_size * pool.max_pods for pool in plan.pools)
    for needed, has, what in ((nodes, for_nodes, "nodes"), (pods, for_pods, "pods")):
        if needed > has:
            yield _too_few(
                path,
                path,
                f"leaves {has} addresses for {what}, but all pools at their maximum need up to "
                f"{needed}",
                severity="warning",
            )
            return


def _too_few(range_path: str, path: str, message: str, severity: Severity | None = None) -> Finding:
    return addresses.finding(
        path,
        message=f"{message}: further nodes or pods would not start",
        remedy=f"lower max_size, or make {range_path} larger (/16 at most) before the first up",
        severity=severity,
    )


@check("api-range")
def api_ranges(view: View) -> Iterator[Finding]:
    """Ranges that EKS refuses for a public endpoint; ranges for documentation are a note."""
    for cluster in view.plan.clusters:
        for cidr in cluster.platform.allow if isinstance(cluster.platform, EksPlan) else ():
            network = IPv4Network(cidr)
            private = any(network.subnet_of(other) for other in _NOT_PUBLIC)
            if private or any(network.subnet_of(other) for other in _EXAMPLES):
                yield api_ranges.finding(
                    f"clusters.{cluster.name}.eks.api.allow",
                    message=(
                        f"has {cidr}, a {'private' if private else 'documentation'} range, which "
                        "EKS refuses for a public endpoint"
                    ),
                    remedy=(
                        "use the public addresses of people and CI, like the /32 of your VPN; "
                        "hosts inside the VPC use the private endpoint anyway"
                    ),
                    severity=None if private else "note",
                )


@check("private-endpoint", "note")
def private_endpoints(view: View) -> Iterator[Finding]:
    """Clusters whose API answers only inside their network, where `pulumi up` must then run."""
    for cluster in view.plan.clusters:
        if cluster.platform.allow == ():
            yield private_endpoints.finding(
                f"{cluster.platform.path}.api.allow",
                message=(
                    "is empty, so the endpoint is private: pulumi installs charts through it, and "
                    "an update from outside the network stops half way"
                ),
                remedy=(
                    "run pulumi inside the network, by VPN or peering, or add the ranges from "
                    "which it runs"
                ),
            )
