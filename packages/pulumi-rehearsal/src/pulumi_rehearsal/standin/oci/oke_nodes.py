"""What the nodes of a node pool look like to Kubernetes: labels, taints, GPUs, Oracle's plugin.

OKE's own taints: kubernetes/autoscaler
cluster-autoscaler/cloudprovider/oci/nodepools/oci_manager.go (GPU, with an empty value) and
Oracle's page ContEng/Tasks/contengusingpreemptiblecapacity.htm.
Oracle's device plugin runs on every node with a GPU unless the label turns it off there:
oracle-quickstart/oci-hpc-oke, NVIDIA/aicr pull request 2355.
"""

from __future__ import annotations

from typing import Final

from pulumi_rehearsal.standin.kind import Resource
from pulumi_rehearsal.standin.oci import images, node_metadata, tokens
from pulumi_rehearsal.standin.oci.addon_keys import GPU_PLUGIN
from pulumi_rehearsal.standin.oci.base import region_of
from pulumi_rehearsal.standin.oci.node_metadata import Taint
from pulumi_rehearsal.standin.oci.shapes import SHAPES, Shape
from pulumi_rehearsal.standin.properties import number, objects, text
from pulumi_rehearsal.standin.world import World

PLUGIN_OFF: Final = "oci.oraclecloud.com/disable-gpu-device-plugin"
PREEMPTIBLE: Final = "oci.oraclecloud.com/oke-is-preemptible"

DISABLED: Final = "DELETED"
"""The state of a default add-on that was disabled; the world keeps it without a URN."""

_SHORT_NAMES_MINOR: Final = 34


def live_size(pool: Resource) -> int:
    """How many nodes the pool has now, whatever the stack last said."""
    return number(pool.outputs, "nodeConfigDetails.size") or 0


def labels_of(pool: Resource) -> dict[str, str]:
    """The labels that the pool gives its nodes."""
    labels = objects(pool.outputs, "initialNodeLabels")
    return {text(one, "key") or "": text(one, "value") or "" for one in labels}


def taints_of(pool: Resource) -> tuple[Taint, ...]:
    """The taints of the pool's nodes: declared ones, and those that OKE puts there itself."""
    taints = list(node_metadata.declared_taints(pool.outputs))
    automatic: list[Taint] = []
    shape = shape_of(pool)
    if shape is not None and shape.gpus:
        key = "nvidia.com/gpu" if shape.has_nvidia_gpu else "amd.com/gpu"
        automatic.append({"key": key, "value": "", "effect": "NoSchedule"})
    placed = objects(pool.outputs, "nodeConfigDetails.placementConfigs")
    if any(one.get("preemptibleNodeConfig") for one in placed):
        automatic.append({"key": PREEMPTIBLE, "value": "present", "effect": "NoSchedule"})
    known = {(taint["key"], taint["effect"]) for taint in taints}
    taints += [one for one in automatic if (one["key"], one["effect"]) not in known]
    return tuple(taints)


def has_taints(pool: Resource) -> bool:
    """Whether an ordinary pod stays off the pool's nodes."""
    return any(taint["effect"] != "PreferNoSchedule" for taint in taints_of(pool))


def shape_of(pool: Resource) -> Shape | None:
    """The pool's shape, where the stand-in knows it."""
    return SHAPES.get(text(pool.outputs, "nodeShape") or "")


def image_of(pool: Resource) -> images.Image | None:
    """The pool's image, None for one that is not in OKE's list."""
    image_id = text(pool.outputs, "nodeSourceDetails.imageId")
    return images.find(region_of(pool.scope), image_id)


def runs_gpu_plugin(world: World, pool: Resource) -> bool:
    """Whether Oracle's own device plugin advertises the pool's GPUs."""
    shape = shape_of(pool)
    if shape is None or not shape.has_nvidia_gpu or labels_of(pool).get(PLUGIN_OFF) == "true":
        return False
    cluster_id = text(pool.outputs, "clusterId")
    addons = world.where(tokens.ADDON, pool.scope, clusterId=cluster_id, addonName=GPU_PLUGIN)
    return all(text(addon.outputs, "state") != DISABLED for addon in addons)


def refuses_short_names(pool: Resource) -> bool:
    """Whether CRI-O on the pool's nodes takes fully qualified image names only.

    From images of Kubernetes 1.34 on, unless the start-up script turns short_name_mode off:
    https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengaboutk8sversions.htm
    """
    version = (text(pool.outputs, "kubernetesVersion") or "").split(".")
    minor = int(version[1]) if len(version) > 1 and version[1].isdigit() else 0
    is_off = "short_name_mode" in node_metadata.script_of(pool.outputs)
    return minor >= _SHORT_NAMES_MINOR and not is_off
