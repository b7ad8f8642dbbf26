import re

import pytest

from fleet.catalog import cuda, images, oke
from fleet.catalog.oke import (
    OKE_VERSIONS,
    NodeImage,
    NoNodeImageError,
    is_fully_qualified,
    newest_gpu_image,
    newest_image,
)

NAMES = (
    "Oracle-Linux-8.10-2026.07.20-0-OKE-1.36.1-1578",
    "Oracle-Linux-8.10-2026.08.14-0-OKE-1.36.1-1699",
    "Oracle-Linux-9.8-2026.08.14-0-OKE-1.36.1-1699",
    "Oracle-Linux-9.8-aarch64-2026.09.30-0-OKE-1.36.1-1800",
    "Oracle-Linux-8.10-Gen2-GPU-2026.08.14-0-OKE-1.36.1-1699",
    "Oracle-Linux-9.8-Gen2-GPU-2026.08.14-0-OKE-1.36.1-1699",
    "Oracle-Linux-9.7-Gen2-GPU-2026.06.15-0-OKE-1.36.1-1505",
    "Oracle-Linux-9.8-Gen2-GPU-2026.10.01-0-OKE-1.34.10-1900",
    "Oracle-Linux-9.7-Gen2-GPU-2026.06.15-0-OKE-1.34.2-1505",
    "Oracle-Linux-9.8-Gen2-GPU-2026.11.01-0",
    "Canonical-Ubuntu-24.04-2026.11.01-0-OKE-1.36.1",
)
IMAGES = tuple(NodeImage(name, f"ocid1.image.oc1..{index}") for index, name in enumerate(NAMES))


def test_the_newest_gpu_image_has_the_latest_day_and_then_the_latest_linux() -> None:
    newest = newest_gpu_image(IMAGES, "v1.36.1")
    assert newest.name == "Oracle-Linux-9.8-Gen2-GPU-2026.08.14-0-OKE-1.36.1-1699"
    assert newest.ocid == "ocid1.image.oc1..5"


def test_the_newest_image_without_gpu_is_for_x86() -> None:
    newest = newest_image(IMAGES, "1.36.1")
    assert newest.name == "Oracle-Linux-9.8-2026.08.14-0-OKE-1.36.1-1699"


def test_the_order_of_the_list_does_not_matter() -> None:
    backwards = newest_gpu_image(IMAGES[::-1], "v1.36.1")
    assert backwards == newest_gpu_image(IMAGES, "v1.36.1")


def test_a_version_does_not_match_a_longer_one() -> None:
    longer = [NodeImage("Oracle-Linux-9.8-Gen2-GPU-2026.10.01-0-OKE-1.34.10-1900", "a")]
    with pytest.raises(NoNodeImageError):
        newest_gpu_image(longer, "v1.34.1")


def test_numbers_in_a_name_are_compared_as_numbers() -> None:
    older, newer = (
        NodeImage(f"Oracle-Linux-{os}-2026.08.14-0-OKE-1.35.2-{build}", os)
        for os, build in (("9.9", 999), ("9.10", 1000))
    )
    assert newest_image([newer, older], "v1.35.2") is newer


def test_a_version_without_image_is_refused_with_the_versions_of_the_list() -> None:
    with pytest.raises(
        NoNodeImageError,
        match=r"no x86 GPU image of OKE for Kubernetes 1\.35\.2: the list has "
        r"1\.34\.2, 1\.34\.10, 1\.36\.1; .* OCID",
    ):
        newest_gpu_image(IMAGES, "v1.35.2")


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(NoNodeImageError, match="the list has none"):
        newest_image((), "v1.35.2")


@pytest.mark.parametrize(
    "image",
    [
        "docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04",
        "nvcr.io/nvidia/cuda",
        "localhost/runner",
        "registry:5000/runner:1",
        "ghcr.io/actions/actions-runner@sha256:00",
        images.GITHUB_RUNNER,
        images.DOCKER_IN_DOCKER,
        images.CUDA_BASE,
    ],
)
def test_an_image_with_its_registry_is_fully_qualified(image: str) -> None:
    assert is_fully_qualified(image)


@pytest.mark.parametrize(
    "image", ["nginx", "nginx:1.27", "nvidia/cuda:12.9.1", "library/nginx", "docker.io", "ghcr.io/"]
)
def test_a_short_name_is_not_fully_qualified(image: str) -> None:
    assert not is_fully_qualified(image)


def test_versions_are_in_order_and_have_a_leading_v() -> None:
    assert all(version.startswith("v1.") for version in OKE_VERSIONS)
    numbers = [tuple(map(int, version[1:].split("."))) for version in OKE_VERSIONS]
    assert numbers == sorted(set(numbers))


def test_the_default_cuda_image_runs_with_the_driver_of_oracles_images() -> None:
    tag = re.search(r":(\d+)\.(\d+)", images.CUDA_BASE)
    assert tag is not None
    driver = tuple(map(int, oke.GPU_IMAGE_DRIVER.split(".")))
    assert driver >= cuda.TOOLKIT_DRIVER[int(tag[1]), int(tag[2])]
