"""The pods of a lane, read out of the very values that its release gets.

ARC's pods stand in the scale set's values and in the hook template. GitLab Runner makes a job's pod
from `config.toml`: here as it does (gitlabhq/gitlab-runner executors/kubernetes, setupBuildPod).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fleet.kubernetes.scheduling import PodSpec
from fleet.runners.github import GitHubLanePlan
from fleet.runners.gitlab import GitLabLanePlan
from fleet.runners.gitlab_config import BUILD_CONTAINER

_SIZE_KEYS = (("cpu", "cpu"), ("memory", "memory"), ("ephemeral-storage", "ephemeral_storage"))


@dataclass(frozen=True, kw_only=True, slots=True)
class LanePods:
    """The pods that one job makes, as Kubernetes' PodSpec."""

    on_pool: tuple[PodSpec, ...]
    """Those that share a node of the lane's pools."""
    launcher: PodSpec | None
    """A runner pod that stands on a CPU node."""


def lane_pods(lane: GitHubLanePlan | GitLabLanePlan) -> LanePods:
    """Read the pods of a lane."""
    if isinstance(lane, GitLabLanePlan):
        return LanePods(on_pool=(_build_pod(lane),), launcher=None)
    runner: PodSpec = lane.release.values["template"]["spec"]
    if lane.hook_template is None:
        return LanePods(on_pool=(runner,), launcher=None)
    job: PodSpec = lane.hook_template.content["spec"]
    if lane.container_mode == "kubernetes-novolume":
        return LanePods(on_pool=(job,), launcher=runner)
    return LanePods(on_pool=(runner, job), launcher=None)


def _build_pod(lane: GitLabLanePlan) -> PodSpec:
    config: Mapping[str, Any] = lane.config["runners"][0]["kubernetes"]
    build = {"name": BUILD_CONTAINER, "resources": _resources(config, "")}
    helper = {"name": "helper", "resources": _resources(config, "helper_")}
    services = [
        {"name": f"svc-{index}", "resources": _resources(config, "service_")}
        for index in range(lane.services)
    ]
    for patch in config.get("pod_spec", ()):
        for container in json.loads(patch["patch"])["containers"]:
            _merge(build["resources"], container["resources"])
    return {
        "containers": [build, helper, *services],
        # It has the helper's size.
        "initContainers": [{"name": "init-permissions", "resources": helper["resources"]}],
        "nodeSelector": config.get("node_selector"),
        "affinity": _affinity(config.get("affinity")),
        "tolerations": list(_tolerations(config.get("node_tolerations", {}))),
    }


def _resources(config: Mapping[str, Any], prefix: str) -> dict[str, dict[str, Any]]:
    return {
        kind: {
            resource: config[key]
            for resource, name in _SIZE_KEYS
            if (key := f"{prefix}{name}_{suffix}") in config
        }
        for kind, suffix in (("requests", "request"), ("limits", "limit"))
    }


def _merge(into: Any, patch: Mapping[str, Mapping[str, Any]]) -> None:
    """The part of a strategic merge patch that the runner's config holds: maps."""
    for kind, amounts in patch.items():
        into.setdefault(kind, {}).update(amounts)


def _affinity(affinity: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The runner's snake_case node affinity in Kubernetes' spelling."""
    if affinity is None:
        return None
    node = affinity["node_affinity"]
    terms = node["required_during_scheduling_ignored_during_execution"]["node_selector_terms"]
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": term["match_expressions"]} for term in terms
                ]
            }
        }
    }


def _tolerations(tolerations: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """A bare key means Exists, an empty effect every effect."""
    for name, effect in tolerations.items():
        key, equals, value = name.partition("=")
        toleration = {"key": key, "operator": "Equal" if equals else "Exists"}
        if equals:
            toleration["value"] = value
        if effect:
            toleration["effect"] = effect
        yield toleration
