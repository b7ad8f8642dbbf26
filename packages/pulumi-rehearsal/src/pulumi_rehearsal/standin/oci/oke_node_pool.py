"""OKE managed node pools: their life, and the live size that is not the stack's.

Replacement: marks in the SDK, see base.py; on the pods' network also ForceNew in
oracle/terraform-provider-oci
internal/service/containerengine/containerengine_node_pool_resource.go. From the same file
(hasNodeConfigDetailsChange): a change anywhere in `nodeConfigDetails` sends all of it, the size
with it, whatever the autoscaler has made of that since; other changes send none. A change of what a
node is made of reaches new nodes only, unless cycling is on:
https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengupgradingk8sworkernode.htm
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Resource
from pulumi_rehearsal.standin.kubernetes_names import LABEL_KEY, LABEL_VALUE
from pulumi_rehearsal.standin.oci import (
    images,
    node_metadata,
    oke_node_pool_rules,
    oke_nodes,
    tokens,
)
from pulumi_rehearsal.standin.oci.base import OciKind, ocid, region_of
from pulumi_rehearsal.standin.oci.oke_cluster import CNI_TYPES, cluster_of, version_problems
from pulumi_rehearsal.standin.properties import flag, given, lookup, mapping, number, objects, text
from pulumi_rehearsal.standin.rules import Problem, between, choice, conflict, exactly_one
from pulumi_rehearsal.standin.world import Event, World

CYCLE_MODES: Final = ("BOOT_VOLUME_REPLACE", "INSTANCE_REPLACE")
LAUNCH_TYPES: Final = ("HARDWARE_ASSISTED", "PARAVIRTUALIZED")
MIN_BOOT_VOLUME_GB: Final = 50
MAX_BOOT_VOLUME_GB: Final = 32_768
MAX_NODES: Final = 1_000
MAX_PODS: Final = 110
MAX_GRACE_MINUTES: Final = 60

_DETAILS: Final = "nodeConfigDetails"
_PODS: Final = f"{_DETAILS}.nodePoolPodNetworkOptionDetails"
_CYCLING: Final = "nodePoolCyclingDetails"
_GRACE: Final = re.compile(r"PT(?=\d)((?P<hours>\d+)H)?((?P<minutes>\d+)M)?((?P<seconds>\d+)S)?")
_MADE_OF: Final = (
    "initialNodeLabels",
    "kubernetesVersion",
    "nodeMetadata",
    "nodeShape",
    "nodeShapeConfig",
    "nodeSourceDetails",
    "sshPublicKey",
)
"""What a node takes from its pool when it is made."""


class NodePool(OciKind):
    """A node pool with its nodes."""

    token = tokens.NODE_POOL
    id_type = "nodepool"
    autonamed = "name"
    state = "ACTIVE"
    computed: ClassVar[frozenset[str]] = frozenset(
        {"lifecycleDetails", "nodeSources", "nodes", "state"}
    )
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {"clusterId", "compartmentId", f"{_PODS}.cniType", "nodeImageId", "nodeImageName"}
    )
    # computeClusterId carries no mark and is younger than the provider's source that was read.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {
            "definedTags",
            "freeformTags",
            *_MADE_OF,
            "name",
            "networkLaunchType",
            *(
                f"{_DETAILS}.{name}"
                for name in (
                    "definedTags",
                    "freeformTags",
                    "isPvEncryptionInTransitEnabled",
                    "kmsKeyId",
                    "nsgIds",
                    "placementConfigs",
                    "size",
                )
            ),
            *(f"{_PODS}.{name}" for name in ("maxPodsPerNode", "podNsgIds", "podSubnetIds")),
            "nodeEvictionNodePoolSettings",
            _CYCLING,
            "primaryVnic",
            "quantityPerSubnet",
            "secondaryVnics",
            "subnetIds",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        """Enumerations, sizes, strings that hold numbers, labels, metadata."""
        yield from version_problems(inputs)
        yield from exactly_one(inputs, (_DETAILS, "subnetIds"))
        yield from exactly_one(inputs, ("nodeSourceDetails", "nodeImageId", "nodeImageName"))
        yield from choice(inputs, "networkLaunchType", LAUNCH_TYPES)
        yield from choice(inputs, f"{_PODS}.cniType", CNI_TYPES)
        yield from between(inputs, f"{_PODS}.maxPodsPerNode", 1, MAX_PODS)
        yield from between(inputs, f"{_DETAILS}.size", 0, MAX_NODES)
        yield from conflict(inputs, _DETAILS, "quantityPerSubnet")
        yield from _source_problems(inputs)
        yield from _placement_problems(inputs)
        yield from _eviction_problems(inputs)
        yield from _cycling_problems(inputs)
        yield from _label_problems(inputs)
        yield from node_metadata.problems(inputs)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        """Every relation to cluster, shape, image and network."""
        cluster = cluster_of(world, call.scope, text(call.inputs, "clusterId"))
        if cluster is None:
            return
        region = region_of(call.scope)
        oke_node_pool_rules.refuse_version(cluster, call.inputs, old)
        oke_node_pool_rules.refuse_shape(cluster, call.inputs, old)
        oke_node_pool_rules.refuse_image(region, cluster, call.inputs)
        oke_node_pool_rules.refuse_placement(region, call.inputs)
        oke_node_pool_rules.refuse_cycling(cluster, call.inputs)
        subnets = oke_node_pool_rules.refuse_network(world, cluster, call.inputs)
        size = number(call.inputs, f"{_DETAILS}.size") or 0
        if old is None and size > 0:
            oke_node_pool_rules.refuse_never_joining(world, cluster, call.inputs, subnets)
        _warn_of_volume(world, call)

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        """Makes as many nodes as were asked for."""
        pool_id, outputs = super().create(call, world)
        made = _thing(call, pool_id, outputs)
        return pool_id, {**outputs, "nodes": _nodes(made, oke_nodes.live_size(made))}

    def compute(self, call: Call, id: str, world: World) -> Properties:
        """Version of the cluster where none was given, and the image's name."""
        cluster = cluster_of(world, call.scope, text(call.inputs, "clusterId"))
        inherited = text(cluster.outputs, "kubernetesVersion") if cluster else None
        return {
            "kubernetesVersion": text(call.inputs, "kubernetesVersion") or inherited or "",
            "lifecycleDetails": "",
            "nodeSources": _sources(call),
        }

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        """Changes what new nodes are made of, then sends the size if anything beside it changed."""
        outputs = {**super().update(call, old, world), "nodeSources": _sources(call)}
        live = oke_nodes.live_size(old)
        _warn_of_nodes(world, call, old, live)
        size = live
        if lookup(call.inputs, _DETAILS) != lookup(old.inputs, _DETAILS):
            size = number(call.inputs, f"{_DETAILS}.size") or 0
            if size < live:
                world.record(
                    "warned",
                    old,
                    f"scaled in {live - size} nodes under running jobs: a change in {_DETAILS} "
                    f"sends its size {size} with it, the autoscaler had {live}",
                )
        return sized(_thing(call, old.id, outputs), size).outputs

    def delete(self, old: Resource, world: World) -> None:
        """Its nodes go with it; an autoscaler that still names it complains for ever."""
        for addon in world.where(tokens.ADDON, old.scope, clusterId=text(old.outputs, "clusterId")):
            if any(old.id in (text(one, "value") or "") for one in _configurations(addon)):
                world.record(
                    "warned",
                    old,
                    f"deleted while add-on {text(addon.outputs, 'addonName')} still manages it: "
                    "let the add-on refer to the pool's id, so that it is changed first",
                )


