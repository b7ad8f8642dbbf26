"""IAM policy documents as data: trust policies, and the policies of the preview and deploy roles.

Grammar: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html . No
action has a wildcard. A resource is `*` only for actions without resource-level permissions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bootstrap.iam_actions import WITHOUT_RESOURCE, changing, making, reading
from bootstrap.oidc import AWS_AUDIENCE, Claim

Document = dict[str, Any]
Statement = dict[str, Any]

PROJECT = "gpu-runners"
"""The Pulumi project whose stacks the roles preview and deploy."""

CLUSTER_TAG = "gpu-runners/cluster"
"""The tag key that `fleet.plan` sets on every AWS resource; its value is the cluster name."""

INLINE_ROLE = "autoscaler-role"
"""Name, after the cluster's name, of the only role with an inline policy."""

ATTACHED_POLICIES = tuple(
    f"arn:aws:iam::aws:policy/{name}"
    for name in (
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEKSClusterPolicy",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "service-role/AmazonEBSCSIDriverPolicy",
    )
)
"""The managed policies that the fleet attaches to roles; a deploy role can attach no other."""

_SERVICES = ("autoscaling.amazonaws.com", "eks-nodegroup.amazonaws.com", "eks.amazonaws.com")
"""Services whose service-linked role the first cluster of an account creates, besides spot."""

INLINE_LIMIT = 10_240
"""Maximum characters of all inline policies of one role, without white space:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The account, regions and clusters to which the policies of a role are limited."""

    account_id: str
    regions: tuple[str, ...]
    clusters: tuple[str, ...]

    def roles(self, purpose: str = "*") -> list[str]:
        """Return ARN patterns of the roles that the fleet creates for the clusters.

        A role is named by cluster, purpose and seven random digits from Pulumi.
        """
        return [
            f"arn:aws:iam::{self.account_id}:role/{cluster}-{purpose}-???????"
            for cluster in self.clusters
        ]

    def eks(self) -> list[str]:
        """Return ARN patterns of the clusters, their node groups, add-ons and access entries."""
        here = f"arn:aws:eks:*:{self.account_id}"
        return [
            pattern
            for name in self.clusters
            for pattern in (f"{here}:cluster/{name}", f"{here}:*/{name}/*")
        ]

    def log_groups(self) -> list[str]:
        """Return ARN patterns of the control plane logs; some actions need the ARN with `:*`."""
        return [
            f"arn:aws:logs:*:{self.account_id}:log-group:/aws/eks/{name}/cluster*"
            for name in self.clusters
        ]

    def groups(self) -> list[str]:
        """Return ARN patterns of the Auto Scaling groups that EKS creates for the node groups."""
        here = f"arn:aws:autoscaling:*:{self.account_id}:autoScalingGroup:*"
        return [f"{here}:autoScalingGroupName/eks-{name}-*" for name in self.clusters]


def document(statements: Iterable[Statement]) -> Document:
    """Return a policy document of the statements."""
    return {"Version": "2012-10-17", "Statement": list(statements)}


def trusted(provider_arn: str, host: str, claim: Claim) -> Statement:
    """Allow jobs to assume the role if their token has AWS' audience and the claim."""
    audience = {f"{host}:aud": AWS_AUDIENCE}
    subject = {f"{host}:{claim.name}": _one_or_more(claim.values)}
    wild = any("*" in value for value in claim.values)
    return {
        "Effect": "Allow",
        "Principal": {"Federated": provider_arn},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": (
            {"StringEquals": audience, "StringLike": subject}
            if wild
            else {"StringEquals": {**audience, **subject}}
        ),
    }


def state_reading(bucket_arn: str, key_arn: str) -> Document:
    """Allow to read the state of every stack of the fleet and to decrypt its secrets.

    A preview takes no lock and writes no backup: pulumi/pulumi pkg/backend/diy/backend.go, Preview.
    The bootstrap is another Pulumi project, so this policy does not cover its state.
    """
    return document(
        [
            _allow(["s3:ListBucket"], [bucket_arn]),
            _allow(["s3:GetObject"], _objects(bucket_arn, "meta.yaml", f"stacks/{PROJECT}/*")),
            _allow(["kms:Decrypt"], [key_arn]),
        ]
    )


def state_writing(bucket_arn: str, key_arn: str, stack: str) -> Document:
    """Allow to read and write the state of one stack: checkpoint, history, backups and locks.

    Layout: pulumi/pulumi pkg/backend/diy: store.go, state.go, stack_tags.go, lock.go.
    """
    own = _objects(
        bucket_arn,
        # Not `{stack}.*`: names of stacks may contain dots, and prod.eu is another stack.
        f"stacks/{PROJECT}/{stack}.json",
        f"stacks/{PROJECT}/{stack}.json.*",
        f"stacks/{PROJECT}/{stack}.pulumi-tags",
        f"history/{PROJECT}/{stack}/*",
        f"backups/{PROJECT}/{stack}/*",
        f"locks/organization/{PROJECT}/{stack}/*",
    )
    return document(
        [
            _allow(["s3:ListBucket"], [bucket_arn]),
            _allow(["s3:GetObject"], _objects(bucket_arn, "meta.yaml")),
            _allow(
                ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"], own
            ),
            _allow(["kms:Decrypt", "kms:GenerateDataKey"], [key_arn]),
        ]
    )


