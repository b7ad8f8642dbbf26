"""An EKS cluster: control plane, managed node groups, kubeconfig and user data of nodes.

The AL2023 NVIDIA image owns driver and toolkit. The GPU Operator's toolkit would point containerd
at a runtime that the image does not define, and the nodes would turn NotReady
(https://github.com/METR/hawk/pull/273), so on EKS the operator installs neither.
Units: CPU in millicores, memory and disk in MiB.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, ClassVar

from fleet.catalog.daemonsets import (
    EFA_DAEMONSETS,
    EKS_NODE_DAEMONSETS,
    NODE_MONITORING_DAEMONSETS,
    DaemonSetRequest,
)
from fleet.catalog.ec2 import InstanceType, instance_type
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.eks_amis import ami_driver_branch
from fleet.catalog.gpus import GPU_MODELS, usable_gpu_memory_mib
from fleet.catalog.kubelet import eks_allocatable, eks_pod_limit
from fleet.clusters.eks_network import ExistingNetwork, NewNetwork, network
from fleet.clusters.nodes import (
    ClusterKind,
    LiveSize,
    Node,
    Platform,
    Pool,
    daemonset_requests,
    smallest,
)
from fleet.config import pools as config
from fleet.config.eks import Eks
from fleet.config.stack import Charts
from fleet.gpu_stack.efa import EfaPluginValues, efa_plugin
from fleet.gpu_stack.ownership import Ownership, gpu_daemonsets
from fleet.kubernetes import labels
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.releases import Release
from fleet.kubernetes.resources import Resources, format_cpu, format_memory

LOG_TYPES = ("api", "audit", "authenticator")
LOG_RETENTION_DAYS = 30

EKS_DRAIN_MINUTES = 15
"""EKS evicts the pods of a node that it replaces for so long, then the update fails with
PodEvictionFailure and the pods stay, unless the update is forced:
https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html"""

EKS_DELETE_MINUTES = 5
"""EKS waits so long for the pods of a node group that is deleted, then terminates the nodes:
https://docs.aws.amazon.com/eks/latest/userguide/delete-managed-node-group.html"""

_UPDATE_MINUTES = 60
"""Time-out of an update without drains: the provider's default."""

_AUTOSCALER = "k8s.io/cluster-autoscaler"


@dataclass(frozen=True, kw_only=True, slots=True)
class EksPool(Pool):
    """One EKS managed node group; its physical name adds a dash and seven hex digits."""

    capacity_type: str
    capacity_reservation_id: str | None
    ami_type: str
    release_version: str
    zones: tuple[str, ...]
    disk_gib: int
    raid0: bool
    efa_interfaces: int
    network_cards: int
    node_repair: bool
    desired_size: int
    ignore_changes: tuple[str, ...]
    """Properties of the node group that an update leaves as they are."""
    autoscaling_tags: dict[str, str]
    """Tags of the Auto Scaling group, which describe a node to the autoscaler at size zero."""

    @property
    def instance_types(self) -> tuple[str, ...]:
        """EC2 instance types, in order of preference."""
        return self.kinds

    @property
    def update_minutes(self) -> int:
        """Time in which each node, one after the other, can wait for its jobs."""
        return _UPDATE_MINUTES + EKS_DRAIN_MINUTES * self.max_size

    def at_live_size(self, live: LiveSize) -> EksPool:
        """Return the pool with the desired size of the next update.

        The autoscaler changes the size, so the difference is ignored while the bounds are the same.
        When the bounds change, EKS takes all three numbers at once and refuses min > desired. The
        update then sends the live size, clamped to the new bounds, and no running job is scaled in.
        Source: https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2508.
        """
        if (live.min_size, live.max_size) == (self.min_size, self.max_size):
            return replace(self, desired_size=live.desired_size)
        clamped = min(max(live.desired_size, self.min_size), self.max_size)
        return replace(self, desired_size=clamped, ignore_changes=())


@dataclass(frozen=True, kw_only=True, slots=True)
class EksPlan(Platform[EksPool]):
    """One EKS cluster, as `components.aws` registers it."""

    kind: ClassVar[ClusterKind] = "eks"
    region: str
    version: str
    allow: tuple[str, ...]
    network: NewNetwork | ExistingNetwork
    admins: tuple[str, ...]
    efa_plugin: Release[EfaPluginValues] | None
    """`None` if no pool has EFA."""
    tags: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def supported_until(self) -> date:
        """Last day of standard support; extended support costs more."""
        return KUBERNETES_VERSIONS[self.version].standard_support_end

    @property
    def support_rule(self) -> str:
        """What ends on that day."""
        return "end of standard support"

    @property
    def releases(self) -> tuple[Release[Any], ...]:
        """The EFA plugin."""
        return () if self.efa_plugin is None else (self.efa_plugin,)


