"""Between a card and the job that has it: libraries, Docker's containers, and what nobody asks for.

Sources: NVIDIA's container toolkit, "Specialized Configurations with Docker" (driver capabilities);
actions/actions-runner-controller pull request 2553 (the Docker daemon beside a job has no GPU).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View
from fleet.config.github import GitHubLane
from fleet.config.gitlab import GitLabLane
from fleet.config.lanes import VISIBLE_DEVICES, visible_indexes

_VARIABLE: Final = "NVIDIA_DRIVER_CAPABILITIES"
_NEEDED: Final = {
    "compute": "CUDA's libraries of the driver, so that CUDA finds no GPU",
    "utility": "nvidia-smi, so that jobs do not find it",
}
"""Capability -> what the container toolkit leaves out of a container without it."""


@check("driver-capabilities", "warning")
def driver_capabilities(view: View) -> Iterator[Problem]:
    """GPU lanes whose containers get their card without CUDA's libraries, or without nvidia-smi."""
    for lane in view.lanes:
        found = _capabilities(lane) if lane.job.gpus else None
        if found is None:
            continue
        key, given = found
        missing = [name for name in _NEEDED if name not in given]
        if missing and "all" not in given:
            yield Problem(
                path=f"{lane.path}.{key}",
                message=(
                    f"leaves out {' and '.join(missing)}: the container toolkit may not bring "
                    f"{', and not '.join(_NEEDED[name] for name in missing)}"
                ),
                remedy=f"add {' and '.join(missing)}",
            )


def _capabilities(lane: LaneView) -> tuple[str, tuple[str, ...]] | None:
    """What a lane says, and where; None where the toolkit's own default (both) counts."""
    text = lane.spec.env.get(_VARIABLE)
    if text is not None:
        return f"env.{_VARIABLE}", tuple(part.strip() for part in text.split(","))
    if isinstance(lane.spec, GitLabLane):
        return "driver_capabilities", lane.spec.driver_capabilities
    return None


@check("visible-devices", "warning")
def hidden_gpus(view: View) -> Iterator[Problem]:
    """GPU lanes whose environment hides GPUs from jobs; one that leaves none is refused."""
    for lane in view.lanes:
        text = lane.spec.env.get(VISIBLE_DEVICES)
        if text is None or not lane.job.gpus:
            continue
        seen = visible_indexes(text, lane.job.gpus)
        if seen is not None and len(seen) == lane.job.gpus:
            continue
        yield Problem(
            path=f"{lane.path}.env.{VISIBLE_DEVICES}",
            message=(
                "names a GPU of one node: jobs on another node, or with another card, see none"
                if seen is None
                else f"leaves a job {len(seen)} of its {lane.job.gpus} GPUs"
            ),
            remedy="remove it; a job sees its own GPUs, and no others",
        )


@check("device-group", "note")
def unopened_devices(view: View) -> Iterator[Problem]:
    """Lanes with /dev/dri whose jobs' user may not be in the group to which it belongs."""
    for lane in view.lanes:
        spec = lane.spec
        if (
            isinstance(spec, GitHubLane)
            and spec.device == "dri"
            and spec.device_access == "plugin"
            and not spec.supplemental_groups
            and not spec.run_as_root
        ):
            yield Problem(
                path=f"{lane.path}.device",
                message=(
                    "is dri, which belongs to root and a group of the node; the job's user may "
                    "not open it"
                ),
                remedy=(
                    "name the device's group in supplemental_groups: stat -c %g /dev/dri/renderD128"
                ),
            )


@check("docker-gpus", "warning")
def docker_gpus(view: View) -> Iterator[Problem]:
    """GPU lanes with a Docker daemon, whose containers see no GPU."""
    for lane in view.lanes:
        if (
            isinstance(lane.spec, GitHubLane)
            and lane.spec.container_mode == "dind"
            and lane.job.gpus
        ):
            yield Problem(
                path=f"{lane.path}.container_mode",
                message=(
                    "is dind: only the job's own steps see its GPU; containers that it starts by "
                    "docker see none"
                ),
                remedy=(
                    "use kubernetes-novolume, where a job's container gets the GPU, or a lane "
                    "without gpus on CPU nodes for Docker builds"
                ),
            )


@check("gpu-stack-unused", "warning")
def unused_gpu_stacks(view: View) -> Iterator[Problem]:
    """Clusters that choose a GPU stack and have no GPU pool: nothing of it is installed."""
    for cluster in view.plan.clusters:
        stack = view.spec_of(cluster).gpu_stack
        chosen = [
            key
            for key in ("advertiser", "operator")
            if getattr(stack, key) not in (None, "provider")
        ]
        if chosen and all(pool.gpu is None for pool in cluster.pools):
            yield Problem(
                path=f"clusters.{cluster.name}.gpu_stack",
                message=(
                    f"says {' and '.join(chosen)}, but no pool of the cluster has GPUs: nothing of "
                    "it is installed"
                ),
                remedy="add a GPU pool (of an existing cluster: gpu and gpus), or remove gpu_stack",
            )


@check("device-unused", "warning")
def unused_devices(view: View) -> Iterator[Problem]:
    """Pools that offer a device of the host for which no lane of theirs asks."""
    for cluster in view.plan.clusters:
        offering = [pool for pool in cluster.pools if pool.devices]
        theirs: dict[str, list[LaneView]] = {pool.name: [] for pool in offering}
        for lane in view.lanes_of(cluster) if offering else ():
            for name in lane.job.pools:
                if name in theirs:
                    theirs[name].append(lane)
        for pool in offering:
            lanes = theirs[pool.name]
            for device in sorted(pool.devices.keys() - {lane.job.device for lane in lanes}):
                yield Problem(
                    path=f"{pool.path}.devices.{device}",
                    message=(
                        f"is offered, but no lane of the pool asks for it: jobs there see no "
                        f"/dev/{device}"
                    ),
                    remedy=f"add device: {device} to a lane of the pool, or remove it here",
                )
