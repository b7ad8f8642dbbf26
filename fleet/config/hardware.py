"""Hardware that a lane can ask for by name: a GPU model, or a device of the host."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Literal

from pydantic import AfterValidator, WithJsonSchema

from fleet.catalog.gpus import GPU_MODELS


def _known_gpu(value: str) -> str:
    if value not in GPU_MODELS:
        # A100 stands for both sizes of it, and is nearer to A10 by its letters.
        near = [name for name in GPU_MODELS if name.lower().startswith(value.lower())]
        near = near or get_close_matches(value, GPU_MODELS, n=1)
        hint = f"did you mean {' or '.join(near)}? " if value and near else ""
        raise ValueError(
            f"is not a GPU model of the catalog; {hint}the models are {', '.join(GPU_MODELS)}"
        )
    return value


GpuModelName = Annotated[
    str,
    AfterValidator(_known_gpu),
    WithJsonSchema({"type": "string", "enum": list(GPU_MODELS)}),
]

Device = Literal["dri", "kvm"]
"""A device of the host that jobs may use: /dev/dri (Vulkan, WebGPU) or /dev/kvm."""
