"""An OKE cluster as it will be: control plane, add-ons, pools, kubeconfig and node start-up.

Oracle's GPU images own driver and toolkit; there are no driver containers for Oracle Linux.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fleet.catalog.oke import (
    EPHEMERAL_STORAGE_TAG,
    KUBELET_ARGUMENTS_METADATA,
    OKE_VERSIONS,
    USER_DATA_METADATA,
)
from fleet.clusters.oke_network import OkeExistingNetwork, OkeNewNetwork, oke_network
from fleet.clusters.oke_pools import OkePool, oke_pool
from fleet.config.oke import Oke
from fleet.gpu_stack.ownership import Ownership
from fleet.kubernetes import labels as words
from fleet.kubernetes.placement import daemonset_tolerations
from fleet.kubernetes.resources import format_memory
from fleet.kubernetes.values import to_values

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
class OkePlan:
    """What `components.oci` registers for one cluster; the name is OKE's own name of it."""

    name: str
    region: str
    compartment_id: str
    profile: str | None
    version: str
    """As OKE writes it: v1.35.2."""
    network: OkeNewNetwork | OkeExistingNetwork
    allow: tuple[str, ...]
    """Public ranges of the endpoint; none makes it private only."""
    pools: tuple[OkePool, ...]
    gpu_plugin: bool
    """Whether Oracle's device plugin is the advertiser."""
    tags: dict[str, str]

    @property
    def availability_domains(self) -> tuple[str, ...]:
        """Every availability domain of a pool, each once."""
        domains = (domain for pool in self.pools for domain in pool.availability_domains)
        return tuple(dict.fromkeys(domains))

    @property
    def scaled_pools(self) -> tuple[OkePool, ...]:
        """Pools whose size the autoscaler moves."""
        return tuple(pool for pool in self.pools if pool.min_size < pool.max_size)

    @property
    def system_pools(self) -> tuple[OkePool, ...]:
        """Pools without GPUs."""
        return tuple(pool for pool in self.pools if pool.role == "system")

    @property
    def gpu_pools(self) -> tuple[OkePool, ...]:
        """Pools with GPUs."""
        return tuple(pool for pool in self.pools if pool.role == "gpu")


def oke_plan(name: str, oke: Oke, owners: Ownership, tags: dict[str, str]) -> OkePlan:
    """Derive one OKE cluster."""
    pools = tuple(
        oke_pool(name, pool, one, availability_domains=oke.availability_domains, owners=owners)
        for pool, one in oke.pools.items()
    )
    return OkePlan(
        name=name,
        region=oke.region,
        compartment_id=oke.compartment_id,
        profile=oke.profile,
        version=_newest_patch(oke.version),
        network=oke_network(oke.network, oke.api.allow),
        allow=oke.api.allow,
        pools=pools,
        gpu_plugin=owners.advertiser == "provider" and any(pool.gpu for pool in pools),
        tags=tags,
    )


def _newest_patch(minor: str) -> str:
    """The catalog lists the versions oldest first."""
    return [version.version for version in OKE_VERSIONS.values() if version.minor == minor][-1]


def kubeconfig_user(plan: OkePlan, cluster_id: str) -> dict[str, object]:
    """The exec credential plugin of the kubeconfig: no token ever lies in the state.

    Needs the oci CLI where Pulumi runs.
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
    """Metadata of a pool's nodes: the start-up script, and what the autoscaler reads of it.

    A taint is told twice because the pool has no field for it: the script taints the nodes, and
    the autoscaler learns the taints of an empty pool from the other key. The flag replaces OKE's
    own, so it holds the taints of GPU and preemptible nodes as well.
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
    """Settings of Oracle's GPU plugin: it belongs on every GPU pool, whatever its taints."""
    tolerations = daemonset_tolerations(plan.gpu_pools)
    return {"tolerations": _json([to_values(one) for one in tolerations])}


def autoscaler_configuration(plan: OkePlan, pool_ids: Mapping[str, str]) -> dict[str, str]:
    """Settings of the ClusterAutoscaler add-on; `pool_ids` are the pools' OCIDs by name."""
    bounds = (
        f"{pool.min_size}:{pool.max_size}:{pool_ids[pool.name]}" for pool in plan.scaled_pools
    )
    return {
        "nodes": ",".join(bounds),
        "authType": "workload",
        # A GPU shape takes minutes to start, and longer where capacity is short.
        "maxNodeProvisionTime": "25m",
        "nodeSelectors": _json({words.ROLE_LABEL: "system"}),
        "numOfReplicas": "1",
    }


def autoscaler_statements(plan: OkePlan, cluster_id: str) -> Iterator[str]:
    """Statements of the policy that lets the add-on's workload, and no other, change pools."""
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


def _json(value: object) -> str:
    """Add-ons take structures as JSON text."""
    return json.dumps(value)
