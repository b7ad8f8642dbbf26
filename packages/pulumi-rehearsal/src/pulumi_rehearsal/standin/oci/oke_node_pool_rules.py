"""What OKE asks of a managed node pool beside its own properties: each rule raises `Refusal`.

Sources: https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengrunninggpunodes.htm (GPU
shapes and images), https://docs.oracle.com/en-us/iaas/Content/Compute/Concepts/preemptible.htm
(preemptible capacity), https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengnetworkconfig.htm
(routes and rules that nodes need).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from pulumi_rehearsal.standin.kind import Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import gateways, images, network_rules, regions, tokens
from pulumi_rehearsal.standin.oci.base import is_ocid
from pulumi_rehearsal.standin.oci.oke_cluster import (
    SKEW,
    cni_of,
    is_enhanced,
    minor,
    refuse_unoffered,
)
from pulumi_rehearsal.standin.oci.shapes import MAX_MEMORY_PER_OCPU_GB, SHAPES, Shape
from pulumi_rehearsal.standin.properties import flag, given, lookup, objects, text, texts
from pulumi_rehearsal.standin.world import World

CONTROL_PLANE_PORTS: Final = (6443, 12250)
"""Where a node registers, and the proxymux that it opens towards the control plane."""

_DETAILS: Final = "nodeConfigDetails"
_PODS: Final = f"{_DETAILS}.nodePoolPodNetworkOptionDetails"


def refuse_version(cluster: Resource, inputs: Properties, old: Resource | None) -> None:
    """Node version against what is offered and against the control plane's."""
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


def refuse_shape(cluster: Resource, inputs: Properties, old: Resource | None) -> None:
    """The shape exists, is sized if it is flexible, and has GPUs as before."""
    name = text(inputs, "nodeShape")
    if name is None:
        return
    shape = SHAPES.get(name)
    if shape is None:
        raise Refusal(
            f"400-InvalidParameter: the rehearsal knows no shape {name!r}; correct the name, or "
            "add it to the table in packages/pulumi-rehearsal/src/pulumi_rehearsal/standin/oci/shapes.py"
        )
    _refuse_size(shape, inputs)
    before = SHAPES.get(text(old.outputs, "nodeShape") or "") if old else None
    if before is not None and (before.gpus > 0) != (shape.gpus > 0):
        raise Refusal(
            f"400-InvalidParameter: a node pool cannot change between {before.name} and {name}: "
            "one of them has GPUs; make another pool"
        )
    if shape.gpus and not given(cluster.outputs, "endpointConfig.subnetId"):
        raise Refusal(
            f"400-InvalidParameter: GPU shape {name} needs a cluster whose API endpoint is in the "
            "VCN; give the cluster an endpointConfig"
        )


def refuse_image(region: str, cluster: Resource, inputs: Properties) -> None:
    """The image is of the pool's version, processor and GPUs, and fits on the boot volume."""
    image_id = text(inputs, "nodeSourceDetails.imageId")
    image = images.find(region, image_id)
    if image is None:
        if image_id is not None and not is_ocid(image_id, "image"):
            raise Refusal(
                f"400-InvalidParameter: {image_id!r} is no image's OCID; take imageId of the "
                "lookup containerengine.getNodePoolOption"
            )
        return
    version = text(inputs, "kubernetesVersion") or text(cluster.outputs, "kubernetesVersion")
    if image.version is not None and image.version != version:
        raise Refusal(
            f"400-InvalidParameter: image {image.name} is of Kubernetes {image.version}, the node "
            f"pool of {version}; take an image whose name holds OKE-{(version or '')[1:]}"
        )
    shape = SHAPES.get(text(inputs, "nodeShape") or "")
    if shape is None:
        return
    if image.is_arm != shape.is_arm:
        wanted = "aarch64" if shape.is_arm else "no aarch64"
        raise Refusal(
            f"400-InvalidParameter: shape {shape.name} is not valid for image {image.name}: the "
            f"processors differ; take an image with {wanted} in its name"
        )
    if image.has_gpu_driver and not shape.has_nvidia_gpu:
        raise Refusal(
            f"400-InvalidParameter: shape {shape.name} is not valid for image {image.name}: it has "
            "no NVIDIA GPU; take an image without GPU in its name"
        )
    if shape.has_nvidia_gpu and not image.has_gpu_driver:
        raise Refusal(
            f"image {image.name} has no NVIDIA driver for shape {shape.name}, and there is no "
            "driver container for Oracle Linux: no GPU would ever be seen; take an image with "
            "Gen2-GPU in its name"
        )


