import pytest

from fleet.catalog.cuda import TOOLKIT_DRIVER
from fleet.catalog.image_names import (
    NGC_CUDA,
    cuda_of_image,
    cuda_tag_without_patch,
    moving_tag,
    split_reference,
)
from fleet.catalog.images import CUDA_BASE, DOCKER_IN_DOCKER, GITHUB_RUNNER
from fleet.catalog.runner_images import lacks_github_runner
from tests.cases import for_each

DIGEST = "sha256:" + "0f" * 32


@for_each(
    ("reference", "version"),
    [
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", (12, 4)),
        ("docker.io/nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04", (11, 8)),
        ("nvcr.io/nvidia/cuda:13.0.1-base-ubuntu24.04", (13, 0)),
        (f"nvidia/cuda:12.4.1-devel-ubuntu22.04@{DIGEST}", (12, 4)),
        ("registry.example.com:5000/mirror/nvidia/cuda:12.8.1-base-ubuntu24.04", (12, 8)),
        ("nvidia/cuda:12.4-devel-ubuntu22.04", (12, 4)),
        ("nvidia/cudagl:11.4.2-devel-ubuntu20.04", (11, 4)),
        ("pytorch/pytorch:2.4.0-cuda12.1-cudnn9-devel", (12, 1)),
        ("pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime", (11, 6)),
        ("rapidsai/base:24.04-cuda12.2-py3.11", (12, 2)),
        ("ghcr.io/example/trainer:v3-cu118", (11, 8)),
        ("ghcr.io/example/trainer:torch2.9-cu130", (13, 0)),
        ("runpod/pytorch:0.7.0-dev-cu1241-torch240-ubuntu2204", (12, 4)),
        ("example/tool:tf2.14.0-cuda11.8", (11, 8)),
        ("example/tool:python3.10_cuda11.8_pytorch2", (11, 8)),
        ("example/tool:ubuntu22.04-cuda-12.4", (12, 4)),
        ("example/tool:cuda121", (12, 1)),
        ("nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0", (12, 5)),
        ("ghcr.io/example/builder-cuda12.4:main", (12, 4)),
        (
            "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.3.0-gpu-py311-cu121-ubuntu20.04-ec2",
            (12, 1),
        ),
        # "Release 24.05 is based on NVIDIA CUDA 12.4", "Release 26.04 is based on CUDA 13.2.1" ...
        ("nvcr.io/nvidia/pytorch:24.05-py3", (12, 4)),
        ("nvcr.io/nvidia/tritonserver:25.08-py3", (13, 0)),
        ("nvcr.io/nvidia/tensorflow:23.07-tf2-py3", (12, 1)),
        ("nvcr.io/nvidia/tritonserver:26.04-py3-sdk", (13, 2)),
        ("mirror.example.com:443/nvcr.io/nvidia/pytorch:26.10-py3", (13, 4)),
    ],
)
def test_the_cuda_version_in_a_name(reference: str, version: tuple[int, int]) -> None:
    assert cuda_of_image(reference) == version


@for_each(
    "reference",
    [
        "ubuntu:22.04",
        "python:3.12-slim",
        "docker.io/library/docker:29.8.2-dind",
        "ghcr.io/actions/actions-runner:2.338.0",
        "example/cucumber12.4:1.0",
        "example/barracuda12.4:1.0",
        "example/tool:cucumber12",
        "example/tool:cuda12",
        "example/tool:gpu-cu12",
        "example/tool:cuda12.10",
        "example/cuda:1.2.3",
        "example/cuda:my-build",
        "nvidia/cuda",
        f"nvidia/cuda@{DIGEST}",
        "cuda12.4.example.com:5000/tool:1.0",
        "registry.example.com:1218/tool",
        "nvcr.io/nvidia/pytorch:99.01-py3",
        "nvcr.io/nvidia/pytorch:latest",
        "example/pytorch:24.05-py3",
        "example/tool:cuda12.1-cu118",
        "example/focus118:1",
        "",
    ],
)
def test_a_name_without_a_cuda_version(reference: str) -> None:
    assert cuda_of_image(reference) is None


def test_the_tag_has_priority_over_the_path() -> None:
    assert cuda_of_image("example/cuda11.8-base:2.0-cuda12.4") == (12, 4)


def test_case_does_not_matter() -> None:
    assert cuda_of_image("Example/Tool:2.0-CUDA12.4") == (12, 4)


def test_a_later_month_of_nvidias_frameworks_has_no_older_cuda() -> None:
    versions = [NGC_CUDA[month] for month in sorted(NGC_CUDA)]
    assert versions == sorted(versions)
    assert set(versions) <= set(TOOLKIT_DRIVER), "each has a known driver"


def test_the_months_of_nvidias_frameworks_have_no_gap() -> None:
    first, last = min(NGC_CUDA), max(NGC_CUDA)
    months = [f"{year}.{month:02}" for year in range(23, 27) for month in range(1, 13)]
    assert sorted(NGC_CUDA) == [month for month in months if first <= month <= last]


