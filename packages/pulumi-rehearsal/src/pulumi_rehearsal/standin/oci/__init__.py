"""The stand-in for OCI.

It shows that a program's resources fit together: names, types, strings where OCI expects strings,
the order of creation and deletion, which changes replace a resource, and which ones reach running
nodes.

It does not show that Oracle has capacity or that service limits allow a GPU shape; that an image, a
capacity reservation or a tenancy's availability domain exists; that a policy grants enough; that a
node boots, grows its volume and joins; or how long anything takes. Resources that exist outside the
program (a network, an image, another team's policy) are assumed to be right, except for the policy
of a workload identity, which the program has to create. What replaces a resource comes from the
docstrings of the installed SDK and, where these have no mark, from the source of the Terraform
provider that pulumi-oci wraps.
"""

from __future__ import annotations

from typing import Final

from pulumi_rehearsal.standin.kind import Kind, Lookup
from pulumi_rehearsal.standin.oci import (
    gateways,
    identity,
    lookups,
    oke_addon,
    oke_cluster,
    oke_node_pool,
    security,
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
)

LOOKUPS: Final[tuple[Lookup, ...]] = lookups.LOOKUPS


def scope(configuration: Properties) -> str:
    """Return `oci:<region>`."""
    return f"oci:{text(configuration, 'region') or '?'}"


PACKAGE: Final = Package(
    name="oci",
    kinds=KINDS,
    lookups=LOOKUPS,
    scope=scope,
)