def listing(scope: Scope) -> Document:
    """Allow to list networks, scaling groups and log groups, which IAM limits only by region."""
    return document(
        [_allow(sorted([*WITHOUT_RESOURCE, *reading("ec2")]), ["*"], _in_regions(scope))]
    )


def cluster_reading(scope: Scope) -> Document:
    """Allow to read what a preview refreshes: the clusters, their log groups and roles."""
    return document(
        [
            _allow(reading("eks"), scope.eks(), _in_regions(scope)),
            _allow(_reading_logs(), scope.log_groups()),
            _allow(reading("iam"), scope.roles()),
        ]
    )


def network_writing(scope: Scope) -> Document:
    """Allow to create networks and launch templates, and to change those with the cluster's tag."""
    here = _in_regions(scope)
    tagged = {
        "StringEquals": {
            **here["StringEquals"],
            f"aws:ResourceTag/{CLUSTER_TAG}": _one_or_more(scope.clusters),
        }
    }
    created = [action.removeprefix("ec2:") for action in making("ec2") if _creates(action)]
    on_creation = {"StringEquals": {**here["StringEquals"], "ec2:CreateAction": created}}
    return document(
        [
            _allow(making("ec2"), ["*"], here),
            _allow([*changing("ec2"), "ec2:CreateTags", "ec2:DeleteTags"], ["*"], tagged),
            _allow(["ec2:CreateTags"], ["*"], on_creation),
        ]
    )


def cluster_writing(scope: Scope) -> Document:
    """Allow to manage the clusters, their log groups and the tags of their scaling groups."""
    here = _in_regions(scope)
    named = {
        "StringEquals": {
            **here["StringEquals"],
            f"aws:RequestTag/{CLUSTER_TAG}": _one_or_more(scope.clusters),
        }
    }
    inside = [action for action in making("eks") if action != "eks:CreateCluster"]
    return document(
        [
            # A cluster that does not exist yet has no resource in IAM, so the tag limits the name.
            _allow(["eks:CreateCluster"], ["*"], named),
            _allow([*reading("eks"), *inside, *changing("eks")], scope.eks(), here),
            _allow([*_reading_logs(), *making("logs"), *changing("logs")], scope.log_groups()),
            _allow(changing("autoscaling"), scope.groups()),
        ]
    )


def role_writing(scope: Scope) -> Document:
    """Allow to manage the roles of the clusters, and to pass them to EKS only."""
    attach, detach = "iam:AttachRolePolicy", "iam:DetachRolePolicy"
    inline = ["iam:DeleteRolePolicy", "iam:PutRolePolicy"]
    rest = [
        action
        for action in (*reading("iam"), *making("iam"), *changing("iam"))
        if action not in (attach, detach, *inline)
    ]
    linked = f"arn:aws:iam::{scope.account_id}:role/aws-service-role/*"
    return document(
        [
            _allow(rest, scope.roles()),
            _allow(
                [attach, detach],
                scope.roles(),
                {"ArnEquals": {"iam:PolicyARN": list(ATTACHED_POLICIES)}},
            ),
            _allow(inline, scope.roles(INLINE_ROLE)),
            _allow(
                ["iam:PassRole"],
                scope.roles(),
                {
                    "StringEquals": {
                        "iam:PassedToService": ["eks.amazonaws.com", "pods.eks.amazonaws.com"]
                    }
                },
            ),
            _allow(
                ["iam:CreateServiceLinkedRole"],
                [linked],
                {"StringEquals": {"iam:AWSServiceName": [*_SERVICES, "spot.amazonaws.com"]}},
            ),
        ]
    )


def tls_only(bucket_arn: str) -> Document:
    """Deny every request to the bucket without TLS."""
    return document(
        [
            {
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Resource": [bucket_arn, f"{bucket_arn}/*"],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            }
        ]
    )


def _allow(
    actions: Sequence[str], resources: list[str], condition: dict[str, Any] | None = None
) -> Statement:
    statement: Statement = {"Effect": "Allow", "Action": list(actions), "Resource": resources}
    return statement if condition is None else {**statement, "Condition": condition}


def _objects(bucket_arn: str, *keys: str) -> list[str]:
    return [f"{bucket_arn}/.pulumi/{key}" for key in keys]


def _in_regions(scope: Scope) -> dict[str, dict[str, Any]]:
    return {"StringEquals": {"aws:RequestedRegion": _one_or_more(scope.regions)}}


def _reading_logs() -> list[str]:
    return [action for action in reading("logs") if action not in WITHOUT_RESOURCE]


def _creates(action: str) -> bool:
    return action.removeprefix("ec2:").startswith(("Allocate", "Create", "Run"))


def _one_or_more(values: Sequence[str]) -> str | list[str]:
    """Return IAM's canonical form, in which a list of one value is that value."""
    return values[0] if len(values) == 1 else list(values)
