"""The lanes of a stack file, with their paths."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.config.lanes import Lane
from fleet.config.stack import Cluster


def lanes(cluster_name: str, cluster: Cluster) -> Iterator[tuple[str, Lane]]:
    """Every lane of a cluster with its path."""
    for forge, sides in (("github", cluster.github), ("gitlab", cluster.gitlab)):
        if sides is not None:
            for name, lane in sides.lanes.items():
                yield f"clusters.{cluster_name}.{forge}.lanes.{name}", lane
