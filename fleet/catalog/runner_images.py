"""Names of public images without a GitHub runner.

No registry is contacted. On any other registry, only a name that ends like a public image counts as
a copy of it.

From memory, not confirmed: none of them contains a runner, and the name of an official image can be
written short, with `library/`, or under public.ecr.aws/docker.
"""

from typing import Final, Literal

from fleet.catalog.image_names import split_reference

_DOCKER_HUB: Final = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io"})

_OFFICIAL: Final = frozenset(
    {
        *("almalinux", "alpine", "amazonlinux", "busybox", "centos", "debian", "docker", "fedora"),
        *("gcc", "golang", "julia", "node", "oraclelinux", "python", "rockylinux", "rust"),
        "ubuntu",
    }
)
"""Official images of Docker Hub."""

_PROJECTS: Final = frozenset(
    {
        *("condaforge/miniforge3", "continuumio/miniconda3", "mambaorg/micromamba"),
        *("nvidia/cuda", "nvidia/cudagl", "nvidia/vulkan", "pytorch/pytorch"),
        *("rapidsai/base", "rockylinux/rockylinux", "tensorflow/tensorflow", "vllm/vllm-openai"),
    }
)
"""Images of projects on Docker Hub."""


def lacks_github_runner(reference: str) -> Literal["certain", "likely"] | None:
    """Return whether an image lacks a GitHub runner; `None` if its name does not show it.

    `likely` is a copy of a known image on another registry, where its owner may have added one.
    """
    repository = split_reference(reference.lower())[0]
    host, slash, path = repository.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost"):
        host, path = "docker.io", repository
    if host == "nvcr.io":
        return "certain" if path.startswith("nvidia/") else None
    if host in _DOCKER_HUB or (host == "public.ecr.aws" and path.startswith("docker/")):
        name = path.removeprefix("docker/") if host == "public.ecr.aws" else path
        return "certain" if _known(name) else None
    return "likely" if any(f"/{path}".endswith(f"/{name}") for name in _COPIED) else None


_COPIED: Final = frozenset({*_PROJECTS, *(f"library/{name}" for name in _OFFICIAL)})


def _known(name: str) -> bool:
    return name in _PROJECTS or name.removeprefix("library/") in _OFFICIAL
