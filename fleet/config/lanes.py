"""A lane: one kind of runner that users can ask for, on GitHub or on GitLab."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from fleet.config.access import KubernetesAccess
from fleet.config.base import Cpu, CudaVersion, Memory, Model, Name, ObjectName, Rule
from fleet.config.hardware import GpuModelName

Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of an environment variable."""


VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"


def visible_indexes(value: str, gpus: int) -> tuple[int, ...] | None:
    """Which of a job's GPUs CUDA shows by that variable; None where it names cards by UUID.

    In its container a job's GPUs are 0, 1 and so on. CUDA ends at the first entry that it does not
    find (CUDA C++ Programming Guide, CUDA environment variables: from memory, not confirmed).
    """
    seen: list[int] = []
    for part in value.split(","):
        entry = part.strip()
        if re.match(r"(GPU|MIG)-", entry):
            return None
        if not entry.isdecimal() or int(entry) >= gpus:
            break
        seen.append(int(entry))
    return tuple(dict.fromkeys(seen))


def _image_reference(value: str) -> str:
    _, at, digest = value.partition("@")
    if at and not re.fullmatch(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}", digest):
        raise ValueError(
            "ends in something that is no digest; write image@sha256: and 64 hexadecimal digits"
        )
    return value


ImageReference = Annotated[str, Field(pattern=r"^[^\s{}]+$"), AfterValidator(_image_reference)]


class Lane(Model):
    """What both systems share. CPU, memory and disk default to the job's fair share of a node."""

    pools: tuple[Name, ...] = Field(
        min_length=1,
        description="pools that may run a job, in order of preference",
        examples=[["t4-spot", "t4"]],
    )
    gpus: int = Field(default=0, ge=0, description="nvidia.com/gpu for each job")
    gpu: GpuModelName | None = Field(
        default=None, description="GPU model that every pool of the lane must have"
    )
    gpu_memory: Memory | None = Field(
        default=None, description="memory of its own that a job needs on each GPU, like 20Gi"
    )
    cpu: Cpu | None = Field(default=None, description="CPU request of a job")
    memory: Memory | None = Field(default=None, description="memory request of a job")
    memory_limit: Memory | None = Field(
        default=None, description="memory limit of a job; default: what it requests"
    )
    disk: Memory | None = Field(default=None, description="ephemeral-storage request of a job")
    shm: Memory | None = Field(
        default=None, description="size of /dev/shm; default: half of memory"
    )
    image: ImageReference | None = Field(
        default=None,
        description="container image, with its registry; on GitHub the runner's, in every mode",
    )
    cuda: CudaVersion | None = Field(
        default=None,
        description='CUDA version of the jobs, quoted: "12.9"; default: what the image\'s tag says',
        examples=["12.9"],
    )
    runtime_class: ObjectName | None = Field(
        default=None, description="RuntimeClass of a job; default: the pool's, where it has one"
    )
    kubernetes_access: KubernetesAccess | None = Field(
        default=None, description="let jobs deploy into namespaces of this cluster"
    )
    env: dict[Variable, str] = Field(default={}, description="environment of a job; never a secret")
    paused: bool = Field(default=False, description="take no new jobs without deleting the lane")

    def rules(self) -> Iterator[Rule]:
        """Size, environment and pools of a job."""
        if self.gpus == 0 and (self.cpu is None or self.memory is None):
            yield Rule(
                "",
                "has no GPUs, so it has no fair share of a node",
                "state cpu and memory, or gpus",
            )
        if self.gpu is not None and self.gpus == 0:
            yield Rule("gpu", "is set, but a job asks for no GPU", "add gpus: 1")
        for field in ("cuda", "gpu_memory"):
            if getattr(self, field) is not None and self.gpus == 0:
                yield Rule(field, "is set, but a job asks for no GPU", "add gpus: 1")
        if (
            self.memory is not None
            and self.memory_limit is not None
            and self.memory_limit < self.memory
        ):
            yield Rule("memory_limit", "is below memory", "raise it or lower memory")
        if "NVIDIA_VISIBLE_DEVICES" in self.env:
            yield Rule(
                "env.NVIDIA_VISIBLE_DEVICES",
                "would show a job every GPU of the node",
                "remove it; the device plugin sets the right value",
            )
        text = self.env.get(VISIBLE_DEVICES)
        if text is not None and self.gpus and visible_indexes(text, self.gpus) == ():
            yield Rule(
                f"env.{VISIBLE_DEVICES}",
                "leaves a job none of its GPUs; in its container they are counted from 0",
                "remove it; a job sees its own GPUs, and no others",
            )
        if len(set(self.pools)) != len(self.pools):
            yield Rule("pools", "names a pool twice", "name each pool once")
