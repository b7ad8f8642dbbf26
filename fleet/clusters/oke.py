"""An OKE cluster: control plane, add-ons, node pools, and the start-up of nodes.

Oracle's GPU images own driver and toolkit; there are no driver containers for Oracle Linux.
Units: CPU in millicores, memory and disk in MiB, boot volumes in GB.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from typing import ClassVar

from fleet.catalog.daemonsets import (
    OKE_GPU_PLUGIN_DAEMONSETS,
    OKE_NATIVE_NETWORK_DAEMONSETS,
    OKE_NODE_DAEMONSETS,
    OKE_OBSERVABILITY_DAEMONSETS,
    DaemonSetRequest,
)
from fleet.catalog.gpus import usable_gpu_memory_mib
from fleet.catalog.kubelet_oke import oke_allocatable, oke_pod_limit
from fleet.catalog.oci import SHAPES, Ocpus, ShapeSizeError, SizedShape, sized
from fleet.catalog.oke import (
    DISABLE_GPU_PLUGIN_LABEL,
    EPHEMERAL_STORAGE_TAG,
    GPU_IMAGE_DRIVER,
    GPU_TAINT_KEY,
    GPU_TAINT_VALUE,
    KUBELET_ARGUMENTS_METADATA,
    OKE_VERSIONS,
    PREEMPTIBLE_KEY,
    USER_DATA_METADATA,
)
from fleet.clusters.nodes import (
    ClusterKind,
    LiveSize,
    Node,
    Platform,
    Pool,
    daemonset_requests,
    daemonset_tolerations,
)
from fleet.clusters.oke_network import OkeExistingNetwork, OkeNewNetwork, oke_network
from fleet.config import oke_pools as config
from fleet.config.oke import Oke
from fleet.gpu_stack.ownership import Ownership, gpu_daemonsets
from fleet.kubernetes import labels
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.pods import Toleration
from fleet.kubernetes.releases import to_values
from fleet.kubernetes.resources import Resources, format_memory

CNI_TYPE = "OCI_VCN_IP_NATIVE"

_UPDATE_MINUTES = 60
"""Time of an update without drains. The provider waits 50 minutes, less than a drain takes:
oracle/terraform-provider-oci internal/service/containerengine/containerengine_node_pool_resource.go
"""

GPU_TAINT = Taint(key=GPU_TAINT_KEY, value=GPU_TAINT_VALUE, effect="NoSchedule")
PREEMPTIBLE_TAINT = Taint(key=PREEMPTIBLE_KEY, value="present", effect="NoSchedule")

_AUTOSCALER_NAMESPACE = "kube-system"
_AUTOSCALER_ACCOUNT = "cluster-autoscaler"
_AUTOSCALER_RIGHTS = (
    "manage cluster-node-pools",
    "manage instance-family",
    "use subnets",
    "read virtual-network-family",
    "use vnics",
    "inspect compartments",
)
"""Source: kubernetes/autoscaler cluster-autoscaler/cloudprovider/oci README."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OkePool(Pool):
    """One OKE node pool."""

    shape: str
    ocpus: int | None
    """OCPUs of a Flex shape; `None` if the shape fixes them."""
    memory_gb: int | None
    image_id: str | None
    """`None` for the newest image of the version."""
    boot_volume_gb: int
    availability_domains: tuple[str, ...]
    capacity_reservation_id: str | None
    preemptible: bool
    node_cycling: bool
    max_pods: int
    desired_size: int
    ignore_changes: tuple[str, ...] = ()
    """Properties of the node pool that an update leaves as they are."""

    @property
    def delete_minutes(self) -> int:
        """Time in which all nodes at once can wait for their jobs."""
        return _UPDATE_MINUTES + (self.drain_minutes or 0)

    @property
    def update_minutes(self) -> int:
        """Time in which each node can wait for its jobs; cycled nodes wait one after the other."""
        rounds = self.max_size if self.node_cycling else 1
        return _UPDATE_MINUTES + (self.drain_minutes or 0) * rounds

    def at_live_size(self, live: LiveSize) -> OkePool:
        """Return the pool with the size of the next update: the live one, clamped to the bounds.

        The size is sent although the autoscaler changes it. The provider sends all of
        nodeConfigDetails when any of it changes (tags, security groups, placement), and an ignored
        size would be that of the last update: it would scale running jobs in. So a preview may show
        a size that the autoscaler has already set.
        """
        return replace(self, desired_size=min(max(live.desired_size, self.min_size), self.max_size))


