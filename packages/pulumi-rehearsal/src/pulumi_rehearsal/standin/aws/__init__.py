"""The stand-ins for AWS, one file for each service.

They check that a program's resources fit together: names, types, enumerations, the order of
creation and deletion, which change replaces a resource, and which one rolls or scales nodes.

They do not check capacity, quotas and prices; whether an AMI release, an instance type in a zone or
a capacity reservation exists; whether a policy allows what its role needs; whether a node boots and
joins; how long anything takes. Resources outside the stack (an existing network, another team's
role) are assumed to exist. Which changes replace a resource was read in the sources of the
Terraform provider that pulumi-aws wraps, at some commit, not in the installed release.
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
from pulumi_rehearsal.standin.properties import lookup
from pulumi_rehearsal.standin.server import Package
from pulumi_rehearsal.standin.values import UNKNOWN, Properties

__all__ = ["KINDS", "LOOKUPS", "PACKAGE", "scope", "set_desired_size"]

DEFAULT_REGION: Final = "us-east-1"
"""Region of a provider without one; a real provider takes it from the environment."""

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
    """Return `aws:<region>`, `aws:?` while the region is unknown."""
    region = lookup(configuration, "region")
    return f"aws:{'?' if region is UNKNOWN else region or DEFAULT_REGION}"


PACKAGE: Final = Package(
    name="aws",
    kinds=KINDS,
    lookups=LOOKUPS,
    scope=scope,
)
