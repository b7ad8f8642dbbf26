"""OKE managed node pools, whose live size the autoscaler may change.

Sources: base.py (replacement); oracle/terraform-provider-oci
internal/service/containerengine/containerengine_node_pool_resource.go (ForceNew of the pods'
network; hasNodeConfigDetailsChange: any change in `nodeConfigDetails` sends all of it, with the
size of the program in place of the live one);
https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengupgradingk8sworkernode.htm (changes
of version, image, shape or metadata apply to new nodes only, unless cycling is enabled);
https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengrunninggpunodes.htm (GPU shapes and
images), https://docs.oracle.com/en-us/iaas/Content/Compute/Concepts/preemptible.htm,
https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengnetworkconfig.htm (routes and
rules that nodes need).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.kubernetes_names import LABEL_KEY, LABEL_VALUE
from pulumi_rehearsal.standin.oci import (
    gateways,
    images,
    network_rules,
    oke_nodes,
    regions,
    tokens,
)
from pulumi_rehearsal.standin.oci.base import OciKind, is_ocid, ocid, region_of
from pulumi_rehearsal.standin.oci.oke_cluster import (
    CNI_TYPES,
    SKEW,
    cluster_of,
    cni_of,
    is_enhanced,
    minor,
    refuse_unoffered,
    version_problems,
)
from pulumi_rehearsal.standin.oci.shapes import MAX_MEMORY_PER_OCPU_GB, SHAPES, Shape
from pulumi_rehearsal.standin.properties import (
    flag,
    given,
    lookup,
    mapping,
    number,
    objects,
    text,
    texts,
)
from pulumi_rehearsal.standin.rules import Problem, between, choice, conflict, exactly_one
from pulumi_rehearsal.standin.world import Event, World

CYCLE_MODES: Final = ("BOOT_VOLUME_REPLACE", "INSTANCE_REPLACE")
LAUNCH_TYPES: Final = ("HARDWARE_ASSISTED", "PARAVIRTUALIZED")
MIN_BOOT_VOLUME_GB: Final = 50
MAX_BOOT_VOLUME_GB: Final = 32_768
MAX_NODES: Final = 1_000
MAX_PODS: Final = 110
MAX_GRACE_MINUTES: Final = 60

CONTROL_PLANE_PORTS: Final = (6443, 12250)
"""The API server, and the proxymux to which each node opens a connection."""

_DETAILS: Final = "nodeConfigDetails"
_PODS: Final = f"{_DETAILS}.nodePoolPodNetworkOptionDetails"
_CYCLING: Final = "nodePoolCyclingDetails"
_GRACE: Final = re.compile(r"PT(?=\d)((?P<hours>\d+)H)?((?P<minutes>\d+)M)?((?P<seconds>\d+)S)?")
_FOR_NEW_NODES: Final = (
    "initialNodeLabels",
    "kubernetesVersion",
    "nodeMetadata",
    "nodeShape",
    "nodeShapeConfig",
    "nodeSourceDetails",
    "sshPublicKey",
)
"""Inputs that apply to a node when it is created."""


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
    # computeClusterId has no mark, and the provider's source that was read is older than it.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {
            "definedTags",
            "freeformTags",
            *_FOR_NEW_NODES,
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
        yield from oke_nodes.metadata_problems(inputs)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        cluster = cluster_of(world, call.scope, text(call.inputs, "clusterId"))
        if cluster is None:
            return
        region = region_of(call.scope)
        _refuse_version(cluster, call.inputs, old)
        _refuse_shape(cluster, call.inputs, old)
        _refuse_image(region, cluster, call.inputs)
        _refuse_placement(region, call.inputs)
        _refuse_cycling(cluster, call.inputs)
        subnets = _refuse_network(world, cluster, call.inputs)
        size = number(call.inputs, f"{_DETAILS}.size") or 0
        if old is None and size > 0:
            _refuse_never_joining(world, cluster, call.inputs, subnets)
        _warn_of_volume(world, call)

    def create(self, call: Call, world: World) -> tuple[str, Properties]:
        pool_id, outputs = super().create(call, world)
        made = _thing(call, pool_id, outputs)
        return pool_id, {**outputs, "nodes": _nodes(made, oke_nodes.live_size(made))}

    def compute(self, call: Call, id: str, world: World) -> Properties:
        cluster = cluster_of(world, call.scope, text(call.inputs, "clusterId"))
        inherited = text(cluster.outputs, "kubernetesVersion") if cluster else None
        return {
            "kubernetesVersion": text(call.inputs, "kubernetesVersion") or inherited or "",
            "lifecycleDetails": "",
            "nodeSources": _sources(call),
        }

    def update(self, call: Call, old: Resource, world: World) -> Properties:
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
                    f"scaled in {live - size} nodes under running pods: a change in {_DETAILS} "
                    f"sends its size {size} too, and the autoscaler had scaled the pool to {live}",
                )
        return sized(_thing(call, old.id, outputs), size).outputs

    def delete(self, old: Resource, world: World) -> None:
        for addon in world.where(tokens.ADDON, old.scope, clusterId=text(old.outputs, "clusterId")):
            if any(old.id in (text(one, "value") or "") for one in _configurations(addon)):
                world.record(
                    "warned",
                    old,
                    f"deleted while add-on {text(addon.outputs, 'addonName')} still manages it: "
                    "refer to the pool's id in the add-on, so that the add-on is changed first",
                )


def sized(pool: Resource, size: int) -> Resource:
    """Return the pool with that number of nodes."""
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
    """Return nodes, distributed over the placements in turn."""
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
    changed = [
        path for path in _FOR_NEW_NODES if lookup(call.inputs, path) != lookup(old.inputs, path)
    ]
    if not changed or not live:
        return
    paths = ", ".join(changed)
    if flag(call.inputs, f"{_CYCLING}.isNodeCyclingEnabled"):
        detail = (
            f"replaces {live} nodes under running pods: {paths} changed, and cycling is enabled"
        )
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
    script = oke_nodes.script_of(call.inputs)
    if size <= MIN_BOOT_VOLUME_GB or not is_oracle_linux or oke_nodes.grows_volume(script):
        return
    detail = (
        f"boot volume of {size} GB, but the root file system keeps {images.SIZE_GB} GB: Oracle "
        "Linux does not grow it automatically; run /usr/libexec/oci-growfs -y in user_data"
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
        yield path, f"{value!r} is not a whole number of GB in a string"
    elif not MIN_BOOT_VOLUME_GB <= size <= MAX_BOOT_VOLUME_GB:
        yield path, f"{size} is not between {MIN_BOOT_VOLUME_GB} and {MAX_BOOT_VOLUME_GB}"


def _placement_problems(inputs: Properties) -> Iterator[Problem]:
    placements = objects(inputs, f"{_DETAILS}.placementConfigs")
    if given(inputs, _DETAILS) and not given(inputs, f"{_DETAILS}.placementConfigs"):
        yield f"{_DETAILS}.placementConfigs", "is empty: give at least one availability domain"
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
        yield path, f"{value!r} is not an ISO 8601 duration such as PT30M"
        return
    hours, minutes, seconds = (int(found[part] or 0) for part in ("hours", "minutes", "seconds"))
    if hours * 60 + minutes + seconds / 60 > MAX_GRACE_MINUTES:
        yield path, f"{value} is more than the limit, PT{MAX_GRACE_MINUTES}M"


def _cycling_problems(inputs: Properties) -> Iterator[Problem]:
    paths = [f"{_CYCLING}.{name}" for name in ("maximumSurge", "maximumUnavailable")]
    values = [text(inputs, path) for path in paths]
    for path, value in zip(paths, values, strict=True):
        if value is not None and not re.fullmatch(r"\d+|(100|\d{1,2})%", value):
            yield path, f"{value!r} is neither a number nor a percentage in a string"
    if all(value in ("0", "0%") for value in values):
        yield paths[0], "is 0, and so is maximumUnavailable: no node could be cycled"
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
            yield f"{path}.key", f"{key!r} is not a valid label key"
        if value is not None and not LABEL_VALUE.fullmatch(value):
            yield f"{path}.value", f"{value!r} is not a valid label value"
        if key in seen:
            yield f"{path}.key", f"{key!r} is given twice"
        seen.add(key or "")


# Relations to the cluster, the image and the network


def _refuse_version(cluster: Resource, inputs: Properties, old: Resource | None) -> None:
    version = text(inputs, "kubernetesVersion")
    before = text(old.outputs, "kubernetesVersion") if old else None
    if version is None or version == before:
        return
    refuse_unoffered(version)
    control, nodes = minor(text(cluster.outputs, "kubernetesVersion")), minor(version)
    if control is None or nodes is None:
        return
    if nodes > control:
        raise Refusal(
            f"400-InvalidParameter: nodes of {version} are newer than the control plane of "
            f"1.{control}; upgrade the cluster first"
        )
    if control - nodes > SKEW:
        raise Refusal(
            f"400-InvalidParameter: nodes of {version} are more than {SKEW} minors older than the "
            f"control plane of 1.{control}; take a newer version"
        )


def _refuse_shape(cluster: Resource, inputs: Properties, old: Resource | None) -> None:
    name = text(inputs, "nodeShape")
    if name is None:
        return
    shape = SHAPES.get(name)
    if shape is None:
        raise Refusal(
            f"400-InvalidParameter: shape {name!r} is not one of the known shapes; correct the "
            "name (SHAPES in pulumi_rehearsal.standin.oci.shapes lists them)"
        )
    _refuse_size(shape, inputs)
    before = SHAPES.get(text(old.outputs, "nodeShape") or "") if old else None
    if before is not None and (before.gpus > 0) != (shape.gpus > 0):
        raise Refusal(
            f"400-InvalidParameter: a node pool cannot change from {before.name} to {name}: only "
            "one of them has GPUs; create another pool"
        )
    if shape.gpus and not given(cluster.outputs, "endpointConfig.subnetId"):
        raise Refusal(
            f"400-InvalidParameter: GPU shape {name} requires a cluster whose API endpoint is in "
            "the VCN; give the cluster an endpointConfig"
        )


def _refuse_image(region: str, cluster: Resource, inputs: Properties) -> None:
    image_id = text(inputs, "nodeSourceDetails.imageId")
    image = images.find(region, image_id)
    if image is None:
        if image_id is not None and not is_ocid(image_id, "image"):
            raise Refusal(
                f"400-InvalidParameter: {image_id!r} is not the OCID of an image; take an "
                "imageId from containerengine.getNodePoolOption"
            )
        return
    version = text(inputs, "kubernetesVersion") or text(cluster.outputs, "kubernetesVersion")
    if image.version is not None and image.version != version:
        raise Refusal(
            f"400-InvalidParameter: image {image.name} is of Kubernetes {image.version}, the node "
            f"pool of {version}; take an image with OKE-{(version or '')[1:]} in its name"
        )
    shape = SHAPES.get(text(inputs, "nodeShape") or "")
    if shape is None:
        return
    if image.is_arm != shape.is_arm:
        with_or_without = "with" if shape.is_arm else "without"
        raise Refusal(
            f"400-InvalidParameter: shape {shape.name} is not valid for image {image.name}: the "
            f"processors differ; take an image {with_or_without} aarch64 in its name"
        )
    if image.has_gpu_driver and not shape.has_nvidia_gpu:
        raise Refusal(
            f"400-InvalidParameter: shape {shape.name} is not valid for image {image.name}: it has "
            "no NVIDIA GPU; take an image without GPU in its name"
        )
    if shape.has_nvidia_gpu and not image.has_gpu_driver:
        raise Refusal(
            f"image {image.name} has no NVIDIA driver for shape {shape.name}, and NVIDIA has no "
            "driver container for Oracle Linux: the nodes would have no usable GPU; take an image "
            "with Gen2-GPU in its name"
        )


def _refuse_placement(region: str, inputs: Properties) -> None:
    shape = SHAPES.get(text(inputs, "nodeShape") or "")
    for placement in objects(inputs, f"{_DETAILS}.placementConfigs"):
        domain = text(placement, "availabilityDomain")
        if domain is not None and not regions.has_domain(region, domain):
            raise Refusal(
                f"400-InvalidParameter: {region} has no availability domain {domain!r}; it has "
                f"{', '.join(regions.availability_domains(region))}"
            )
        reservation = text(placement, "capacityReservationId")
        if reservation is not None and not is_ocid(reservation, "capacityreservation"):
            raise Refusal(
                f"400-InvalidParameter: capacityReservationId {reservation!r} is not the OCID of a "
                "capacity reservation"
            )
        if not given(placement, "preemptibleNodeConfig"):
            continue
        if given(placement, "capacityReservationId"):
            raise Refusal(
                "400-InvalidParameter: preemptible nodes cannot come from a capacity reservation; "
                "leave one of preemptibleNodeConfig and capacityReservationId out"
            )
        if shape is not None and shape.is_bare_metal:
            raise Refusal(
                f"400-InvalidParameter: bare metal shape {shape.name} has no preemptible capacity; "
                "leave preemptibleNodeConfig out, or take a VM shape"
            )


def _refuse_cycling(cluster: Resource, inputs: Properties) -> None:
    if flag(inputs, "nodePoolCyclingDetails.isNodeCyclingEnabled") and not is_enhanced(cluster):
        raise Refusal(
            f"400-InvalidParameter: node cycling requires an enhanced cluster, {cluster.name} is a "
            "basic one; set its type to ENHANCED_CLUSTER"
        )


def _refuse_network(world: World, cluster: Resource, inputs: Properties) -> tuple[Resource, ...]:
    """Raise `Refusal` for subnets, groups or a pod network that do not fit the cluster's."""
    scope, vcn_id = cluster.scope, text(cluster.outputs, "vcnId")
    placed = objects(inputs, f"{_DETAILS}.placementConfigs")
    subnets = tuple(_subnets(world, scope, [text(one, "subnetId") for one in placed]))
    pod_subnets = tuple(_subnets(world, scope, texts(inputs, f"{_PODS}.podSubnetIds")))
    group_ids = (*texts(inputs, f"{_DETAILS}.nsgIds"), *texts(inputs, f"{_PODS}.podNsgIds"))
    found = network_rules.groups(world, scope, group_ids)
    network_rules.refuse_foreign((*subnets, *pod_subnets, *found), vcn_id, "the node pool")
    for subnet, placement in ((one, two) for one in subnets for two in placed):
        domain = text(subnet.outputs, "availabilityDomain")
        named = text(placement, "availabilityDomain")
        if text(placement, "subnetId") == subnet.id and domain and named and domain != named:
            raise Refusal(
                f"400-InvalidParameter: subnet {subnet.name} is in {domain}, its placement in "
                f"{named}; take a subnet of that domain, or a regional one"
            )
    cni, pool_cni = cni_of(cluster), text(inputs, f"{_PODS}.cniType")
    if pool_cni not in (None, cni):
        raise Refusal(
            f"400-InvalidParameter: the pool's cniType is {pool_cni}, the cluster's {cni}; make "
            "them the same"
        )
    if cni == "OCI_VCN_IP_NATIVE" and lookup(inputs, f"{_PODS}.podSubnetIds") in (None, []):
        raise Refusal(
            f"400-InvalidParameter: a node pool of a cluster with cniType {cni} requires "
            f"{_PODS}.podSubnetIds"
        )
    return subnets


