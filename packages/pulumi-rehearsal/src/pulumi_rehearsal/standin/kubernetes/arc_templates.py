"""The objects that the chart gha-runner-scale-set renders from its values.

Source: actions/actions-runner-controller, tag gha-runner-scale-set-0.14.2,
charts/gha-runner-scale-set/templates (each function names its file). Left out: `keyVault` and
`resourceMeta`. Values that the program computes during `up` do not occur here: the provider renders
a chart only when all its values are known.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

from pulumi_rehearsal.standin.kind import Properties
from pulumi_rehearsal.standin.kubernetes import arc
from pulumi_rehearsal.standin.kubernetes.release import Release
from pulumi_rehearsal.standin.properties import lookup, mapping, objects, strings, text

API_VERSION: Final = f"{arc.GROUP}/{arc.VERSION}"
CLEANUP: Final = "actions.github.com/cleanup-protection"
"""Finalizer of a set and of its ServiceAccount and roles; the controller removes it."""

MANAGER_BINDING: Final = "actions.github.com/cleanup-manager-role-binding"
SET_NAME_LABEL: Final = "actions.github.com/scale-set-name"
SET_NAMESPACE_LABEL: Final = "actions.github.com/scale-set-namespace"

DIND_IMAGE: Final = "docker:dind"

_RBAC: Final = "rbac.authorization.k8s.io"
_WORK: Final = {"name": "work", "mountPath": "/home/runner/_work"}
_SOCKET: Final = {"name": "dind-sock", "mountPath": "/var/run"}
_MANAGER_RULES: Final = (
    ("", "pods", "create delete get update patch"),
    ("", "pods/status", "get"),
    ("", "secrets", "create delete get list patch update"),
    ("", "serviceaccounts", "create delete get list patch update"),
    (_RBAC, "rolebindings", "create delete get patch update"),
    (_RBAC, "roles", "create delete get patch update"),
)
_KUBE_MODE_RULES: Final = (
    ("", "pods", "get list create delete update patch"),
    ("", "pods/exec", "get create"),
    ("", "pods/log", "get list watch"),
    ("batch", "jobs", "get list create delete"),
    ("", "secrets", "get list create delete"),
)


def set_of(found: Properties) -> tuple[str | None, str | None]:
    """Return namespace and name of the set to which an object of the chart belongs."""
    labels = strings(found, "metadata.labels")
    return labels.get(SET_NAMESPACE_LABEL), labels.get(SET_NAME_LABEL)


def set_name(release: Release) -> str:
    """Return the name of the scale set at GitHub."""
    return text(release.values, "runnerScaleSetName") or release.name


def namespace(release: Release) -> str:
    """Return the namespace of the chart's objects."""
    return text(release.values, "namespaceOverride") or release.namespace


def scale_set_objects(release: Release, account: tuple[str, str]) -> Iterator[Properties]:
    """Yield the objects; `account` is the controller's service account: namespace and name."""
    own_account = not text(release.values, "template.spec.serviceAccountName")
    if own_account:
        suffix = "kube-mode" if _is_kube_mode(release) else "no-permission"
        yield _object(release, "v1", "ServiceAccount", suffix, finalizers=[CLEANUP])
    if mapping(release.values, "githubConfigSecret"):
        yield _github_secret(release)
    if own_account and _is_kube_mode(release):
        subject = (namespace(release), _account_name(release))
        yield from _role(release, "kube-mode", _kube_mode_rules(release), subject)
    yield from _role(release, "manager", _manager_rules(release), account)
    yield _runner_set(release, own_account=own_account)


def _runner_set(release: Release, *, own_account: bool) -> Properties:
    """Return the AutoscalingRunnerSet: autoscalingrunnerset.yaml."""
    values = release.values
    cleanup = "actions.github.com/cleanup"
    annotations: Properties = {
        **mapping(values, "annotations"),
        "actions.github.com/values-hash": _values_hash(release),
        MANAGER_BINDING: _name(release, "manager"),
        f"{cleanup}-manager-role-name": _name(release, "manager"),
    }
    if mapping(values, "githubConfigSecret"):
        annotations[f"{cleanup}-github-secret-name"] = github_secret_name(release)
    if own_account and _is_kube_mode(release):
        mode = f"{cleanup}-kubernetes-mode"
        for suffix in ("role-binding-name", "role-name", "service-account-name"):
            annotations[f"{mode}-{suffix}"] = _name(release, "kube-mode")
    elif own_account:
        annotations[f"{cleanup}-no-permission-service-account-name"] = _account_name(release)
    spec: Properties = {
        "githubConfigUrl": (text(values, "githubConfigUrl") or "").removesuffix("/"),
        "githubConfigSecret": github_secret_name(release),
        "template": _pod_template(release),
    }
    copied = ("runnerGroup", "runnerScaleSetName", "proxy", "listenerTemplate", "listenerMetrics")
    spec |= {name: values[name] for name in copied if values.get(name)}
    if values.get("scaleSetLabels"):
        spec["runnerScaleSetLabels"] = values["scaleSetLabels"]
    if certificate := mapping(values, "githubServerTLS.certificateFrom"):
        spec["githubServerTLS"] = {"certificateFrom": certificate}
    for name in ("maxRunners", "minRunners"):
        if isinstance(values.get(name), int):
            spec[name] = values[name]
    return {
        "apiVersion": API_VERSION,
        "kind": "AutoscalingRunnerSet",
        "metadata": {
            "name": set_name(release).replace("_", "-"),
            "namespace": namespace(release),
            "labels": _labels(release, "autoscaling-runner-set"),
            "annotations": annotations,
        },
        "spec": spec,
    }


