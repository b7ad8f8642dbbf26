"""Image names as the nodes' container runtime takes them.

CRI-O on OKE's images of Kubernetes 1.34 and later refuses short names. Which part of a reference is
a registry: distribution/reference normalize.go (it holds a dot or a colon, or is `localhost`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pulumi_rehearsal.standin.kubernetes import cluster
from pulumi_rehearsal.standin.properties import Properties, objects, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World


def is_qualified(reference: str) -> bool:
    """Whether the reference names its registry."""
    registry, separator, _ = reference.partition("/")
    return bool(separator) and (registry == "localhost" or "." in registry or ":" in registry)


def problems(references: Iterable[str], scope: str, world: World) -> Iterator[str]:
    """A sentence for each short name, in a cluster whose nodes refuse them."""
    refusing = [one for one in cluster.node_groups(world, scope) if one.refuses_short_names]
    if not refusing:
        return
    for reference in dict.fromkeys(references):
        if reference and not is_qualified(reference):
            yield (
                f"image {reference!r} is not fully qualified, and CRI-O on node pool "
                f"{refusing[0].name!r} refuses short names (OKE, Kubernetes 1.34 and later): name "
                "the registry, such as docker.io/library/..."
            )


def of_pod(spec: Properties) -> Iterator[str]:
    """The images of a pod's containers and volumes."""
    for group in ("initContainers", "containers"):
        for container in objects(spec, group):
            yield text(container, "image") or ""
    for volume in objects(spec, "volumes"):
        yield text(volume, "image.reference") or ""
