"""The GPU stack: one advertiser of GPUs, a known driver, and settings that take effect."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.eks import AMI_TYPES
from fleet.catalog.oke import DISABLE_GPU_PLUGIN_LABEL
from fleet.checks.check import check
from fleet.checks.places import why_not
from fleet.checks.view import View
from fleet.clusters.eks import EksPool
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePool
from fleet.findings import Finding
from fleet.gpu_stack.plan import default_config
from fleet.kubernetes.labels import GPU_RESOURCE, SHARING_LABEL
from fleet.plan import ClusterPlan


@check("one-advertiser")
def one_advertiser(view: View) -> Iterator[Finding]:
    """GPU pools whose GPUs no device plugin advertises, or more than one."""
    for cluster in view.plan.clusters:
        advertiser = view.spec_of(cluster).gpu_stack.advertiser or "provider"
        for pool in cluster.pools:
            if pool.gpu is None:
                continue
            owners = list(_advertisers(cluster, pool, by_cluster=advertiser == "provider"))
            if len(owners) == 1:
                continue
            yield one_advertiser.finding(
                pool.path,
                message=(
                    f"its GPUs are advertised by {' and '.join(owners)}: several jobs would get "
                    "the same card, and removing one plugin sets the nodes to 0 GPUs"
                    if owners
                    else f"no device plugin advertises its GPUs: nodes offer no {GPU_RESOURCE}, "
                    "and jobs stay Pending"
                ),
                remedy=(
                    f"set clusters.{cluster.name}.gpu_stack.advertiser to one of device_plugin, "
                    "operator and provider"
                ),
            )


def _advertisers(cluster: ClusterPlan, pool: Pool, *, by_cluster: bool) -> Iterator[str]:
    plugin = cluster.gpu_stack.device_plugin
    if plugin is not None and why_not(plugin.typed_values, pool) is None:
        yield "NVIDIA's device plugin"
    operator = cluster.gpu_stack.operator
    if operator is not None and operator.typed_values.device_plugin:
        yield "the GPU Operator"
    # OKE installs its add-on on every cluster; only the label keeps it off a node.
    if isinstance(pool, OkePool) and pool.labels.get(DISABLE_GPU_PLUGIN_LABEL) != "true":
        yield "Oracle's device plugin"
    if isinstance(pool, EksPool) and AMI_TYPES[pool.ami_type].plugin == "ami":
        yield "the device plugin of the AMI"
    if isinstance(cluster.platform, ExistingPlan) and by_cluster:
        yield "the cluster's own device plugin"


@check("sharing-config")
def sharing_configs(view: View) -> Iterator[Finding]:
    """Existing pools whose node label selects another sharing config than the pool declares."""
    for cluster in view.plan.clusters:
        spec = view.spec_of(cluster)
        advertiser = spec.gpu_stack.advertiser or spec.default_advertiser
        pools = tuple(pool for pool in cluster.pools if pool.gpu is not None)
        if not isinstance(cluster.platform, ExistingPlan) or advertiser == "provider":
            continue
        for pool in pools:
            selected = pool.labels.get(SHARING_LABEL, default_config(pools))
            if selected != pool.sharing:
                yield sharing_configs.finding(
                    f"{pool.path}.labels",
                    message=(
                        f"select the device plugin's config {selected}, but the pool's sharing is "
                        f"{pool.sharing}: nodes would offer another number of GPUs, and this "
                        "program cannot label nodes of an existing cluster"
                    ),
                    remedy=(
                        f"label the nodes {SHARING_LABEL}={pool.sharing} and add the label here, "
                        "or give all GPU pools the same sharing"
                    ),
                )


@check("driver-unknown", "warning")
def unknown_drivers(view: View) -> Iterator[Finding]:
    """GPU pools without a declared driver, whose images and CUDA cannot be checked."""
    for cluster in view.plan.clusters:
        for pool in cluster.pools:
            if pool.gpu is not None and pool.driver is None:
                yield unknown_drivers.finding(
                    pool.path,
                    message=(
                        "declares no driver, and the GPU Operator installs none: if the nodes "
                        "have none, jobs fail with nvidia-smi not found"
                    ),
                    remedy=(
                        'add driver: "580.95.05" as nvidia-smi shows it on a node, or '
                        "gpu_stack.operator: {driver: true, toolkit: true}"
                    ),
                )


@check("gpu-stack-unused", "warning")
def unused_gpu_stacks(view: View) -> Iterator[Finding]:
    """Clusters with a `gpu_stack` and no GPU pool: nothing of it is installed."""
    for cluster in view.plan.clusters:
        stack = view.spec_of(cluster).gpu_stack
        chosen = [
            key
            for key in ("advertiser", "operator")
            if getattr(stack, key) not in (None, "provider")
        ]
        if chosen and all(pool.gpu is None for pool in cluster.pools):
            yield unused_gpu_stacks.finding(
                f"clusters.{cluster.name}.gpu_stack",
                message=(
                    f"has {' and '.join(chosen)}, but no pool of the cluster has GPUs: nothing of "
                    "it is installed"
                ),
                remedy=(
                    "add a GPU pool (in an existing cluster, a pool with gpu: T4 and gpus: 1), or "
                    "remove gpu_stack"
                ),
            )
