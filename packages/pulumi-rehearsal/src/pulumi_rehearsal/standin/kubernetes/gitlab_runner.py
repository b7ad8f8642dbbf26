"""The gitlab-runner chart: the manager, its Secret, and the jobs' configuration.

Sources: gitlab-runner chart 0.86.0 as vendored in DoD-Platform-One/gitlab-runner (values.yaml,
templates/deployment.yaml: a projected volume names both keys of the Secret;
templates/_register-runner.tpl).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pulumi_rehearsal.standin import gitlab
from pulumi_rehearsal.standin.kubernetes import cluster, gitlab_config, images, pods
from pulumi_rehearsal.standin.kubernetes.core import secret_text
from pulumi_rehearsal.standin.kubernetes.grammar import Problem
from pulumi_rehearsal.standin.kubernetes.release import Chart, Release, owned, words
from pulumi_rehearsal.standin.properties import flag, given, lookup, mapping, objects, text
from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource
    from pulumi_rehearsal.standin.world import World

TOKEN_KEY: Final = "runner-token"
REGISTRATION_KEY: Final = "runner-registration-token"

MANAGER: Final = "kubernetes:apps/v1:Deployment"
"""What the chart makes, with a fingerprint of the token that its pod started with."""

_PLAINTEXT: Final = ("runnerToken", "runnerRegistrationToken")
_REGISTRATION_ONLY: Final = words(
    "locked maintenanceNote maximumTimeout protected runUntagged tags accessLevel"
)

KEYS: Final = {
    "": words(
        "affinity automountServiceAccountToken certsSecretName checkInterval concurrent configMaps "
        "connectionMaxAge deploymentAnnotations deploymentLabels deploymentLifecycle envVars "
        "extraContainers extraEnv extraEnvFrom extraEnvFromRefs extraObjects fullnameOverride "
        "gitlabUrl global hostAliases hostname hpa image imagePullPolicy imagePullSecrets "
        "initContainers livenessProbe logFormat logLevel metrics nameOverride nodeSelector "
        "podAnnotations podLabels podSecurityContext preEntrypointScript priorityClassName "
        "probeTimeoutSeconds rbac readinessProbe replicas resources revisionHistoryLimit "
        "runnerRegistrationToken runnerToken runners runtimeClassName schedulerName secrets "
        "securityContext sentryDsn service serviceAccount sessionServer shutdown_timeout strategy "
        "terminationGracePeriodSeconds tolerations topologySpreadConstraints unregisterRunners "
        "useTini volumeMounts volumes"
    ),
    "runners": _REGISTRATION_ONLY
    | words("cache config configPath executor jobNamespace name secret"),
    "rbac": words(
        "annotations clusterWideAccess create generatedServiceAccountName imagePullSecrets "
        "podSecurityPolicy resources rules serviceAccountAnnotations serviceAccountName verbs"
    ),
    "serviceAccount": words("annotations create imagePullSecrets name"),
    "metrics": words("annotations enabled podMonitor port portName serviceMonitor"),
}


class GitLabRunner(Chart):
    """One manager."""

    name: ClassVar[str] = "gitlab-runner"
    keys: ClassVar[Mapping[str, frozenset[str]]] = KEYS

    def value_problems(self, release: Release) -> Iterator[Problem]:
        """Address, Secret, rights and config.toml."""
        yield from _address_problems(release)
        yield from _token_problems(release)
        for path in ("rbac.create", "serviceAccount.create"):
            if lookup(release.values, path) is None:
                yield (
                    f"values.{path}",
                    "must be set: the chart's defaults give the manager no rights and no account",
                )
        config = lookup(release.values, "runners.config")
        if isinstance(config, str):
            for path, reason in gitlab_config.config_problems(config):
                yield "values.runners.config", f"{path}: {reason}" if path else reason
        elif config is not UNKNOWN:
            yield "values.runners.config", "is missing: the jobs' configuration, as TOML"

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        """The Secret with both keys, a runner behind the token, the jobs' namespace."""
        yield from _secret_problems(release, world)
        yield from _namespace_problems(release, world)
        yield from images.problems(_images(release), release.scope, world)
        name = text(release.values, "serviceAccount.name")
        if flag(release.values, "serviceAccount.create") is False and name:
            account = (pods.SERVICE_ACCOUNT, release.namespace, name)
            if cluster.find_object(world, release.scope, *account) is None:
                yield f"ServiceAccount {name!r} does not exist in namespace {release.namespace!r}"

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        """The manager reads its token when its pod starts, and not again."""
        started = {"fingerprint": _fingerprint(release, world)}
        world.replace(owned(MANAGER, _manager_id(release), release, started))

    def removed(self, release: Release, world: World) -> None:
        """The manager goes with its release."""
        manager = world.get(_manager_id(release), MANAGER, release.scope)
        if manager is not None:
            world.remove(manager)

    def faults(self, release: Release, world: World) -> Iterator[str]:
        """A manager whose Secret or runner changed or went away afterwards."""
        for reason in _secret_problems(release, world):
            yield f"release {release.id!r} says deployed, but {reason}"
        manager = world.get(_manager_id(release), MANAGER, release.scope)
        token = _fingerprint(release, world)
        if manager is not None and token and manager.inputs["fingerprint"] != token:
            yield (
                f"release {release.id!r} says deployed, but its Secret has another token since: "
                "the chart restarts the manager for its own objects only, so change a value with "
                "it (podAnnotations with the runner's id)"
            )


