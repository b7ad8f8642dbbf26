"""The fields by which clusters, pools and lanes of two reports are compared.

A field is stated if the stack file decides it, and an effect if it follows from stated ones, like
the price from the instance type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from change.values import ABSENT, leaves
from fleet.report.model import Cluster, Lane, Pool, Section, filled

_OWN_LABELS = ("gpu-runners/", "nvidia.com/", "k8s.amazonaws.com/", "oci.oraclecloud.com/")
"""Prefixes of labels that this program puts on the nodes of its clusters."""

_CLUSTER_TAG = "gpu-runners/cluster"
"""Its value is the cluster's name."""

_SIZES = {
    "cpu": "cpu_m",
    "memory": "memory_mib",
    "disk": "disk_mib",
    "shm": "shm_mib",
    "memory_limit": "memory_limit_mib",
}
"""Key in the stack file -> key in the report."""


class Values(Section):
    """One field in both revisions; `None` if it is absent."""

    old: bool | int | float | str | list[str] | None = None
    new: bool | int | float | str | list[str] | None = None


Changes = dict[str, Values]
"""Old and new values by dotted path."""

Body = TypeVar("Body", Cluster, Pool, Lane)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fields:
    """The fields of one cluster, pool or lane, as nested maps."""

    stated: dict[str, Any]
    effects: dict[str, Any]


def field_changes(old: Body, new: Body, *, managed: bool = True) -> tuple[Changes, Changes]:
    """Return the stated fields and the effects that differ.

    `managed`: whether the nodes of a pool belong to this program, which then sets labels on them.
    """
    old, new = filled(old, new), filled(new, old)
    if isinstance(old, Cluster) and isinstance(new, Cluster):
        before, after = _cluster(old), _cluster(new)
    elif isinstance(old, Pool) and isinstance(new, Pool):
        before, after = _pool(old, managed), _pool(new, managed)
    elif isinstance(old, Lane) and isinstance(new, Lane):
        before, after = _lane(old, other=new), _lane(new, other=old)
    else:
        raise TypeError("two revisions of one cluster, pool or lane are compared")
    return changes(before.stated, after.stated), changes(before.effects, after.effects)


def changes(old: dict[str, Any], new: dict[str, Any]) -> Changes:
    """Return the leaves that differ, by path."""
    found = {leaf.path: [_present(value) for value in leaf[1:]] for leaf in leaves(old, new)}
    return {path: Values(old=a, new=b) for path, (a, b) in found.items() if a != b}


def _present(value: Any) -> Any:
    return None if value is ABSENT or value == {} else value


def _cluster(cluster: Cluster) -> Fields:
    effects = {"support_end", "support_rule", "usd_per_month"}
    stated = cluster.model_dump(exclude={*effects, "drivers", "pools", "lanes"})
    stated["tags"].pop(_CLUSTER_TAG, None)
    return Fields(stated=stated, effects=cluster.model_dump(include=effects))


def _pool(pool: Pool, managed: bool) -> Fields:
    keys = {"kinds", "min", "max", "capacity", "paused", "time_slices", "mig_instances", "devices"}
    own = {key for key in pool.labels if managed and key.startswith(_OWN_LABELS)}
    stated = {
        **pool.model_dump(include=keys),
        "zones": sorted(pool.zones),
        "made_of": pool.made_of.model_dump(exclude={"max_pods"}),
        "labels": {key: value for key, value in pool.labels.items() if key not in own},
    }
    keys = {"gpu", "gpu_memory_gb", "gpus", "advertised", "idle", "driver", "free", "price"}
    effects = {
        **pool.model_dump(include={*keys, "usd_per_month"}),
        "made_of": {"max_pods": pool.made_of.max_pods},
        "labels": {key: pool.labels[key] for key in own},
    }
    (effects if managed else stated)["taints"] = pool.taints
    return Fields(stated=stated, effects=effects)


def _lane(lane: Lane, *, other: Lane) -> Fields:
    """Split the fields of a lane; `other` is the same lane in the other revision.

    A size that both leave out is an effect, and so is the number of jobs if only one is paused.
    """
    keys = {"url", "group", "owner", "write", "pools", "image", "runner_image", "container_mode"}
    keys |= {"paused", "drain_minutes"}
    stated = {
        **lane.model_dump(include=keys),
        **lane.job.model_dump(include={"gpus", "device"}),
    }
    effects = lane.model_dump(include={"usd_per_job_hour", "jobs_on_full_pools", "chart_version"})
    left_out = {*lane.job.left_out} & {*other.job.left_out}
    for name, key in _SIZES.items():
        (effects if name in left_out else stated)[name] = getattr(lane.job, key)
    jobs = lane.model_dump(include={"least_jobs", "most_jobs"})
    (stated if lane.paused == other.paused else effects).update(jobs)
    fewest: dict[str, int] = {}
    for one in lane.placements:
        fewest[one.pool] = min(fewest.get(one.pool, one.jobs_per_node), one.jobs_per_node)
    return Fields(stated=stated, effects={**effects, "jobs_per_node": fewest})