def sized(pool: Resource, size: int) -> Resource:
    """The pool with that many nodes."""
    details = {**mapping(pool.outputs, _DETAILS), "size": size}
    outputs = {**pool.outputs, _DETAILS: details}
    return replace(pool, outputs={**outputs, "nodes": _nodes(pool, size)})


def _thing(call: Call, id: str, outputs: Properties) -> Resource:
    return Resource(
        urn=call.urn,
        type=call.type,
        name=call.name,
        id=id,
        scope=call.scope,
        inputs=call.inputs,
        outputs=outputs,
    )


def _sources(call: Call) -> list[Properties]:
    image_id = text(call.inputs, "nodeSourceDetails.imageId")
    image = images.find(region_of(call.scope), image_id)
    name = image.name if image else ""
    return [{"imageId": image_id or "", "sourceName": name, "sourceType": "IMAGE"}]


def _nodes(pool: Resource, size: int) -> list[Properties]:
    """Nodes spread over the placements in turn."""
    placements = objects(pool.inputs, f"{_DETAILS}.placementConfigs")
    short = pool.id[-11:]
    nodes: list[Properties] = []
    for index in range(size if placements else 0):
        placement = placements[index % len(placements)]
        address = ipaddress.IPv4Address("10.0.0.10") + index
        nodes.append(
            {
                "availabilityDomain": text(placement, "availabilityDomain"),
                "faultDomain": f"FAULT-DOMAIN-{1 + index % 3}",
                "id": ocid("instance", region_of(pool.scope), f"{pool.id}/{index}"),
                "kubernetesVersion": text(pool.outputs, "kubernetesVersion"),
                "lifecycleDetails": "",
                "name": f"oke-c{short}-n{short[:5]}-{index}",
                "nodePoolId": pool.id,
                "privateIp": str(address),
                "publicIp": "",
                "state": "ACTIVE",
                "subnetId": text(placement, "subnetId"),
            }
        )
    return nodes


def _configurations(addon: Resource) -> tuple[Properties, ...]:
    return objects(addon.outputs, "configurations")