def refuse_placement(region: str, inputs: Properties) -> None:
    """Domains of the region; what preemptible capacity cannot be."""
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
                f"400-InvalidParameter: capacityReservationId {reservation!r} is no OCID of a "
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


def refuse_cycling(cluster: Resource, inputs: Properties) -> None:
    """Cycling is a feature of enhanced clusters."""
    if flag(inputs, "nodePoolCyclingDetails.isNodeCyclingEnabled") and not is_enhanced(cluster):
        raise Refusal(
            f"400-InvalidParameter: node cycling needs an enhanced cluster, {cluster.name} is a "
            "basic one; set its type to ENHANCED_CLUSTER"
        )


def refuse_network(world: World, cluster: Resource, inputs: Properties) -> tuple[Resource, ...]:
    """Subnets and groups of the cluster's VCN; the pods' network as the cluster's."""
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
                f"400-InvalidParameter: subnet {subnet.name} is of {domain}, its placement of "
                f"{named}; take a subnet of that domain, or a regional one"
            )
    wanted, asked = cni_of(cluster), text(inputs, f"{_PODS}.cniType")
    if asked is not None and asked != wanted:
        raise Refusal(
            f"400-InvalidParameter: the pool's cniType {asked} is not the cluster's {wanted}; make "
            "them the same"
        )
    if wanted == "OCI_VCN_IP_NATIVE" and lookup(inputs, f"{_PODS}.podSubnetIds") in (None, []):
        raise Refusal(
            f"400-InvalidParameter: in a cluster of cniType {wanted} a node pool needs {_PODS} "
            "with podSubnetIds"
        )
    return subnets


def refuse_never_joining(
    world: World, cluster: Resource, inputs: Properties, subnets: tuple[Resource, ...]
) -> None:
    """What keeps nodes from registering, so that OKE gives up after 20 minutes."""
    for reason in joining_problems(world, cluster, inputs, subnets):
        raise Refusal(f"node(s) register timeout: {reason}")


def faults(world: World, pool: Resource) -> Iterator[str]:
    """What will keep the pool's nodes from registering, now that everything is made."""
    cluster = world.get(text(pool.outputs, "clusterId") or "", tokens.CLUSTER, pool.scope)
    if cluster is None:
        return
    placed = objects(pool.outputs, f"{_DETAILS}.placementConfigs")
    subnets = tuple(_subnets(world, pool.scope, [text(one, "subnetId") for one in placed]))
    for reason in joining_problems(world, cluster, pool.outputs, subnets):
        yield f"node pool {pool.name!r}: {reason}"


def joining_problems(
    world: World, cluster: Resource, inputs: Properties, subnets: tuple[Resource, ...]
) -> Iterator[str]:
    """The same as sentences: routes of the subnets, then rules towards the control plane."""
    for subnet in subnets:
        if not gateways.reaches_out(world, subnet):
            yield (
                f"nodes in subnet {subnet.name} reach neither the API server nor a registry: its "
                "route table leads to no NAT or service gateway; give it one that does"
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
    worker_subnet = workers[0]
    for port in CONTROL_PLANE_PORTS:
        if not network_rules.allows(world, "EGRESS", here=workers, there=endpoint, port=port):
            yield (
                f"no rule lets the workers in subnet {worker_subnet.name} out to the API endpoint "
                f"by TCP {port} (yet); add an EGRESS rule to their security group, and make the "
                "node pool depend on it"
            )
        if not network_rules.allows(world, "INGRESS", here=endpoint, there=workers, port=port):
            yield (
                f"no rule lets the workers of subnet {worker_subnet.name} in to the API endpoint "
                f"by TCP {port} (yet); add an INGRESS rule to its security group, and make the "
                "node pool depend on it"
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
                f"400-InvalidParameter: shape {shape.name} is fixed and takes no {config}: leave "
                "it out"
            )
        return
    if lookup(inputs, config) is None:
        raise Refusal(
            f"400-InvalidParameter: flexible shape {shape.name} needs {config} with ocpus and "
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
    most = min(shape.memory_gb, ocpus * MAX_MEMORY_PER_OCPU_GB)
    if not ocpus <= memory <= most:
        raise Refusal(
            f"400-InvalidParameter: shape {shape.name} with {ocpus:g} OCPUs takes {ocpus:g} to "
            f"{most:g} GB of memory, not {memory:g}"
        )


def _amount(inputs: Properties, path: str) -> float | None:
    value = lookup(inputs, path)
    return float(value) if isinstance(value, int | float) else None