def _refuse_never_joining(
    world: World, cluster: Resource, inputs: Properties, subnets: tuple[Resource, ...]
) -> None:
    """Raise `Refusal` if nodes cannot register: OKE gives up after 20 minutes."""
    for reason in _joining_problems(world, cluster, inputs, subnets):
        raise Refusal(f"node(s) register timeout: {reason}")


def faults(world: World, pool: Resource) -> Iterator[str]:
    """Describe what keeps the pool's nodes from registering after a successful `up`."""
    cluster = world.get(text(pool.outputs, "clusterId") or "", tokens.CLUSTER, pool.scope)
    if cluster is None:
        return
    placed = objects(pool.outputs, f"{_DETAILS}.placementConfigs")
    subnets = tuple(_subnets(world, pool.scope, [text(one, "subnetId") for one in placed]))
    for reason in _joining_problems(world, cluster, pool.outputs, subnets):
        yield f"node pool {pool.name!r}: {reason}"


def _joining_problems(
    world: World, cluster: Resource, inputs: Properties, subnets: tuple[Resource, ...]
) -> Iterator[str]:
    """Describe missing routes of the subnets and missing rules towards the control plane."""
    for subnet in subnets:
        if not gateways.reaches_out(world, subnet):
            yield (
                f"nodes in subnet {subnet.name} reach neither the API server nor a registry: the "
                "subnet's route table leads to no NAT or service gateway; add such a route"
            )
    endpoint_id = text(cluster.outputs, "endpointConfig.subnetId")
    endpoint = world.get(endpoint_id or "", tokens.SUBNET, cluster.scope)
    if endpoint is None:
        return
    groups_there = texts(cluster.outputs, "endpointConfig.nsgIds")
    groups_here = texts(inputs, f"{_DETAILS}.nsgIds")
    for subnet in subnets:
        yield from _closed_ports(world, (subnet, groups_here), (endpoint, groups_there))