def eks_plan(
    name: str, eks: Eks, owners: Ownership, tags: dict[str, str], charts: Charts
) -> EksPlan:
    """Return the plan of one EKS cluster."""
    pools = tuple(
        eks_pool(name, pool, one, version=eks.version, zones=eks.network.zone_names, owners=owners)
        for pool, one in eks.pools.items()
    )
    return EksPlan(
        name=name,
        region=eks.region,
        profile=eks.profile,
        version=eks.version,
        network=network(eks.network, eks.region),
        allow=eks.api.allow,
        admins=eks.admins,
        pools=pools,
        efa_plugin=efa_plugin([pool for pool in pools if pool.efa_interfaces], charts),
        tags=tags,
    )


def eks_pool(
    cluster: str,
    name: str,
    pool: config.EksPool,
    *,
    version: str,
    zones: tuple[str, ...],
    owners: Ownership = Ownership(),  # noqa: B008 -- frozen,
) -> EksPool:
    """Return the plan of one node group.

    `version` is the cluster's Kubernetes version, `zones` are the zones of its subnets. `owners`
    decides which DaemonSets of the GPU stack take part of a node.
    """
    first = instance_type(pool.instance_types[0])
    gpu = first.gpu
    slices = pool.sharing.slices if pool.sharing else 1
    efa = first.efa_interfaces if pool.efa else 0
    node_labels = {
        **pool.labels,
        labels.POOL_LABEL: name,
        labels.ROLE_LABEL: "gpu" if gpu else "system",
    }
    taints: list[Taint] = []
    sharing = None
    if gpu is not None:
        sharing = labels.slices(slices)
        node_labels[labels.GPU_PRESENT_LABEL] = "true"
        node_labels[labels.ACCELERATOR_LABEL] = GPU_MODELS[gpu].accelerator_label
        node_labels[labels.SHARING_LABEL] = sharing
        taints.append(labels.GPU_TAINT)
    if pool.paused:
        taints.append(labels.PAUSED_TAINT)
    # The default is pinned, because a newer AMI rolls nodes under running jobs.
    release_version = pool.release_version or KUBERNETES_VERSIONS[version].ami_release
    min_size = 0 if pool.paused else pool.min_size
    nodes = tuple(_node(instance_type(kind), pool, owners) for kind in pool.instance_types)
    return EksPool(
        cluster=cluster,
        name=name,
        path=f"clusters.{cluster}.eks.pools.{name}",
        role="gpu" if gpu else "system",
        nodes=nodes,
        min_size=min_size,
        max_size=pool.max_size,
        desired_size=min_size,
        # Only the camelCase path works below the top level.
        ignore_changes=("scalingConfig.desiredSize",),
        selector={labels.POOL_LABEL: name},
        capacity=pool.capacity_type,
        capacity_type=pool.capacity_type,
        capacity_reservation_id=pool.capacity_reservation_id,
        ami_type=pool.ami_type or ("AL2023_x86_64_NVIDIA" if gpu else "AL2023_x86_64_STANDARD"),
        release_version=release_version,
        zones=pool.zones or zones,
        disk_gib=pool.disk_gib,
        raid0=_raid0(first, pool),
        efa_interfaces=efa,
        network_cards=first.network_cards,
        node_repair=pool.node_repair,
        labels=node_labels,
        taints=tuple(taints),
        sharing=sharing,
        time_slices=slices,
        driver=_driver(version, release_version) if gpu else None,
        paused=pool.paused,
        drain_minutes=EKS_DRAIN_MINUTES,
        autoscaling_tags=_autoscaling_tags(
            cluster=cluster,
            node_labels=node_labels,
            taints=taints,
            allocatable=smallest(node.allocatable for node in nodes),
            gpus=nodes[0].advertised,
            efa=efa,
        ),
    )


def _driver(version: str, release_version: str) -> str | None:
    """Return the driver of the pinned AMI release, or the driver branch of another release."""
    pinned = KUBERNETES_VERSIONS[version]
    if release_version == pinned.ami_release:
        return pinned.nvidia_driver
    branch = ami_driver_branch(release_version)
    return None if branch is None else str(branch)