@dataclass(frozen=True, kw_only=True, slots=True)
class OkePlan(Platform[OkePool]):
    """One OKE cluster, as `components.oci` registers it."""

    kind: ClassVar[ClusterKind] = "oke"
    region: str
    version: str
    allow: tuple[str, ...]
    compartment_id: str
    network: OkeNewNetwork | OkeExistingNetwork
    gpu_plugin: bool
    """Whether Oracle's device plugin advertises the GPUs."""
    tags: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def minor(self) -> str:
        """Kubernetes minor version, such as `1.35`."""
        return OKE_VERSIONS[self.version].minor

    @property
    def supported_until(self) -> date | None:
        """Day from which OKE creates no cluster of the version; `None` until Oracle names it."""
        return OKE_VERSIONS[self.version].support_end

    @property
    def support_rule(self) -> str:
        """What ends support, in Oracle's words."""
        return OKE_VERSIONS[self.version].support_end_rule

    @property
    def availability_domains(self) -> tuple[str, ...]:
        """Every availability domain of a pool, each once."""
        domains = (domain for pool in self.pools for domain in pool.availability_domains)
        return tuple(dict.fromkeys(domains))

    @property
    def scaled_pools(self) -> tuple[OkePool, ...]:
        """Pools whose size the autoscaler changes."""
        return tuple(pool for pool in self.pools if pool.min_size < pool.max_size)

    @property
    def gpu_plugin_tolerations(self) -> tuple[Toleration, ...]:
        """Tolerations of Oracle's device plugin: it runs on every GPU pool."""
        return daemonset_tolerations(self.gpu_pools)


def oke_plan(name: str, oke: Oke, owners: Ownership, tags: dict[str, str]) -> OkePlan:
    """Return the plan of one OKE cluster."""
    pools = tuple(
        oke_pool(name, pool, one, availability_domains=oke.availability_domains, owners=owners)
        for pool, one in oke.pools.items()
    )
    return OkePlan(
        name=name,
        region=oke.region,
        compartment_id=oke.compartment_id,
        profile=oke.profile,
        # The catalog lists versions oldest first.
        version=[one.version for one in OKE_VERSIONS.values() if one.minor == oke.version][-1],
        network=oke_network(oke.network, oke.api.allow),
        allow=oke.api.allow,
        pools=pools,
        gpu_plugin=owners.advertiser == "provider" and any(pool.gpu for pool in pools),
        tags=tags,
    )


