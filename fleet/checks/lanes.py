"""What a lane asks of its pools besides size: GPU model, host device, RuntimeClass, privileges."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.findings import Finding
from fleet.plan.build import ClusterPlan
from fleet.plan.nodes import Pool
from fleet.spec.github import GitHubLane
from fleet.spec.gitlab import GitLabLane
from fleet.spec.lanes import Lane
from fleet.spec.stack import Cluster


def lane_needs(path: str, lane: Lane, cluster: Cluster, plan: ClusterPlan) -> Iterator[Finding]:
    """Everything about one lane."""
    pools = tuple(pool for pool in plan.pools if pool.name in lane.pools)
    for pool in pools:
        yield from _gpu_model(path, lane, pool)
    yield from _runtime_class(
        path, lane, pools, has_operator=cluster.gpu_stack.operator is not None
    )
    if isinstance(lane, GitHubLane):
        for pool in pools:
            yield from _device(path, lane, pool)
        yield from _privileges(path, lane)
    if isinstance(lane, GitLabLane):
        yield from _managers(path, lane)


def _gpu_model(path: str, lane: Lane, pool: Pool) -> Iterator[Finding]:
    # A pool without any GPU is told where jobs are placed.
    if lane.gpu is not None and pool.gpu is not None and pool.gpu != lane.gpu:
        yield Finding(
            rule="gpu-model",
            path=f"{path}.gpu",
            message=f"asks for {lane.gpu}, but the nodes of pool {pool.name} have {pool.gpu}",
            remedy=f"remove {pool.name} from the lane's pools, or correct gpu",
            reads=(f"{path}.gpu", f"{path}.pools", pool.path),
        )


def _device(path: str, lane: GitHubLane, pool: Pool) -> Iterator[Finding]:
    if lane.device is not None and lane.device not in pool.devices:
        yield Finding(
            rule="device",
            path=f"{path}.device",
            message=f"asks for {lane.device}, which pool {pool.name} does not offer",
            remedy=(
                f"add devices: {{{lane.device}: 4}} to that pool if its nodes have "
                f"/dev/{lane.device}, or use another pool"
            ),
            reads=(f"{path}.device", f"{path}.pools", f"{pool.path}.devices"),
        )


def _runtime_class(
    path: str, lane: Lane, pools: tuple[Pool, ...], *, has_operator: bool
) -> Iterator[Finding]:
    reads = (
        *(f"{path}.runtime_class", f"{path}.pools", f"{path}.gpus"),
        *(f"{pool.path}.runtime_class" for pool in pools),
    )
    if lane.runtime_class is not None:
        # The operator makes nvidia, nvidia-cdi and nvidia-legacy.
        made = has_operator and lane.runtime_class.startswith("nvidia")
        for pool in pools:
            if not made and pool.runtime_class != lane.runtime_class:
                yield Finding(
                    rule="runtime-class",
                    path=f"{path}.runtime_class",
                    message=(
                        f"is {lane.runtime_class}, which nothing says that pool {pool.name} has"
                    ),
                    remedy=(
                        f"add runtime_class: {lane.runtime_class} to a pool of an existing cluster "
                        "that has it; on other nodes remove it: nvidia is their default"
                    ),
                    reads=reads,
                )
    elif lane.gpus and len({pool.runtime_class for pool in pools}) > 1:
        yield Finding(
            rule="runtime-class",
            path=f"{path}.pools",
            message="names pools of different runtime_class; a job has one",
            remedy="make one lane for each",
            reads=reads,
        )


def _privileges(path: str, lane: GitHubLane) -> Iterator[Finding]:
    if lane.device_access == "privileged":
        yield Finding(
            rule="privileged",
            path=f"{path}.device_access",
            message="jobs run privileged: they see every device of the node, and can take it over",
            remedy="use device_access: plugin unless a job needs more than its device",
            severity="warning",
        )
    if lane.run_as_root:
        yield Finding(
            rule="privileged",
            path=f"{path}.run_as_root",
            message="jobs run as root in their container",
            remedy="where it is for a device only, name the device's group in supplemental_groups",
            severity="warning",
        )


def _managers(path: str, lane: GitLabLane) -> Iterator[Finding]:
    if lane.hpa is not None and lane.hpa.max_replicas > 1:
        most = lane.hpa.max_replicas * lane.concurrent
        yield Finding(
            rule="hpa",
            path=f"{path}.hpa",
            message=(
                f"up to {lane.hpa.max_replicas} managers run {lane.concurrent} jobs each, "
                f"{most} at once; they follow their own CPU, not the queue"
            ),
            remedy="where one manager is enough, raise concurrent instead",
            severity="warning",
            reads=(f"{path}.hpa", f"{path}.concurrent"),
        )