def _raid0(kind: InstanceType, pool: config.EksPool) -> bool:
    return pool.instance_store == "raid0" and kind.nvme_gb > 0


def _node(kind: InstanceType, pool: config.EksPool, owners: Ownership) -> Node:
    slices = pool.sharing.slices if pool.sharing else 1
    daemonsets = _daemonsets(gpu=kind.gpu is not None, efa=pool.efa, owners=owners)
    return Node(
        kind=kind.name,
        gpu=kind.gpu,
        gpus=kind.gpus,
        advertised=kind.gpus * slices,
        gpu_memory_gb=kind.gpu_memory_gb,
        gpu_memory_mib=usable_gpu_memory_mib(kind.gpu, kind.gpu_memory_gb),
        allocatable=eks_allocatable(
            kind, root_disk_gib=pool.disk_gib, instance_store_raid0=_raid0(kind, pool)
        ),
        daemonsets=daemonset_requests(daemonsets),
        reserve=Resources(
            cpu_m=pool.reserve.cpu, memory_mib=pool.reserve.memory, disk_mib=pool.reserve.disk
        ),
        usd_per_hour=kind.usd_per_hour,
        pods=eks_pod_limit(kind) - len(daemonsets),
    )


def _daemonsets(*, gpu: bool, efa: bool, owners: Ownership) -> tuple[DaemonSetRequest, ...]:
    """Return the DaemonSets that run on a node."""
    pods = (
        *EKS_NODE_DAEMONSETS,
        *NODE_MONITORING_DAEMONSETS,
        *(gpu_daemonsets(owners) if gpu else ()),
        *(EFA_DAEMONSETS if efa else ()),
    )
    return tuple(pod for pod in pods if gpu or pod.where != "gpu_nodes")


def _autoscaling_tags(
    *,
    cluster: str,
    node_labels: dict[str, str],
    taints: Iterable[Taint],
    allocatable: Resources,
    gpus: int,
    efa: int,
) -> dict[str, str]:
    """Return the tags for auto-discovery and for scaling from zero.

    CPU and memory are the allocatable amounts. Without these tags the autoscaler takes the nominal
    size of the instance type, and starts a node on which the job still does not fit.
    Source: kubernetes/autoscaler cluster-autoscaler/cloudprovider/aws/aws_manager.go.
    """
    template = f"{_AUTOSCALER}/node-template"
    tags = {f"{_AUTOSCALER}/enabled": "true", f"{_AUTOSCALER}/{cluster}": "owned"}
    tags |= {f"{template}/label/{key}": value for key, value in node_labels.items()}
    tags |= {f"{template}/taint/{taint.key}": f"{taint.value}:{taint.effect}" for taint in taints}
    tags |= {
        f"{template}/resources/cpu": format_cpu(allocatable.cpu_m),
        f"{template}/resources/memory": format_memory(allocatable.memory_mib),
        f"{template}/resources/ephemeral-storage": format_memory(allocatable.disk_mib),
    }
    if gpus:
        tags[f"{template}/resources/{labels.GPU_RESOURCE}"] = str(gpus)
    if efa:
        tags[f"{template}/resources/{labels.EFA_RESOURCE}"] = str(efa)
    return tags


def kubeconfig_user(plan: EksPlan) -> dict[str, object]:
    """Return the kubeconfig's user: an exec credential plugin, so that the state has no token.

    It needs the aws CLI on the machine that runs Pulumi.
    Source: pulumi/pulumi-eks nodejs/eks/cluster/cluster.ts.
    """
    environment = [{"name": "AWS_PROFILE", "value": plan.profile}] if plan.profile else []
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "aws",
            "args": [
                "--region",
                plan.region,
                "eks",
                "get-token",
                "--cluster-name",
                plan.name,
                "--output",
                "json",
            ],
            "env": environment or None,
            "interactiveMode": "Never",
        }
    }


_BOUNDARY = "gpu-runners-node-config"

_NODE_CONFIG = f"""\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="{_BOUNDARY}"

--{_BOUNDARY}
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0

--{_BOUNDARY}--
"""


def user_data(pool: EksPool) -> str | None:
    """Return a pool's user data in base64, or `None` if EKS' own is enough.

    EKS merges its part (cluster name, endpoint, CA) into the MIME message.
    Source: terraform-aws-modules/terraform-aws-eks modules/_user_data.
    """
    if not pool.raid0:
        return None
    return base64.b64encode(_NODE_CONFIG.encode()).decode()
