"""GitLab Runner's `config.toml`: the configuration of the jobs.

The runner ignores keys that it does not know, so they are compared with a table. Sources:
gitlabhq/gitlab-runner common/config.go (KubernetesConfig; keys of runner 18.9, which is chart
0.86), executors/kubernetes/kubernetes.go, docs/executors/kubernetes/_index.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any, Final

import yaml

from pulumi_rehearsal.standin.kubernetes import pods
from pulumi_rehearsal.standin.kubernetes.release import key_set, suggestion
from pulumi_rehearsal.standin.properties import flag, lookup, mapping, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.values import Properties

POD_SPEC_FLAG: Final = "FF_USE_ADVANCED_POD_SPEC_CONFIGURATION"
PATCH_TYPES: Final = ("json", "merge", "strategic")

_REQUESTS_AND_LIMITS: Final = frozenset(
    f"{prefix}{resource}_{bound}{suffix}"
    for prefix in ("", "helper_", "service_")
    for resource in ("cpu", "ephemeral_storage", "memory")
    for bound in ("limit", "request")
    for suffix in ("", "_overwrite_max_allowed")
)

EXECUTOR_KEYS: Final = _REQUESTS_AND_LIMITS | key_set(
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
"""Keys of `[runners.kubernetes]` in runner 18.9."""

NEWER_KEYS: Final = {
    "autoscaler": "18.11",
    "pod_disruption_budget": "18.11",
    "pod_cpu_limit": "18.10",
    "pod_cpu_request": "18.10",
    "pod_memory_limit": "18.10",
    "pod_memory_request": "18.10",
}
"""The first runner version with the key."""


def namespace(config: str) -> str | None:
    """Return the namespace of the jobs."""
    return text(runner_of(config), "kubernetes.namespace")


def images(config: str) -> Iterator[str]:
    """Yield the images of the jobs; an empty text for an absent one."""
    runner = runner_of(config)
    for path in ("kubernetes.image", "kubernetes.helper_image"):
        yield text(runner, path) or ""
    for service in objects(runner, "kubernetes.services"):
        yield text(service, "name") or ""


def runner_of(config: str) -> Properties:
    """Return the first `[[runners]]` table; empty if the text is invalid."""
    try:
        document = tomllib.loads(config)
    except tomllib.TOMLDecodeError:
        return {}
    runners = objects(document, "runners")
    return runners[0] if runners else {}


def problems(config: str) -> Iterator[Problem]:
    """Check the text of `config.toml`; paths are relative to it."""
    if "{{" in config:
        yield "", "holds '{{', which Helm would render as a template: write plain TOML"
        return
    try:
        document = tomllib.loads(config)
    except tomllib.TOMLDecodeError as error:
        yield "", f"is not TOML: {error}"
        return
    runners = objects(document, "runners")
    if len(runners) != 1:
        yield "runners", f"must be exactly one [[runners]] table, found {len(runners)}"
        return
    yield from _runner_problems(runners[0])


def _runner_problems(runner: Properties) -> Iterator[Problem]:
    executor = mapping(runner, "kubernetes")
    if text(runner, "executor") not in (None, "kubernetes"):
        yield "runners.executor", "must be 'kubernetes'"
    if lookup(runner, "token") is not None:
        yield "runners.token", "belongs in the Secret: config.toml is stored in a ConfigMap"
    for key in executor:
        here = f"runners.kubernetes.{key}"
        if key in NEWER_KEYS:
            yield here, f"is a key of runner {NEWER_KEYS[key]} and later: take a newer chart"
        elif key not in EXECUTOR_KEYS:
            yield here, "is ignored: the runner has no such key" + suggestion(key, EXECUTOR_KEYS)
    yield from _toleration_problems(executor)
    patches = objects(executor, "pod_spec")
    if patches and not _patches_are_enabled(runner):
        yield (
            "runners.feature_flags",
            f"must hold {POD_SPEC_FLAG} = true, or the runner ignores pod_spec patches",
        )
    for index, patch in enumerate(patches):
        yield from _patch_problems(patch, f"runners.kubernetes.pod_spec[{index}]")


def _toleration_problems(executor: Properties) -> Iterator[Problem]:
    tolerations: Any = executor.get("node_tolerations")
    here = "runners.kubernetes.node_tolerations"
    if tolerations is None:
        return
    if not isinstance(tolerations, dict):
        yield here, "must be a table of 'key=value' = 'effect', not a list of tolerations"
        return
    for key, effect in mapping(executor, "node_tolerations").items():
        if effect not in ("", "NoExecute", "NoSchedule", "PreferNoSchedule"):
            yield f'{here}."{key}"', "must be an effect: NoSchedule, NoExecute or empty for all"


def _patches_are_enabled(runner: Properties) -> bool:
    environment = {entry.casefold() for entry in texts(runner, "environment")}
    enabling = {f"{POD_SPEC_FLAG}={value}".casefold() for value in ("true", "1")}
    return flag(runner, f"feature_flags.{POD_SPEC_FLAG}") is True or bool(enabling & environment)


def _patch_problems(patch: Properties, path: str) -> Iterator[Problem]:
    kind = text(patch, "patch_type") or "strategic"
    if kind not in PATCH_TYPES:
        yield f"{path}.patch_type", f"{kind!r} is none of {', '.join(PATCH_TYPES)}"
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
            yield f"{path}.patch", f"a job's pod has no container {name!r}: use 'build'"
        for inner, reason in pods.resource_problems(container, f"containers[{name}].resources"):
            yield f"{path}.patch", f"{inner}: {reason}"
