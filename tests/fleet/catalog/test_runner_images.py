import pytest

from fleet.catalog.images import GITHUB_RUNNER
from fleet.catalog.runner_images import lacks_github_runner


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
