"""The objects that the chart gitlab-runner renders from its values.

Sources: gitlab-runner chart 0.86.0, templates/{_helpers.tpl,configmap.yaml,deployment.yaml,
hpa.yaml,role.yaml,role-binding.yaml,secrets.yaml,service-account.yaml}. The scripts in the
ConfigMap are left out, and of its global `config.toml` all but four keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Final

from pulumi_rehearsal.standin.kind import Properties
from pulumi_rehearsal.standin.kubernetes.release import Release, enabled
from pulumi_rehearsal.standin.properties import flag, items, lookup, mapping, number, text

CHART: Final = "gitlab-runner"
TOKEN_KEY: Final = "runner-token"
REGISTRATION_KEY: Final = "runner-registration-token"
CONFIG_KEY: Final = "config.template.toml"
"""Key of the ConfigMap with the configuration of the jobs."""

_RBAC: Final = "rbac.authorization.k8s.io"
_SCRIPTS: Final = (
    "check-live",
    "entrypoint",
    "pre-entrypoint-script",
    "register-the-runner",
)
_DEFAULT_GRACE_S: Final = 3600
_COPIED: Final = (
    *("affinity", "hostAliases", "imagePullSecrets", "nodeSelector", "priorityClassName"),
    *("runtimeClassName", "schedulerName", "tolerations", "topologySpreadConstraints"),
)
"""Values that the pod's spec takes as they are."""


def full_name(release: Release) -> str:
    """Return the name of the chart's objects: _helpers.tpl, fullname."""
    if given := text(release.values, "fullnameOverride"):
        return given[:63].removesuffix("-")
    base = text(release.values, "nameOverride") or CHART
    name = release.name if base in release.name else f"{release.name}-{base}"
    return name[:63].removesuffix("-")


def account_name(release: Release) -> str:
    """Return the manager's ServiceAccount: _helpers.tpl, serviceAccountName."""
    given = text(release.values, "serviceAccount.name")
    if given or flag(release.values, "serviceAccount.create"):
        return given or full_name(release)
    if flag(release.values, "rbac.create"):
        return text(release.values, "rbac.generatedServiceAccountName") or full_name(release)
    return text(release.values, "rbac.serviceAccountName") or "default"


def secret_name(release: Release) -> str:
    """Return the Secret with the token."""
    return text(release.values, "runners.secret") or full_name(release)


def job_namespace(release: Release) -> str:
    """Return the namespace of the chart's role."""
    return text(release.values, "runners.jobNamespace") or release.namespace


def runner_objects(release: Release) -> Iterator[Properties]:
    """Yield the objects."""
    named = text(release.values, "serviceAccount.name")
    creates_role = enabled(release, "rbac.create", default=False)
    if enabled(release, "serviceAccount.create", default=False) or (creates_role and not named):
        yield {
            **_object(release, "v1", "ServiceAccount"),
            "metadata": {**_metadata(release), "name": account_name(release)},
        }
    if not text(release.values, "runners.secret"):
        tokens = {
            TOKEN_KEY: text(release.values, "runnerToken") or "",
            REGISTRATION_KEY: text(release.values, "runnerRegistrationToken") or "",
        }
        yield {**_object(release, "v1", "Secret"), "type": "Opaque", "stringData": tokens}
    configuration = _config_map(release)
    yield configuration
    if creates_role:
        yield from _role(release)
    yield deployment(release)
    if hpa := mapping(release.values, "hpa"):
        yield _autoscaler(release, hpa)


def deployment(release: Release) -> Properties:
    """Return the manager: deployment.yaml."""
    name, values = full_name(release), release.values
    labels = {**mapping(values, "podLabels"), **_labels(release)}
    content = json.dumps(_config_map(release)["data"], sort_keys=True)
    annotations = {
        "checksum/configmap": hashlib.sha256(content.encode()).hexdigest(),
        **mapping(values, "podAnnotations"),
    }
    metadata = _metadata(release)
    metadata["labels"] = {**mapping(values, "deploymentLabels"), **metadata["labels"]}
    if added := mapping(values, "deploymentAnnotations"):
        metadata["annotations"] = added
    spec: Properties = {
        "revisionHistoryLimit": number(values, "revisionHistoryLimit") or 10,
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"labels": labels, "annotations": annotations},
            "spec": _pod_spec(release),
        },
    }
    if not mapping(values, "hpa"):
        replicas = number(values, "replicas")
        spec["replicas"] = 1 if replicas is None else replicas
    if strategy := mapping(values, "strategy"):
        spec["strategy"] = strategy
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": spec,
    }