@for_each(
    ("reference", "parts"),
    [
        ("ubuntu", ("ubuntu", None, None)),
        ("ubuntu:22.04", ("ubuntu", "22.04", None)),
        ("host:5000/a/b", ("host:5000/a/b", None, None)),
        ("host:5000/a/b:1", ("host:5000/a/b", "1", None)),
        (f"a/b:1@{DIGEST}", ("a/b", "1", DIGEST)),
        (f"a/b@{DIGEST}", ("a/b", None, DIGEST)),
    ],
)
def test_a_reference_is_split_at_tag_and_digest_but_not_at_a_port(
    reference: str, parts: tuple[str, str | None, str | None]
) -> None:
    assert split_reference(reference) == parts


@for_each(
    "reference",
    [
        "ubuntu",
        "host:5000/team/tool",
        "ghcr.io/actions/actions-runner:latest",
        "tool:nightly",
        "tool:nightly-devel-cuda12.1",
        "tool:24.04-latest",
        "tool:main",
        "tool:main-ubuntu",
        "tool:MASTER",
        "tool:edge",
        "tool:stable",
        "tool:dev",
        "tool:release",
        "tool:main-cuda12.4",
        "tool:cuda12.4-nightly",
    ],
)
def test_a_tag_with_a_moving_word_moves(reference: str) -> None:
    assert moving_tag(reference)


@for_each(
    "reference",
    [
        "ubuntu:22.04",
        "nvidia/cuda:12.4.1-devel-ubuntu22.04",
        "tool:v2.1-dev",
        "tool:latest@" + DIGEST,
        "tool@" + DIGEST,
        "tool:nightly-20261001",
        "tool:main-1a2b3c4",
        "tool:0.6.0-stable",
        "tool:maintenance-1",
        "tool:release-2.1",
        "tool:stable-2.1",
        "tool:1.2.0-canary.3",
        "host:5000/latest/tool:1.0",
        CUDA_BASE,
        DOCKER_IN_DOCKER,
        GITHUB_RUNNER,
    ],
)
def test_a_digest_version_day_or_commit_does_not_move(reference: str) -> None:
    assert not moving_tag(reference)


@for_each(
    ("reference", "missing"),
    [
        ("nvidia/cuda:12.4-devel-ubuntu22.04", True),
        ("docker.io/nvidia/cuda:13.0-base", True),
        ("nvcr.io/nvidia/cuda:11.8", True),
        ("mirror.example.com:5000/nvidia/cuda:12.4-runtime-ubuntu22.04", True),
        ("nvidia/cuda:12.4.1-devel-ubuntu22.04", False),
        (f"nvidia/cuda:12.4-devel-ubuntu22.04@{DIGEST}", False),
        ("example/cuda:12.4-devel", False),
        ("notnvidia/cuda:12.4-devel", False),
        ("nvidia/cuda:latest", False),
        ("nvidia/cuda", False),
        ("pytorch/pytorch:2.4-cuda12.1", False),
    ],
)
def test_only_a_two_part_tag_of_nvidia_cuda_lacks_its_patch(reference: str, missing: bool) -> None:
    assert cuda_tag_without_patch(reference) is missing


def test_the_default_image_has_a_cuda_version_with_patch() -> None:
    assert cuda_of_image(CUDA_BASE) == (12, 9)
    assert not cuda_tag_without_patch(CUDA_BASE)


@pytest.mark.parametrize(
    "reference",
    [
        "nvidia/cuda:12.9.1-base-ubuntu24.04",
        "docker.io/nvidia/cuda",
        "index.docker.io/pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime",
        "tensorflow/tensorflow:2.20.0-gpu",
        "nvcr.io/nvidia/tritonserver:26.10-py3",
        "nvcr.io/nvidia/cuda@sha256:" + "0f" * 32,
        "ubuntu",
        "docker.io/library/python:3.13",
        "public.ecr.aws/docker/library/debian:13",
        "docker.io/rockylinux/rockylinux:9",
    ],
)
def test_a_public_base_image_has_no_runner(reference: str) -> None:
    assert lacks_github_runner(reference) == "certain"


@pytest.mark.parametrize(
    "reference",
    [
        "registry.example.com:5000/mirror/nvidia/cuda:12.9.1-base-ubuntu24.04",
        "111122223333.dkr.ecr.us-west-2.amazonaws.com/docker-hub/library/ubuntu:24.04",
    ],
)
def test_a_copy_of_a_public_image_likely_has_no_runner(reference: str) -> None:
    assert lacks_github_runner(reference) == "likely"


@pytest.mark.parametrize(
    "reference",
    [
        GITHUB_RUNNER,
        "example/runner:1",
        "docker.io/example/ubuntu:runner",
        "ghcr.io/example/ubuntu:24.04",
        "registry.example.com/pytorch:runner",
        "nvcr.io/example-org/runner:1",
        "public.ecr.aws/example/ubuntu:24.04",
        "localhost/ubuntu",
    ],
)
def test_any_other_image_is_unknown(reference: str) -> None:
    assert lacks_github_runner(reference) is None
