"""What a lane asks of its pools besides room: GPU model, host device, RuntimeClass; managers."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View
from fleet.clusters.nodes import Node, Pool
from fleet.config.github import GitHubLane
from fleet.config.gitlab import GitLabLane
from fleet.findings import Severity
from fleet.kubernetes.resources import format_memory


@check("gpu-model")
def gpu_models(view: View) -> Iterator[Problem]:
    """Lanes that ask for a GPU model which a pool of theirs does not have."""
    for lane in view.lanes:
        for pool in lane.pools:
            # A pool without any GPU is told where jobs are placed.
            if lane.spec.gpu is not None and pool.gpu not in (None, lane.spec.gpu):
                yield Problem(
                    path=f"{lane.path}.gpu",
                    message=(
                        f"asks for {lane.spec.gpu}, but the nodes of pool {pool.name} have "
                        f"{pool.gpu}"
                    ),
                    remedy=f"remove {pool.name} from the lane's pools, or correct gpu",
                )


@check("gpu-memory")
def gpu_memory(view: View) -> Iterator[Problem]:
    """Jobs that need more memory of a GPU than a pool's GPUs, or their share of one, have."""
    for lane in view.lanes:
        need = lane.spec.gpu_memory
        for pool in lane.pools:
            for node in pool.nodes:
                if need is None or not node.gpu_memory_mib:
                    continue
                has = node.gpu_memory_mib
                share = has // pool.time_slices
                if need <= share:
                    continue
                yield Problem(
                    path=f"{lane.path}.gpu_memory",
                    message=(
                        f"is {format_memory(need)}, but a GPU of pool {pool.name} ({node.kind}) "
                        f"has {format_memory(has)} for jobs"
                        + (
                            f", which {pool.time_slices} jobs share: the last to allocate runs out"
                            if need <= has
                            else ": jobs would end with CUDA out of memory"
                        )
                    ),
                    remedy=(
                        "use fewer slices, or pools of larger GPUs"
                        if need <= has
                        else "use pools of larger GPUs, or lower gpu_memory to what a job needs"
                    ),
                    severity=_memory_severity(pool, node, need),
                )


def _memory_severity(pool: Pool, node: Node, need_mib: int) -> Severity:
    """Whether a job certainly fails.

    Jobs of a shared GPU need not be large at the same time, and whoever owns a node may have
    switched its ECC off, which leaves more than the catalog says.
    """
    if need_mib <= node.gpu_memory_mib:
        return "warning"
    certain = pool.capacity != "existing" or need_mib >= node.gpu_memory_gb * 1024
    return "error" if certain else "warning"


@check("device")
def devices(view: View) -> Iterator[Problem]:
    """Lanes that ask for a device of the host which a pool of theirs does not offer."""
    for lane in view.lanes:
        device = lane.job.device
        for pool in lane.pools:
            if device is not None and device not in pool.devices:
                yield Problem(
                    path=f"{lane.path}.device",
                    message=f"asks for {device}, which pool {pool.name} does not offer",
                    remedy=(
                        f"add devices: {{{device}: 4}} to that pool if its nodes have "
                        f"/dev/{device}, or use another pool"
                    ),
                )


@check("runtime-class")
def runtime_classes(view: View) -> Iterator[Problem]:
    """Lanes whose jobs need a RuntimeClass that is not there, or two at once."""
    for lane in view.lanes:
        operator = view.spec_of(lane.cluster).gpu_stack.operator
        yield from _runtime_class(lane, has_operator=operator is not None)


def _runtime_class(lane: LaneView, *, has_operator: bool) -> Iterator[Problem]:
    path, pools, wanted = lane.path, lane.pools, lane.spec.runtime_class
    if wanted is not None:
        # The operator makes nvidia, nvidia-cdi and nvidia-legacy.
        made = has_operator and wanted.startswith("nvidia")
        for pool in pools:
            if not made and pool.runtime_class != wanted:
                yield Problem(
                    path=f"{path}.runtime_class",
                    message=f"is {wanted}, which nothing says that pool {pool.name} has",
                    remedy=(
                        f"add runtime_class: {wanted} to a pool of an existing cluster that has "
                        "it; on other nodes remove it: nvidia is their default"
                    ),
                )
    elif lane.job.gpus and len({pool.runtime_class for pool in pools}) > 1:
        yield Problem(
            path=f"{path}.pools",
            message="names pools of different runtime_class; a job has one",
            remedy="make one lane for each",
        )


@check("hpa", "warning")
def managers(view: View) -> Iterator[Problem]:
    """Several runner managers of one lane, which multiply its jobs."""
    for lane in view.lanes:
        spec = lane.spec
        if isinstance(spec, GitLabLane) and spec.hpa is not None and spec.hpa.max_replicas > 1:
            most = spec.hpa.max_replicas * spec.concurrent
            yield Problem(
                path=f"{lane.path}.hpa",
                message=(
                    f"up to {spec.hpa.max_replicas} managers run {spec.concurrent} jobs each, "
                    f"{most} at once; they follow their own CPU, not the queue"
                ),
                remedy="where one manager is enough, raise concurrent instead",
            )


@check("runner-group", "warning")
def runner_groups(view: View) -> Iterator[Problem]:
    """Lanes of one repository that name a runner group, which only organisations have.

    Source: https://docs.github.com/en/actions/concepts/runners/runner-groups.
    """
    for lane in view.lanes:
        github = view.spec_of(lane.cluster).github
        if not isinstance(lane.spec, GitHubLane) or github is None or lane.spec.group is None:
            continue
        owner = github.url.rstrip("/").split("/")[3:]
        if len(owner) > 1 and owner[0] != "enterprises":
            yield Problem(
                path=f"{lane.path}.group",
                message=(
                    f"is {lane.spec.group}, but {github.url} is a repository: runner groups belong "
                    "to an organisation or an enterprise"
                ),
                remedy="remove group, or let the organisation own the runners by its url",
            )