def _pod_spec(release: Release) -> Properties:
    values, name = release.values, full_name(release)
    grace = number(values, "terminationGracePeriodSeconds")
    token = {
        "secret": {
            "name": secret_name(release),
            "items": [{"key": key, "path": key} for key in (REGISTRATION_KEY, TOKEN_KEY)],
        }
    }
    secrets = [{"secret": one} for one in items(values, "secrets")]
    spec: Properties = {
        **{key: values[key] for key in _COPIED if values.get(key)},
        "securityContext": mapping(values, "podSecurityContext"),
        "serviceAccountName": account_name(release),
        "terminationGracePeriodSeconds": _DEFAULT_GRACE_S if grace is None else grace,
        "containers": [_container(release), *items(values, "extraContainers")],
        "volumes": [
            {"name": "runner-secrets", "emptyDir": {"medium": "Memory"}},
            {"name": "etc-gitlab-runner", "emptyDir": {"medium": "Memory"}},
            {"name": "projected-secrets", "projected": {"sources": [token, *secrets]}},
            {"name": "configmaps", "configMap": {"name": name}},
            *items(values, "volumes"),
        ],
    }
    if containers := items(values, "initContainers"):
        spec["initContainers"] = list(containers)
    if certificates := text(values, "certsSecretName"):
        custom = {"name": "custom-certs", "secret": {"secretName": certificates}}
        spec["volumes"].append(custom)
    return spec


def _container(release: Release) -> Properties:
    values = release.values
    env = [
        {"name": "CI_SERVER_URL", "value": text(values, "gitlabUrl") or ""},
        {"name": "RUNNER_EXECUTOR", "value": text(values, "runners.executor") or "kubernetes"},
        *items(values, "envVars"),
        *({"name": key, "value": str(one)} for key, one in mapping(values, "extraEnv").items()),
        *({"name": key, "valueFrom": one} for key, one in mapping(values, "extraEnvFrom").items()),
    ]
    mounts = [
        {"name": "projected-secrets", "mountPath": "/secrets"},
        {"name": "etc-gitlab-runner", "mountPath": "/home/gitlab-runner/.gitlab-runner"},
        {"name": "configmaps", "mountPath": "/configmaps"},
        *items(values, "volumeMounts"),
    ]
    container: Properties = {
        "name": full_name(release),
        "image": manager_image(release),
        "command": ["/bin/bash", "/configmaps/entrypoint"],
        "env": env,
        "volumeMounts": mounts,
    }
    if resources := mapping(values, "resources"):
        container["resources"] = resources
    if context := mapping(values, "securityContext"):
        container["securityContext"] = context
    return container


def manager_image(release: Release) -> str:
    """Return the manager's image: _helpers.tpl, image."""
    image = mapping(release.values, "image")
    registry = lookup(image, "registry")
    registry = "registry.gitlab.com" if registry is None else registry
    name = text(image, "image") or "gitlab-org/gitlab-runner"
    tag = text(image, "tag") or f"alpine-of-chart-{_version(release)}"
    return f"{registry}/{name}:{tag}" if registry else f"{name}:{tag}"


def _config_map(release: Release) -> Properties:
    values = release.values
    settings = {
        "concurrent": lookup(values, "concurrent"),
        "check_interval": lookup(values, "checkInterval"),
        "shutdown_timeout": lookup(values, "shutdown_timeout"),
        "log_level": lookup(values, "logLevel"),
    }
    lines = [
        f"{name} = {json.dumps(value)}" for name, value in settings.items() if value is not None
    ]
    data = {
        **dict.fromkeys(_SCRIPTS, "# left out"),
        "config.toml": "\n".join(lines),
        CONFIG_KEY: text(values, "runners.config") or "",
    }
    return {**_object(release, "v1", "ConfigMap"), "data": data}


def _role(release: Release) -> Iterator[Properties]:
    wide = flag(release.values, "rbac.clusterWideAccess") is True
    kind = "ClusterRole" if wide else "Role"
    metadata = {**_metadata(release), "namespace": job_namespace(release)}
    if wide:
        del metadata["namespace"]
    every: Properties = {"apiGroups": [""], "resources": ["*"], "verbs": ["*"]}
    rules = list(items(release.values, "rbac.rules")) or [every]
    subject = {
        "kind": "ServiceAccount",
        "name": account_name(release),
        "namespace": release.namespace,
    }
    version = f"{_RBAC}/v1"
    yield {"apiVersion": version, "kind": kind, "metadata": metadata, "rules": rules}
    yield {
        "apiVersion": version,
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": full_name(release)},
        "subjects": [subject],
    }


def _autoscaler(release: Release, hpa: Properties) -> Properties:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": full_name(release)}
    spec = {
        "scaleTargetRef": target,
        "minReplicas": number(hpa, "minReplicas") or 1,
        "maxReplicas": number(hpa, "maxReplicas") or 1,
        "metrics": list(items(hpa, "metrics")),
    }
    return {**_object(release, "autoscaling/v2", "HorizontalPodAutoscaler"), "spec": spec}


def _object(release: Release, api_version: str, kind: str) -> Properties:
    return {"apiVersion": api_version, "kind": kind, "metadata": _metadata(release)}


def _metadata(release: Release) -> Properties:
    return {
        "name": full_name(release),
        "namespace": release.namespace,
        "labels": _labels(release),
    }


def _labels(release: Release) -> Properties:
    return {
        "app": full_name(release),
        "chart": f"{CHART}-{_version(release)}",
        "release": release.name,
        "heritage": "Helm",
    }


def _version(release: Release) -> str:
    return release.version.removeprefix("v")
