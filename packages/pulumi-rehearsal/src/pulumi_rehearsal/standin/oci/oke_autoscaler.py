"""The add-on ClusterAutoscaler: the node pools that it manages, and the policy that it needs.

Sources: https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengusingclusterautoscaler_topic-Working_with_Cluster_Autoscaler_as_Cluster_Add-on.htm
(form of `nodes`, authType, policy statements, an unmanaged pool) and
kubernetes/autoscaler cluster-autoscaler/cloudprovider/oci/README.md (nodeGroupAutoDiscovery).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulumi_rehearsal.standin.kind import Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import identity, oke_node_pool, oke_nodes, tokens
from pulumi_rehearsal.standin.oci.addon_keys import AUTOSCALER
from pulumi_rehearsal.standin.properties import objects, text
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.world import World

NAMESPACE: Final = "kube-system"
SERVICE_ACCOUNT: Final = "cluster-autoscaler"

RIGHTS: Final = (
    ("manage", "cluster-node-pools"),
    ("manage", "instance-family"),
    ("use", "subnets"),
    ("read", "virtual-network-family"),
    ("use", "vnics"),
    ("inspect", "compartments"),
)

_ENTRY: Final = re.compile(r"(?P<low>\d+):(?P<high>\d+):(?P<pool>\S+)")
_DISCOVERY: Final = re.compile(r"(clusterId|compartmentId|nodepoolTags|min|max):")


def settings_of(addon: Properties) -> dict[str, str]:
    """Return the add-on's configuration without unknown values."""
    return {
        key: value
        for one in objects(addon, "configurations")
        if (key := text(one, "key")) is not None and (value := text(one, "value")) is not None
    }


def bounds_of(settings: dict[str, str]) -> dict[str, tuple[int, int]]:
    """Return the minimum and maximum number of nodes by the OCID of the node pool."""
    return {
        found["pool"]: (int(found["low"]), int(found["high"]))
        for entry in _entries(settings.get("nodes"))
        if (found := _ENTRY.fullmatch(entry))
    }


def problems(inputs: Properties) -> Iterator[Problem]:
    """Check the configuration without the cluster."""
    keys = [text(one, "key") for one in objects(inputs, "configurations")]
    used = [key for key in ("nodes", "nodeGroupAutoDiscovery") if key in keys]
    if len(used) != 1:
        yield (
            "configurations",
            "give exactly one of the keys nodes and nodeGroupAutoDiscovery; given: "
            + (" and ".join(used) or "none"),
        )
    settings = settings_of(inputs)
    for index, one in enumerate(objects(inputs, "configurations")):
        path, key, value = f"configurations[{index}].value", text(one, "key"), text(one, "value")
        if value is None:
            continue
        if key == "nodes":
            yield from ((path, reason) for reason in _node_problems(value))
        elif key == "authType" and value not in ("instance", "workload"):
            yield path, f"authType {value!r} is neither 'instance' nor 'workload'"
        elif key == "nodeGroupAutoDiscovery" and not _DISCOVERY.match(value):
            yield (
                path,
                "must have the form compartmentId:<ocid>,nodepoolTags:<key>=<value>,min:,max:",
            )
    if settings.get("expander") == "price":
        yield "configurations", "the expander 'price' is not supported on OCI"


def refuse(world: World, cluster: Resource, inputs: Properties) -> None:
    """Raise `Refusal` if a pool is not in the cluster, or a workload identity has no policy."""
    settings = settings_of(inputs)
    for pool_id in bounds_of(settings):
        pool = world.get(pool_id, tokens.NODE_POOL, cluster.scope)
        if pool is None:
            raise Refusal(
                f"400-InvalidParameter: nodes contains node pool {pool_id}, which does not exist; "
                "refer to the NodePool's id"
            )
        if text(pool.outputs, "clusterId") != cluster.id:
            raise Refusal(
                f"400-InvalidParameter: nodes contains node pool {pool.name}, which is not in "
                f"cluster {cluster.name}; give pools of that cluster only"
            )
    if settings.get("authType", "instance") == "workload":
        _refuse_without_policy(world, cluster)


