"""Names that one part of a stack file uses and another declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from fleet.config.lanes import Lane
from fleet.config.stack import Cluster, Stack
from fleet.findings import Finding


def unknown_pools(stack: Stack, declared: Mapping[str, set[str]]) -> Iterator[Finding]:
    """Pools that a lane names and its cluster lacks.

    `declared` are the names in the file by cluster, also of pools that are wrong in themselves: the
    error of such a pool is told once, at the pool.
    """
    for cluster_name, pools in declared.items():
        if cluster_name not in stack.clusters:
            continue
        for path, lane in lanes(cluster_name, stack.clusters[cluster_name]):
            for name in lane.pools:
                if name not in pools:
                    near = get_close_matches(name, sorted(pools), n=1, cutoff=0.5)
                    others = [one for one, known in declared.items() if name in known]
                    hint = f"did you mean {near[0]}? " if near else ""
                    if others and not near:
                        hint = f"it is a pool of cluster {others[0]}; "
                    yield Finding(
                        rule="unknown-pool",
                        path=f"{path}.pools",
                        message=f"names the pool {name}, which cluster {cluster_name} lacks",
                        remedy=f"{hint}its pools are {', '.join(sorted(pools))}",
                    )


def lanes(cluster_name: str, cluster: Cluster) -> Iterator[tuple[str, Lane]]:
    """Every lane of a cluster with its path."""
    for forge, sides in (("github", cluster.github), ("gitlab", cluster.gitlab)):
        if sides is not None:
            for name, lane in sides.lanes.items():
                yield f"clusters.{cluster_name}.{forge}.lanes.{name}", lane