def oke_pool(
    cluster: str,
    name: str,
    pool: config.OkePool,
    *,
    availability_domains: tuple[str, ...],
    owners: Ownership = Ownership(advertiser="provider"),  # noqa: B008 -- frozen
) -> OkePool:
    """Return the plan of one node pool.

    `availability_domains` are those of the cluster, for a pool that lists none. `owners` decides
    which DaemonSets of the GPU stack take part of a node.
    """
    kind = SHAPES[pool.shape]
    gpu = kind.gpu
    machine = _machine(pool)
    slices = pool.sharing.slices if pool.sharing else 1
    node_labels = {
        **pool.labels,
        labels.POOL_LABEL: name,
        labels.ROLE_LABEL: "gpu" if gpu else "system",
    }
    taints: list[Taint] = []
    sharing = None
    if gpu is not None:
        node_labels[labels.GPU_PRESENT_LABEL] = "true"
        taints.append(GPU_TAINT)
        if owners.advertiser != "provider":
            sharing = labels.slices(slices)
            node_labels[labels.SHARING_LABEL] = sharing
            # Oracle's add-on is on by default, and no resource can remove it.
            node_labels[DISABLE_GPU_PLUGIN_LABEL] = "true"
    if pool.preemptible:
        taints.append(PREEMPTIBLE_TAINT)
    if pool.paused:
        taints.append(labels.PAUSED_TAINT)
    min_size = 0 if pool.paused else pool.min_size
    return OkePool(
        cluster=cluster,
        name=name,
        path=f"clusters.{cluster}.oke.pools.{name}",
        role="gpu" if gpu else "system",
        nodes=(_node(machine, pool, owners, slices),),
        min_size=min_size,
        max_size=pool.max_size,
        desired_size=min_size,
        labels=node_labels,
        taints=tuple(taints),
        selector={labels.POOL_LABEL: name},
        capacity="preemptible" if pool.preemptible else "on demand",
        sharing=sharing,
        time_slices=slices,
        driver=(pool.driver or GPU_IMAGE_DRIVER) if gpu else None,
        paused=pool.paused,
        qualified_images=True,
        shape=pool.shape,
        ocpus=machine.ocpus.count if kind.flex else None,
        memory_gb=machine.memory_gb if kind.flex else None,
        image_id=pool.image_id,
        boot_volume_gb=pool.boot_gb,
        availability_domains=pool.availability_domains or availability_domains,
        capacity_reservation_id=pool.capacity_reservation_id,
        preemptible=pool.preemptible,
        node_cycling=pool.node_cycling,
        drain_minutes=pool.eviction_minutes,
        max_pods=oke_pod_limit(machine, CNI_TYPE),
    )


def _machine(pool: config.OkePool) -> SizedShape:
    """Return the size of a node.

    An invalid size, which is an error of the pool, counts as 2 OCPUs and 16 GB.
    """
    kind = SHAPES[pool.shape]
    if kind.flex is None:
        return sized(kind)
    with suppress(ShapeSizeError):
        return sized(kind, Ocpus(pool.ocpus or 0), pool.memory_gb)
    return sized(kind, Ocpus(2), 16)


def _node(machine: SizedShape, pool: config.OkePool, owners: Ownership, slices: int) -> Node:
    kind = machine.shape
    daemonsets = _daemonsets(gpu=kind.gpu is not None, owners=owners)
    return Node(
        kind=kind.name,
        gpu=kind.gpu,
        gpus=kind.gpus,
        advertised=kind.gpus * slices,
        gpu_memory_gb=kind.gpu_memory_gb,
        gpu_memory_mib=usable_gpu_memory_mib(kind.gpu, kind.gpu_memory_gb),
        allocatable=oke_allocatable(machine, pool.boot_gb, grown=True),
        daemonsets=daemonset_requests(daemonsets),
        reserve=Resources(
            cpu_m=pool.reserve.cpu, memory_mib=pool.reserve.memory, disk_mib=pool.reserve.disk
        ),
        usd_per_hour=machine.usd_per_hour,
        pods=oke_pod_limit(machine, CNI_TYPE) - len(daemonsets),
    )


def _daemonsets(*, gpu: bool, owners: Ownership) -> tuple[DaemonSetRequest, ...]:
    """Return the DaemonSets that run on a node."""
    pods = (
        *OKE_NODE_DAEMONSETS,
        *OKE_NATIVE_NETWORK_DAEMONSETS,
        *OKE_OBSERVABILITY_DAEMONSETS,
        *(gpu_daemonsets(owners) if gpu else ()),
        *(OKE_GPU_PLUGIN_DAEMONSETS if gpu and owners.advertiser == "provider" else ()),
    )
    return tuple(pod for pod in pods if gpu or pod.where != "gpu_nodes")


