"""Values of ARC's two charts by themselves: keys, types, and what the templates drop or refuse.

Sources: actions/actions-runner-controller@gha-runner-scale-set-0.14.2
charts/gha-runner-scale-set-controller/{values.yaml,templates/_helpers.tpl} and
charts/gha-runner-scale-set/{values.yaml,templates/autoscalingrunnerset.yaml,_helpers.tpl}.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pulumi_rehearsal.standin.kubernetes import pods
from pulumi_rehearsal.standin.kubernetes.grammar import Problem, below
from pulumi_rehearsal.standin.kubernetes.release import Release, words
from pulumi_rehearsal.standin.properties import flag, given, items, lookup, objects, text
from pulumi_rehearsal.standin.values import UNKNOWN

CONTROLLER_KEYS: Final = {
    "": words(
        "affinity env flags fullnameOverride image imagePullSecrets labels metrics nameOverride "
        "namespaceOverride nodeSelector podAnnotations podLabels podSecurityContext pprof "
        "priorityClassName replicaCount resources securityContext serviceAccount "
        "terminationGracePeriodSeconds tolerations topologySpreadConstraints volumeMounts "
        "volumes"
    ),
    "flags": words(
        "excludeLabelPropagationPrefixes healthProbeBindAddress k8sClientRateLimiterBurst "
        "k8sClientRateLimiterQPS logFormat logLevel rateLimiter runnerMaxConcurrentReconciles "
        "updateStrategy watchSingleNamespace"
    ),
    "metrics": frozenset({"controllerManagerAddr", "listenerAddr", "listenerEndpoint"}),
    "serviceAccount": frozenset({"annotations", "create", "name"}),
}

SET_KEYS: Final = {
    "": words(
        "annotations containerMode controllerServiceAccount fullnameOverride githubConfigSecret "
        "githubConfigUrl githubServerTLS keyVault labels listenerMetrics listenerTemplate "
        "maxRunners minRunners nameOverride namespaceOverride proxy resourceMeta runnerGroup "
        "runnerScaleSetName scaleSetLabels template"
    ),
    "containerMode": frozenset(
        {
            "kubernetesModeAdditionalRoleRules",
            "kubernetesModeServiceAccount",
            "kubernetesModeWorkVolumeClaim",
            "type",
        }
    ),
    "controllerServiceAccount": frozenset({"name", "namespace"}),
    "template": frozenset({"metadata", "spec"}),
    "listenerTemplate": frozenset({"metadata", "spec"}),
}

CONTAINER_MODES: Final = frozenset({"dind", "kubernetes", "kubernetes-novolume"})
MAX_SET_NAME: Final = 45
MAX_LABEL: Final = 255
SELF: Final = "values"


def controller_problems(release: Release) -> Iterator[Problem]:
    """What is wrong with the controller's values."""
    yield from _await_problems(release)
    name = text(release.values, "serviceAccount.name")
    if name == "default":
        yield f"{SELF}.serviceAccount.name", "the chart refuses the account 'default'"
    if flag(release.values, "serviceAccount.create") is False and not name:
        yield f"{SELF}.serviceAccount.name", "is needed where the chart creates no account"
    strategy = text(release.values, "flags.updateStrategy")
    if strategy not in (None, "immediate", "eventual"):
        yield f"{SELF}.flags.updateStrategy", f"{strategy!r} is neither immediate nor eventual"


def set_problems(release: Release) -> Iterator[Problem]:
    """What is wrong with a scale set's values."""
    yield from _await_problems(release)
    yield from _github_problems(release)
    yield from _account_problems(release)
    yield from _count_problems(release)
    yield from _name_problems(release)
    yield from _mode_problems(release)
    yield from _template_problems(release, "template", "runner")
    if given(release.values, "listenerTemplate"):
        yield from _template_problems(release, "listenerTemplate", "listener")


def set_name(release: Release) -> str:
    """The scale set's name at GitHub, and of the object in the cluster."""
    return text(release.values, "runnerScaleSetName") or release.name


