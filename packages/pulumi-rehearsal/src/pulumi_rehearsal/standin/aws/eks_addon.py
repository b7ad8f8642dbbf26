"""EKS add-ons, and what each needs to become ACTIVE.

Replacement: ForceNew in hashicorp/terraform-provider-aws internal/service/eks/addon.go. An add-on
whose pods cannot run stays DEGRADED until the provider gives up after 20 minutes
(https://github.com/pulumi/pulumi-eks/issues/1819); here it is refused at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final, cast

from pulumi_rehearsal.standin.aws import autoscaling, iam, tokens
from pulumi_rehearsal.standin.aws.base import CREATED_AT, AwsKind, arn, region_of
from pulumi_rehearsal.standin.aws.eks_access import (
    has_identity_agent,
    refuse_pod_role,
)
from pulumi_rehearsal.standin.aws.eks_cluster import cluster_named, issuer_of
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import given, lookup, mapping, objects, strings, text
from pulumi_rehearsal.standin.rules import Problem, choice
from pulumi_rehearsal.standin.world import Event, World

VERSIONS: Final = {
    "adot": "v0.131.0-eksbuild.1",
    "amazon-cloudwatch-observability": "v4.6.0-eksbuild.1",
    "aws-ebs-csi-driver": "v1.52.1-eksbuild.1",
    "aws-efs-csi-driver": "v2.1.13-eksbuild.1",
    "aws-mountpoint-s3-csi-driver": "v2.2.0-eksbuild.1",
    "cert-manager": "v1.19.1-eksbuild.1",
    "coredns": "v1.12.4-eksbuild.1",
    "eks-node-monitoring-agent": "v1.4.1-eksbuild.1",
    "eks-pod-identity-agent": "v1.3.9-eksbuild.3",
    "kube-proxy": "v1.35.0-eksbuild.2",
    "kube-state-metrics": "v2.17.0-eksbuild.4",
    "metrics-server": "v0.8.0-eksbuild.3",
    "prometheus-node-exporter": "v1.10.2-eksbuild.1",
    "snapshot-controller": "v8.3.0-eksbuild.1",
    "vpc-cni": "v1.20.4-eksbuild.1",
}
"""Add-ons by name, with a made-up version for a program that gives none.
Some of https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html ."""

DEPLOYMENTS: Final = {
    "aws-ebs-csi-driver": "controller",
    "coredns": "",
    "metrics-server": "",
}
"""Add-ons that need a node to become ACTIVE, with the key of their scheduling configuration."""

NODE_ADDONS: Final = ("vpc-cni", "kube-proxy")
"""Add-ons without which no node becomes Ready."""

EBS_SERVICE_ACCOUNT: Final = {"namespace": "kube-system", "serviceAccount": "ebs-csi-controller-sa"}

_CREATE_CONFLICTS: Final = ("NONE", "OVERWRITE")
_UPDATE_CONFLICTS: Final = ("NONE", "OVERWRITE", "PRESERVE")
_VERSION_PATTERN: Final = r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?"

# The Deployments tolerate CriticalAddonsOnly themselves, and other taints for a limited time only.
_TOLERATED_KEY: Final = "CriticalAddonsOnly"


class Addon(AwsKind):
    """An add-on of a cluster."""

    token = tokens.ADDON
    computed: ClassVar[frozenset[str]] = frozenset({"arn", "createdAt", "modifiedAt"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"addonName", "clusterName", "region"})
    # namespaceConfig is newer than the schema that was read.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {
            "addonVersion",
            "configurationValues",
            "podIdentityAssociations",
            "preserve",
            "resolveConflictsOnCreate",
            "resolveConflictsOnUpdate",
            "serviceAccountRoleArn",
            "tags",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check version and conflict handling."""
        yield from choice(inputs, "resolveConflictsOnCreate", _CREATE_CONFLICTS)
        yield from choice(inputs, "resolveConflictsOnUpdate", _UPDATE_CONFLICTS)
        version = text(inputs, "addonVersion")
        if version is not None and not re.fullmatch(_VERSION_PATTERN, version):
            yield "addonVersion", f"{version!r} is not a version: write it as v1.2.3-eksbuild.1"

    def identify(self, call: Call, world: World) -> str:
        """Return `<cluster>:<add-on>`."""
        return f"{text(call.inputs, 'clusterName')}:{text(call.inputs, 'addonName')}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require valid roles, a node for its pods, and no second add-on of the name."""
        cluster = cluster_named(world, call.scope, text(call.inputs, "clusterName"))
        name = text(call.inputs, "addonName")
        if cluster is None or name is None:
            return
        if name not in VERSIONS:
            world.note(
                Event(
                    action="warned",
                    urn=call.urn,
                    type=call.type,
                    name=call.name,
                    detail=f"cannot check that EKS has an add-on {name}",
                )
            )
        if (
            old is None
            and world.get(self.identify(call, world), tokens.ADDON, call.scope) is not None
        ):
            raise Refusal(
                f"ResourceInUseException: cluster {cluster.id} has add-on {name} already; leave "
                "one of the two out"
            )
        configuration = _configuration(text(call.inputs, "configurationValues"))
        _refuse_roles(world, cluster, name, call.inputs)
        if name in DEPLOYMENTS:
            place = DEPLOYMENTS[name]
            placing = mapping(configuration, place) if place else configuration
            _refuse_without_node(world, cluster, name, placing)

    def compute(self, call: Call, id: str, world: World) -> Properties:
        cluster, name = text(call.inputs, "clusterName"), text(call.inputs, "addonName") or ""
        digits = world.fresh_hex(call.urn, 32)
        uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        region = region_of(call.scope, call.inputs)
        return {
            "addonVersion": text(call.inputs, "addonVersion")
            or VERSIONS.get(name, "v1.0.0-eksbuild.1"),
            "arn": arn("eks", region, f"addon/{cluster}/{name}/{uuid}"),
            "createdAt": CREATED_AT,
            "modifiedAt": CREATED_AT,
        }

    def delete(self, old: Resource, world: World) -> None:
        """Warn if nodes still run: without vpc-cni their network interfaces leak."""
        cluster, name = text(old.inputs, "clusterName"), text(old.inputs, "addonName")
        groups = world.where(tokens.NODE_GROUP, old.scope, clusterName=cluster)
        if name in NODE_ADDONS and any(autoscaling.live_size(world, group) for group in groups):
            world.record(
                "warned",
                old,
                f"add-on {name} is deleted while nodes run: their network interfaces leak and "
                "block the deletion of subnets; make the node groups depend on it",
            )


