"""GitLab Runner's `config.toml` as the chart takes it: a template that must be plain TOML.

The runner ignores keys that it does not know, so they are compared with its own table. Sources:
gitlabhq/gitlab-runner common/config.go (KubernetesConfig; keys of runner 18.9, which is chart
0.86), executors/kubernetes/kubernetes.go, docs/executors/kubernetes/_index.md; gitlab-runner chart
0.86.0 templates/_register-runner.tpl (one `[[runners]]`, rendered by Helm's `tpl`).
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator
from typing import Any, Final

import yaml

from pulumi_rehearsal.standin.kind import Properties
from pulumi_rehearsal.standin.kubernetes import pods
from pulumi_rehearsal.standin.kubernetes.grammar import Problem
from pulumi_rehearsal.standin.kubernetes.release import words
from pulumi_rehearsal.standin.properties import flag, lookup, mapping, number, objects, text, texts

GPU: Final = "nvidia.com/gpu"
FLAG: Final = "FF_USE_ADVANCED_POD_SPEC_CONFIGURATION"
MIN_GPU_POLL_TIMEOUT_S: Final = 900
PATCH_TYPES: Final = frozenset({"json", "merge", "strategic"})

_SIZES: Final = frozenset(
    f"{prefix}{resource}_{bound}{suffix}"
    for prefix in ("", "helper_", "service_")
    for resource in ("cpu", "ephemeral_storage", "memory")
    for bound in ("limit", "request")
    for suffix in ("", "_overwrite_max_allowed")
)

KUBERNETES_KEYS: Final = _SIZES | words(
    "affinity allow_privilege_escalation allowed_groups allowed_images allowed_pull_policies "
    "allowed_services allowed_users automount_service_account_token bearer_token "
    "bearer_token_overwrite_allowed build_container_security_context ca_file cap_add cap_drop "
    "cert_file cleanup_grace_period_seconds cleanup_resources_timeout container_lifecycle context "
    "dns_config dns_policy helper_container_security_context helper_image "
    "helper_image_autoset_arch_and_os helper_image_flavor host host_aliases image "
    "image_pull_secrets init_permissions_container_security_context key_file logs_base_dir "
    "namespace namespace_overwrite_allowed namespace_per_job node_selector "
    "node_selector_overwrite_allowed node_tolerations node_tolerations_overwrite_allowed "
    "pod_annotations pod_annotations_overwrite_allowed pod_labels pod_labels_overwrite_allowed "
    "pod_security_context pod_spec pod_termination_grace_period_seconds poll_interval poll_timeout "
    "print_pod_warning_events priority_class_name privileged pull_policy "
    "resource_availability_check_max_attempts retry_backoff_max retry_limit retry_limits "
    "runtime_class_name scheduler_name scripts_base_dir service_account "
    "service_account_overwrite_allowed service_container_security_context services "
    "use_service_account_image_pull_secrets volumes"
)

NEWER_KEYS: Final = {
    "autoscaler": "18.11",
    "pod_disruption_budget": "18.11",
    "pod_cpu_limit": "18.10",
    "pod_cpu_request": "18.10",
    "pod_memory_limit": "18.10",
    "pod_memory_request": "18.10",
}
"""Keys that a later runner brings, with its version."""


def runner_of(config: str) -> Properties:
    """The one `[[runners]]` table; empty where the text holds none."""
    try:
        document = tomllib.loads(config)
    except tomllib.TOMLDecodeError:
        return {}
    runners = objects(document, "runners")
    return runners[0] if runners else {}


def config_problems(config: str) -> Iterator[Problem]:
    """What is wrong with the text; paths begin below it."""
    if "{{" in config:
        yield "", "holds '{{', which the chart takes for a Helm template: write plain TOML"
        return
    try:
        document = tomllib.loads(config)
    except tomllib.TOMLDecodeError as error:
        yield "", f"is no TOML: {error}"
        return
    runners = objects(document, "runners")
    if len(runners) != 1:
        yield "runners", f"must be exactly one [[runners]] table, found {len(runners)}"
        return
    yield from _runner_problems(runners[0])


def _runner_problems(runner: Properties) -> Iterator[Problem]:
    kubernetes = mapping(runner, "kubernetes")
    if text(runner, "executor") not in (None, "kubernetes"):
        yield "runners.executor", "must be 'kubernetes'"
    if lookup(runner, "token") is not None:
        yield "runners.token", "belongs into the Secret, not into a ConfigMap"
    yield from _key_problems(kubernetes)
    yield from _toleration_problems(kubernetes)
    patches = objects(kubernetes, "pod_spec")
    if patches and not _feature_is_on(runner):
        yield "runners.feature_flags", f"must hold {FLAG} = true, or pod_spec patches are ignored"
    for index, patch in enumerate(patches):
        yield from _patch_problems(patch, f"runners.kubernetes.pod_spec[{index}]")
    timeout = number(kubernetes, "poll_timeout")
    if _asks_for_gpu(patches) and (timeout is None or timeout < MIN_GPU_POLL_TIMEOUT_S):
        yield (
            "runners.kubernetes.poll_timeout",
            f"must be at least {MIN_GPU_POLL_TIMEOUT_S} s for a GPU: a cold node takes minutes, "
            "and the runner's own 180 s give up",
        )


def _key_problems(kubernetes: Properties) -> Iterator[Problem]:
    for key in kubernetes:
        here = f"runners.kubernetes.{key}"
        if key in NEWER_KEYS:
            yield here, f"is a key of runner {NEWER_KEYS[key]} and later: take a newer chart"
        elif key not in KUBERNETES_KEYS:
            close = difflib.get_close_matches(key, KUBERNETES_KEYS, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            yield here, f"the runner does not know the key and would ignore it{hint}"


def _toleration_problems(kubernetes: Properties) -> Iterator[Problem]:
    tolerations: Any = kubernetes.get("node_tolerations")
    here = "runners.kubernetes.node_tolerations"
    if tolerations is None:
        return
    if not isinstance(tolerations, dict):
        yield here, "must be a table of 'key=value' = 'effect', not a list of tolerations"
        return
    for key, effect in mapping(kubernetes, "node_tolerations").items():
        if effect not in ("", "NoExecute", "NoSchedule", "PreferNoSchedule"):
            yield f'{here}."{key}"', "must be an effect: NoSchedule, NoExecute or empty for all"


def _feature_is_on(runner: Properties) -> bool:
    in_environment = {entry.casefold() for entry in texts(runner, "environment")}
    ways = {f"{FLAG}=true".casefold(), f"{FLAG}=1".casefold()}
    return flag(runner, f"feature_flags.{FLAG}") is True or bool(ways & in_environment)


def _patch_problems(patch: Properties, path: str) -> Iterator[Problem]:
    kind = text(patch, "patch_type") or "strategic"
    if kind not in PATCH_TYPES:
        yield f"{path}.patch_type", f"{kind!r} is none of {', '.join(sorted(PATCH_TYPES))}"
    try:
        parsed: Any = yaml.safe_load(text(patch, "patch") or "")
    except yaml.YAMLError:
        yield f"{path}.patch", "is neither YAML nor JSON"
        return
    if kind == "json" or text(patch, "patch_path"):
        return
    if not isinstance(parsed, dict):
        yield f"{path}.patch", "must be a mapping: a part of the pod's spec"
        return
    containers = objects({"patch": parsed}, "patch.containers")
    if containers and kind == "merge":
        yield f"{path}.patch_type", "a merge patch replaces all containers: use 'strategic'"
    for container in containers:
        name = container.get("name")
        if name not in ("build", "helper", "init-permissions"):
            yield f"{path}.patch", f"{name!r} is no container of a job's pod: use 'build'"
        for below, reason in pods.resource_problems(container, f"containers[{name}].resources"):
            yield f"{path}.patch", f"{below}: {reason}"


def _asks_for_gpu(patches: tuple[Properties, ...]) -> bool:
    return any(GPU in (text(patch, "patch") or "") for patch in patches)