def warnings(world: World, cluster: Resource, inputs: Properties) -> Iterator[str]:
    """Describe configurations that OKE accepts but that do not work well."""
    settings = settings_of(inputs)
    bounds = bounds_of(settings)
    pools = world.where(tokens.NODE_POOL, cluster.scope, clusterId=cluster.id)
    if pools and bounds and all(pool.id in bounds for pool in pools):
        yield (
            "the autoscaler manages every node pool of the cluster, including the one that it runs "
            "on: leave one pool out of nodes"
        )
    if not any(oke_nodes.live_size(pool) > 0 and not oke_nodes.has_taints(pool) for pool in pools):
        yield (
            "NEEDS_ATTENTION: no node pool has a node without a taint, so the autoscaler's own pod "
            "stays pending; make the add-on depend on a pool without taints"
        )
    granted = any(identity.grants(one, "dynamic-group", *RIGHTS[0]) for one in _policies(world))
    if settings.get("authType", "instance") == "instance" and not granted:
        yield (
            "authType is instance, but no policy of the program allows a dynamic group to manage "
            "node pools; create one, or use authType workload"
        )


def set_node_pool_size(world: World, cluster: str, name: str, size: int) -> None:
    """Scale a node pool as the autoscaler does: without Pulumi, within the bounds in `nodes`.

    `cluster` and `name` are the name in OKE, the logical name, or its last part after a hyphen.
    Raise `ValueError` if they do not match exactly one pool, or if `size` is outside the bounds.
    """
    clusters = [resource for resource in world.all(tokens.CLUSTER) if _is_called(resource, cluster)]
    found = [
        pool
        for one in clusters
        for pool in world.where(tokens.NODE_POOL, one.scope, clusterId=one.id)
        if _is_called(pool, name)
    ]
    if len(found) != 1:
        names = ", ".join(pool.name for pool in found) or "none"
        raise ValueError(f"{name!r} in cluster {cluster!r} matches {names}, must match one pool")
    pool = found[0]
    cluster_id = text(pool.outputs, "clusterId")
    for addon in world.where(tokens.ADDON, pool.scope, clusterId=cluster_id, addonName=AUTOSCALER):
        low, high = bounds_of(settings_of(addon.outputs)).get(pool.id, (0, 0))
        if not low <= size <= high:
            raise ValueError(f"{size} is outside {low} to {high} of node pool {pool.name}")
    world.replace(oke_node_pool.sized(pool, size))


def _is_called(resource: Resource, name: str) -> bool:
    return name in (text(resource.outputs, "name"), resource.name) or resource.name.endswith(
        f"-{name}"
    )


def _entries(nodes: str | None) -> list[str]:
    return [entry.strip() for entry in (nodes or "").split(",") if entry.strip()]


def _node_problems(nodes: str) -> Iterator[str]:
    seen: set[str] = set()
    for entry in _entries(nodes):
        found = _ENTRY.fullmatch(entry)
        if found is None:
            yield f"nodes contains {entry!r}, which is not <min>:<max>:<node pool's OCID>"
            continue
        if int(found["low"]) > int(found["high"]):
            yield f"nodes contains {entry!r}, whose minimum is above its maximum"
        if found["pool"] in seen:
            yield f"nodes contains node pool {found['pool']} twice"
        seen.add(found["pool"])


def _policies(world: World) -> tuple[Resource, ...]:
    return world.all(tokens.POLICY)


def _refuse_without_policy(world: World, cluster: Resource) -> None:
    conditions = {
        "request.principal.type": "workload",
        "request.principal.namespace": NAMESPACE,
        "request.principal.service_account": SERVICE_ACCOUNT,
        "request.principal.cluster_id": cluster.id,
    }
    missing = [
        f"{verb} {resource}"
        for verb, resource in RIGHTS
        if not any(
            identity.grants(policy, "any-user", verb, resource, conditions)
            for policy in _policies(world)
        )
    ]
    if missing:
        raise Refusal(
            "add-on ClusterAutoscaler with authType workload: no policy of the program allows "
            f"{NAMESPACE}/{SERVICE_ACCOUNT} of cluster {cluster.name} to {', '.join(missing)} "
            "(yet); create a Policy with these statements for any-user where "
            "request.principal.cluster_id is the cluster's, and make the add-on depend on it"
        )
