"""Whether jobs can use the GPU or host device that they request.

Sources: NVIDIA's container toolkit, "Specialized Configurations with Docker" (driver capabilities);
actions/actions-runner-controller pull request 2553 (the Docker daemon of a job has no GPU).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fleet.checks.check import check
from fleet.checks.view import LaneView, View
from fleet.config.gitlab import GitLabLane
from fleet.config.lanes import VISIBLE_DEVICES, visible_indexes
from fleet.findings import Finding

_VARIABLE: Final = "NVIDIA_DRIVER_CAPABILITIES"
_NEEDED: Final = {
    "compute": "the driver's CUDA libraries, so CUDA finds no GPU",
    "utility": "nvidia-smi, so jobs do not find it",
}
"""Capability -> what a container lacks without it."""


@check("driver-capabilities", "warning")
def driver_capabilities(view: View) -> Iterator[Finding]:
    """GPU lanes whose containers get no CUDA libraries or no nvidia-smi."""
    for lane in view.lanes:
        found = _capabilities(lane) if lane.job.gpus else None
        if found is None:
            continue
        key, given = found
        missing = [name for name in _NEEDED if name not in given]
        if missing and "all" not in given:
            yield driver_capabilities.finding(
                f"{lane.path}.{key}",
                message=(
                    f"lacks {' and '.join(missing)}: containers may lack "
                    f"{'; and '.join(_NEEDED[name] for name in missing)}"
                ),
                remedy=f"add {' and '.join(missing)}",
            )


def _capabilities(lane: LaneView) -> tuple[str, tuple[str, ...]] | None:
    """Return the key that sets them and the value, `None` for the toolkit's default (both)."""
    text = lane.spec.env.get(_VARIABLE)
    if text is not None:
        return f"env.{_VARIABLE}", tuple(part.strip() for part in text.split(","))
    if isinstance(lane.spec, GitLabLane):
        return "driver_capabilities", lane.spec.driver_capabilities
    return None


@check("docker-gpus", "warning")
def docker_gpus(view: View) -> Iterator[Finding]:
    """GPU lanes with a Docker daemon, whose containers see no GPU."""
    for lane in view.github_lanes:
        if lane.spec.container_mode == "dind" and lane.job.gpus:
            yield docker_gpus.finding(
                f"{lane.path}.container_mode",
                message=(
                    "is dind on a GPU lane: the job's own steps see the GPU, but containers that "
                    "they start with docker do not"
                ),
                remedy=(
                    "use kubernetes-novolume, which gives the job's container the GPU, or build "
                    "images on a CPU lane without gpus"
                ),
            )


@check("visible-devices", "warning")
def hidden_gpus(view: View) -> Iterator[Finding]:
    """GPU lanes whose variables hide some GPUs from jobs; hiding all of them is an error."""
    for lane in view.lanes:
        text = lane.spec.env.get(VISIBLE_DEVICES)
        if text is None or not lane.job.gpus:
            continue
        seen = visible_indexes(text, lane.job.gpus)
        if seen is not None and len(seen) == lane.job.gpus:
            continue
        yield hidden_gpus.finding(
            f"{lane.path}.env.{VISIBLE_DEVICES}",
            message=(
                "names the UUID of one GPU: jobs that get another GPU see none"
                if seen is None
                else f"hides GPUs: a job gets {lane.job.gpus} and sees {len(seen)}"
            ),
            remedy="remove it; a job sees only the GPUs that it requested",
        )


@check("device-group", "note")
def unopened_devices(view: View) -> Iterator[Finding]:
    """Lanes with /dev/dri whose jobs may not be in the group that owns it."""
    for lane in view.github_lanes:
        spec = lane.spec
        if (
            spec.device == "dri"
            and spec.device_access == "plugin"
            and not spec.supplemental_groups
            and not spec.run_as_root
        ):
            yield unopened_devices.finding(
                f"{lane.path}.device",
                message=(
                    "is dri, which on most nodes belongs to root and a group: jobs outside the "
                    "group get Permission denied"
                ),
                remedy=(
                    "add the group that `stat -c %g /dev/dri/renderD128` prints on a node, like "
                    "supplemental_groups: [109]"
                ),
            )


@check("device-unused", "warning")
def unused_devices(view: View) -> Iterator[Finding]:
    """Pools that offer a host device that no lane of the pool uses."""
    for cluster in view.plan.clusters:
        offering = [pool for pool in cluster.pools if pool.devices]
        used = {
            (name, lane.job.device)
            for lane in (view.lanes_of(cluster) if offering else ())
            for name in lane.plan.pool_names
        }
        for pool in offering:
            for device in sorted(pool.devices):
                if (pool.name, device) not in used:
                    yield unused_devices.finding(
                        f"{pool.path}.devices.{device}",
                        message=(
                            f"is offered, but no lane of the pool has device: {device}: jobs there "
                            f"do not see /dev/{device}"
                        ),
                        remedy=f"add device: {device} to a lane of the pool, or remove it here",
                    )
