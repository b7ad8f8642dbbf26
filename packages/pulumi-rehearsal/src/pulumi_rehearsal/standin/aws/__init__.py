"""The stand-in AWS: one file for each service, and what each refuses.

It proves that a program's resources fit together: names, types, enumerations, the order in which
they are made and deleted, which change replaces and which one rolls or scales nodes.

It does not prove that AWS has the capacity; that quotas and prices are met; that an AMI release, an
instance type in a zone or a capacity reservation exists; that a policy allows what its role needs;
that a node boots and joins; how long anything takes; that AWS behaves tomorrow as its documents say
today. What is not the stack's own (an existing network, another team's role) is taken on trust. The
tables of what replaces a resource come from the sources of the Terraform provider that pulumi-aws
wraps, read at some commit, not from the very release that is pinned here.
"""

from __future__ import annotations

from typing import Final

from pulumi_rehearsal.standin.aws import (
    autoscaling,
    buckets,
    compute,
    eks_access,
    eks_addon,
    eks_cluster,
    eks_node_group,
    iam,
    lookups,
    routes,
    security_groups,
    storage,
    vpc,
)
from pulumi_rehearsal.standin.aws.autoscaling import set_desired_size
from pulumi_rehearsal.standin.kind import Kind, Lookup
from pulumi_rehearsal.standin.properties import text
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.values import Properties

__all__ = ["KINDS", "LOOKUPS", "PACKAGE", "scope", "set_desired_size"]

KINDS: Final[tuple[Kind, ...]] = (
    *vpc.KINDS,
    *routes.KINDS,
    *security_groups.KINDS,
    *compute.KINDS,
    *iam.KINDS,
    *eks_cluster.KINDS,
    *eks_addon.KINDS,
    *eks_node_group.KINDS,
    *eks_access.KINDS,
    *autoscaling.KINDS,
    *storage.KINDS,
    *buckets.KINDS,
)

LOOKUPS: Final[tuple[Lookup, ...]] = (*autoscaling.LOOKUPS, *lookups.LOOKUPS)


def scope(configuration: Properties) -> str:
    """`aws:<region>`."""
    return f"aws:{text(configuration, 'region') or '?'}"


PACKAGE: Final = Package(
    name="aws",
    kinds=KINDS,
    lookups=LOOKUPS,
    scope=scope,
)