def missing_node_addons(world: World, cluster: Resource) -> tuple[str, ...]:
    """Return the missing add-ons without which a node of `cluster` does not become Ready."""
    if lookup(cluster.inputs, "bootstrapSelfManagedAddons") is not False:
        return ()
    return tuple(
        name
        for name in NODE_ADDONS
        if world.get(f"{cluster.id}:{name}", tokens.ADDON, cluster.scope) is None
    )


def _configuration(values: str | None) -> Properties:
    if values is None:
        return {}
    try:
        parsed: Any = json.loads(values)
    except ValueError as error:
        raise Refusal(
            f"InvalidParameterException: configurationValues is not JSON ({error}); serialise it "
            "with json.dumps"
        ) from None
    if not isinstance(parsed, dict):
        raise Refusal("InvalidParameterException: configurationValues must be a JSON object")
    return cast("Properties", parsed)


def _refuse_roles(world: World, cluster: Resource, name: str, inputs: Properties) -> None:
    associations = objects(inputs, "podIdentityAssociations")
    for association in associations:
        refuse_pod_role(world, text(association, "roleArn"))
    if associations and not has_identity_agent(world, cluster):
        raise Refusal(
            f"add-on {name} has pod identity associations, but cluster {cluster.id} has no add-on "
            "eks-pod-identity-agent: its pods would get no credentials and it would stay "
            "DEGRADED; make it depend on that add-on"
        )
    role_arn = text(inputs, "serviceAccountRoleArn")
    role = iam.role_by_arn(world, role_arn, "InvalidParameterException")
    if role is not None and not iam.trusts_federation(role, issuer_of(cluster)):
        raise Refusal(
            f"InvalidParameterException: role {role.id} does not trust the OIDC issuer of cluster "
            f"{cluster.id}; name its OpenIdConnectProvider in the trust policy, or use "
            "podIdentityAssociations"
        )
    if name == "aws-ebs-csi-driver":
        _refuse_ebs_without_rights(world, cluster, inputs)


def _refuse_ebs_without_rights(world: World, cluster: Resource, inputs: Properties) -> None:
    separate = world.where(
        tokens.POD_IDENTITY_ASSOCIATION,
        cluster.scope,
        clusterName=cluster.id,
        **EBS_SERVICE_ACCOUNT,
    )
    named = ("podIdentityAssociations", "serviceAccountRoleArn")
    if not separate and not any(given(inputs, path) for path in named):
        raise Refusal(
            "add-on aws-ebs-csi-driver has no role: its controller cannot create volumes and it "
            "would stay DEGRADED; give podIdentityAssociations or serviceAccountRoleArn"
        )
    arns = [
        text(inputs, "serviceAccountRoleArn"),
        *(text(one, "roleArn") for one in objects(inputs, "podIdentityAssociations")),
        *(text(one.outputs, "roleArn") for one in separate),
    ]
    for role_arn in filter(None, arns):
        role = iam.role_by_arn(world, role_arn, "InvalidParameterException")
        if role is not None and not iam.has_any_policy(world, role):
            raise Refusal(
                f"role {role.id} of add-on aws-ebs-csi-driver has no policy; attach "
                "service-role/AmazonEBSCSIDriverPolicy, and make the add-on depend on that"
            )


def _refuse_without_node(world: World, cluster: Resource, name: str, placing: Properties) -> None:
    groups = world.where(tokens.NODE_GROUP, cluster.scope, clusterName=cluster.id)
    if not any(
        autoscaling.live_size(world, group) > 0 and _takes(group, placing) for group in groups
    ):
        raise Refusal(
            f"add-on {name} stays DEGRADED 20 minutes and then fails: cluster {cluster.id} has no "
            "node group with nodes that its pods may run on (size above 0, no taint they do not "
            "tolerate); make it depend on such a node group"
        )


def _takes(group: Resource, placing: Properties) -> bool:
    labels = strings(group.outputs, "labels")
    selector = strings(placing, "nodeSelector").items()
    wanted = {key: value for key, value in selector if not key.startswith("kubernetes.io/")}
    blocking = (
        taint
        for taint in objects(group.outputs, "taints")
        if text(taint, "effect") != "PREFER_NO_SCHEDULE"
    )
    return wanted.items() <= labels.items() and all(
        _tolerated(taint, objects(placing, "tolerations")) for taint in blocking
    )


def _tolerated(taint: Properties, tolerations: tuple[Properties, ...]) -> bool:
    if text(taint, "key") == _TOLERATED_KEY:
        return True
    return any(
        text(one, "key") in (None, "", text(taint, "key"))
        and (
            text(one, "operator") == "Exists"
            or (text(one, "value") or "") == (text(taint, "value") or "")
        )
        for one in tolerations
    )


KINDS = (Addon(),)