def _await_problems(release: Release) -> Iterator[Problem]:
    if flag(release.inputs, "skipAwait"):
        yield (
            "skipAwait",
            "an uninstall that does not wait lets the controller go before its finalizers are "
            "done: leave it out",
        )


def _github_problems(release: Release) -> Iterator[Problem]:
    url = lookup(release.values, "githubConfigUrl")
    if url is not UNKNOWN and not (isinstance(url, str) and url.startswith("https://")):
        yield f"{SELF}.githubConfigUrl", "must be the https address of what the runners serve"
    secret = lookup(release.values, "githubConfigSecret")
    if isinstance(secret, dict):
        yield (
            f"{SELF}.githubConfigSecret",
            "holds the credentials themselves, which Helm stores with the release: "
            "make a Secret and give its name",
        )
    elif secret is not UNKNOWN and not (isinstance(secret, str) and secret):
        yield f"{SELF}.githubConfigSecret", "must be the name of a Secret"


def _account_problems(release: Release) -> Iterator[Problem]:
    for part in ("name", "namespace"):
        if not given(release.values, f"controllerServiceAccount.{part}"):
            yield (
                f"{SELF}.controllerServiceAccount.{part}",
                "is missing: the chart would look the controller up in the live cluster and abort "
                "where it is not there yet",
            )


def _count_problems(release: Release) -> Iterator[Problem]:
    counts: dict[str, Any] = {}
    for field in ("minRunners", "maxRunners"):
        count = lookup(release.values, field)
        if count is None or count is UNKNOWN:
            continue
        if isinstance(count, bool) or not isinstance(count, int):
            yield f"{SELF}.{field}", "must be a whole number: the chart silently drops others"
        elif count < 0:
            yield f"{SELF}.{field}", "must not be negative"
        else:
            counts[field] = count
    if len(counts) == 2 and counts["maxRunners"] < counts["minRunners"]:
        yield f"{SELF}.maxRunners", "must be at least minRunners"


def _name_problems(release: Release) -> Iterator[Problem]:
    name = set_name(release)
    if len(name) > MAX_SET_NAME:
        yield (
            f"{SELF}.runnerScaleSetName",
            f"{name!r} has {len(name)} characters, the limit is {MAX_SET_NAME}",
        )
    labels = items(release.values, "scaleSetLabels")
    for index, label in enumerate(labels):
        if not isinstance(label, str) or not 0 < len(label) <= MAX_LABEL:
            reason = f"must be a text of 1 to {MAX_LABEL} characters"
            yield f"{SELF}.scaleSetLabels[{index}]", reason


def _mode_problems(release: Release) -> Iterator[Problem]:
    mode = text(release.values, "containerMode.type")
    if mode is None or mode == "":
        return
    if mode not in CONTAINER_MODES:
        choices = ", ".join(sorted(CONTAINER_MODES))
        yield f"{SELF}.containerMode.type", f"{mode!r} is none of {choices}"
    volumes = objects(release.values, "template.spec.volumes")
    has_work_volume = any(volume.get("name") == "work" for volume in volumes)
    claim = "containerMode.kubernetesModeWorkVolumeClaim"
    if mode == "kubernetes" and not has_work_volume and not given(release.values, claim):
        yield f"{SELF}.{claim}", "is needed in mode kubernetes: runner and job share that volume"


def _template_problems(release: Release, field: str, container: str) -> Iterator[Problem]:
    spec = lookup(release.values, f"{field}.spec")
    if spec is None and field == "template":
        return
    for path, reason in pods.spec_problems(spec):
        yield below(f"{SELF}.{field}.spec", path), reason
    containers = objects(release.values, f"{field}.spec.containers")
    here = f"{SELF}.{field}.spec.containers"
    ours = [c for c in containers if c.get("name") == container]
    if spec is not UNKNOWN and not ours:
        yield here, f"must hold a container named {container!r}"
    elif field == "template" and spec is not UNKNOWN:
        # A list in values replaces the chart's own, so that its image and command are lost.
        for part in ("image", "command"):
            if not given(ours[0], part):
                yield here, f"container {container!r} needs {part!r}: the chart's own is replaced"
