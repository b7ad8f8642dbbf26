"""The nodes of a node pool: their start-up script, and how Kubernetes sees them.

`user_data` in a pool's metadata is base64 of a script that cloud-init runs. The cluster autoscaler
reads the taints of an empty pool from `kubelet-extra-args`. Sources:
https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengusingcustomcloudinitscripts.htm ,
https://cloudinit.readthedocs.io/en/latest/explanation/format.html (a script begins with `#!`),
kubernetes/autoscaler cluster-autoscaler/cloudprovider/oci/nodepools/registered_taints.go and
oci_manager.go (OKE's own taint of GPU nodes, with an empty value),
https://github.com/oracle/karpenter-provider-oci/issues/79 (nested quotes lose the taints),
https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengusingpreemptiblecapacity.htm ,
oracle-quickstart/oci-hpc-oke and NVIDIA/aicr pull request 2355 (Oracle's device plugin runs on
every node with a GPU unless a label switches it off there).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from pulumi_rehearsal.standin.kind import Properties, Resource
from pulumi_rehearsal.standin.kubernetes_names import LABEL_KEY, LABEL_VALUE
from pulumi_rehearsal.standin.oci import images, tokens
from pulumi_rehearsal.standin.oci.addon_keys import GPU_PLUGIN
from pulumi_rehearsal.standin.oci.base import region_of
from pulumi_rehearsal.standin.oci.shapes import SHAPES, Shape
from pulumi_rehearsal.standin.properties import number, objects, strings, text
from pulumi_rehearsal.standin.rules import Problem
from pulumi_rehearsal.standin.world import World

USER_DATA: Final = "user_data"
KUBELET_ARGUMENTS: Final = "kubelet-extra-args"

MAX_BYTES: Final = 32_000
"""Of all metadata together:
https://docs.oracle.com/en-us/iaas/api/#/en/iaas/latest/datatypes/LaunchInstanceDetails"""

_EFFECTS: Final = ("NoExecute", "NoSchedule", "PreferNoSchedule")
_TAINTS: Final = re.compile(r"-?-register-with-taints[= ](\S*)")
_PASSED: Final = "--kubelet-extra-args"
_START: Final = re.compile(r"oke_init_script|oke-init\.sh|oke bootstrap|oke-install\.sh")
_CLOUD_INIT: Final = ("#!", "#cloud-config", "#include", "## template:", "Content-Type:", "MIME-")

Taint = dict[str, str]
"""`key`, `value` (often empty) and `effect`, spelled as Kubernetes spells them."""


def metadata_problems(inputs: Properties) -> Iterator[Problem]:
    """Check what OCI, cloud-init, the kubelet and the autoscaler read in a pool's metadata."""
    metadata = strings(inputs, "nodeMetadata")
    path = f"nodeMetadata.{USER_DATA}"
    size = sum(len(key) + len(value) for key, value in metadata.items())
    if size > MAX_BYTES:
        yield "nodeMetadata", f"has {size} bytes, the limit is {MAX_BYTES}: shorten the script"
    arguments = metadata.get(KUBELET_ARGUMENTS, "")
    for reason in _argument_problems(arguments):
        yield f"nodeMetadata.{KUBELET_ARGUMENTS}", reason
    encoded = metadata.get(USER_DATA)
    if encoded is None:
        if _TAINTS.search(arguments):
            yield (
                path,
                f"is missing: {KUBELET_ARGUMENTS} only informs the autoscaler of the taints; the "
                "nodes get them from a script that passes the same arguments to OKE's own script",
            )
        return
    script = decoded(encoded)
    if script is None:
        yield path, "is not base64: encode the script"
        return
    yield from ((path, reason) for reason in _script_problems(script, arguments))


def decoded(encoded: str) -> str | None:
    """Decode base64; `None` if the value is not base64."""
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def script_of(inputs: Properties) -> str:
    """Return the pool's start-up script; empty if it has Oracle's default one."""
    return decoded(strings(inputs, "nodeMetadata").get(USER_DATA, "")) or ""


def grows_volume(script: str) -> bool:
    """Whether the script grows the file system to the size of the boot volume."""
    return "oci-growfs" in script or "growpart" in script


