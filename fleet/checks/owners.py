"""One owner of each part of the GPU stack, on every GPU pool."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.eks import AMI_TYPES
from fleet.catalog.oke import DISABLE_GPU_PLUGIN_LABEL
from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.eks_pools import EksPool
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.nodes import Pool
from fleet.clusters.oke_pools import OkePool
from fleet.kubernetes.scheduling import selects, untolerated
from fleet.plan import ClusterPlan


@check("one-advertiser")
def one_advertiser(view: View) -> Iterator[Problem]:
    """GPU pools on which nothing, or more than one thing, advertises nvidia.com/gpu."""
    for cluster in view.plan.clusters:
        existing = view.spec_of(cluster).gpu_stack.advertiser or "provider"
        for pool in cluster.pools:
            if pool.gpu is None:
                continue
            owners = _advertisers(cluster, pool, assumed=existing == "provider")
            if len(owners) == 1:
                continue
            many = " and ".join(owners)
            yield Problem(
                path=pool.path,
                message=(
                    f"its GPUs are advertised twice, by {many}: jobs would share cards unseen, and "
                    "whichever is removed sets the nodes to 0 GPUs"
                    if owners
                    else "nothing advertises its GPUs: its nodes would offer no nvidia.com/gpu"
                ),
                remedy=(
                    f"choose one by clusters.{cluster.name}.gpu_stack.advertiser: device_plugin, "
                    "operator or provider"
                ),
            )


def _advertisers(cluster: ClusterPlan, pool: Pool, *, assumed: bool) -> list[str]:
    owners: list[str] = []
    plugin = cluster.gpu_stack.device_plugin
    if plugin is not None and _reaches(plugin.values, pool):
        owners.append("NVIDIA's device plugin")
    operator = cluster.gpu_stack.operator
    if operator is not None and operator.values["devicePlugin"]["enabled"]:
        owners.append("the GPU Operator")
    # Oracle's add-on is on by default, whatever is registered; only the label keeps it off.
    if isinstance(pool, OkePool) and pool.labels.get(DISABLE_GPU_PLUGIN_LABEL) != "true":
        owners.append("Oracle's device plugin")
    if isinstance(pool, EksPool) and AMI_TYPES[pool.ami_type].plugin == "ami":
        owners.append("the device plugin of the AMI")
    if isinstance(cluster.platform, ExistingPlan) and assumed:
        owners.append("the cluster's own device plugin")
    return owners


def _reaches(values: dict[str, object], pool: Pool) -> bool:
    return selects(values, pool.labels) and not untolerated(values, pool.taints)


@check("driver-unknown", "warning")
def unknown_drivers(view: View) -> Iterator[Problem]:
    """GPU pools of which nobody says that they have a driver: no check of CUDA is possible."""
    for cluster in view.plan.clusters:
        for pool in cluster.pools:
            if pool.gpu is not None and pool.driver is None:
                yield Problem(
                    path=pool.path,
                    message=(
                        "names no driver, and the GPU Operator installs none: without one, jobs "
                        "do not find nvidia-smi"
                    ),
                    remedy=(
                        'add driver: "580.95.05" as nvidia-smi of a node shows it, or '
                        "gpu_stack.operator: {driver: true, toolkit: true}"
                    ),
                )
