"""What a lane requires of its pools: GPU model, GPU memory, host device, RuntimeClass."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.checks.check import check
from fleet.checks.view import LaneView, View
from fleet.clusters.nodes import Node, Pool
from fleet.findings import Finding, Severity
from fleet.kubernetes.resources import format_memory


@check("gpu-model")
def gpu_models(view: View) -> Iterator[Finding]:
    """Lanes that require a GPU model which one of their pools does not have."""
    for lane in view.lanes:
        for pool in lane.pools:
            # A pool without GPUs is a finding of gpu-pool.
            if lane.spec.gpu is not None and pool.gpu not in (None, lane.spec.gpu):
                yield gpu_models.finding(
                    f"{lane.path}.gpu",
                    message=(
                        f"is {lane.spec.gpu}, but the nodes of pool {pool.name} have {pool.gpu}: "
                        "jobs there would get another GPU"
                    ),
                    remedy=f"remove {pool.name} from the lane's pools, or correct gpu",
                )


@check("gpu-memory")
def gpu_memory(view: View) -> Iterator[Finding]:
    """Jobs that need more GPU memory than a pool's GPUs, or their share of one, have."""
    for lane in view.lanes:
        need = lane.spec.gpu_memory
        for pool in lane.pools:
            for node in pool.nodes:
                has = node.gpu_memory_mib
                if need is None or not has or need <= has // pool.time_slices:
                    continue
                if need <= has:
                    what = f", which {pool.time_slices} jobs share: the last one to allocate fails"
                    remedy = "use fewer slices, or pools of larger GPUs"
                else:
                    what = ": jobs would fail with CUDA out of memory"
                    remedy = "use pools of larger GPUs, or lower gpu_memory to what a job needs"
                yield gpu_memory.finding(
                    f"{lane.path}.gpu_memory",
                    message=(
                        f"is {format_memory(need)}, but a GPU of pool {pool.name} ({node.kind}) "
                        f"has {format_memory(has)} for jobs{what}"
                    ),
                    remedy=remedy,
                    severity=_memory_severity(pool, node, need),
                )


def _memory_severity(pool: Pool, node: Node, need_mib: int) -> Severity:
    """Return an error only if a job certainly fails.

    Jobs on a shared GPU need not be large at the same time. On an existing cluster, ECC may be
    switched off, which leaves more memory than the catalog has.
    """
    if need_mib <= node.gpu_memory_mib:
        return "warning"
    certain = pool.capacity != "existing" or need_mib >= node.gpu_memory_gb * 1024
    return "error" if certain else "warning"


@check("device")
def devices(view: View) -> Iterator[Finding]:
    """Lanes that require a host device which one of their pools does not offer."""
    for lane in view.lanes:
        device = lane.job.device
        for pool in lane.pools:
            if device is not None and device not in pool.devices:
                yield devices.finding(
                    f"{lane.path}.device",
                    message=(
                        f"is {device}, which pool {pool.name} does not offer: jobs would stay "
                        "Pending there"
                    ),
                    remedy=(
                        f"add devices: {{{device}: 4}} to that pool if its nodes have "
                        f"/dev/{device}, or use another pool"
                    ),
                )


@check("runtime-class")
def runtime_classes(view: View) -> Iterator[Finding]:
    """Lanes that use a RuntimeClass which their nodes lack, or pools that need different ones."""
    for lane in view.lanes:
        operator = view.spec_of(lane.cluster).gpu_stack.operator
        yield from _runtime_class(lane, has_operator=operator is not None)


def _runtime_class(lane: LaneView, *, has_operator: bool) -> Iterator[Finding]:
    wanted = lane.spec.runtime_class
    if wanted is not None:
        # The operator creates nvidia, nvidia-cdi and nvidia-legacy.
        created = has_operator and wanted.startswith("nvidia")
        for pool in lane.pools:
            if not created and pool.runtime_class != wanted:
                yield runtime_classes.finding(
                    f"{lane.path}.runtime_class",
                    message=(
                        f"is {wanted}, which pool {pool.name} does not declare: without the "
                        "RuntimeClass, Kubernetes refuses the pods"
                    ),
                    remedy=(
                        f"add runtime_class: {wanted} to a pool of an existing cluster that has "
                        "it; on other nodes remove it, because nvidia is their default runtime"
                    ),
                )
    elif lane.job.gpus and len({pool.runtime_class for pool in lane.pools}) > 1:
        yield runtime_classes.finding(
            f"{lane.path}.pools",
            message=(
                "have different runtime_class, but a job's pod has one: on the other pools it "
                "would see no GPU"
            ),
            remedy="make one lane for each runtime_class",
        )


@check("hpa", "warning")
def managers(view: View) -> Iterator[Finding]:
    """GitLab lanes with several runner managers, each of which runs `concurrent` jobs."""
    for lane in view.gitlab_lanes:
        spec = lane.spec
        if spec.hpa is not None and spec.hpa.max_replicas > 1:
            yield managers.finding(
                f"{lane.path}.hpa",
                message=(
                    f"allows {spec.hpa.max_replicas} managers of {spec.concurrent} jobs each: up "
                    f"to {spec.hpa.max_replicas * spec.concurrent} jobs run at once, and the "
                    "number of managers follows their CPU, not the queue"
                ),
                remedy="if one manager is enough, remove hpa and raise concurrent instead",
            )


@check("runner-group", "warning")
def runner_groups(view: View) -> Iterator[Finding]:
    """Lanes of one repository that name a runner group, which only organisations have.

    Source: https://docs.github.com/en/actions/concepts/runners/runner-groups.
    """
    for lane in view.github_lanes:
        url = lane.forge.url.rstrip("/")
        owner = url.split("/")[3:]
        if lane.spec.group is not None and len(owner) > 1 and owner[0] != "enterprises":
            yield runner_groups.finding(
                f"{lane.path}.group",
                message=(
                    f"is {lane.spec.group}, but {url} is a repository: only organisations "
                    "and enterprises have runner groups, so GitHub refuses the scale set"
                ),
                remedy=(
                    f"remove group, or use the organisation's url, like {url.rpartition('/')[0]}"
                ),
            )
