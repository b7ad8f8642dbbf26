"""Growing from zero: what an autoscaler imagines of a node that does not exist yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.catalog.oke import KUBELET_ARGUMENTS_METADATA
from fleet.checks.check import Problem, check
from fleet.checks.view import LaneView, View
from fleet.clusters.eks import EksPlan
from fleet.clusters.eks_pools import EksPool
from fleet.clusters.nodes import smallest
from fleet.clusters.oke import OkePlan, node_metadata
from fleet.clusters.oke_pools import OkePool
from fleet.kubernetes import labels as words
from fleet.kubernetes.labels import Taint
from fleet.kubernetes.pods import Effect
from fleet.kubernetes.resources import parse_cpu, parse_memory_mib
from fleet.kubernetes.scheduling import CPU, DISK, MEMORY, PODS, Amounts, lacking, selects
from fleet.kubernetes.scheduling import untolerated as taints_against

_PREFIX = "k8s.io/cluster-autoscaler/"
_TEMPLATE = f"{_PREFIX}node-template/"
_TAINTS_FLAG = "--register-with-taints="
_EFFECTS: Mapping[str, Effect] = {
    "NoSchedule": "NoSchedule",
    "PreferNoSchedule": "PreferNoSchedule",
    "NoExecute": "NoExecute",
}


@check("scale-from-zero")
def scale_from_zero(view: View) -> Iterator[Problem]:
    """Pools that an autoscaler would never grow, because it sees no use in a first node."""
    for cluster in view.plan.clusters:
        lanes = view.lanes_of(cluster)
        by_pool: dict[str, list[LaneView]] = {}
        for lane in lanes:
            for name in lane.job.pools:
                by_pool.setdefault(name, []).append(lane)
        platform = cluster.platform
        if isinstance(platform, EksPlan):
            for pool in platform.pools:
                if pool.min_size == pool.max_size:
                    continue
                if cluster.autoscaler is None:
                    yield _never(pool, "the cluster has no cluster-autoscaler", "add one")
                    continue
                yield from _undiscovered(pool, platform.name)
                yield from _imagined_eks(pool, by_pool.get(pool.name, []))
        if isinstance(platform, OkePlan):
            for pool in platform.scaled_pools:
                yield from _imagined_oke(pool, by_pool.get(pool.name, []))


def _never(pool: EksPool | OkePool, why: str, remedy: str) -> Problem:
    return Problem(
        path=pool.path,
        message=f"has {pool.min_size} to {pool.max_size} nodes, but would never grow: {why}",
        remedy=remedy,
    )


def _undiscovered(pool: EksPool, cluster: str) -> Iterator[Problem]:
    for tag in (f"{_PREFIX}enabled", f"{_PREFIX}{cluster}"):
        if tag not in pool.autoscaling_tags:
            yield _never(
                pool,
                f"its Auto Scaling group lacks the tag {tag}, by which it is found",
                "restore the tag in fleet/clusters/eks_pools.py",
            )


def _imagined_eks(pool: EksPool, lanes: list[LaneView]) -> Iterator[Problem]:
    """A node as the tags describe it; its DaemonSets are taken off as the autoscaler does."""
    tags = pool.autoscaling_tags
    labels = _under(tags, "label/")
    taints = [
        Taint(key=key, value=value.partition(":")[0], effect=_EFFECTS[value.partition(":")[2]])
        for key, value in _under(tags, "taint/").items()
    ]
    resources = _under(tags, "resources/")
    busy = smallest(node.daemonsets for node in pool.nodes)
    has = Amounts(
        {
            **{name: int(amount) for name, amount in resources.items() if "/" in name},
            CPU: parse_cpu(resources.get(CPU, "0")) - busy.cpu_m,
            MEMORY: parse_memory_mib(resources.get(MEMORY, "0")) - busy.memory_mib,
            DISK: parse_memory_mib(resources.get(DISK, "0")),
            PODS: min(node.pods for node in pool.nodes),
        }
    )
    for lane in lanes:
        yield from _useless(pool, lane, labels, taints, has)


def _imagined_oke(pool: OkePool, lanes: list[LaneView]) -> Iterator[Problem]:
    """A node as the autoscaler's OCI provider imagines it: shape, labels, and metadata's taints."""
    arguments = node_metadata(pool).get(KUBELET_ARGUMENTS_METADATA, "")
    taints = [
        Taint(
            key=text.partition("=")[0],
            value=text.partition("=")[2].partition(":")[0],
            effect=_EFFECTS[text.rpartition(":")[2]],
        )
        for text in arguments.partition(_TAINTS_FLAG)[2].split(",")
        if text
    ]
    imagined = {(taint.key, taint.effect) for taint in taints}
    for taint in pool.taints:
        if (taint.key, taint.effect) not in imagined:
            yield _never(
                pool,
                f"its metadata lacks the taint {taint.key}, so pods that it keeps off start nodes",
                "restore it in fleet/clusters/oke.py",
            )
    for lane in lanes:
        for pod in lane.pods.on_pool:
            if not selects(pod, pool.labels):
                yield _never(
                    pool,
                    f"jobs of {lane.plan.name} ask for labels that the pool does not declare",
                    "correct labels of the pool",
                )


def _useless(
    pool: EksPool,
    lane: LaneView,
    labels: Mapping[str, str],
    taints: list[Taint],
    has: Amounts,
) -> Iterator[Problem]:
    """A lane whose job would fit a node that is there, and not the one that is imagined."""
    asked = lane.asked
    real = Amounts(
        {
            CPU: pool.free().cpu_m,
            MEMORY: pool.free().memory_mib,
            DISK: pool.free().disk_mib,
            PODS: has[PODS],
            words.GPU_RESOURCE: pool.advertised,
        }
    )
    missing = [name for name in lacking(asked, has) if name not in lacking(asked, real)]
    if missing:
        yield _never(
            pool,
            f"for jobs of {lane.plan.name} the tags of its group say too little "
            f"{' and '.join(missing)}",
            f"restore the tag {_TEMPLATE}resources/{missing[0]}",
        )
    if not all(selects(pod, labels) for pod in lane.pods.on_pool):
        yield _never(
            pool,
            f"jobs of {lane.plan.name} ask for labels that the tags of its group lack",
            f"restore the tags {_TEMPLATE}label/…",
        )
    imagined = {(taint.key, taint.effect) for taint in taints}
    lost = [taint.key for taint in pool.taints if (taint.key, taint.effect) not in imagined]
    if lost:
        yield _never(
            pool,
            f"the tags of its group lack the taint {lost[0]}, so pods that it keeps off start "
            "nodes for nothing",
            f"restore the tag {_TEMPLATE}taint/{lost[0]}",
        )
    kept_off = [
        taint.key
        for pod in lane.pods.on_pool
        for taint in taints_against(pod, taints)
        if taint.key != words.PAUSED_TAINT.key and taint.key not in {t.key for t in pool.taints}
    ]
    if kept_off:
        yield _never(
            pool,
            f"the tags of its group name the taint {kept_off[0]}, which its nodes do not have",
            f"remove the tag {_TEMPLATE}taint/{kept_off[0]}",
        )


def _under(tags: Mapping[str, str], part: str) -> dict[str, str]:
    prefix = f"{_TEMPLATE}{part}"
    return {
        key.removeprefix(prefix): value for key, value in tags.items() if key.startswith(prefix)
    }
