"""Settings of the stack file that the rules depend on.

They are read from the file of the stack's name, because pulumi-policy gives a pack no stack
configuration: the engine sends it in ConfigureStack (pulumi/pulumi
pkg/resource/plugin/analyzer_plugin.go), but the Python SDK 1.21 does not read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import yaml

from fleet.config.load import parse
from fleet.config.stack import Charts, Cluster

ROOT: Final = Path(__file__).parent.parent
STACK_FILE: Final = "PULUMI_REHEARSAL_STACK_FILE"
"""Environment variable with the path of another file; a rehearsal sets it."""

_KEY: Final = "gpu-runners:stack"


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """The settings of a stack file for the rules; the defaults if there is no file."""

    charts: Charts = field(default_factory=Charts)
    privileged_lanes: frozenset[str] = frozenset()
    """Logical names of lanes whose stack file allows privileged containers."""
    pool_maxima: Mapping[str, int] = field(default_factory=dict[str, int])
    """Maximum size by logical name, for OKE node pools, whose inputs do not contain it."""


def declared(data: object) -> Declared:
    """Return the settings in the value of `gpu-runners:stack`; the defaults if it is invalid."""
    stack = parse(data).stack
    if stack is None:
        return Declared()
    return Declared(
        charts=stack.charts,
        privileged_lanes=frozenset(
            lane for name, cluster in stack.clusters.items() for lane in _privileged(name, cluster)
        ),
        pool_maxima={
            f"{name}-{pool}": spec.max_size
            for name, cluster in stack.clusters.items()
            if cluster.oke is not None
            for pool, spec in cluster.oke.pools.items()
        },
    )


def declared_in(stack: str, environment: Mapping[str, str]) -> Declared:
    """Return the settings in the file of that stack. Raises yaml.YAMLError."""
    file = Path(environment.get(STACK_FILE) or ROOT / f"Pulumi.{stack}.yaml")
    if not file.is_file():
        return Declared()
    settings = _map(yaml.safe_load(file.read_text(encoding="utf-8")))
    return declared(_map(settings.get("config")).get(_KEY))


def _map(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _privileged(name: str, cluster: Cluster) -> Iterator[str]:
    if cluster.github is not None:
        for lane, github in cluster.github.lanes.items():
            if github.container_mode == "dind" or github.device_access == "privileged":
                yield f"{name}-github-{lane}"
    if cluster.gitlab is not None:
        for lane, gitlab in cluster.gitlab.lanes.items():
            if gitlab.privileged:
                yield f"{name}-gitlab-{lane}"