def _manager_id(release: Release) -> str:
    return f"{release.id}-gitlab-runner"


def _fingerprint(release: Release, world: World) -> str | None:
    secret = _secret(release, world)
    token = None if secret is None else secret_text(secret, TOKEN_KEY)
    return None if token is None else hashlib.sha256(token.encode()).hexdigest()


def _address_problems(release: Release) -> Iterator[Problem]:
    url = lookup(release.values, "gitlabUrl")
    if url is not UNKNOWN and not (isinstance(url, str) and url.startswith("https://")):
        yield "values.gitlabUrl", "must be the https address of the GitLab instance"


def _token_problems(release: Release) -> Iterator[Problem]:
    for key in _PLAINTEXT:
        if given(release.values, key):
            yield (
                f"values.{key}",
                "is a token in clear text, which Helm stores with the release: "
                "make a Secret and name it in runners.secret",
            )
    secret: Any = lookup(release.values, "runners.secret")
    if secret is not UNKNOWN and not (isinstance(secret, str) and secret):
        yield "values.runners.secret", "must be the name of a Secret with the runner's token"
    for key in sorted(_REGISTRATION_ONLY & mapping(release.values, "runners").keys()):
        yield (
            f"values.runners.{key}",
            "has no effect with an authentication token: set it on the runner at GitLab",
        )


def _secret(release: Release, world: World) -> Resource | None:
    name = text(release.values, "runners.secret") or ""
    return cluster.find_object(world, release.scope, pods.SECRET, release.namespace, name)


def _secret_problems(release: Release, world: World) -> Iterator[str]:
    secret, name = _secret(release, world), text(release.values, "runners.secret")
    if secret is None:
        yield f"runners.secret {name!r} does not exist in namespace {release.namespace!r}"
        return
    missing = [k for k in (TOKEN_KEY, REGISTRATION_KEY) if k not in pods.data_keys(secret.inputs)]
    for key in missing:
        yield (
            f"Secret {name!r} has no key {key!r}, which the chart projects into the pod: the "
            "manager would never start (the registration token may be an empty text)"
        )
    token = secret_text(secret, TOKEN_KEY)
    if token is not None and gitlab.issued(token) and not gitlab.runner_of(world, token):
        yield f"the token in Secret {name!r} belongs to a GitLab runner that does not exist"
    elif token == "" and not missing and not secret_text(secret, REGISTRATION_KEY):
        yield f"Secret {name!r} holds no token at all"


def _namespace_problems(release: Release, world: World) -> Iterator[str]:
    runner = gitlab_config.runner_of(text(release.values, "runners.config") or "")
    namespace = text(runner, "kubernetes.namespace") or release.namespace
    if not cluster.namespace_exists(world, release.scope, namespace):
        yield f"config.toml names the namespace {namespace!r}, which does not exist"
    rights = text(release.values, "runners.jobNamespace") or release.namespace
    wide = flag(release.values, "rbac.clusterWideAccess") is True
    if flag(release.values, "rbac.create") and not wide and rights != namespace:
        yield (
            f"jobs run in namespace {namespace!r}, the chart's role is in {rights!r}: "
            "set runners.jobNamespace to the namespace of config.toml"
        )


def _images(release: Release) -> Iterator[str]:
    """The manager's image where it has another registry, and those that config.toml names."""
    image = mapping(release.values, "image")
    parts = (text(image, "registry") or "registry.gitlab.com", text(image, "image") or "gitlab")
    yield "/".join(part for part in parts if part)
    runner = gitlab_config.runner_of(text(release.values, "runners.config") or "")
    for path in ("kubernetes.image", "kubernetes.helper_image"):
        yield text(runner, path) or ""
    for service in objects(runner, "kubernetes.services"):
        yield text(service, "name") or ""


CHARTS: Final[tuple[Chart, ...]] = (GitLabRunner(),)
