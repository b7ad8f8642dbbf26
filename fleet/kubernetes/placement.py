"""Where pods go: the node affinity and the tolerations that a list of pools stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fleet.clusters.nodes import Pool
from fleet.kubernetes import labels as words
from fleet.kubernetes.pods import Affinity, Toleration, selector_affinity


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """Nodes that pods must have, and the taints of those nodes that they bear."""

    affinity: Affinity
    tolerations: tuple[Toleration, ...]


ANYWHERE = Placement(affinity=selector_affinity([{"kubernetes.io/os": "linux"}]), tolerations=())
"""Any Linux node without a taint."""


def job_affinity(pools: Sequence[Pool]) -> Affinity:
    """Requires one of the pools, the earlier the rather."""
    return selector_affinity([pool.selector for pool in pools])


def job_tolerations(pools: Iterable[Pool]) -> tuple[Toleration, ...]:
    """Tolerations of a lane's jobs: a paused pool takes no new ones."""
    return _tolerations(pools, but=words.PAUSED_TAINT.key)


def daemonset_placement(pools: Sequence[Pool]) -> Placement:
    """The GPU pools of the cluster, whatever their taints, a paused one included.

    By this program's label where it sets labels, so that it covers a pool that is added.
    """
    if all(pool.labels.get(words.ROLE_LABEL) == "gpu" for pool in pools):
        affinity = selector_affinity([{words.ROLE_LABEL: "gpu"}])
    else:
        affinity = selector_affinity([pool.selector for pool in pools], in_order=False)
    return Placement(affinity=affinity, tolerations=_tolerations(pools))


def system_placement(pools: Sequence[Pool]) -> Placement:
    """The CPU pools, where controllers, listeners and runner managers live.

    An existing cluster may have none to spare: then where a device of the host is, or the GPUs.
    """
    cpu = [pool for pool in pools if pool.role == "system"]
    system = [pool for pool in cpu if not pool.devices] or cpu or list(pools)
    if all(words.ROLE_LABEL in pool.labels for pool in system):
        affinity = selector_affinity([{words.ROLE_LABEL: "system"}])
    else:
        affinity = selector_affinity([pool.selector for pool in system], in_order=False)
    return Placement(affinity=affinity, tolerations=job_tolerations(system))


def daemonset_tolerations(pools: Iterable[Pool]) -> tuple[Toleration, ...]:
    """Tolerations of every taint of the pools."""
    return _tolerations(pools)


def _tolerations(pools: Iterable[Pool], *, but: str | None = None) -> tuple[Toleration, ...]:
    taints = {
        (taint.key, taint.effect): taint
        for pool in pools
        for taint in pool.taints
        if taint.key != but
    }
    return tuple(taint.tolerated() for taint in taints.values())