def _warn_of_nodes(world: World, call: Call, old: Resource, live: int) -> None:
    changed = [path for path in _MADE_OF if lookup(call.inputs, path) != lookup(old.inputs, path)]
    if not changed or not live:
        return
    paths = ", ".join(changed)
    if flag(call.inputs, f"{_CYCLING}.isNodeCyclingEnabled"):
        detail = f"cycles {live} nodes under running jobs: {paths} changed"
    else:
        detail = (
            f"{paths} changed for new nodes only: {live} nodes stay as they are until they are "
            f"replaced (set {_CYCLING}.isNodeCyclingEnabled, or scale the pool in)"
        )
    world.record("warned", old, detail)


def _warn_of_volume(world: World, call: Call) -> None:
    size = _whole(text(call.inputs, "nodeSourceDetails.bootVolumeSizeInGbs")) or 0
    image_id = text(call.inputs, "nodeSourceDetails.imageId")
    is_oracle_linux = images.find(region_of(call.scope), image_id) is not None
    script = node_metadata.script_of(call.inputs)
    if size <= MIN_BOOT_VOLUME_GB or not is_oracle_linux or node_metadata.grows_volume(script):
        return
    detail = (
        f"boot volume of {size} GB, but the root file system stays at {images.SIZE_GB} GB: Oracle "
        "Linux does not grow it by itself; run /usr/libexec/oci-growfs -y in user_data"
    )
    event = Event(action="warned", urn=call.urn, type=call.type, name=call.name, detail=detail)
    world.note(event)


def _whole(value: str | None) -> int | None:
    return int(value) if value is not None and value.isdigit() else None


def _source_problems(inputs: Properties) -> Iterator[Problem]:
    yield from choice(inputs, "nodeSourceDetails.sourceType", ("IMAGE",))
    path = "nodeSourceDetails.bootVolumeSizeInGbs"
    value = text(inputs, path)
    if value is None:
        return
    size = _whole(value)
    if size is None:
        yield path, f"{value!r} is no whole number of GB in a string"
    elif not MIN_BOOT_VOLUME_GB <= size <= MAX_BOOT_VOLUME_GB:
        yield path, f"{size} is not between {MIN_BOOT_VOLUME_GB} and {MAX_BOOT_VOLUME_GB}"


def _placement_problems(inputs: Properties) -> Iterator[Problem]:
    placements = objects(inputs, f"{_DETAILS}.placementConfigs")
    if given(inputs, _DETAILS) and not given(inputs, f"{_DETAILS}.placementConfigs"):
        yield f"{_DETAILS}.placementConfigs", "is empty: name at least one availability domain"
    for index, placement in enumerate(placements):
        action = "preemptibleNodeConfig.preemptionAction.type"
        for path, reason in choice(placement, action, ("TERMINATE",)):
            yield f"{_DETAILS}.placementConfigs[{index}].{path}", reason


def _eviction_problems(inputs: Properties) -> Iterator[Problem]:
    path = "nodeEvictionNodePoolSettings.evictionGraceDuration"
    value = text(inputs, path)
    if value is None:
        return
    found = _GRACE.fullmatch(value)
    if found is None:
        yield path, f"{value!r} is no ISO 8601 duration such as PT30M"
        return
    hours, minutes, seconds = (int(found[part] or 0) for part in ("hours", "minutes", "seconds"))
    if hours * 60 + minutes + seconds / 60 > MAX_GRACE_MINUTES:
        yield path, f"{value} is more than PT{MAX_GRACE_MINUTES}M, the longest that OKE takes"


def _cycling_problems(inputs: Properties) -> Iterator[Problem]:
    paths = [f"{_CYCLING}.{name}" for name in ("maximumSurge", "maximumUnavailable")]
    values = [text(inputs, path) for path in paths]
    for path, value in zip(paths, values, strict=True):
        if value is not None and not re.fullmatch(r"\d+|(100|\d{1,2})%", value):
            yield path, f"{value!r} is neither a number nor a percentage in a string"
    if all(value in ("0", "0%") for value in values):
        yield paths[0], "surge and unavailable are both 0, so no node could ever be cycled"
    for index, mode in enumerate(mapping(inputs, _CYCLING).get("cycleModes") or ()):
        if mode not in CYCLE_MODES:
            yield (
                f"{_CYCLING}.cycleModes[{index}]",
                f"{mode!r} is none of {', '.join(CYCLE_MODES)}",
            )


def _label_problems(inputs: Properties) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, label in enumerate(objects(inputs, "initialNodeLabels")):
        key, value = text(label, "key"), text(label, "value")
        path = f"initialNodeLabels[{index}]"
        if key is not None and not LABEL_KEY.fullmatch(key):
            yield f"{path}.key", f"{key!r} is no Kubernetes label key"
        if value is not None and not LABEL_VALUE.fullmatch(value):
            yield f"{path}.value", f"{value!r} is no Kubernetes label value"
        if key in seen:
            yield f"{path}.key", f"{key!r} is given twice"
        seen.add(key or "")


KINDS = (NodePool(),)
