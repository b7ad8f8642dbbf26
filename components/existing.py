"""Pools of nodes that exist already, described for the GPU stack and for lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

from components import intent
from fleet.clusters import existing
from fleet.clusters.nodes import Pool
from fleet.config.existing import ExistingPool
from fleet.config.gpu_stack import Advertiser
from fleet.gpu_stack.ownership import Ownership


class ExistingPoolOptions(TypedDict, total=False):
    """The keys of an existing pool in a stack file, see `fleet.config.existing.ExistingPool`."""

    cpu: int | str
    memory: str
    disk: str
    count: int
    max_pods: int
    labels: Mapping[str, str]
    taints: Sequence[Mapping[str, str]]
    gpu: str | None
    gpus: int | None
    driver: str | None
    runtime_class: str | None
    container_runtime: Literal["containerd", "crio"]
    sharing: Mapping[str, Any] | None
    devices: Mapping[str, int]


def existing_pool(
    name: str,
    *,
    cluster: str = "existing",
    advertiser: Advertiser = "provider",
    operator: bool = False,
    **pool: Unpack[ExistingPoolOptions],
) -> Pool:
    """Describe nodes by the keywords of an existing pool in a stack file; registers nothing.

    `advertiser` is the owner of `nvidia.com/gpu`, and `operator` is whether the GPU Operator runs
    in the cluster. Their pods take part of a node unless `provider` is the advertiser.
    """
    return existing.existing_pool(
        cluster,
        name,
        intent.read(ExistingPool, f"existing_pool {name}", pool),
        owners=Ownership(advertiser=advertiser, operator=operator),
    )