def github_secret_name(release: Release) -> str:
    """Return the name of the Secret with the credentials: _helpers.tpl, githubsecret."""
    given = text(release.values, "githubConfigSecret")
    return given or f"{_full_name(release).replace('_', '-')}-github-secret"


def _github_secret(release: Release) -> Properties:
    """Return the Secret of credentials in the values: githubsecret.yaml."""
    made = _object(release, "v1", "Secret", "", finalizers=[CLEANUP])
    made["metadata"]["name"] = github_secret_name(release)
    credentials = mapping(release.values, "githubConfigSecret")
    return {**made, "stringData": {key: str(value) for key, value in credentials.items()}}


def _role(
    release: Release, role: str, rules: list[Properties], account: tuple[str, str]
) -> Iterator[Properties]:
    """Yield a Role and its RoleBinding to an account: manager_role*.yaml, kube_mode_role*.yaml."""
    version = f"{_RBAC}/v1"
    yield {**_object(release, version, "Role", role, finalizers=[CLEANUP]), "rules": rules}
    subject = {"kind": "ServiceAccount", "name": account[1], "namespace": account[0]}
    yield {
        **_object(release, version, "RoleBinding", role, finalizers=[CLEANUP]),
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": _name(release, role)},
        "subjects": [subject],
    }


def _manager_rules(release: Release) -> list[Properties]:
    rules = list(_MANAGER_RULES)
    if release.values.get("githubServerTLS"):
        rules.append(("", "configmaps", "get"))
    return _rules(rules)


def _kube_mode_rules(release: Release) -> list[Properties]:
    # Without a shared volume the hooks create no Kubernetes Job.
    no_jobs = _mode(release) == "kubernetes-novolume"
    return _rules([rule for rule in _KUBE_MODE_RULES if not (no_jobs and rule[0] == "batch")])


def _rules(rules: list[tuple[str, str, str]]) -> list[Properties]:
    return [
        {"apiGroups": [group], "resources": [resource], "verbs": verbs.split()}
        for group, resource, verbs in rules
    ]


def _object(
    release: Release, api_version: str, kind: str, role: str, *, finalizers: list[str]
) -> Properties:
    component = f"{role}-{kind.lower()}" if role else kind.lower()
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": _name(release, role),
            "namespace": namespace(release),
            "labels": _labels(release, component),
            "finalizers": finalizers,
        },
    }


def _labels(release: Release, component: str) -> Properties:
    """Return the labels of _helpers.tpl, labels."""
    version = release.version.removeprefix("v")
    return {
        **mapping(release.values, "labels"),
        "app.kubernetes.io/component": component,
        "helm.sh/chart": f"gha-rs-{version}",
        "app.kubernetes.io/name": set_name(release),
        "app.kubernetes.io/instance": set_name(release),
        arc.VERSION_LABEL: version,
        "app.kubernetes.io/managed-by": "Helm",
        "app.kubernetes.io/part-of": "gha-rs",
        SET_NAME_LABEL: set_name(release),
        SET_NAMESPACE_LABEL: namespace(release),
    }


def _values_hash(release: Release) -> str:
    # The real hash covers the chart's default values too.
    content = json.dumps(release.values, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:63]


def _full_name(release: Release) -> str:
    return f"{set_name(release)}-gha-rs"[:63].removesuffix("-")


def _name(release: Release, role: str) -> str:
    return f"{_full_name(release)}-{role}"


def _account_name(release: Release) -> str:
    role = "kube-mode" if _is_kube_mode(release) else "no-permission"
    return _name(release, role).replace("_", "-")


def _mode(release: Release) -> str:
    return text(release.values, "containerMode.type") or ""


def _is_kube_mode(release: Release) -> bool:
    return _mode(release) in ("kubernetes", "kubernetes-novolume")


