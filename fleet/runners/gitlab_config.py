"""GitLab Runner's `config.toml` for one lane: built as data, written by a TOML library.

Units: `*_m` millicores, `*_mib` MiB, `*_s` seconds.
GitLab Runner has no key for a GPU. It is asked for by a strategic patch of the container `build`,
behind a feature flag; the patch merges `requests` and `limits` key by key (Kubernetes' own
strategic merge over PodSpec, containers by name), so CPU and memory stay those of the TOML.
Sources: gitlabhq/gitlab-runner:common/config.go (types Kubernetes*, GetNodeTolerations),
executors/kubernetes/kubernetes.go (doPodSpecMerge), docs/executors/kubernetes/_index.md
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import tomli_w

from fleet.kubernetes.pods import (
    GPU,
    NOT_EVICTABLE,
    SHARED_MEMORY_PATH,
    SHARED_MEMORY_VOLUME,
    Affinity,
    Container,
    PodSpec,
    ResourceRequirements,
    Size,
    Toleration,
    mebibytes,
    millicores,
    refuse_visible_devices,
)
from fleet.kubernetes.values import to_values

PullPolicy = Literal["always", "if-not-present", "never"]

BUILD_CONTAINER = "build"

# A cold GPU node takes minutes to appear and to pull a CUDA image; the runner's own 180 s give up.
MIN_GPU_POLL_TIMEOUT_S = 900


@dataclass(frozen=True, kw_only=True, slots=True)
class GitLabJob:
    """What one job of a lane gets.

    `affinity` names the nodes that it may have. `helper` and `service` size the containers beside
    the job's (each service container gets one `service`). `max_size` is how far a job may raise
    its own size by variables; None means not at all. `memory_limit_mib` is the job's, by default
    what it asks for.

    Raises ValueError for a poll timeout that a cold GPU node exceeds, and for
    `NVIDIA_VISIBLE_DEVICES` in `environment`.
    """

    namespace: str
    image: str
    gpus: int
    cpu_m: int
    memory_mib: int
    disk_mib: int
    shm_mib: int
    helper: Size
    service: Size
    affinity: Affinity
    tolerations: tuple[Toleration, ...]
    poll_timeout_s: int
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    memory_limit_mib: int | None = None
    max_size: Size | None = None
    gpu_resource: str = GPU
    privileged: bool = False
    pull_policy: tuple[PullPolicy, ...] = ("if-not-present",)
    image_pull_secrets: tuple[str, ...] = ()
    service_account: str | None = None
    runtime_class_name: str | None = None
    priority_class_name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    annotations: Mapping[str, str] = field(default_factory=lambda: NOT_EVICTABLE)
    termination_grace_period_s: int | None = None

    def __post_init__(self) -> None:
        refuse_visible_devices(self.environment)
        if self.gpus and self.poll_timeout_s < MIN_GPU_POLL_TIMEOUT_S:
            raise ValueError(
                f"poll_timeout_s is {self.poll_timeout_s}, less than a cold GPU node takes: "
                f"give at least {MIN_GPU_POLL_TIMEOUT_S}"
            )


def config_data(job: GitLabJob) -> dict[str, Any]:
    """What `config.toml` says, with exactly one runner, as the chart demands.

    URL, token and name are not here: the chart's registration adds them.
    """
    return {"runners": [_runner(job)]}


def config_toml(document: Mapping[str, Any]) -> str:
    """The text of `config_data`.

    The chart renders this text with Helm's `tpl`, in which double braces begin and end an action.
    Raises ValueError naming the key whose value holds them.
    """
    for path, text in _strings(document, ""):
        if "{{" in text or "}}" in text:
            raise ValueError(
                f"config.toml key {path} holds double braces, which the chart would take for a "
                "Helm template: put a space between the braces"
            )
    return tomli_w.dumps(document, multiline_strings=True)


def _runner(job: GitLabJob) -> dict[str, Any]:
    return {
        "executor": "kubernetes",
        "environment": [f"{name}={value}" for name, value in job.environment.items()],
        "feature_flags": {
            "FF_USE_ADVANCED_POD_SPEC_CONFIGURATION": True,
            # Says in the job's log why a pod pends, and that a node is on its way.
            "FF_PRINT_POD_EVENTS": True,
        },
        "kubernetes": _kubernetes(job),
    }


def _kubernetes(job: GitLabJob) -> dict[str, Any]:
    optional = {
        "image_pull_secrets": list(job.image_pull_secrets) or None,
        "service_account": job.service_account,
        "runtime_class_name": job.runtime_class_name,
        "priority_class_name": job.priority_class_name,
        "pod_termination_grace_period_seconds": job.termination_grace_period_s,
        "pod_labels": dict(job.labels) or None,
        "pod_annotations": dict(job.annotations) or None,
        "pod_spec": [_gpu_patch(job)] if job.gpus else None,
    }
    build = Size(cpu_m=job.cpu_m, memory_mib=job.memory_mib, disk_mib=job.disk_mib)
    limit = job.memory_mib if job.memory_limit_mib is None else job.memory_limit_mib
    return {
        "namespace": job.namespace,
        "image": job.image,
        "pull_policy": list(job.pull_policy),
        "privileged": job.privileged,
        "automount_service_account_token": job.service_account is not None,
        "poll_timeout": job.poll_timeout_s,
        **_size("", build),
        "memory_limit": mebibytes(limit),
        **_size("helper_", job.helper),
        **_size("service_", job.service),
        **(_overwrites(job.max_size, limit) if job.max_size else {}),
        **_placement(job),
        "node_tolerations": _node_tolerations(job.tolerations),
        "volumes": {
            "empty_dir": [
                {
                    "name": SHARED_MEMORY_VOLUME,
                    "mount_path": SHARED_MEMORY_PATH,
                    "medium": "Memory",
                    "size_limit": mebibytes(job.shm_mib),
                }
            ]
        },
        **{name: value for name, value in optional.items() if value is not None},
    }


def _size(prefix: str, size: Size) -> dict[str, str]:
    keys = {
        f"{prefix}cpu_request": millicores(size.cpu_m),
        f"{prefix}memory_request": mebibytes(size.memory_mib),
        f"{prefix}memory_limit": mebibytes(size.memory_mib),
    }
    if size.disk_mib:
        keys[f"{prefix}ephemeral_storage_request"] = mebibytes(size.disk_mib)
    return keys


def _overwrites(largest: Size, limit_mib: int) -> dict[str, str]:
    keys = {
        "cpu_request_overwrite_max_allowed": millicores(largest.cpu_m),
        "memory_request_overwrite_max_allowed": mebibytes(largest.memory_mib),
        "memory_limit_overwrite_max_allowed": mebibytes(max(largest.memory_mib, limit_mib)),
    }
    if largest.disk_mib:
        keys["ephemeral_storage_request_overwrite_max_allowed"] = mebibytes(largest.disk_mib)
    return keys


def _placement(job: GitLabJob) -> dict[str, Any]:
    selector = _node_selector(job.affinity)
    if selector is not None:
        return {"node_selector": selector}
    return {"affinity": {"node_affinity": _node_affinity(job.affinity)}}


def _node_selector(affinity: Affinity) -> dict[str, str] | None:
    """The affinity as the shorter node selector, where it says no more than one."""
    if affinity.preferred or len(affinity.required) != 1:
        return None
    selector: dict[str, str] = {}
    for condition in affinity.required[0].match_expressions:
        values = condition.values or ()
        if condition.operator != "In" or len(values) != 1:
            return None
        selector[condition.key] = values[0]
    return selector


def _node_affinity(affinity: Affinity) -> dict[str, Any]:
    """Kubernetes' node affinity in the runner's spelling, which is snake_case throughout."""
    return {
        "required_during_scheduling_ignored_during_execution": {
            "node_selector_terms": [_snake_case(to_values(term)) for term in affinity.required]
        },
        "preferred_during_scheduling_ignored_during_execution": [
            {"weight": term.weight, "preference": _snake_case(to_values(term.preference))}
            for term in affinity.preferred or ()
        ],
    }


def _snake_case(term: dict[str, Any]) -> dict[str, Any]:
    return {"match_expressions": term["matchExpressions"]}


def _node_tolerations(tolerations: tuple[Toleration, ...]) -> dict[str, str]:
    """Tolerations as the runner's map: `key` (Exists) or `key=value` (Equal) to the effect.

    The map holds one effect per key; two effects of one key become the empty one, which
    tolerates all of them.
    """
    result: dict[str, str] = {}
    for toleration in tolerations:
        name = toleration.key or ""
        if toleration.operator == "Equal":
            name += f"={toleration.value or ''}"
        effect = toleration.effect or ""
        result[name] = effect if result.get(name, effect) == effect else ""
    return result


def _gpu_patch(job: GitLabJob) -> dict[str, str]:
    gpus = {job.gpu_resource: str(job.gpus)}
    build = Container(
        name=BUILD_CONTAINER, resources=ResourceRequirements(requests=gpus, limits=gpus)
    )
    return {
        "name": "gpu",
        "patch_type": "strategic",
        # One brace a line: a compact text would hold double braces.
        "patch": json.dumps(to_values(PodSpec(containers=(build,))), indent=2),
    }


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Every text in the document, keys included, with the path to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            yield from _strings(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, item in cast("dict[str, object]", value).items():
            inner = f"{path}.{name}" if path else name
            yield inner, name
            yield from _strings(item, inner)
