"""A GitLab runner manager: the Deployment of the chart gitlab-runner, and what its jobs need.

A manager that is deleted takes no more jobs and finishes those that run, for as long as its pod's
`terminationGracePeriodSeconds` (docs.gitlab.com, runner/commands, signals: SIGQUIT).
Until then it reports to GitLab with its runner's token, and reaches its jobs' pods with the rights
of its ServiceAccount.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pulumi_rehearsal.standin import gitlab
from pulumi_rehearsal.standin.kubernetes import cluster, gitlab_config, pods
from pulumi_rehearsal.standin.kubernetes.gitlab_templates import (
    CHART,
    CONFIG_KEY,
    REGISTRATION_KEY,
    TOKEN_KEY,
)
from pulumi_rehearsal.standin.properties import number, objects, strings, text
from pulumi_rehearsal.standin.values import Properties

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource
    from pulumi_rehearsal.standin.world import World

MANAGER: Final = "kubernetes:apps/v1:Deployment"
ROLE: Final = "kubernetes:rbac.authorization.k8s.io/v1:Role"
ROLE_BINDING: Final = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
CLUSTER_ROLE_BINDING: Final = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"

DEFAULT_GRACE_S: Final = 30
"""Kubernetes' default of `terminationGracePeriodSeconds`."""

_POD: Final = "spec.template.spec"


def is_manager(inputs: Properties) -> bool:
    """Whether a Deployment is a runner manager."""
    return strings(inputs, "metadata.labels").get("chart", "").startswith(f"{CHART}-")


def managers(world: World) -> Iterator[Resource]:
    """Yield the runner managers of every cluster."""
    return (one for one in world.all(MANAGER) if is_manager(one.inputs))


def problems(inputs: Properties, scope: str, world: World) -> Iterator[str]:
    """Describe why a manager does not start, or starts no job."""
    namespace = text(inputs, "metadata.namespace") or "default"
    yield from secret_problems(secret_name(inputs), namespace, scope, world)
    config = _config(inputs, scope, world)
    yield from pods.image_problems(gitlab_config.images(config), scope, world)
    jobs = gitlab_config.namespace(config) or namespace
    if not cluster.namespace_exists(world, scope, jobs):
        yield f"config.toml names the namespace {jobs!r}, which does not exist"
    else:
        yield from _right_problems(inputs, jobs, scope, world)


def faults(world: World) -> Iterator[str]:
    """Describe managers that exist, but take no job, after an `up` that succeeded."""
    for one in managers(world):
        what = f"runner manager {one.id!r}"
        if world.jobs.is_terminating(one):
            yield (
                f"{what} is being deleted and takes no new job: wait until it is gone, and create "
                "it again"
            )
            continue
        for reason in problems(one.inputs, one.scope, world):
            yield f"{what} is deployed, but {reason}"
        token, first = _token(one.inputs, one.scope, world), world.remembered(one)
        if token and first and token != first:
            yield (
                f"{what} is deployed, but the token in its Secret changed after the manager "
                "started: the chart restarts the manager only for its own objects, so change a "
                "value together with the token (podAnnotations with the runner's id)"
            )


def terminate(resource: Resource, world: World) -> None:
    """Delete a manager: it is gone when its job ends, which its grace period limits."""
    grace = number(resource.inputs, f"{_POD}.terminationGracePeriodSeconds")
    world.jobs.terminate(resource, DEFAULT_GRACE_S if grace is None else grace)


def started(resource: Resource, world: World) -> None:
    """Remember the token with which a manager's pod starts: it is read only then."""
    world.remember(resource, _token(resource.inputs, resource.scope, world))


def secret_name(inputs: Properties) -> str:
    """Return the Secret from which a manager reads its token."""
    for volume in objects(inputs, f"{_POD}.volumes"):
        for source in objects(volume, "projected.sources"):
            if any(one.get("key") == TOKEN_KEY for one in objects(source, "secret.items")):
                return text(source, "secret.name") or ""
    return ""


def _token(inputs: Properties, scope: str, world: World) -> str:
    """Return the token in a manager's Secret, empty if there is none."""
    namespace = text(inputs, "metadata.namespace") or "default"
    name = secret_name(inputs)
    secret = cluster.find_object(world, scope, cluster.SECRET, namespace, name)
    return ("" if secret is None else pods.secret_text(secret.inputs, TOKEN_KEY)) or ""


def secret_problems(name: str, namespace: str, scope: str, world: World) -> Iterator[str]:
    """Check the Secret with a manager's token."""
    secret = cluster.find_object(world, scope, cluster.SECRET, namespace, name)
    if secret is None:
        yield f"runners.secret {name!r} does not exist in namespace {namespace!r}"
        return
    keys = pods.data_keys(secret.inputs)
    missing = [key for key in (TOKEN_KEY, REGISTRATION_KEY) if key not in keys]
    for key in missing:
        yield (
            f"Secret {name!r} has no key {key!r}, which the chart projects into the pod: the "
            "manager would never start (the registration token may be an empty text)"
        )
    token = pods.secret_text(secret.inputs, TOKEN_KEY)
    if token is not None and gitlab.issued(token) and not gitlab.runner_exists(world, token):
        yield f"the token in Secret {name!r} belongs to a GitLab runner that does not exist"
    elif token == "" and not missing and not pods.secret_text(secret.inputs, REGISTRATION_KEY):
        yield f"Secret {name!r} holds no token at all"


def _config(inputs: Properties, scope: str, world: World) -> str:
    namespace = text(inputs, "metadata.namespace") or "default"
    for volume in objects(inputs, f"{_POD}.volumes"):
        name = text(volume, "configMap.name") or ""
        found = cluster.find_object(world, scope, pods.CONFIG_MAP, namespace, name)
        if found is not None and CONFIG_KEY in strings(found.inputs, "data"):
            return strings(found.inputs, "data")[CONFIG_KEY]
    return ""


def _right_problems(inputs: Properties, namespace: str, scope: str, world: World) -> Iterator[str]:
    """Check that a manager has a role in the namespace of its jobs; its rules are not read."""
    account = text(inputs, f"{_POD}.serviceAccountName") or "default"
    subject = {"namespace": text(inputs, "metadata.namespace") or "default", "name": account}
    for kind in (ROLE_BINDING, CLUSTER_ROLE_BINDING):
        for one in (*world.all(kind, scope), *world.all(kind, cluster.OUTSIDE)):
            subjects = objects(one.inputs, "subjects")
            if (
                text(one.inputs, "metadata.namespace") in (None, namespace)
                and any(subject.items() <= found.items() for found in subjects)
                and _has_role(one, scope, world)
            ):
                return
    yield (
        f"no role gives its ServiceAccount {account!r} rights in namespace {namespace!r}, where "
        "its jobs run"
    )


def _has_role(binding: Resource, scope: str, world: World) -> bool:
    namespace = text(binding.inputs, "metadata.namespace") or ""
    name = text(binding.inputs, "roleRef.name") or ""
    if text(binding.inputs, "roleRef.kind") != "Role":
        return True
    return cluster.find_object(world, scope, ROLE, namespace, name) is not None
