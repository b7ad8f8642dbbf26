"""The gitlab-runner chart: the manager, its Secret, and the `config.toml` of its jobs.

The runner ignores keys of `config.toml` that it does not know, so they are compared with a table.
Sources: gitlab-runner chart 0.86.0 as vendored in DoD-Platform-One/gitlab-runner (values.yaml;
templates/deployment.yaml: a projected volume names both keys of the Secret;
templates/_register-runner.tpl: one `[[runners]]`, rendered by Helm's `tpl`); gitlabhq/gitlab-runner
common/config.go (KubernetesConfig; keys of runner 18.9, which is chart 0.86),
executors/kubernetes/kubernetes.go, docs/executors/kubernetes/_index.md.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

import yaml

from pulumi_rehearsal.standin import gitlab
from pulumi_rehearsal.standin.kubernetes import cluster, pods
from pulumi_rehearsal.standin.kubernetes.core import secret_text
from pulumi_rehearsal.standin.kubernetes.release import (
    Chart,
    Release,
    created_by,
    key_set,
    suggestion,
)
from pulumi_rehearsal.standin.properties import (
    flag,
    given,
    lookup,
    mapping,
    number,
    objects,
    text,
    texts,
)
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.values import UNKNOWN, Properties

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource
    from pulumi_rehearsal.standin.world import World

TOKEN_KEY: Final = "runner-token"
REGISTRATION_KEY: Final = "runner-registration-token"
MANAGER: Final = "kubernetes:apps/v1:Deployment"
"""The chart's Deployment, with a hash of the token that its pod started with."""

POD: Final = "kubernetes:core/v1:Pod"
DEFAULT_GRACE_S: Final = 3600
"""terminationGracePeriodSeconds in the chart's values.yaml."""

POD_SPEC_FLAG: Final = "FF_USE_ADVANCED_POD_SPEC_CONFIGURATION"
PATCH_TYPES: Final = ("json", "merge", "strategic")

_REGISTRATION_ONLY: Final = key_set(
    "locked maintenanceNote maximumTimeout protected runUntagged tags accessLevel"
)

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


class GitLabRunner(Chart):
    """The chart of one runner manager."""

    name: ClassVar[str] = "gitlab-runner"
    keys: ClassVar[Mapping[str, frozenset[str]]] = {
        "": key_set(
            "affinity automountServiceAccountToken certsSecretName checkInterval concurrent "
            "configMaps connectionMaxAge deploymentAnnotations deploymentLabels "
            "deploymentLifecycle envVars extraContainers extraEnv extraEnvFrom extraEnvFromRefs "
            "extraObjects fullnameOverride gitlabUrl global hostAliases hostname hpa image "
            "imagePullPolicy imagePullSecrets initContainers livenessProbe logFormat logLevel "
            "metrics nameOverride nodeSelector podAnnotations podLabels podSecurityContext "
            "preEntrypointScript priorityClassName probeTimeoutSeconds rbac readinessProbe "
            "replicas resources revisionHistoryLimit runnerRegistrationToken runnerToken runners "
            "runtimeClassName schedulerName secrets securityContext sentryDsn service "
            "serviceAccount sessionServer shutdown_timeout strategy terminationGracePeriodSeconds "
            "tolerations topologySpreadConstraints unregisterRunners useTini volumeMounts volumes"
        ),
        "runners": _REGISTRATION_ONLY
        | key_set("cache config configPath executor jobNamespace name secret"),
        "rbac": key_set(
            "annotations clusterWideAccess create generatedServiceAccountName imagePullSecrets "
            "podSecurityPolicy resources rules serviceAccountAnnotations serviceAccountName verbs"
        ),
        "serviceAccount": key_set("annotations create imagePullSecrets name"),
        "metrics": key_set("annotations enabled podMonitor port portName serviceMonitor"),
    }

    def value_problems(self, release: Release) -> Iterator[Problem]:
        values = release.values
        if not given(values, "gitlabUrl"):
            yield "values.gitlabUrl", "is missing: the manager registers at this address"
        if not any(given(values, path) for path in ("runners.secret", "runnerToken")):
            yield "values.runners.secret", "must be the name of a Secret with the runner's token"
        for key in sorted(_REGISTRATION_ONLY & mapping(values, "runners").keys()):
            yield (
                f"values.runners.{key}",
                "makes the registration with an authentication token fail: set it on the runner "
                "at GitLab",
            )
        if not flag(values, "rbac.create") and not given(values, "serviceAccount.name"):
            yield (
                "values.rbac.create",
                "must be true, or serviceAccount.name given: by default the manager runs under an "
                "account that may not create pods",
            )
        config = lookup(values, "runners.config")
        if isinstance(config, str):
            for path, reason in config_problems(config):
                yield "values.runners.config", f"{path}: {reason}" if path else reason
        elif config is not UNKNOWN:
            yield "values.runners.config", "is missing: it configures the jobs, as TOML"

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        yield from _secret_problems(release, world)
        yield from _namespace_problems(release, world)
        yield from pods.image_problems(_images(release), release.scope, world)
        name = text(release.values, "serviceAccount.name")
        if not flag(release.values, "serviceAccount.create") and name:
            account = (pods.SERVICE_ACCOUNT, release.namespace, name)
            if cluster.find_object(world, release.scope, *account) is None:
                yield f"ServiceAccount {name!r} does not exist in namespace {release.namespace!r}"

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        # The manager reads its token only when its pod starts.
        started = {**_manager(release), "tokenHash": _token_hash(release, world)}
        world.replace(created_by(release, MANAGER, _manager_id(release), started))

    def removed(self, release: Release, world: World) -> Sequence[Resource]:
        manager = world.get(_manager_id(release), MANAGER, release.scope)
        if manager is None:
            return ()
        # Helm deletes in the background: the Deployment is gone at once, and its pod when it ends.
        pod_id = f"{manager.id}-{world.fresh_hex(manager.id, 5)}"
        pod = created_by(release, POD, pod_id, manager.inputs)
        world.jobs.move(manager, pod)
        world.remove(manager)
        if world.jobs.running(pod):
            world.add(pod)
            grace = number(release.values, "terminationGracePeriodSeconds")
            world.jobs.terminate(pod, DEFAULT_GRACE_S if grace is None else grace)
            if flag(release.values, "serviceAccount.create") or flag(release.values, "rbac.create"):
                reason = "the uninstall deleted the ServiceAccount or Role that its manager needs"
                world.jobs.kill(pod, reason)
        return ()

    def faults(self, release: Release, world: World) -> Iterator[str]:
        for reason in _secret_problems(release, world):
            yield f"release {release.id!r} is deployed, but {reason}"
        manager = world.get(_manager_id(release), MANAGER, release.scope)
        token = _token_hash(release, world)
        if manager is not None and token and manager.inputs["tokenHash"] != token:
            yield (
                f"release {release.id!r} is deployed, but the token in its Secret changed after "
                "the manager started: the chart restarts the manager only for its own objects, so "
                "change a value together with the token (podAnnotations with the runner's id)"
            )


