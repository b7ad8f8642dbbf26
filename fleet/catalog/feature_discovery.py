"""Labels that GPU Feature Discovery, the GPU Operator and Node Feature Discovery set on nodes.

Discovery overwrites its labels. If a pool declares another value, no node ever matches, or the
label of a started node changes. Values of the labels that differ between a slice and a card:

- time slicing or MPS without renamed resources: product gets `-SHARED`, replicas the number of
  slices, count stays the number of cards;
- MIG strategy `single`: product gets `-MIG-<profile>`, count is the number of MIG devices;
- MIG strategies `none` and `mixed`: the same as without MIG.

Sources: NVIDIA/k8s-device-plugin internal/lm/resource.go and
docs/gpu-feature-discovery/README.md; the operator's own labels: NVIDIA/gpu-operator
controllers/state_manager.go (from memory, not confirmed); Node Feature Discovery:
https://kubernetes-sigs.github.io/node-feature-discovery/ (prefix of its own labels).
"""

from typing import Final

from fleet.catalog.gpus import GPU_MODELS, PRODUCT_LABEL
from fleet.catalog.mig import MIG_INSTANCES

NODE_FEATURE_DISCOVERY_PREFIX: Final = "feature.node.kubernetes.io/"

_OWNED_PREFIXES: Final = (
    NODE_FEATURE_DISCOVERY_PREFIX,
    "nvidia.com/cuda.",
    "nvidia.com/gfd.",
    "nvidia.com/gpu.compute.",
    "nvidia.com/gpu.engines.",
    "nvidia.com/gpu.slices.",
    "nvidia.com/gpu-driver-upgrade-",
    "nvidia.com/mig-",
)

_OWNED_KEYS: Final = frozenset(
    f"nvidia.com/{name}"
    for name in (
        "gpu.clique",
        "gpu.count",
        "gpu.family",
        "gpu.imex-domain",
        "gpu.machine",
        "gpu.memory",
        "gpu.mode",
        "gpu.multiprocessors",
        "gpu.present",
        "gpu.product",
        "gpu.replicas",
        "gpu.sharing-strategy",
        "mig.capable",
        "mig.config.state",
        "mig.strategy",
        "mps.capable",
        "vgpu.present",
    )
)

# Labels that users set for the operator and the plugin. Discovery does not overwrite them.
_INPUT_PREFIX: Final = "nvidia.com/gpu.deploy."
_INPUT_KEYS: Final = frozenset(
    {
        "nvidia.com/device-plugin.config",
        "nvidia.com/gpu.workload.config",
        "nvidia.com/mig.config",
    }
)

_FAMILIES: Final = {
    (6, 0): "pascal",
    (6, 1): "pascal",
    (7, 0): "volta",
    (7, 5): "turing",
    (8, 0): "ampere",
    (8, 6): "ampere",
    (9, 0): "hopper",
}
"""Compute capability -> `gpu.family`. Ada and Blackwell were renamed between releases: left out."""


def owned_label(key: str) -> bool:
    """Return whether discovery sets that label, so that a pool must not declare another value.

    Labels that configure the operator or the plugin (`nvidia.com/mig.config`,
    `nvidia.com/device-plugin.config`, `nvidia.com/gpu.deploy.*`) belong to the user.
    """
    if key in _INPUT_KEYS or key.startswith(_INPUT_PREFIX):
        return False
    return key in _OWNED_KEYS or key.startswith(_OWNED_PREFIXES)


def expected_label(
    key: str, *, model: str, gpus: int, slices: int = 1, mig: str | None = None
) -> str | None:
    """Return the value that discovery sets for that label, or `None` if it is unknown.

    `model` is a key of `GPU_MODELS`, `gpus` the cards of the node, `slices` the parts of each
    (1: not shared), `mig` the profile of all cards under strategy `single`. Do not call it for the
    product of an EC2 type with a fraction of a card, which reports a vGPU profile instead. Raises
    KeyError for an unknown model or MIG profile.
    """
    gpu = GPU_MODELS[model]
    devices = gpus if mig is None else gpus * MIG_INSTANCES[model][mig]
    if key == PRODUCT_LABEL:
        return None if gpu.product is None else _product(gpu.product, slices, mig)
    known = {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.count": str(devices),
        "nvidia.com/gpu.replicas": str(slices),
        "nvidia.com/gpu.compute.major": str(gpu.compute_capability[0]),
        "nvidia.com/gpu.compute.minor": str(gpu.compute_capability[1]),
        "nvidia.com/mig.capable": "true" if gpu.mig else "false",
        "nvidia.com/gpu.family": _FAMILIES.get(gpu.compute_capability),
        "nvidia.com/mig.strategy": None if mig is None else "single",
    }
    return known.get(key)


def _product(product: str, slices: int, mig: str | None) -> str:
    parts = [product, *(() if mig is None else ("MIG", mig)), *(("SHARED",) if slices > 1 else ())]
    return "-".join(parts)
