"""The cluster-autoscaler of an EKS cluster: chart values, IAM policy, and pool priorities.

The image tag is not the chart's, because its minor version must be that of the cluster.
Sources: kubernetes/autoscaler@cluster-autoscaler-chart-9.59.0:
cluster-autoscaler/charts/cluster-autoscaler (values.yaml, templates/deployment.yaml);
cluster-autoscaler/cloudprovider/aws/README.md (IAM); cluster-autoscaler/expander/priority/readme.md
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, Literal

from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.clusters.eks import EksPlan
from fleet.clusters.nodes import Placement, Pool
from fleet.config.stack import Charts
from fleet.kubernetes.labels import Namespaces
from fleet.kubernetes.pods import Affinity, ResourceRequirements, Toleration
from fleet.kubernetes.releases import Release, key, release
from fleet.kubernetes.resources import Resources

_NAME = "cluster-autoscaler"


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterAutoscalerValues:
    """Values of the `cluster-autoscaler` chart, 9.59.0, on AWS.

    `extra_args` are command-line arguments by name. The chart writes `expander_priorities` to a
    ConfigMap only if the expander names `priority`.
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
    extra_args: Mapping[str, bool | str]
    expander_priorities: str
    replica_count: int = 1
    fullname_override: str
    affinity: Affinity | None
    tolerations: tuple[Toleration, ...] | None
    resources: ResourceRequirements
    priority_class_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AutoscalerPlan:
    """The release, and the account and IAM policy that it needs."""

    release: Release[ClusterAutoscalerValues]
    service_account: str
    policy: dict[str, Any] = field(repr=False)


def autoscaler_plan(
    eks: EksPlan,
    preferences: Iterable[tuple[str, ...]],
    system: Placement,
    charts: Charts,
) -> AutoscalerPlan:
    """Return the autoscaler; `preferences` are the pools of each lane, in order of preference."""
    return AutoscalerPlan(
        service_account=_NAME,
        policy=autoscaler_policy(eks.name),
        release=release(
            "cluster-autoscaler",
            charts,
            name=_NAME,
            namespace=Namespaces.system,
            values=ClusterAutoscalerValues(
                cluster_name=eks.name,
                aws_region=eks.region,
                # The autoscaler simulates the scheduler of its own minor version.
                image_tag=KUBERNETES_VERSIONS[eks.version].autoscaler_image_tag,
                service_account=_NAME,
                fullname_override=_NAME,
                extra_args={
                    "expander": "priority,least-waste",
                    "skip-nodes-with-system-pods": False,
                    "skip-nodes-with-local-storage": False,
                },
                expander_priorities=priorities_text(priorities(eks, preferences)),
                affinity=system.affinity,
                tolerations=system.tolerations,
                resources=ResourceRequirements(requests=Resources(cpu_m=100, memory_mib=600)),
                priority_class_name="system-cluster-critical",
            ),
        ),
    )


def priorities(eks: EksPlan, preferences: Iterable[tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """Return patterns of Auto Scaling group names by priority; the autoscaler tries the highest.

    A group is named eks-<node group>-<uuid>, and a node group <cluster>-<pool>-<seven hex digits>.
    Pools that no lane orders have equal priority, so that the next expander chooses. If lanes
    disagree, all pools have equal priority, and the check `preference` reports it.
    """
    sorter = least_wanted_first(preferences)
    for pool in eks.pools:
        sorter.add(pool.name)
    patterns: list[tuple[str, ...]] = []
    try:
        sorter.prepare()
    except CycleError:
        patterns = [tuple(_group_pattern(pool) for pool in eks.pools)]
    else:
        while sorter.is_active():
            names = frozenset(sorter.get_ready())
            sorter.done(*names)
            patterns.append(tuple(_group_pattern(pool) for pool in eks.pools if pool.name in names))
    return {rank * 10: each for rank, each in enumerate(patterns, start=1) if each}


def _group_pattern(pool: Pool) -> str:
    return f"^eks-{pool.logical_name}-[0-9a-f]{{7}}-[0-9a-f-]{{36}}$"


def least_wanted_first(preferences: Iterable[tuple[str, ...]]) -> TopologicalSorter[str]:
    """Return a sorter of pools in which each comes after the pools that a lane prefers less."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for pools in preferences:
        for preferred, other in pairwise(pools):
            sorter.add(preferred, other)
    return sorter


def priorities_text(priorities: Mapping[int, Sequence[str]]) -> str:
    """Return the priority expander's configuration: regular expressions on group names.

    The highest number wins. The configuration is text because its keys are whole numbers, which
    Helm values cannot contain.
    """
    lines: list[str] = []
    for priority in sorted(priorities, reverse=True):
        lines.append(f"{priority}:")
        lines.extend(f"  - {json.dumps(pattern)}" for pattern in priorities[priority])
    return "\n".join(lines)


def autoscaler_policy(cluster_name: str) -> dict[str, Any]:
    """Return the IAM policy of one cluster's autoscaler.

    It allows changes only of Auto Scaling groups tagged
    `k8s.io/cluster-autoscaler/<cluster>=owned`. The describing actions of Auto Scaling and EC2
    accept no narrower resource than `*`.
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
                "Resource": f"arn:aws:eks:*:*:nodegroup/{cluster_name}/*/*",
            },
            {
                "Sid": "ScaleOwnGroups",
                "Effect": "Allow",
                "Action": [
                    "autoscaling:SetDesiredCapacity",
                    "autoscaling:TerminateInstanceInAutoScalingGroup",
                ],
                "Resource": "arn:aws:autoscaling:*:*:autoScalingGroup:*:*",
                "Condition": {
                    "StringEquals": {
                        f"aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster_name}": "owned"
                    }
                },
            },
        ],
    }
