"""Values of the `cluster-autoscaler` chart, 9.59.0, and the AWS rights that the autoscaler needs.

The image is given apart from the chart because its minor has to be that of the cluster.
Sources: kubernetes/autoscaler@cluster-autoscaler-chart-9.59.0:
cluster-autoscaler/charts/cluster-autoscaler (values.yaml, templates/deployment.yaml);
cluster-autoscaler/cloudprovider/aws/README.md (IAM); cluster-autoscaler/expander/priority/readme.md
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fleet.kubernetes.pods import Affinity, ResourceRequirements, Toleration
from fleet.kubernetes.values import key

# An argument without a value is None; True and False are written out.
Argument = bool | int | str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterAutoscalerValues:
    """The values of one cluster's autoscaler on AWS.

    `extra_args` are command line arguments by their own name, such as
    `{"expander": "priority,least-waste"}`. `expander_priorities` is `priorities_text`; the chart
    writes it to a ConfigMap only when the expander names `priority`.

    Raises ValueError for priorities that no expander would read, and for the opposite.
    """

    cluster_name: str = field(metadata=key("autoDiscovery", "clusterName"))
    aws_region: str
    image_tag: str = field(metadata=key("image", "tag"))
    service_account: str = field(metadata=key("rbac", "serviceAccount", "name"))
    create_service_account: bool = field(
        default=True, metadata=key("rbac", "serviceAccount", "create")
    )
    create_rbac: bool = field(default=True, metadata=key("rbac", "create"))
    cloud_provider: Literal["aws"] = "aws"
    extra_args: Mapping[str, Argument] = field(default_factory=dict[str, Argument])
    expander_priorities: str | None = None
    replica_count: int = 1
    fullname_override: str | None = None
    node_selector: Mapping[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    resources: ResourceRequirements | None = None
    priority_class_name: str | None = None
    pod_annotations: Mapping[str, str] | None = None
    pod_labels: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        expanders = str(self.extra_args.get("expander", "")).split(",")
        if ("priority" in expanders) != (self.expander_priorities is not None):
            raise ValueError(
                f"extra_args.expander is {','.join(expanders)!r} and expander_priorities "
                f"{'are not' if self.expander_priorities is None else 'are'} given: the expander "
                "'priority' and its priorities belong together, give both or neither"
            )


def priorities_text(priorities: Mapping[int, Sequence[str]]) -> str:
    """The priority expander's configuration: regular expressions on group names by priority.

    The highest number wins. It is text because the autoscaler reads whole numbers as keys, which
    Helm values cannot hold.
    """
    lines: list[str] = []
    for priority in sorted(priorities, reverse=True):
        lines.append(f"{priority}:")
        lines.extend(f"  - {json.dumps(pattern)}" for pattern in priorities[priority])
    return "\n".join(lines)


def autoscaler_policy(cluster_name: str, partition: str = "aws") -> dict[str, Any]:
    """The IAM policy of one cluster's autoscaler.

    It may change only Auto Scaling groups tagged `k8s.io/cluster-autoscaler/<cluster>=owned`.
    The describing actions of Auto Scaling and EC2 know no narrower resource than all.
    """
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Describe",
                "Effect": "Allow",
                "Action": [
                    "autoscaling:DescribeAutoScalingGroups",
                    "autoscaling:DescribeAutoScalingInstances",
                    "autoscaling:DescribeLaunchConfigurations",
                    "autoscaling:DescribeScalingActivities",
                    "autoscaling:DescribeTags",
                    "ec2:DescribeImages",
                    "ec2:DescribeInstanceTypes",
                    "ec2:DescribeLaunchTemplateVersions",
                    "ec2:GetInstanceTypesFromInstanceRequirements",
                ],
                "Resource": "*",
            },
            {
                "Sid": "DescribeNodeGroups",
                "Effect": "Allow",
                "Action": "eks:DescribeNodegroup",
                "Resource": f"arn:{partition}:eks:*:*:nodegroup/{cluster_name}/*/*",
            },
            {
                "Sid": "ScaleOwnGroups",
                "Effect": "Allow",
                "Action": [
                    "autoscaling:SetDesiredCapacity",
                    "autoscaling:TerminateInstanceInAutoScalingGroup",
                ],
                "Resource": f"arn:{partition}:autoscaling:*:*:autoScalingGroup:*:*",
                "Condition": {
                    "StringEquals": {
                        f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster_name}": "owned"
                    }
                },
            },
        ],
    }
