"""What the stack file declares, and so what the rules allow it; read from the file, not the run.

pulumi-policy hands a pack no stack configuration where the engine starts it by a language host
(pulumi/pulumi pkg/resource/plugin/analyzer_plugin.go sends it in ConfigureStack, whose config the
Python SDK 1.21 leaves unread), so the file is read, by the name of the stack.
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
"""Environment variable that names another file; a rehearsal of any file sets it."""

_KEY: Final = "gpu-runners:stack"


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """What a stack file says that a rule asks about; nothing, where there is no such file."""

    charts: Charts = field(default_factory=Charts)
    privileged_lanes: frozenset[str] = frozenset()
    """Logical names of lanes whose jobs are declared privileged."""
    pool_maxima: Mapping[str, int] = field(default_factory=dict[str, int])
    """Most nodes by logical name, for node pools whose inputs do not hold it (OKE's)."""


def declared(data: object) -> Declared:
    """Read the value of `gpu-runners:stack`; a file that the program refuses declares nothing."""
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
    """Read the file of that stack. Raises yaml.YAMLError where it is none."""
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
