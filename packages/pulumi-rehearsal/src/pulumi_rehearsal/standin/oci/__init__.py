"""The stand-in OCI: one file for each service, and what each refuses.

It proves that a program's resources fit together: names, types, strings where OCI wants strings,
the order in which they are made and deleted, which change replaces and which one reaches running
nodes.

It does not prove that Oracle has the capacity or that service limits allow a GPU shape; that an
image, a capacity reservation or a tenancy's availability domain exists; that a policy allows what
it is written for beyond the statements themselves; that a node boots, grows its volume and joins;
how long anything takes; that Oracle behaves tomorrow as its documents say today. What is not the
stack's own (an existing network, a pinned image, another team's policy) is taken on trust, but for
a workload identity's policy, which has to be the stack's. The tables of what replaces a resource
come from the docstrings of the installed SDK, and where these are silent from the sources of the
Terraform provider that pulumi-oci wraps, read at some commit.
"""

from __future__ import annotations

from typing import Final

from pulumi_rehearsal.standin.kind import Kind, Lookup
from pulumi_rehearsal.standin.oci import (
    domains,
    gateways,
    identity,
    lookups,
    oke_addon,
    oke_cluster,
    oke_node_pool,
    security,
    services,
    vcn,
)
from pulumi_rehearsal.standin.oci.oke_autoscaler import set_node_pool_size
from pulumi_rehearsal.standin.properties import text
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.values import Properties

__all__ = ["KINDS", "LOOKUPS", "PACKAGE", "scope", "set_node_pool_size"]

KINDS: Final[tuple[Kind, ...]] = (
    *vcn.KINDS,
    *gateways.KINDS,
    *security.KINDS,
    *oke_cluster.KINDS,
    *oke_node_pool.KINDS,
    *oke_addon.KINDS,
    *identity.KINDS,
    *domains.KINDS,
)

LOOKUPS: Final[tuple[Lookup, ...]] = (*services.LOOKUPS, *lookups.LOOKUPS)


def scope(configuration: Properties) -> str:
    """`oci:<region>`."""
    return f"oci:{text(configuration, 'region') or '?'}"


PACKAGE: Final = Package(
    name="oci",
    kinds=KINDS,
    lookups=LOOKUPS,
    scope=scope,
)
