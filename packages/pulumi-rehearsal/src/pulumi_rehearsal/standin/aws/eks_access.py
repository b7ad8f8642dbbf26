"""EKS access entries, access policies and pod identity.

Replacement: ForceNew or RequiresReplace in hashicorp/terraform-provider-aws
internal/service/eks/access_entry.go, access_policy_association.go, pod_identity_association.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.aws import iam, tokens
from pulumi_rehearsal.standin.aws.base import ACCOUNT, CREATED_AT, AwsKind, arn, region_of
from pulumi_rehearsal.standin.aws.eks_cluster import cluster_named
from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes_names import NAMESPACE
from pulumi_rehearsal.standin.properties import given, text, texts
from pulumi_rehearsal.standin.rules import Problem, choice
from pulumi_rehearsal.standin.world import Event, World

ENTRY_TYPES: Final = (
    "EC2",
    "EC2_LINUX",
    "EC2_WINDOWS",
    "FARGATE_LINUX",
    "HYBRID_LINUX",
    "HYPERPOD_LINUX",
    "STANDARD",
)
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html"""

ACCESS_POLICY_PREFIX: Final = "arn:aws:eks::aws:cluster-access-policy/"
ACCESS_POLICIES: Final = frozenset(
    {
        "AmazonEKSAdminPolicy",
        "AmazonEKSAdminViewPolicy",
        "AmazonEKSClusterAdminPolicy",
        "AmazonEKSEditPolicy",
        "AmazonEKSViewPolicy",
    }
)
"""Some of https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html ."""

_PRINCIPAL: Final = r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+"


