"""What a running CI job needs beside the object that it runs on.

A GitLab runner manager drives its jobs with the token of its runner and the rights of its account
until they end: gitlabhq/gitlab-runner docs/executors/kubernetes/_index.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pulumi_rehearsal.standin import gitlab
from pulumi_rehearsal.standin.kubernetes import arc, cluster, pods
from pulumi_rehearsal.standin.kubernetes.core import Role, RoleBinding
from pulumi_rehearsal.standin.kubernetes.gitlab_templates import TOKEN_KEY
from pulumi_rehearsal.standin.properties import mapping, objects, text

if TYPE_CHECKING:
    from pulumi_rehearsal.standin.kind import Resource
    from pulumi_rehearsal.standin.world import World


def watch(resource: Resource, world: World) -> Callable[[], str]:
    """Return a function that says what a job on `resource` has lost since, empty for nothing."""
    needed = [] if resource.type == arc.RUNNER_SET else list(_of_manager(resource, world))

    def interruption() -> str:
        if cluster.deleted_cluster(world, resource.scope) is not None:
            return "its cluster was deleted"
        found = cluster.cloud_cluster(world, resource.scope)
        if found is not None and not cluster.node_groups_of(world, found):
            return "the nodes of its cluster were deleted"
        for one in needed:
            if world.get(one.id, one.type, one.scope) is None:
                noun = one.type.rpartition(":")[2]
                return f"{noun} {one.id!r}, which its manager needs, was deleted"
        return ""

    return interruption


def _of_manager(manager: Resource, world: World) -> Iterator[Resource]:
    spec, scope = mapping(manager.inputs, "spec.template.spec"), manager.scope
    namespace, _, _ = manager.id.partition("/")
    account = text(spec, "serviceAccountName")
    if account:
        named = world.get(f"{namespace}/{account}", pods.SERVICE_ACCOUNT, scope)
        yield from [named] if named is not None else []
        yield from _rights(namespace, account, scope, world)
    for name in pods.secrets_of(spec):
        secret = world.get(f"{namespace}/{name}", cluster.SECRET, scope)
        if secret is not None:
            yield secret
            yield from world.where(gitlab.RUNNER, token=pods.secret_text(secret.inputs, TOKEN_KEY))


def _rights(namespace: str, account: str, scope: str, world: World) -> Iterator[Resource]:
    """Yield the bindings of an account and their roles."""
    for binding in world.all(RoleBinding.token, scope):
        subjects = objects(binding.inputs, "subjects")
        if any((one.get("namespace"), one.get("name")) == (namespace, account) for one in subjects):
            yield binding
            where = binding.id.rpartition("/")[0]
            role = world.get(f"{where}/{text(binding.inputs, 'roleRef.name')}", Role.token, scope)
            yield from [role] if role is not None else []
