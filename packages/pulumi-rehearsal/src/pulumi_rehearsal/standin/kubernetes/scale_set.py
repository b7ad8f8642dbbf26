"""The chart gha-runner-scale-set: its values, and a Helm release of it.

Sources (actions/actions-runner-controller, tag gha-runner-scale-set-0.14.2):
charts/gha-runner-scale-set/{values.yaml,templates/autoscalingrunnerset.yaml,
templates/_helpers.tpl}. `arc_templates` renders the chart, `runner_set` has the rules of the set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from pulumi_rehearsal.standin.kind import Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes import arc, arc_templates, pods, runner_set
from pulumi_rehearsal.standin.kubernetes.release import (
    RELEASE,
    Chart,
    Release,
    created_by,
    key_set,
    release_of,
    releases,
)
from pulumi_rehearsal.standin.properties import given, items, lookup, mapping, objects, text
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.values import UNKNOWN

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.world import World

SCALE_SET: Final = "gha-runner-scale-set"

CONTAINER_MODES: Final = ("dind", "kubernetes", "kubernetes-novolume")
MAX_LABEL: Final = 255

_CLAIM: Final = "containerMode.kubernetesModeWorkVolumeClaim"


class ScaleSet(Chart):
    """The chart of one scale set."""

    name: ClassVar[str] = SCALE_SET
    keys: ClassVar[Mapping[str, frozenset[str]]] = {
        "": key_set(
            "annotations containerMode controllerServiceAccount fullnameOverride "
            "githubConfigSecret githubConfigUrl githubServerTLS keyVault labels listenerMetrics "
            "listenerTemplate maxRunners minRunners nameOverride namespaceOverride proxy "
            "resourceMeta runnerGroup runnerScaleSetName scaleSetLabels template"
        ),
        "containerMode": key_set(
            "kubernetesModeAdditionalRoleRules kubernetesModeServiceAccount "
            "kubernetesModeWorkVolumeClaim type"
        ),
        "controllerServiceAccount": key_set("name namespace"),
        "template": key_set("metadata spec"),
        "listenerTemplate": key_set("metadata spec"),
    }
    needs_node: ClassVar[bool] = False  # the release holds no pod; the controller starts them

    def value_problems(self, release: Release) -> Iterator[Problem]:
        yield from arc.await_problems(release)
        for field in ("githubConfigUrl", "githubConfigSecret"):
            if not given(release.values, field):
                yield f"values.{field}", "is missing: the chart requires it"
        yield from _count_problems(release)
        yield from _name_and_label_problems(release)
        yield from _mode_problems(release)
        yield from _template_problems(release, "template", "runner")
        if given(release.values, "listenerTemplate"):
            yield from _template_problems(release, "listenerTemplate", "listener")

    def objects(self, release: Release, world: World) -> Iterable[Properties]:
        accounts = _accounts(release, world)
        if len(accounts) != 1:
            wanted = mapping(release.values, "controllerServiceAccount")
            raise Refusal(
                f"chart {self.name}: {len(accounts)} controllers run in this cluster with the "
                f"account {wanted.get('namespace', '*')}/{wanted.get('name', '*')}: name the "
                "account of one in controllerServiceAccount"
            )
        return arc_templates.scale_set_objects(release, accounts[0])

    def relation_problems(
        self, release: Release, before: Release | None, world: World
    ) -> Iterator[str]:
        found, scope = _runner_set(release), release.scope
        accounts = _accounts(release, world)
        if len(accounts) > 1:
            yield "several controllers run in this cluster: name one in controllerServiceAccount"
        keys = _own_secret_keys(release)
        yield from runner_set.start_problems(
            found, scope, world, accounts=accounts, secret_keys=keys
        )
        yield from _owner_problems(release, world)
        own_account = text(found, "spec.template.spec.serviceAccountName") or ""
        yield from runner_set.relation_problems(found, scope, world, own_account)
        if before is not None and _set_id(before) == _set_id(release):
            yield from runner_set.update_problems(_runner_set(before), found)

    def applied(self, release: Release, before: Release | None, world: World) -> None:
        made = created_by(release, arc.RUNNER_SET, _set_id(release), _runner_set(release))
        if before is not None:
            old = world.get(_set_id(before), arc.RUNNER_SET, before.scope)
            if old is None:
                # The controller deleted the set, and Helm does not create it again on an upgrade.
                detail = (
                    f"the AutoscalingRunnerSet of {release.id!r} was deleted before the upgrade"
                )
                world.record("warned", made, detail)
                return
            if old.id != made.id:
                world.jobs.terminate(old)
        world.replace(made)

    def removal_problems(self, release: Release, world: World) -> Iterator[str]:
        if world.get(_set_id(release), arc.RUNNER_SET, release.scope) is not None:
            found, keys = _runner_set(release), _own_secret_keys(release)
            yield from runner_set.removal_problems(found, release.scope, world, keys)

    def removed(self, release: Release, world: World) -> Sequence[Resource]:
        found = world.get(_set_id(release), arc.RUNNER_SET, release.scope)
        if found is None:
            return ()
        world.jobs.terminate(found)
        return (found,)

    def faults(self, release: Release, world: World) -> Iterator[str]:
        if world.get(_set_id(release), arc.RUNNER_SET, release.scope) is None:
            yield (
                f"release {release.id!r} is deployed, but its AutoscalingRunnerSet is gone: no job "
                "gets a runner. A controller deletes sets of another minor version, and a set that "
                "is installed while it is being deleted disappears too"
            )


def _accounts(release: Release, world: World) -> list[runner_set.Account]:
    """Return the accounts of the controllers that the values select.

    Without controllerServiceAccount the chart takes any controller in the cluster, and fails if
    there is more than one. An account that is named in full is not looked up.
    """
    wanted = mapping(release.values, "controllerServiceAccount")
    namespace, name = text(wanted, "namespace"), text(wanted, "name")
    if namespace and name:
        return [(namespace, name)]
    known = [runner_set.account_of(one) for one in releases(world, release.scope, arc.CONTROLLER)]
    return [
        account
        for account in known
        if namespace in (None, account[0]) and name in (None, account[1])
    ]


def _runner_set(release: Release) -> Properties:
    # The account is in the RoleBinding only.
    *_, found = arc_templates.scale_set_objects(release, ("", ""))
    return found


def _set_id(release: Release) -> str:
    return runner_set.set_id(_runner_set(release))


def _own_secret_keys(release: Release) -> frozenset[str] | None:
    """Return the keys of the Secret that the chart creates, `None` if it creates none."""
    credentials = mapping(release.values, "githubConfigSecret")
    return frozenset(credentials) if credentials else None


def _owner_problems(release: Release, world: World) -> Iterator[str]:
    for resource in world.all(RELEASE, release.scope):
        other = release_of(resource.inputs, resource.scope)
        if (
            other.chart == SCALE_SET
            and other.id != release.id
            and _set_id(other) == _set_id(release)
        ):
            yield f"AutoscalingRunnerSet {_set_id(release)!r} belongs to release {other.id!r}"


def _count_problems(release: Release) -> Iterator[Problem]:
    counts: dict[str, int] = {}
    for field in ("minRunners", "maxRunners"):
        count = lookup(release.values, field)
        if count is None or count is UNKNOWN:
            continue
        if isinstance(count, bool) or not isinstance(count, int):
            yield f"values.{field}", "must be a whole number: the chart ignores anything else"
        elif count < 0:
            yield f"values.{field}", "must not be negative"
        else:
            counts[field] = count
    if len(counts) == 2 and counts["maxRunners"] < counts["minRunners"]:
        yield "values.maxRunners", "must be at least minRunners"


def _name_and_label_problems(release: Release) -> Iterator[Problem]:
    name = arc_templates.set_name(release)
    if len(name) > runner_set.MAX_SET_NAME:
        yield (
            "values.runnerScaleSetName",
            f"{name!r} has {len(name)} characters, the limit is {runner_set.MAX_SET_NAME}",
        )
    for index, label in enumerate(items(release.values, "scaleSetLabels")):
        if not isinstance(label, str) or not 0 < len(label) <= MAX_LABEL:
            reason = f"must be a text of 1 to {MAX_LABEL} characters"
            yield f"values.scaleSetLabels[{index}]", reason


def _mode_problems(release: Release) -> Iterator[Problem]:
    mode = text(release.values, "containerMode.type")
    if not mode:
        return
    if mode not in CONTAINER_MODES:
        choices = ", ".join(CONTAINER_MODES)
        yield "values.containerMode.type", f"{mode!r} is none of {choices}"
    volumes = objects(release.values, "template.spec.volumes")
    has_work_volume = any(volume.get("name") == "work" for volume in volumes)
    if mode == "kubernetes" and not has_work_volume and not given(release.values, _CLAIM):
        yield (
            f"values.{_CLAIM}",
            "is required in mode kubernetes: runner and job share that volume",
        )


def _template_problems(release: Release, field: str, container: str) -> Iterator[Problem]:
    spec = lookup(release.values, f"{field}.spec")
    if spec is UNKNOWN or (spec is None and field == "template"):
        return
    here = f"values.{field}.spec"
    for path, reason in pods.spec_problems(spec):
        yield f"{here}.{path}" if path else here, reason
    containers = objects(release.values, f"{field}.spec.containers")
    named = [one for one in containers if one.get("name") == container]
    here = f"{here}.containers"
    if not named:
        yield here, f"must hold a container named {container!r}"
    elif field == "template":
        # A list in values replaces the chart's own, so that its image and command are lost.
        for part in ("image", "command"):
            if not given(named[0], part):
                yield here, f"container {container!r} needs {part!r}: the list replaces the chart's"


CHARTS: Final[tuple[Chart, ...]] = (ScaleSet(),)