def taints_in(arguments: str) -> tuple[Taint, ...]:
    """Parse the taints in kubelet arguments, as the autoscaler does."""
    found = _TAINTS.search(arguments)
    if found is None:
        return ()
    taints: list[Taint] = []
    for one in found.group(1).strip("\"'").split(","):
        named, _, effect = one.rpartition(":")
        key, _, value = named.partition("=")
        taints.append({"key": key, "value": value, "effect": effect})
    return tuple(taints)


def declared_taints(inputs: Properties) -> tuple[Taint, ...]:
    """Return the taints that the autoscaler reads from the metadata."""
    return taints_in(strings(inputs, "nodeMetadata").get(KUBELET_ARGUMENTS, ""))


def _argument_problems(arguments: str) -> Iterator[str]:
    found = _TAINTS.search(arguments)
    if found is None:
        if "taint" in arguments:
            yield "has taints in another form than --register-with-taints=<key>=<value>:<effect>"
        return
    if set(found.group(1)) & set("\"'"):
        yield "has quotes around the taints: the autoscaler would read them as part of the key"
    for taint in taints_in(arguments):
        if not LABEL_KEY.fullmatch(taint["key"]) or not LABEL_VALUE.fullmatch(taint["value"]):
            yield f"{taint['key']}={taint['value']} is not a valid taint"
        if taint["effect"] not in _EFFECTS:
            yield f"{taint['effect']!r} is none of {', '.join(_EFFECTS)}"


def _script_problems(script: str, arguments: str) -> Iterator[str]:
    if not script.startswith(_CLOUD_INIT):
        yield (
            "does not begin with '#!' or another mark that cloud-init knows, so cloud-init does "
            "not run it: put the shebang at the beginning of the first line"
        )
    if not _START.search(script):
        yield (
            "does not run OKE's own start-up script (metadata oke_init_script), which custom user "
            "data replaces: the nodes would never join the cluster"
        )
    in_script = _spelled(taints_in(script) if _PASSED in script else ())
    declared = _spelled(taints_in(arguments))
    if in_script != declared:
        yield (
            f"passes other taints to the kubelet ({in_script or 'none'}) than "
            f"{KUBELET_ARGUMENTS} declares to the autoscaler ({declared or 'none'}): make them "
            "the same"
        )


def _spelled(taints: tuple[Taint, ...]) -> str:
    return ", ".join(sorted(f"{one['key']}={one['value']}:{one['effect']}" for one in taints))


# Nodes as Kubernetes sees them

PLUGIN_OFF: Final = "oci.oraclecloud.com/disable-gpu-device-plugin"
PREEMPTIBLE: Final = "oci.oraclecloud.com/oke-is-preemptible"

DISABLED: Final = "DELETED"
"""The state of a default add-on that was disabled, which stays in the world without a URN."""

_SHORT_NAMES_MINOR: Final = 34


def live_size(pool: Resource) -> int:
    """Return the current number of nodes, which the autoscaler may have changed."""
    return number(pool.outputs, "nodeConfigDetails.size") or 0


def labels_of(pool: Resource) -> dict[str, str]:
    """Return the labels of the pool's nodes."""
    labels = objects(pool.outputs, "initialNodeLabels")
    return {text(one, "key") or "": text(one, "value") or "" for one in labels}


def taints_of(pool: Resource) -> tuple[Taint, ...]:
    """Return the taints of the pool's nodes: declared ones, and those that OKE adds."""
    taints = list(declared_taints(pool.outputs))
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
    """Whether a pod without tolerations cannot run on the pool's nodes."""
    return any(taint["effect"] != "PreferNoSchedule" for taint in taints_of(pool))


def shape_of(pool: Resource) -> Shape | None:
    """Return the pool's shape; `None` if it is not a known one."""
    return SHAPES.get(text(pool.outputs, "nodeShape") or "")


def image_of(pool: Resource) -> images.Image | None:
    """Return the pool's image; `None` if it is not in OKE's list."""
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
    """Whether CRI-O on the pool's nodes accepts only fully qualified image names.

    It does in images of Kubernetes 1.34 and later, unless the start-up script sets short_name_mode:
    https://docs.oracle.com/en-us/iaas/Content/ContEng/Concepts/contengaboutk8sversions.htm
    """
    version = (text(pool.outputs, "kubernetesVersion") or "").split(".")
    minor = int(version[1]) if len(version) > 1 and version[1].isdigit() else 0
    is_off = "short_name_mode" in script_of(pool.outputs)
    return minor >= _SHORT_NAMES_MINOR and not is_off