def kubeconfig_user(plan: OkePlan, cluster_id: str) -> dict[str, object]:
    """Return the kubeconfig's user: an exec credential plugin, so that the state has no token.

    It needs the oci CLI on the machine that runs Pulumi.
    """
    profile = ["--profile", plan.profile] if plan.profile else []
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "oci",
            "args": [
                *("--region", plan.region),
                *profile,
                *("ce", "cluster", "generate-token", "--cluster-id", cluster_id),
            ],
            "interactiveMode": "Never",
        }
    }


_START = """\
#!/bin/bash
set -o errexit -o pipefail
# The image leaves the boot volume as small as it was built; a node that is not grown still joins.
/usr/libexec/oci-growfs -y || echo "the boot volume was not grown" >&2
curl --fail --silent --show-error --retry 10 --header "Authorization: Bearer Oracle" \\
  http://169.254.169.254/opc/v2/instance/metadata/oke_init_script \\
  | base64 --decode > /var/run/oke-init.sh
bash /var/run/oke-init.sh{arguments}
"""


def node_metadata(pool: OkePool) -> dict[str, str]:
    """Return the metadata of a pool's nodes: the start-up script and the kubelet's taint flag.

    Each taint is written twice because an OKE pool has no field for taints: the script taints the
    nodes, and the autoscaler reads the taints of an empty pool from the other key. The flag
    replaces OKE's own, so it includes the taints of GPU and preemptible nodes.
    Sources: https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengusingcustomcloudinitscripts.htm
    and kubernetes/autoscaler cluster-autoscaler/cloudprovider/oci/nodepools/registered_taints.go.
    """
    taints = ",".join(f"{taint.key}={taint.value}:{taint.effect}" for taint in pool.taints)
    flag = f"--register-with-taints={taints}" if taints else ""
    script = _START.format(arguments=f' --kubelet-extra-args "{flag}"' if flag else "")
    metadata = {USER_DATA_METADATA: base64.b64encode(script.encode()).decode()}
    if flag:
        metadata[KUBELET_ARGUMENTS_METADATA] = flag
    return metadata


def node_pool_tags(tags: Mapping[str, str], pool: OkePool) -> dict[str, str]:
    """Add the tag from which the autoscaler reads the disk of a node of an empty pool."""
    return {**tags, EPHEMERAL_STORAGE_TAG: format_memory(pool.nodes[0].allocatable.disk_mib)}


def gpu_plugin_configuration(plan: OkePlan) -> dict[str, str]:
    """Return the settings of Oracle's GPU plugin add-on."""
    return {"tolerations": json.dumps([to_values(one) for one in plan.gpu_plugin_tolerations])}


def autoscaler_configuration(plan: OkePlan, pool_ids: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of the ClusterAutoscaler add-on; `pool_ids` are OCIDs by pool name."""
    bounds = (
        f"{pool.min_size}:{pool.max_size}:{pool_ids[pool.name]}" for pool in plan.scaled_pools
    )
    return {
        "nodes": ",".join(bounds),
        "authType": "workload",
        # A GPU shape takes minutes to start, and longer where capacity is short.
        "maxNodeProvisionTime": "25m",
        "nodeSelectors": json.dumps({labels.ROLE_LABEL: "system"}),
        "numOfReplicas": "1",
    }


def autoscaler_statements(plan: OkePlan, cluster_id: str) -> Iterator[str]:
    """Yield the policy statements that let only the add-on's workload change pools."""
    condition = ", ".join(
        f"request.principal.{key} = '{value}'"
        for key, value in (
            ("type", "workload"),
            ("namespace", _AUTOSCALER_NAMESPACE),
            ("service_account", _AUTOSCALER_ACCOUNT),
            ("cluster_id", cluster_id),
        )
    )
    for right in _AUTOSCALER_RIGHTS:
        yield (
            f"Allow any-user to {right} in compartment id {plan.compartment_id} "
            f"where ALL {{{condition}}}"
        )