class AccessEntry(AwsKind):
    """An access entry: the access of an IAM principal to a cluster."""

    token = tokens.ACCESS_ENTRY
    computed: ClassVar[frozenset[str]] = frozenset({"accessEntryArn", "createdAt", "modifiedAt"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"clusterName", "principalArn", "region", "type"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check type, principal and groups."""
        yield from choice(inputs, "type", ENTRY_TYPES)
        yield from _principal_problems(inputs)
        for index, group in enumerate(texts(inputs, "kubernetesGroups")):
            if group.startswith(("system:", "eks:", "aws:", "amazon:", "iam:")):
                yield (
                    f"kubernetesGroups[{index}]",
                    f"{group!r} has a reserved prefix: use another name",
                )
        if given(inputs, "kubernetesGroups") and text(inputs, "type") not in (None, "STANDARD"):
            yield "kubernetesGroups", "only entries of type STANDARD have groups: leave them out"

    def identify(self, call: Call, world: World) -> str:
        """Return `<cluster>:<principal>`."""
        return f"{text(call.inputs, 'clusterName')}:{text(call.inputs, 'principalArn')}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require a cluster with access entries; refuse a second entry of a principal."""
        cluster = cluster_named(world, call.scope, text(call.inputs, "clusterName"))
        if cluster is None or old is not None:
            return
        if text(cluster.outputs, "accessConfig.authenticationMode") == "CONFIG_MAP":
            raise Refusal(
                f"InvalidRequestException: cluster {cluster.id} authenticates by CONFIG_MAP, "
                "which has no access entries; set accessConfig.authenticationMode to API"
            )
        principal = text(call.inputs, "principalArn")
        groups = world.where(
            tokens.NODE_GROUP, call.scope, clusterName=cluster.id, nodeRoleArn=principal
        )
        made = self.identify(call, world)
        if groups or world.get(made, tokens.ACCESS_ENTRY, call.scope) is not None:
            raise Refusal(
                f"ResourceInUseException: {principal} has an access entry in {cluster.id} "
                "already (EKS creates those of node roles itself); leave this one out"
            )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        cluster, principal = text(call.inputs, "clusterName"), text(call.inputs, "principalArn")
        kind, _, name = (principal or "").rpartition(":")[2].partition("/")
        number = world.fresh_hex(call.urn, 32)
        path = f"access-entry/{cluster}/{kind}/{ACCOUNT}/{name}/{number}"
        return {
            "accessEntryArn": arn("eks", region_of(call.scope, call.inputs), path),
            "createdAt": CREATED_AT,
            "modifiedAt": CREATED_AT,
            "type": text(call.inputs, "type") or "STANDARD",
            "userName": text(call.inputs, "userName") or principal,
        }


class AccessPolicyAssociation(AwsKind):
    """An EKS access policy of a principal, for the cluster or for namespaces."""

    token = tokens.ACCESS_POLICY_ASSOCIATION
    computed: ClassVar[frozenset[str]] = frozenset({"associatedAt", "modifiedAt"})
    replaced_on: ClassVar[frozenset[str]] = frozenset({"*"})
    updated_on: ClassVar[frozenset[str]] = frozenset()

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check policy, scope and namespaces."""
        yield from _principal_problems(inputs)
        yield from choice(inputs, "accessScope.type", ("cluster", "namespace"))
        policy = text(inputs, "policyArn")
        if policy and policy.removeprefix(ACCESS_POLICY_PREFIX) not in ACCESS_POLICIES:
            yield (
                "policyArn",
                f"{policy!r} is none of {ACCESS_POLICY_PREFIX}"
                f"{{{','.join(sorted(ACCESS_POLICIES))}}}",
            )
        scope = text(inputs, "accessScope.type")
        if scope == "namespace" and not given(inputs, "accessScope.namespaces"):
            yield "accessScope.namespaces", "scope namespace needs at least one"
        if scope == "cluster" and given(inputs, "accessScope.namespaces"):
            yield "accessScope.namespaces", "scope cluster has none: leave them out"

    def identify(self, call: Call, world: World) -> str:
        """Return `<cluster>#<principal>#<policy>`."""
        paths = ("clusterName", "principalArn", "policyArn")
        return "#".join(text(call.inputs, path) or "" for path in paths)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require an access entry of type STANDARD."""
        cluster = cluster_named(world, call.scope, text(call.inputs, "clusterName"))
        principal = text(call.inputs, "principalArn")
        if cluster is None or principal is None:
            return
        entry = world.get(f"{cluster.id}:{principal}", tokens.ACCESS_ENTRY, call.scope)
        if entry is None:
            raise Refusal(
                f"ResourceNotFoundException: {principal} has no access entry in {cluster.id}; "
                "make the association depend on the AccessEntry"
            )
        if text(entry.outputs, "type") != "STANDARD":
            raise Refusal(
                f"InvalidRequestException: entries of type {text(entry.outputs, 'type')} cannot "
                "have an access policy; only STANDARD ones can"
            )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        return {"associatedAt": CREATED_AT, "modifiedAt": CREATED_AT}


class PodIdentityAssociation(AwsKind):
    """The IAM role of a service account's pods."""

    token = tokens.POD_IDENTITY_ASSOCIATION
    computed: ClassVar[frozenset[str]] = frozenset(
        {"associationArn", "associationId", "externalId"}
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"clusterName", "namespace", "region", "serviceAccount"}
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Check the names by Kubernetes' rules."""
        for path in ("namespace", "serviceAccount"):
            value = text(inputs, path)
            if value is not None and not NAMESPACE.fullmatch(value.replace(".", "-")):
                yield path, f"{value!r} is not a Kubernetes name"

    def identify(self, call: Call, world: World) -> str:
        return f"a-{world.fresh_hex(call.urn, 17)}"

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Require a role that pods can assume; refuse a second role of a service account."""
        cluster = cluster_named(world, call.scope, text(call.inputs, "clusterName"))
        refuse_pod_role(world, text(call.inputs, "roleArn"))
        if cluster is None:
            return
        account = {key: text(call.inputs, key) for key in ("namespace", "serviceAccount")}
        for other in world.where(self.token, call.scope, clusterName=cluster.id, **account):
            if old is None or other.id != old.id:
                raise Refusal(
                    f"ResourceInUseException: service account {account['namespace']}/"
                    f"{account['serviceAccount']} has association {other.id} already; "
                    "keep one of the two"
                )
        if old is None and not has_identity_agent(world, cluster):
            world.note(
                Event(
                    action="warned",
                    urn=call.urn,
                    type=call.type,
                    name=call.name,
                    detail=(
                        f"cluster {cluster.id} has no add-on eks-pod-identity-agent (yet): pods "
                        "get no credentials until it runs"
                    ),
                )
            )

    def compute(self, call: Call, id: str, world: World) -> Properties:
        path = f"podidentityassociation/{text(call.inputs, 'clusterName')}/{id}"
        return {
            "associationArn": arn("eks", region_of(call.scope, call.inputs), path),
            "associationId": id,
            "externalId": "",
        }


def has_identity_agent(world: World, cluster: Resource) -> bool:
    """Whether the add-on eks-pod-identity-agent is installed."""
    agent = f"{cluster.id}:eks-pod-identity-agent"
    return world.get(agent, tokens.ADDON, cluster.scope) is not None


def refuse_pod_role(world: World, role_arn: str | None) -> None:
    """Raise `Refusal` unless pods can assume the role by pod identity."""
    role = iam.role_by_arn(world, role_arn, "InvalidParameterException")
    if role is None:
        return
    if not iam.trusts(role, "pods.eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession"):
        raise Refusal(
            f"InvalidParameterException: the trust policy of role {role.id} is invalid for pod "
            "identity: it must allow sts:AssumeRole and sts:TagSession to the service "
            "pods.eks.amazonaws.com"
        )


def _principal_problems(inputs: Properties) -> Iterator[Problem]:
    principal = text(inputs, "principalArn")
    if principal is not None and not re.fullmatch(_PRINCIPAL, principal):
        yield (
            "principalArn",
            f"{principal!r} is not an IAM role or user: write arn:aws:iam::<account>:role/<name>",
        )


KINDS = (AccessEntry(), AccessPolicyAssociation(), PodIdentityAssociation())