def _manager(release: Release) -> Properties:
    """Return what is known of the manager's Deployment: templates/deployment.yaml."""
    volumes: list[Properties] = []
    if secret := text(release.values, "runners.secret"):
        sources = [{"secret": {"name": secret}}]
        volumes.append({"name": "projected-secrets", "projected": {"sources": sources}})
    spec: Properties = {"volumes": volumes}
    account = text(release.values, "serviceAccount.name")
    if account and not flag(release.values, "serviceAccount.create"):
        spec["serviceAccountName"] = account
    labels = {"chart": f"{release.chart}-{release.version}", "release": release.name}
    return {
        "metadata": {"namespace": release.namespace, "labels": labels},
        "spec": {"template": {"spec": spec}},
    }


def _manager_id(release: Release) -> str:
    return f"{release.id}-gitlab-runner"


def _secret(release: Release, world: World) -> Resource | None:
    name = text(release.values, "runners.secret") or ""
    return cluster.find_object(world, release.scope, cluster.SECRET, release.namespace, name)


def _token_hash(release: Release, world: World) -> str | None:
    secret = _secret(release, world)
    token = None if secret is None else secret_text(secret, TOKEN_KEY)
    return None if token is None else hashlib.sha256(token.encode()).hexdigest()


def _secret_problems(release: Release, world: World) -> Iterator[str]:
    if not given(release.values, "runners.secret"):
        return  # the chart creates the Secret from runnerToken
    secret, name = _secret(release, world), text(release.values, "runners.secret")
    if secret is None:
        yield f"runners.secret {name!r} does not exist in namespace {release.namespace!r}"
        return
    keys = pods.data_keys(secret.inputs)
    missing = [key for key in (TOKEN_KEY, REGISTRATION_KEY) if key not in keys]
    for key in missing:
        yield (
            f"Secret {name!r} has no key {key!r}, which the chart projects into the pod: the "
            "manager would never start (the registration token may be an empty text)"
        )
    token = secret_text(secret, TOKEN_KEY)
    if token is not None and gitlab.issued(token) and not gitlab.runner_exists(world, token):
        yield f"the token in Secret {name!r} belongs to a GitLab runner that does not exist"
    elif token == "" and not missing and not secret_text(secret, REGISTRATION_KEY):
        yield f"Secret {name!r} holds no token at all"


def _namespace_problems(release: Release, world: World) -> Iterator[str]:
    runner = runner_of(text(release.values, "runners.config") or "")
    namespace = text(runner, "kubernetes.namespace") or release.namespace
    if not cluster.namespace_exists(world, release.scope, namespace):
        yield f"config.toml names the namespace {namespace!r}, which does not exist"
    role_namespace = text(release.values, "runners.jobNamespace") or release.namespace
    wide = flag(release.values, "rbac.clusterWideAccess") is True
    if flag(release.values, "rbac.create") and not wide and role_namespace != namespace:
        yield (
            f"jobs run in namespace {namespace!r}, the chart's role is in {role_namespace!r}: "
            "set runners.jobNamespace to the namespace of config.toml"
        )


def _images(release: Release) -> Iterator[str]:
    image = mapping(release.values, "image")
    parts = (text(image, "registry") or "registry.gitlab.com", text(image, "image") or "gitlab")
    yield "/".join(part for part in parts if part)
    runner = runner_of(text(release.values, "runners.config") or "")
    for path in ("kubernetes.image", "kubernetes.helper_image"):
        yield text(runner, path) or ""
    for service in objects(runner, "kubernetes.services"):
        yield text(service, "name") or ""


# config.toml


def runner_of(config: str) -> Properties:
    """Return the first `[[runners]]` table; empty if the text is invalid."""
    try:
        document = tomllib.loads(config)
    except tomllib.TOMLDecodeError:
        return {}
    runners = objects(document, "runners")
    return runners[0] if runners else {}


def config_problems(config: str) -> Iterator[Problem]:
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


CHARTS: Final[tuple[Chart, ...]] = (GitLabRunner(),)
