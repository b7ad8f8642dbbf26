"""References of a stack file: pools of lanes, Pulumi secrets, and silenced checks.

The functions read the raw data, so that an error of form elsewhere does not hide an unknown
reference. They skip values that do not have the form of a name, which are errors of form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, cast

from pydantic import ValidationError

from fleet.config.base import NAME, Secret
from fleet.config.stack import KINDS
from fleet.findings import Finding


def unknown_pools(data: object) -> Iterator[Finding]:
    """Yield the pools of lanes that their cluster does not have.

    Skip a cluster without any pool: its key `pools` is missing or misspelt, which is an error of
    form.
    """
    clusters = _map(_map(data).get("clusters"))
    declared = {
        name: pools
        for name, cluster in clusters.items()
        if (pools := {str(pool) for kind in KINDS for pool in _at(cluster, kind, "pools")})
    }
    for cluster_name, pools in declared.items():
        for path, lane in _lanes(cluster_name, clusters[cluster_name]):
            names = lane.get("pools")
            for name in cast("list[object]", names) if isinstance(names, list) else ():
                if not isinstance(name, str) or not re.fullmatch(NAME, name) or name in pools:
                    continue
                near = get_close_matches(name, sorted(pools), n=1, cutoff=0.5)
                others = [one for one, known in declared.items() if name in known]
                hint = f"did you mean {near[0]}? " if near else ""
                if others and not near:
                    hint = f"{name} is a pool of cluster {others[0]}; "
                yield Finding(
                    rule="unknown-pool",
                    path=f"{path}.pools",
                    message=f"contains {name}, but cluster {cluster_name} has no such pool",
                    remedy=f"{hint}the pools of {cluster_name} are {', '.join(sorted(pools))}",
                )


def secret_uses(data: object) -> Iterator[tuple[str, str]]:
    """Yield path and name of every `{secret: name}`."""
    for name, cluster in _map(_map(data).get("clusters")).items():
        path = f"clusters.{name}"
        fields = [
            (f"{path}.github.app.private_key", _at(cluster, "github", "app").get("private_key")),
            (f"{path}.gitlab.api_token", _at(cluster, "gitlab").get("api_token")),
            *((f"{place}.token", lane.get("token")) for place, lane in _lanes(name, cluster)),
        ]
        for place, value in fields:
            if isinstance(value, dict):
                try:
                    yield place, Secret.model_validate(value).secret
                except ValidationError:
                    continue


def missing_secrets(data: object, has_secret: Callable[[str], bool]) -> Iterator[Finding]:
    """Yield the secrets that the configuration lacks, with the command to set each."""
    for path, name in secret_uses(data):
        if not has_secret(name):
            yield Finding(
                rule="secrets",
                path=path,
                message=f"is the secret {name}, which is not in the configuration of this stack",
                remedy=f"run: pulumi config set --secret gpu-runners:{name}",
            )


def silenced_rules(data: object) -> tuple[str, ...]:
    """Return the keys of `silence`."""
    return tuple(_at(data, "silence"))


def _lanes(cluster_name: str, cluster: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield path and body of every lane of a cluster."""
    for forge in ("github", "gitlab"):
        for name, lane in _at(cluster, forge, "lanes").items():
            yield f"clusters.{cluster_name}.{forge}.lanes.{name}", _map(lane)


def _at(data: object, *keys: str) -> Mapping[str, Any]:
    """Return the map under `keys`; empty if there is no map."""
    for key in keys:
        data = _map(data).get(key)
    return _map(data)


def _map(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
