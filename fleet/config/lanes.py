"""A lane: one kind of runner with its job's size, pools and image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from fleet.config.access import KubernetesAccess
from fleet.config.base import (
    Cpu,
    CudaVersion,
    Form,
    GpuModelName,
    Memory,
    Model,
    Name,
    ObjectName,
    Rule,
    refusal,
)

VariableName = Annotated[str, Form(r"^[A-Za-z_][A-Za-z0-9_]*$", "TORCH_HOME")]

VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"


def visible_indexes(value: str, gpus: int) -> tuple[int, ...] | None:
    """Return the indexes of a job's GPUs that `CUDA_VISIBLE_DEVICES` shows; `None` for UUIDs.

    A job's GPUs have the indexes 0, 1 and so on in its container. CUDA stops at the first entry
    that it does not find (CUDA C++ Programming Guide, CUDA environment variables: from memory, not
    confirmed).
    """
    indexes: list[int] = []
    for part in value.split(","):
        entry = part.strip()
        if re.match(r"(GPU|MIG)-", entry):
            return None
        if not entry.isdecimal() or int(entry) >= gpus:
            break
        indexes.append(int(entry))
    return tuple(dict.fromkeys(indexes))


def _image_reference(value: str) -> str:
    _, at, digest = value.partition("@")
    if at and not re.fullmatch(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}", digest):
        raise refusal(
            "has no valid digest after the @",
            "write @sha256: and 64 hexadecimal digits, or remove the @ and what follows it",
        )
    return value


ImageReference = Annotated[
    str, Form(r"^[^\s{}]+$", "ghcr.io/example/runner:1.2"), AfterValidator(_image_reference)
]


class Lane(Model):
    """The fields that lanes of both forges have.

    CPU, memory and disk default to the job's fair share of a node.
    """

    pools: tuple[Name, ...] = Field(
        min_length=1,
        description="pools that may run a job, in order of preference",
        examples=[["t4-spot", "t4"]],
    )
    gpus: int = Field(default=0, ge=0, description="GPUs (nvidia.com/gpu) of a job")
    gpu: GpuModelName | None = Field(
        default=None,
        description="GPU model that every pool of the lane must have",
        examples=["T4"],
    )
    gpu_memory: Memory | None = Field(
        default=None, description="memory that a job needs on each of its GPUs, like 20Gi"
    )
    cpu: Cpu | None = Field(default=None, description="CPU request of a job")
    memory: Memory | None = Field(default=None, description="memory request of a job")
    memory_limit: Memory | None = Field(
        default=None, description="memory limit of a job; default: its request"
    )
    disk: Memory | None = Field(default=None, description="ephemeral-storage request of a job")
    shm: Memory | None = Field(
        default=None, description="size of /dev/shm; default: half of memory"
    )
    image: ImageReference | None = Field(
        default=None,
        description=(
            "container image with its registry; on GitHub that of the runner, in every container "
            "mode"
        ),
    )
    cuda: CudaVersion | None = Field(
        default=None,
        description='CUDA version of the jobs, quoted: "12.9"; default: that of the image\'s tag',
    )
    runtime_class: ObjectName | None = Field(
        default=None,
        description="RuntimeClass of a job; default: that of the pool",
    )
    kubernetes_access: KubernetesAccess | None = Field(
        default=None, description="let jobs deploy into namespaces of this cluster"
    )
    env: dict[VariableName, str] = Field(
        default={}, description="environment variables of a job, without secrets"
    )
    paused: bool = Field(default=False, description="take no new jobs, but keep the lane")
    drain_minutes: int = Field(
        default=60,
        ge=1,
        le=7200,
        description=(
            "longest wait for running jobs when a change replaces or removes the lane; the job may "
            "take longer, then up stops and waits on when it runs again"
        ),
    )

    def rules(self) -> Iterator[Rule]:
        if self.gpus == 0 and (self.cpu is None or self.memory is None):
            yield Rule(
                "",
                "requests no GPU, so cpu and memory have no fair share as their default",
                "add gpus: 1, or both of them, like cpu: 2 and memory: 8Gi",
            )
        for field in ("gpu", "cuda", "gpu_memory"):
            if getattr(self, field) is not None and self.gpus == 0:
                yield Rule(
                    field, "is set, but a job requests no GPU", f"add gpus: 1, or remove {field}"
                )
        if (
            self.memory is not None
            and self.memory_limit is not None
            and self.memory_limit < self.memory
        ):
            yield Rule(
                "memory_limit",
                f"is {self.memory_limit} MiB, below memory ({self.memory} MiB)",
                "raise memory_limit or lower memory",
            )
        if "NVIDIA_VISIBLE_DEVICES" in self.env:
            yield Rule(
                "env.NVIDIA_VISIBLE_DEVICES",
                "would replace the device plugin's value, and could show a job every GPU of a node",
                "remove it: the device plugin sets it to the job's own GPUs",
            )
        text = self.env.get(VISIBLE_DEVICES)
        if text is not None and self.gpus and visible_indexes(text, self.gpus) == ():
            yield Rule(
                f"env.{VISIBLE_DEVICES}",
                f"hides all GPUs of a job: in its container they have the indexes 0 to "
                f"{self.gpus - 1}",
                "remove it: a job sees only its own GPUs",
            )
        if len(set(self.pools)) != len(self.pools):
            yield Rule("pools", "contains a pool twice", "list each pool once")
