"""EKS clusters.

Replacement: ForceNew in hashicorp/terraform-provider-aws internal/service/eks/cluster.go. Two of
its rules are not imitated: turning encryption off replaces the cluster (here it is refused), and a
changed `computeConfig.nodeRoleArn` replaces only where one was set before.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.aws import iam, network_rules, tokens
from pulumi_rehearsal.standin.aws.base import ACCOUNT, CREATED_AT, AwsKind, arn, region_of
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.properties import flag, given, mapping, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, choice, must_exist, spelled
from pulumi_rehearsal.standin.world import World

VERSIONS: Final = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36")
"""https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html , November 2026."""

DEFAULT_VERSION: Final = "1.35"

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
AUTHENTICATION_MODES: Final = ("API", "API_AND_CONFIG_MAP", "CONFIG_MAP")
SUPPORT_TYPES: Final = ("EXTENDED", "STANDARD")
IP_FAMILIES: Final = ("ipv4", "ipv6")
# Enumerations: botocore 1.44.5, service model of EKS.

SKEW: Final = 3
"""Minors by which a kubelet may be older: https://kubernetes.io/releases/version-skew-policy/"""

NAME_PATTERN: Final = r"[0-9A-Za-z][A-Za-z0-9_-]*"


class Cluster(AwsKind):
    """An EKS cluster with its security group."""

    token = tokens.CLUSTER
    autonamed = "name"
    autoname_limit = 100
    # All of vpcConfig is listed because EKS adds clusterSecurityGroupId and vpcId to it.
    computed: ClassVar[frozenset[str]] = frozenset(
        {
            "arn",
            "certificateAuthority",
            "createdAt",
            "endpoint",
            "identities",
            "platformVersion",
            "status",
            "vpcConfig",
        }
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "accessConfig.bootstrapClusterCreatorAdminPermissions",
            "bootstrapSelfManagedAddons",
            "kubernetesNetworkConfig.ipFamily",
            "kubernetesNetworkConfig.serviceIpv4Cidr",
            "name",
            "outpostConfig.controlPlaneInstanceType",
            "outpostConfig.controlPlanePlacement",
            "region",
            "roleArn",
        }
    )
    # Listed, because the schema that was read is older than controlPlaneScalingConfig,
    # kube*Config and the update of remoteNetworkConfig: these count as changes that may replace.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {
            "accessConfig.authenticationMode",
            "computeConfig",
            "deletionProtection",
            "enabledClusterLogTypes",
            "encryptionConfig",
            "forceUpdateVersion",
            "kubernetesNetworkConfig.elasticLoadBalancing",
            "storageConfig",
            "tags",
            "upgradePolicy",
            "version",
            "vpcConfig",
            "zonalShiftConfig",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check name and enumerations."""
        yield from spelled(
            inputs, "name", NAME_PATTERN, 100, "letters, digits, - and _, beginning with no sign"
        )
        yield from choice(inputs, "accessConfig.authenticationMode", AUTHENTICATION_MODES)
        yield from choice(inputs, "kubernetesNetworkConfig.ipFamily", IP_FAMILIES)
        yield from choice(inputs, "upgradePolicy.supportType", SUPPORT_TYPES)
        for index, log_type in enumerate(texts(inputs, "enabledClusterLogTypes")):
            if log_type not in LOG_TYPES:
                yield (
                    f"enabledClusterLogTypes[{index}]",
                    f"{log_type!r} is none of {', '.join(LOG_TYPES)}",
                )

    def identify(self, call: Call, world: World) -> str:
        return self.physical_name(call, world)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Check role, subnets and version; refuse changes that EKS cannot undo."""
        inputs = call.inputs
        name = text(inputs, "name")
        if old is None and name and world.get(name, self.token, call.scope):
            raise Refusal(f"ResourceInUseException: cluster {name} exists; choose another name")
        _refuse_role(world, text(inputs, "roleArn"))
        subnets = network_rules.subnets(world, call.scope, texts(inputs, "vpcConfig.subnetIds"))
        network_rules.refuse_many_vpcs(subnets, "subnets of a cluster")
        zones = network_rules.zones(subnets)
        if subnets and len(zones) < 2:
            raise Refusal(
                f"InvalidParameterException: the cluster's subnets are all in {', '.join(zones)}; "
                "EKS needs subnets in at least two zones"
            )
        network_rules.refuse_foreign_groups(
            world, call.scope, texts(inputs, "vpcConfig.securityGroupIds"), subnets
        )
        key = text(inputs, "encryptionConfig.provider.keyArn")
        if key and f":{ACCOUNT}:" in key and world.find(tokens.KMS_KEY, arn=key) is None:
            raise Refusal(
                f"InvalidParameterException: KMS key {key} does not exist; refer to the Key's arn"
            )
        _refuse_version(text(inputs, "version"), old)
        if old is None:
            return
        if given(old.inputs, "encryptionConfig") and not given(inputs, "encryptionConfig"):
            raise Refusal(
                "encryption of secrets cannot be turned off, and the provider would replace the "
                "cluster: keep encryptionConfig"
            )
        _refuse_authentication(old, inputs)
        _refuse_skew(world, old, text(inputs, "version"))

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Return endpoint, certificate, issuer and security group."""
        region = region_of(call.scope, call.inputs)
        number = world.fresh_hex(call.urn, 32).upper()
        endpoint = f"https://{number}.gr7.{region}.eks.amazonaws.com"
        subnet_ids = texts(call.inputs, "vpcConfig.subnetIds")
        found = network_rules.subnets(world, call.scope, subnet_ids)
        vpc_id = text(found[0].outputs, "vpcId") if found else None
        group_id = f"sg-{world.fresh_hex(call.urn, 17)}"
        certificate = f"-----BEGIN CERTIFICATE-----\nrehearsal {id}\n-----END CERTIFICATE-----\n"
        version = text(call.inputs, "version") or DEFAULT_VERSION
        given_access = mapping(call.inputs, "accessConfig")
        access = {"authenticationMode": "CONFIG_MAP", **given_access}
        return {
            "accessConfig": access,
            "arn": arn("eks", region, f"cluster/{id}"),
            "certificateAuthority": {"data": base64.b64encode(certificate.encode()).decode()},
            "createdAt": CREATED_AT,
            "endpoint": endpoint,
            "identities": [
                {"oidcs": [{"issuer": f"https://oidc.eks.{region}.amazonaws.com/id/{number}"}]}
            ],
            "name": id,
            "platformVersion": "eks.9",
            "status": "ACTIVE",
            "version": version,
            "vpcConfig": {
                "endpointPrivateAccess": False,
                "endpointPublicAccess": True,
                **mapping(call.inputs, "vpcConfig"),
                "clusterSecurityGroupId": group_id,
                "vpcId": vpc_id or "",
            },
        }

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Create the cluster's security group too."""
        name, outputs = super().create(call, world)
        network = mapping(outputs, "vpcConfig")
        group = Resource(
            urn="",
            type=tokens.SECURITY_GROUP,
            name=f"eks-cluster-sg-{name}",
            id=text(network, "clusterSecurityGroupId") or "",
            scope=call.scope,
            inputs={},
            outputs={
                "clusterName": name,
                "name": f"eks-cluster-sg-{name}",
                "vpcId": text(network, "vpcId"),
            },
        )
        world.add(group)
        return name, outputs

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Keep what EKS added to vpcConfig and accessConfig."""
        outputs = super().update(call, old, world)
        kept = mapping(old.outputs, "vpcConfig")
        added = {key: kept.get(key) for key in ("clusterSecurityGroupId", "vpcId")}
        return {
            **outputs,
            "accessConfig": {
                **mapping(old.outputs, "accessConfig"),
                **mapping(call.inputs, "accessConfig"),
            },
            "version": text(call.inputs, "version") or text(old.outputs, "version"),
            "vpcConfig": {**mapping(call.inputs, "vpcConfig"), **added},
        }

    def delete(self, old: Resource, world: World) -> None:
        """Refuse while it has node groups or deletion protection."""
        groups = world.where(tokens.NODE_GROUP, old.scope, clusterName=old.id)
        if groups:
            names = ", ".join(group.id for group in groups)
            raise Refusal(
                f"ResourceInUseException: cluster {old.id} has node groups attached ({names}); "
                "delete these first"
            )
        if flag(old.outputs, "deletionProtection"):
            raise Refusal(
                f"InvalidRequestException: cluster {old.id} has deletion protection; set "
                "deletionProtection to false and apply that first"
            )
        group_id = text(old.outputs, "vpcConfig.clusterSecurityGroupId")
        group = world.get(group_id or "", tokens.SECURITY_GROUP, old.scope)
        if group is not None:
            world.remove(group)


def cluster_named(world: World, scope: str, name: str | None) -> Resource | None:
    """Return the cluster, `None` for no name yet. Raises `Refusal` if it does not exist."""
    return must_exist(world, tokens.CLUSTER, name, scope, "ResourceNotFoundException")


def minor(version: str | None) -> int | None:
    """Return the minor of `1.<minor>` or of a release that begins with it."""
    found = re.match(r"1\.(\d+)", version or "")
    return int(found.group(1)) if found else None


def _refuse_role(world: World, role_arn: str | None) -> None:
    role = iam.role_by_arn(world, role_arn, "InvalidParameterException")
    if role is None:
        return
    if not iam.trusts(role, "eks.amazonaws.com", "sts:AssumeRole"):
        raise Refusal(
            f"InvalidParameterException: role {role.id} could not be assumed: its trust policy "
            "must allow sts:AssumeRole to the service eks.amazonaws.com"
        )
    if not iam.has_aws_policy(world, role, "AmazonEKSClusterPolicy"):
        raise Refusal(
            f"InvalidParameterException: role {role.id} does not have AmazonEKSClusterPolicy; "
            "attach it, and make the cluster depend on the attachment"
        )


def _refuse_version(version: str | None, old: Resource | None) -> None:
    if version is None:
        return
    if version not in VERSIONS:
        raise Refusal(
            f"InvalidParameterException: unsupported Kubernetes version {version!r}; EKS has "
            f"{', '.join(VERSIONS)}"
        )
    before, after = minor(text(old.outputs, "version")) if old else None, minor(version)
    if before is None or after is None:
        return
    if after < before:
        raise Refusal(
            f"InvalidParameterException: a control plane cannot go back from 1.{before} to "
            f"{version}; keep the version or create a new cluster"
        )
    if after > before + 1:
        raise Refusal(
            f"InvalidParameterException: a control plane is upgraded one minor at a time, from "
            f"1.{before} to 1.{before + 1}, not to {version}; apply 1.{before + 1} first"
        )


def _refuse_authentication(old: Resource, inputs: Properties) -> None:
    order = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
    before = text(old.outputs, "accessConfig.authenticationMode")
    after = text(inputs, "accessConfig.authenticationMode") or before
    if before in order and after in order and order.index(after) < order.index(before):
        raise Refusal(
            f"InvalidParameterException: the authentication mode cannot go back from {before} to "
            f"{after}; keep {before}"
        )


def _refuse_skew(world: World, old: Resource, version: str | None) -> None:
    after = minor(version)
    for group in world.where(tokens.NODE_GROUP, old.scope, clusterName=old.id):
        kubelet = minor(text(group.outputs, "version"))
        if after is not None and kubelet is not None and after - kubelet > SKEW:
            raise Refusal(
                f"InvalidRequestException: node group {group.id} runs 1.{kubelet}, more than "
                f"{SKEW} minors older than {version}; upgrade the nodes first"
            )


def issuer_of(cluster: Resource) -> str:
    """Return the URL of the cluster's OIDC issuer."""
    for identity in objects(cluster.outputs, "identities"):
        for oidc in objects(identity, "oidcs"):
            return text(oidc, "issuer") or ""
    return ""


KINDS = (Cluster(),)
