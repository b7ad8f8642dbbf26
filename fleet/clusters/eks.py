"""An EKS cluster as it will be: control plane, add-ons, pools, kubeconfig and node user data.

The AL2023 NVIDIA image owns driver and toolkit. The GPU Operator's toolkit would point containerd
at a runtime that the image does not define, and the nodes would turn NotReady
(https://github.com/METR/hawk/pull/273), so on EKS the operator installs neither.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from fleet.clusters.eks_network import ExistingNetwork, NewNetwork, network
from fleet.clusters.eks_pools import EksPool, eks_pool
from fleet.config.eks import Eks
from fleet.config.stack import Charts
from fleet.gpu_stack.efa import efa_plugin
from fleet.gpu_stack.ownership import Ownership
from fleet.kubernetes.releases import Release

LOG_TYPES = ("api", "audit", "authenticator")
LOG_RETENTION_DAYS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class EksPlan:
    """What `components.aws` registers for one cluster; the name is EKS' own name of it."""

    name: str
    region: str
    profile: str | None
    version: str
    network: NewNetwork | ExistingNetwork
    allow: tuple[str, ...]
    """Public ranges of the endpoint; none makes it private only."""
    admins: tuple[str, ...]
    pools: tuple[EksPool, ...]
    efa_plugin: Release | None
    """None where no pool has EFA."""
    tags: dict[str, str]

    @property
    def system_pools(self) -> tuple[EksPool, ...]:
        """Pools without GPUs."""
        return tuple(pool for pool in self.pools if pool.role == "system")

    @property
    def gpu_pools(self) -> tuple[EksPool, ...]:
        """Pools with GPUs."""
        return tuple(pool for pool in self.pools if pool.role == "gpu")


def eks_plan(
    name: str, eks: Eks, owners: Ownership, tags: dict[str, str], charts: Charts
) -> EksPlan:
    """Derive one EKS cluster."""
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
        efa_plugin=efa_plugin(pools, charts),
        tags=tags,
    )


def kubeconfig_user(plan: EksPlan) -> dict[str, object]:
    """The exec credential plugin of the kubeconfig: no token ever lies in the state.

    Needs the aws CLI where Pulumi runs. Source: pulumi/pulumi-eks nodejs/eks/cluster/cluster.ts.
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
    """User data of a pool's nodes, base64; None where EKS' own is all they need.

    EKS merges its part (cluster name, endpoint, CA) into the MIME message.
    Source: terraform-aws-modules/terraform-aws-eks modules/_user_data.
    """
    if not pool.raid0:
        return None
    return base64.b64encode(_NODE_CONFIG.encode()).decode()
