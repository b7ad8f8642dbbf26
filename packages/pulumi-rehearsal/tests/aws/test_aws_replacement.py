"""Which change makes a new resource, which one does not, and where the stand-in does not know."""

from __future__ import annotations

import pytest
from pulumi_rehearsal.standin import difference
from pulumi_rehearsal.standin.aws import KINDS, tokens

_KINDS = {kind.token: kind for kind in KINDS}


def nested(path, value):
    first, _, rest = path.partition(".")
    return {first: nested(rest, value) if rest else value}


def verdict(token, path, old="old", new="new"):
    before, after = nested(path, old), nested(path, new)
    changed = difference.changes(before, after)
    kind = _KINDS[token]
    if difference.unsourced(kind, changed):
        return "may replace"
    answer = difference.answer(kind, "logical", before, after, changed)
    return "replaces" if answer.replaces else "updates"


@pytest.mark.parametrize(
    ("token", "path"),
    [
        (tokens.NODE_GROUP, "amiType"),
        (tokens.NODE_GROUP, "capacityType"),
        (tokens.NODE_GROUP, "clusterName"),
        (tokens.NODE_GROUP, "diskSize"),
        (tokens.NODE_GROUP, "instanceTypes"),
        (tokens.NODE_GROUP, "launchTemplate.id"),
        (tokens.NODE_GROUP, "nodeGroupName"),
        (tokens.NODE_GROUP, "nodeRoleArn"),
        (tokens.NODE_GROUP, "remoteAccess.ec2SshKey"),
        (tokens.NODE_GROUP, "subnetIds"),
        (tokens.CLUSTER, "name"),
        (tokens.CLUSTER, "roleArn"),
        (tokens.CLUSTER, "bootstrapSelfManagedAddons"),
        (tokens.CLUSTER, "accessConfig.bootstrapClusterCreatorAdminPermissions"),
        (tokens.CLUSTER, "kubernetesNetworkConfig.serviceIpv4Cidr"),
        (tokens.LAUNCH_TEMPLATE, "name"),
        (tokens.VPC, "cidrBlock"),
        (tokens.VPC, "region"),
        (tokens.SUBNET, "availabilityZone"),
        (tokens.SUBNET, "cidrBlock"),
        (tokens.NAT_GATEWAY, "allocationId"),
        (tokens.ROUTE, "destinationCidrBlock"),
        (tokens.ROUTE_TABLE_ASSOCIATION, "subnetId"),
        (tokens.SECURITY_GROUP, "description"),
        (tokens.ROLE, "name"),
        (tokens.ROLE, "path"),
        (tokens.ROLE_POLICY_ATTACHMENT, "policyArn"),
        (tokens.ADDON, "addonName"),
        (tokens.POD_IDENTITY_ASSOCIATION, "serviceAccount"),
        (tokens.ACCESS_ENTRY, "principalArn"),
        (tokens.ACCESS_ENTRY, "type"),
        (tokens.ACCESS_POLICY_ASSOCIATION, "accessScope.type"),
        (tokens.AUTO_SCALING_TAG, "autoscalingGroupName"),
        (tokens.AUTO_SCALING_TAG, "tag.key"),
    ],
)
def test_what_makes_a_new_resource(token, path):
    assert verdict(token, path) == "replaces"


@pytest.mark.parametrize(
    ("token", "path"),
    [
        (tokens.NODE_GROUP, "labels.team"),
        (tokens.NODE_GROUP, "launchTemplate.version"),
        (tokens.NODE_GROUP, "releaseVersion"),
        (tokens.NODE_GROUP, "scalingConfig.minSize"),
        (tokens.NODE_GROUP, "taints"),
        (tokens.NODE_GROUP, "version"),
        (tokens.CLUSTER, "version"),
        (tokens.CLUSTER, "vpcConfig.subnetIds"),
        (tokens.CLUSTER, "accessConfig.authenticationMode"),
        (tokens.LAUNCH_TEMPLATE, "blockDeviceMappings"),
        (tokens.LAUNCH_TEMPLATE, "userData"),
        (tokens.ADDON, "addonVersion"),
        (tokens.ADDON, "configurationValues"),
        (tokens.ROLE, "assumeRolePolicy"),
        (tokens.ROUTE, "natGatewayId"),
        (tokens.POD_IDENTITY_ASSOCIATION, "roleArn"),
        (tokens.ACCESS_ENTRY, "kubernetesGroups"),
        (tokens.AUTO_SCALING_TAG, "tag.value"),
    ],
)
def test_what_changes_in_place(token, path):
    assert verdict(token, path) == "updates"


@pytest.mark.parametrize(
    ("token", "path"),
    [
        (tokens.NODE_GROUP, "warmPoolConfig.poolState"),
        (tokens.CLUSTER, "remoteNetworkConfig"),
        (tokens.ADDON, "namespaceConfig.namespace"),
    ],
)
def test_what_no_source_settles_may_replace(token, path):
    assert verdict(token, path) == "may replace"
