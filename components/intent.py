"""Keyword arguments of components as the models of the stack file.

A component takes either a piece of the plan, as this program does, or keywords that have the names
of the keys in a stack file. The keywords pass through the same models and the same functions of
`fleet`, so that defaults, limits and messages are the same for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypedDict, TypeVar

import pulumi

from fleet.clusters import nodes
from fleet.clusters.nodes import ANYWHERE, Placement, Pool
from fleet.config.base import Model
from fleet.config.load import parse_as
from fleet.findings import errors

_Config = TypeVar("_Config", bound=Model)


class LaneOptions(TypedDict, total=False):
    """The keys that GitHub lanes and GitLab lanes share, see `fleet.config.lanes.Lane`."""

    gpus: int
    gpu: str | None
    gpu_memory: str | None
    cpu: int | str | None
    memory: str | None
    memory_limit: str | None
    disk: str | None
    shm: str | None
    image: str | None
    cuda: str | None
    runtime_class: str | None
    kubernetes_access: Mapping[str, Any] | None
    env: Mapping[str, str]
    paused: bool
    drain_minutes: int


class PoolComponent(Protocol):
    """A component that registers one pool of nodes."""

    @property
    def plan(self) -> Pool:
        """Labels, taints and size of the nodes."""
        ...

    @property
    def ready(self) -> Sequence[pulumi.Resource]:
        """Resources that must exist before a job can run on the pool."""
        ...


AnyPool: TypeAlias = PoolComponent | Pool
"""A pool that a component registers, or the description of nodes that exist."""


class InvalidArguments(pulumi.RunError):
    """Invalid arguments of a component; the engine prints the error without a traceback."""

    def __init__(self, component: str, mistakes: Iterable[str]) -> None:
        super().__init__("\n".join([f"{component}: invalid arguments.", *mistakes]))


def read(
    model: type[_Config], component: str, keywords: Mapping[str, object], *, within: str = ""
) -> _Config:
    """Return keywords as a model of the stack file; None counts as absent.

    `within` is the path of the keywords in the model, which messages leave out.
    Raises InvalidArguments with every mistake, each with the name of the argument and a remedy.
    """
    outputs = [key for key, value in keywords.items() if isinstance(value, pulumi.Output)]
    if outputs:
        raise InvalidArguments(
            component,
            (
                f"  {key}: is a pulumi.Output, but decides which resources exist.\n"
                "    Give a plain value, for example from pulumi.Config."
                for key in outputs
            ),
        )
    given = {key: value for key, value in keywords.items() if value is not None}
    parsed = parse_as(model, given, "pass keyword arguments")
    if parsed.stack is None or errors(parsed.findings):
        raise InvalidArguments(
            component,
            (
                f"  {one.path.removeprefix(within).lstrip('.') or 'arguments'}: {one.message}.\n"
                f"    {one.remedy}"
                for one in errors(parsed.findings)
            ),
        )
    return parsed.stack


def pool_plans(component: str, pools: Sequence[AnyPool]) -> tuple[Pool, ...]:
    """Return the plan of each pool. Raises InvalidArguments without a pool."""
    if not pools:
        raise InvalidArguments(
            component,
            ["  pools: is empty.\n    Pass at least one pool, for example pools=[t4]."],
        )
    named = [pool for pool in pools if isinstance(pool, str)]
    if named:
        raise InvalidArguments(
            component,
            [
                f"  pools: has the name {name!r}.\n    Pass the pool itself, for example the "
                "GpuNodeGroup, or existing_pool(...) for nodes that exist already."
                for name in named
            ],
        )
    return tuple(pool if isinstance(pool, Pool) else pool.plan for pool in pools)


def lane_pools(component: str, pools: Sequence[AnyPool], gpus: int) -> tuple[Pool, ...]:
    """Return the plans of a lane's pools.

    Raises InvalidArguments without a pool, and if no node of a pool has enough GPUs for a job.
    """
    plans = pool_plans(component, pools)
    small = [pool for pool in plans if pool.advertised < gpus]
    if small:
        raise InvalidArguments(
            component,
            [
                f"  gpus: is {gpus}, but a node of {pool.name} offers {pool.advertised}.\n"
                f"    Lower gpus, or pass pools with at least {gpus} GPUs on a node."
                for pool in small
            ],
        )
    return plans


def lane_keywords(lane: Mapping[str, Any], pools: Iterable[Pool]) -> dict[str, Any]:
    """Return the keywords of a lane with the names of its pools, without absent ones."""
    given = {key: value for key, value in lane.items() if value is not None}
    return {**given, "pools": [pool.name for pool in pools]}


def system_placement(pools: Sequence[AnyPool]) -> Placement:
    """Return where controllers run: on these pools, or on any node without a taint."""
    if not pools:
        return ANYWHERE
    return nodes.system_placement([pool if isinstance(pool, Pool) else pool.plan for pool in pools])


def pool_resources(pools: Iterable[AnyPool]) -> list[pulumi.Resource]:
    """Return what must exist before jobs can run on the pools; nothing for existing nodes."""
    return [one for pool in pools if not isinstance(pool, Pool) for one in pool.ready]
