"""The fields of clusters, pools and lanes that a comparison looks at, and what follows from them.

Stated is what somebody wrote; an effect follows from it, like the price from the instance type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from fleet.report.read import Data, count, part, rows, text, words

Fields = dict[str, Any]
"""Value by dotted name."""

_OURS = ("gpu-runners/", "nvidia.com/", "k8s.amazonaws.com/", "oci.oraclecloud.com/")
"""Prefixes of labels that a pool gets by itself, on a cluster that is made here."""

_POOL = ("kinds", "min", "max", "capacity", "zones", "paused", "time_slices", "mig_instances")
_POOL_EFFECTS = (
    *("gpu", "gpu_memory_gb", "gpus", "advertised", "idle", "driver"),
    *("free", "price", "usd_per_month"),
)
_LANE = ("url", "group", "write", "pools", "least_jobs", "most_jobs", "image", "container_mode")
_SIZES = {
    "cpu": "cpu_m",
    "memory": "memory_mib",
    "disk": "disk_mib",
    "shm": "shm_mib",
    "memory_limit": "memory_limit_mib",
}
_CLUSTER = ("kind", "region", "account", "compartment", "context", "version")
_OWN_TAG = "gpu-runners/cluster"
"""Says the cluster's name."""

_CLUSTER_MAPS = ("network", "tags", "charts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """The fields of one thing."""

    stated: Fields
    effects: Fields


def cluster_fields(cluster: Data) -> Split:
    """Of a cluster, its pools and lanes aside."""
    stated = {name: cluster.get(name) for name in _CLUSTER}
    for name in _CLUSTER_MAPS:
        stated |= _flat(name, cluster.get(name))
    stated.pop(f"tags.{_OWN_TAG}", None)
    effects = {name: cluster.get(name) for name in ("support_end", "support_rule")}
    return Split(stated=stated, effects={**effects, **_flat("usd_per_month", _money(cluster))})


def pool_fields(pool: Data, *, made_here: bool) -> Split:
    """Of a pool; `made_here` is whether its nodes are this program's."""
    stated: Fields = {name: pool.get(name) for name in _POOL}
    effects: Fields = {}
    stated |= _flat("devices", pool.get("devices"))
    for name, value in _flat("made_of", pool.get("made_of")).items():
        (effects if name == "made_of.max_pods" else stated)[name] = value
    for key, value in part(pool, "labels").items():
        own = made_here and key.startswith(_OURS)
        (effects if own else stated)[f"labels.{key}"] = value
    (effects if made_here else stated)["taints"] = pool.get("taints")
    for name in _POOL_EFFECTS:
        effects |= _flat(name, pool.get(name))
    return Split(stated=stated, effects=effects)


def lane_fields(lane: Data, *, beside: Data | None = None) -> Split:
    """Of a lane; `beside` is the one with which it is compared.

    A size that both leave out is an effect, and so is the number of jobs of a paused lane.
    """
    job, other = part(lane, "job"), part(beside if beside is not None else lane, "job")
    stated: Fields = {name: lane.get(name) for name in _LANE}
    stated |= {"paused": lane.get("paused"), "gpus": job.get("gpus"), "device": job.get("device")}
    effects: Fields = {
        **_flat("usd_per_job_hour", lane.get("usd_per_job_hour")),
        "jobs_on_full_pools": lane.get("jobs_on_full_pools"),
        "chart_version": lane.get("chart_version"),
    }
    left_out = {*words(job, "left_out")} & {*words(other, "left_out")}
    for name, key in _SIZES.items():
        (effects if name in left_out else stated)[name] = job.get(key)
    if beside is not None and lane.get("paused") != beside.get("paused"):
        effects |= {name: stated.pop(name) for name in ("least_jobs", "most_jobs")}
    for one in rows(lane, "placements"):
        place, jobs = f"jobs_per_node.{text(one, 'pool')}", count(one, "jobs_per_node")
        effects[place] = min(jobs, effects.get(place, jobs))
    return Split(stated=stated, effects=effects)


def changes(old: Fields, new: Fields) -> dict[str, dict[str, Any]]:
    """Fields that differ, in order, each with its old and its new value."""
    return {
        name: {"old": old.get(name), "new": new.get(name)}
        for name in dict.fromkeys((*old, *new))
        if _differ(name, old.get(name), new.get(name))
    }


def _differ(name: str, old: Any, new: Any) -> bool:
    """Zones, like subnets, are a set to the platforms."""
    if name == "zones":
        return _set(old) != _set(new)
    return old != new


def _set(value: Any) -> set[str]:
    return {str(one) for one in cast("Iterable[object]", value or ())}


def _money(cluster: Data) -> Data | None:
    return part(cluster, "usd_per_month") or None


def _flat(name: str, value: Any) -> Fields:
    return dict(_leaves(name, value))


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, Any]", value).items():
            yield from _leaves(f"{name}.{key}", item)
    else:
        yield name, value
