"""The gitlab-runner chart: its values, and a Helm release of it.

Sources: gitlab-runner chart 0.86.0 as vendored in DoD-Platform-One/gitlab-runner (values.yaml;
templates/_register-runner.tpl: one `[[runners]]`, rendered by Helm's `tpl`). `gitlab_templates`
renders the chart, `gitlab_manager` has the rules of its Deployment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kubernetes import (
    cluster,
    component,
    gitlab_config,
    gitlab_manager,
    gitlab_templates,
    pods,
)
from pulumi_rehearsal.standin.kubernetes.release import (
    Chart,
    Release,
    created_by,
    key_set,
)
from pulumi_rehearsal.standin.properties import flag, given, lookup, mapping, text
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.values import UNKNOWN, Properties

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource
    from pulumi_rehearsal.standin.world import World

POD: Final = "kubernetes:core/v1:Pod"

_REGISTRATION_ONLY: Final = key_set(
    "locked maintenanceNote maximumTimeout protected runUntagged tags accessLevel"
)


class GitLabRunner(Chart):
    """The chart of one runner manager."""

    name: ClassVar[str] = gitlab_templates.CHART
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
            for path, reason in gitlab_config.problems(config):
                yield "values.runners.config", f"{path}: {reason}" if path else reason
        elif config is not UNKNOWN:
            yield "values.runners.config", "is missing: it configures the jobs, as TOML"

    def objects(self, release: Release, world: World) -> Iterable[Properties]:
        return gitlab_templates.runner_objects(release)

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        if given(release.values, "runners.secret"):  # else the chart creates it from runnerToken
            secret = (gitlab_templates.secret_name(release), release.namespace, release.scope)
            yield from gitlab_manager.secret_problems(*secret, world)
        yield from _namespace_problems(release, world)
        config = text(release.values, "runners.config") or ""
        images = [gitlab_templates.manager_image(release), *gitlab_config.images(config)]
        yield from pods.image_problems(images, release.scope, world)
        name = text(release.values, "serviceAccount.name")
        if not flag(release.values, "serviceAccount.create") and name:
            account = (pods.SERVICE_ACCOUNT, release.namespace, name)
            if cluster.find_object(world, release.scope, *account) is None:
                yield f"ServiceAccount {name!r} does not exist in namespace {release.namespace!r}"

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        made = _objects(release)
        for old in () if before is None else _objects(before):
            if not any((old.type, old.id) == (new.type, new.id) for new in made):
                world.remove(old)
        for one in made:
            if one.type == gitlab_manager.MANAGER:
                gitlab_manager.started(one, world)
            world.replace(one)

    def removed(self, release: Release, world: World) -> Sequence[Resource]:
        # Helm deletes the manager first, but awaits nothing: helm/helm pkg/releaseutil/
        # kind_sorter.go. It deletes in the background: a pod is left until its job ends.
        for one in sorted(_objects(release), key=lambda one: one.type != gitlab_manager.MANAGER):
            found = world.get(one.id, one.type, one.scope)
            if found is None:
                continue
            if found.type == gitlab_manager.MANAGER and world.jobs.running(found):
                pod_id = f"{found.id}-{world.fresh_hex(found.id, 5)}"
                pod = created_by(release, POD, pod_id, found.inputs)
                world.add(pod)
                world.jobs.move(found, pod)
                gitlab_manager.terminate(pod, world)
            world.remove(found)
        return ()


def _objects(release: Release) -> list[Resource]:
    return [
        created_by(release, component.token(one), component.qualified_name(one), one)
        for one in gitlab_templates.runner_objects(release)
    ]


def _namespace_problems(release: Release, world: World) -> Iterator[str]:
    config = text(release.values, "runners.config") or ""
    namespace = gitlab_config.namespace(config) or release.namespace
    if not cluster.namespace_exists(world, release.scope, namespace):
        yield f"config.toml names the namespace {namespace!r}, which does not exist"
    role_namespace = gitlab_templates.job_namespace(release)
    wide = flag(release.values, "rbac.clusterWideAccess") is True
    if flag(release.values, "rbac.create") and not wide and role_namespace != namespace:
        yield (
            f"jobs run in namespace {namespace!r}, the chart's role is in {role_namespace!r}: "
            "set runners.jobNamespace to the namespace of config.toml"
        )


CHARTS: Final[tuple[Chart, ...]] = (GitLabRunner(),)