# The pods of the runners


def _pod_template(release: Release) -> Properties:
    values = mapping(release.values, "template.spec")
    rendered_apart = {"containers", "volumes", "initContainers", "serviceAccountName", "dind"}
    spec: Properties = {
        "restartPolicy": "Never",
        **{key: value for key, value in values.items() if key not in rendered_apart},
        "serviceAccountName": text(values, "serviceAccountName") or _account_name(release),
        "containers": [_container(release, one) for one in _containers(release)],
    }
    if init := [*_dind_containers(release), *objects(values, "initContainers")]:
        spec["initContainers"] = init
    if volumes := list(_volumes(release)):
        spec["volumes"] = volumes
    metadata = mapping(release.values, "template.metadata")
    kept = {key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)}
    return {**({"metadata": kept} if metadata else {}), "spec": spec}


def _containers(release: Release) -> list[Properties]:
    """Return the containers of the values, or the chart's own one: values.yaml."""
    default: Properties = {
        "name": "runner",
        "image": "ghcr.io/actions/actions-runner:latest",
        "command": ["/home/runner/run.sh"],
    }
    return list(objects(release.values, "template.spec.containers")) or [default]


def _container(release: Release, container: Properties) -> Properties:
    """Return a container with what its mode adds to the runner: `_helpers.tpl`, *-container."""
    mode = _mode(release)
    if container.get("name") != "runner" or not mode:
        return container
    hooks = "k8s-novolume" if mode == "kubernetes-novolume" else "k8s"
    pod_name = {"fieldRef": {"fieldPath": "metadata.name"}}
    if mode == "dind":
        env: list[Properties] = [
            {"name": "DOCKER_HOST", "value": "unix:///var/run/docker.sock"},
            {"name": "RUNNER_WAIT_FOR_DOCKER_IN_SECONDS", "value": "120"},
        ]
        mounts = [_WORK, _SOCKET]
    else:
        env = [
            {
                "name": "ACTIONS_RUNNER_CONTAINER_HOOKS",
                "value": f"/home/runner/{hooks}/index.js",
            },
            {"name": "ACTIONS_RUNNER_POD_NAME", "valueFrom": pod_name},
            {"name": "ACTIONS_RUNNER_REQUIRE_JOB_CONTAINER", "value": "true"},
        ]
        mounts = [_WORK] if mode == "kubernetes" else []
    if mode == "kubernetes-novolume":
        env.append({"name": "ACTIONS_RUNNER_IMAGE", "value": container.get("image")})
    added: Properties = {"env": _joined(container, "env", env)}
    if joined := _joined(container, "volumeMounts", mounts):
        added["volumeMounts"] = joined
    return {**container, **added}


def _joined(container: Properties, field: str, added: list[Any]) -> list[Any]:
    """Return the items of the container, and those of `added` whose name it does not have."""
    own = list(objects(container, field))
    names = {item.get("name") for item in own}
    return [*own, *(item for item in added if item["name"] not in names)]


def _dind_containers(release: Release) -> Iterator[Properties]:
    """Yield the init containers of mode dind, for Kubernetes 1.29 and later."""
    if _mode(release) != "dind":
        return
    runner = next(one for one in _containers(release) if one.get("name") == "runner")
    externals = {"name": "dind-externals", "mountPath": "/home/runner/tmpDir"}
    yield {
        "name": "init-dind-externals",
        "image": runner.get("image"),
        "command": ["cp"],
        "args": ["-r", "/home/runner/externals/.", "/home/runner/tmpDir/"],
        "volumeMounts": [externals],
    }
    yield {
        "name": "dind",
        "image": DIND_IMAGE,
        "args": [
            "dockerd",
            "--host=unix:///var/run/docker.sock",
            "--group=$(DOCKER_GROUP_GID)",
        ],
        "env": [{"name": "DOCKER_GROUP_GID", "value": "123"}],
        "securityContext": {"privileged": True},
        "restartPolicy": "Always",
        "volumeMounts": [_WORK, _SOCKET, {**externals, "mountPath": "/home/runner/externals"}],
    }


def _volumes(release: Release) -> Iterator[Properties]:
    mode, own = _mode(release), objects(release.values, "template.spec.volumes")
    has_work = any(volume.get("name") == "work" for volume in own)
    if mode == "dind":
        yield {"name": "dind-sock", "emptyDir": {}}
        yield {"name": "dind-externals", "emptyDir": {}}
    if not has_work and mode == "dind":
        yield {"name": "work", "emptyDir": {}}
    if not has_work and mode == "kubernetes":
        claim = lookup(release.values, "containerMode.kubernetesModeWorkVolumeClaim")
        yield {"name": "work", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    yield from own