def _closed_ports(
    world: World,
    workers: tuple[Resource, Collection[str]],
    endpoint: tuple[Resource, Collection[str]],
) -> Iterator[str]:
    subnet = workers[0].name
    for port in CONTROL_PLANE_PORTS:
        if not network_rules.allows(world, "EGRESS", here=workers, there=endpoint, port=port):
            yield (
                f"no rule allows the nodes in subnet {subnet} to reach the API endpoint by TCP "
                f"{port} (yet); add an EGRESS rule to their security group, and make the node pool "
                "depend on it"
            )
        if not network_rules.allows(world, "INGRESS", here=endpoint, there=workers, port=port):
            yield (
                f"no rule of the API endpoint allows TCP {port} from the nodes in subnet {subnet} "
                "(yet); add an INGRESS rule to its security group, and make the node pool depend "
                "on it"
            )


def _subnets(world: World, scope: str, ids: Collection[str | None]) -> Iterator[Resource]:
    for subnet_id in dict.fromkeys(ids):
        subnet = network_rules.subnet(world, scope, subnet_id)
        if subnet is not None:
            yield subnet


def _refuse_size(shape: Shape, inputs: Properties) -> None:
    config = "nodeShapeConfig"
    if not shape.is_flexible:
        if given(inputs, config):
            raise Refusal(
                f"400-InvalidParameter: shape {shape.name} has a fixed size: leave {config} out"
            )
        return
    if lookup(inputs, config) is None:
        raise Refusal(
            f"400-InvalidParameter: flexible shape {shape.name} requires {config} with ocpus and "
            "memoryInGbs (one OCPU is two vCPU on x86)"
        )
    ocpus, memory = (_amount(inputs, f"{config}.{name}") for name in ("ocpus", "memoryInGbs"))
    if ocpus is not None and not 1 <= ocpus <= shape.ocpus:
        raise Refusal(
            f"400-InvalidParameter: shape {shape.name} takes 1 to {shape.ocpus:g} OCPUs, not "
            f"{ocpus:g} (one OCPU is two vCPU on x86)"
        )
    if ocpus is None or memory is None:
        return
    max_memory = min(shape.memory_gb, ocpus * MAX_MEMORY_PER_OCPU_GB)
    if not ocpus <= memory <= max_memory:
        raise Refusal(
            f"400-InvalidParameter: shape {shape.name} with {ocpus:g} OCPUs takes {ocpus:g} to "
            f"{max_memory:g} GB of memory, not {memory:g}"
        )


def _amount(inputs: Properties, path: str) -> float | None:
    value = lookup(inputs, path)
    return float(value) if isinstance(value, int | float) else None


KINDS = (NodePool(),)
