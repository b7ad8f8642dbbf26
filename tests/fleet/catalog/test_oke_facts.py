import re

import pytest

from fleet.catalog import cuda, images, oke
from fleet.catalog.daemonsets import (
    OKE_FLANNEL_DAEMONSETS,
    OKE_GPU_PLUGIN_DAEMONSETS,
    OKE_NATIVE_NETWORK_DAEMONSETS,
    OKE_NODE_DAEMONSETS,
    OKE_OBSERVABILITY_DAEMONSETS,
    DaemonSetRequest,
)
from fleet.catalog.oke import (
    OKE_VERSIONS,
    NodeImage,
    NoNodeImage,
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


def test_the_newest_gpu_image_is_of_the_latest_day_and_then_of_the_latest_linux() -> None:
    newest = newest_gpu_image(IMAGES, "v1.36.1")
    assert newest.name == "Oracle-Linux-9.8-Gen2-GPU-2026.08.14-0-OKE-1.36.1-1699"
    assert newest.ocid == "ocid1.image.oc1..5"


def test_the_newest_image_without_gpu_is_neither_a_gpu_nor_an_arm_one() -> None:
    newest = newest_image(IMAGES, "1.36.1")
    assert newest.name == "Oracle-Linux-9.8-2026.08.14-0-OKE-1.36.1-1699"


def test_the_order_of_the_list_does_not_matter() -> None:
    backwards = newest_gpu_image(IMAGES[::-1], "v1.36.1")
    assert backwards == newest_gpu_image(IMAGES, "v1.36.1")


def test_a_version_is_not_taken_for_a_longer_one() -> None:
    longer = [NodeImage("Oracle-Linux-9.8-Gen2-GPU-2026.10.01-0-OKE-1.34.10-1900", "a")]
    with pytest.raises(NoNodeImage):
        newest_gpu_image(longer, "v1.34.1")


def test_numbers_in_a_name_are_compared_as_numbers() -> None:
    older, newer = (
        NodeImage(f"Oracle-Linux-{os}-2026.08.14-0-OKE-1.35.2-{build}", os)
        for os, build in (("9.9", 999), ("9.10", 1000))
    )
    assert newest_image([newer, older], "v1.35.2") is newer


def test_a_list_without_a_fitting_image_is_refused_with_the_versions_that_it_has() -> None:
    with pytest.raises(
        NoNodeImage,
        match=r"no x86 GPU image of OKE for Kubernetes 1\.35\.2: the list has "
        r"1\.34\.2, 1\.34\.10, 1\.36\.1; .* OCID",
    ):
        newest_gpu_image(IMAGES, "v1.35.2")


def test_an_empty_list_says_so() -> None:
    with pytest.raises(NoNodeImage, match="the list has none"):
        newest_image((), "v1.35.2")


@pytest.mark.parametrize(
    "image",
    [
        "docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04",
        "nvcr.io/nvidia/cuda",
        "localhost/runner",
        "registry:5000/runner:1",
        "ghcr.io/actions/actions-runner@sha256:00",
        images.GITHUB_RUNNER.reference,
        images.DOCKER_IN_DOCKER.reference,
        images.CUDA_BASE.reference,
    ],
)
def test_an_image_with_its_registry_is_fully_qualified(image: str) -> None:
    assert is_fully_qualified(image)


@pytest.mark.parametrize(
    "image", ["nginx", "nginx:1.27", "nvidia/cuda:12.9.1", "library/nginx", "docker.io", "ghcr.io/"]
)
def test_a_short_name_is_not_fully_qualified(image: str) -> None:
    assert not is_fully_qualified(image)


def test_the_versions_are_in_order_and_named_as_oke_names_them() -> None:
    assert list(OKE_VERSIONS) == ["v1.34.2", "v1.34.10", "v1.35.2", "v1.36.1"]
    assert [version.minor for version in OKE_VERSIONS.values()] == ["1.34", "1.34", "1.35", "1.36"]
    for version in OKE_VERSIONS.values():
        assert version.oke_release < version.upstream_end
        assert version.support_end is None or version.support_end > version.oke_release


def test_the_default_cuda_image_runs_with_the_driver_of_oracles_images() -> None:
    tag = re.search(r":(\d+)\.(\d+)", images.CUDA_BASE.reference)
    assert tag is not None
    driver = tuple(map(int, oke.GPU_IMAGE_DRIVER.split(".")))
    assert driver >= cuda.TOOLKIT_DRIVER[int(tag[1]), int(tag[2])]


def test_the_taint_of_a_gpu_node_has_an_empty_value() -> None:
    assert (oke.GPU_TAINT_KEY, oke.GPU_TAINT_VALUE) == ("nvidia.com/gpu", "")


def test_no_addon_is_both_a_default_and_optional() -> None:
    assert oke.GPU_PLUGIN_ADDON in oke.DEFAULT_ADDONS
    assert oke.AUTOSCALER_ADDON in oke.OPTIONAL_ADDONS
    assert not set(oke.DEFAULT_ADDONS) & set(oke.OPTIONAL_ADDONS)


def test_the_keys_of_the_autoscaler_stand_once() -> None:
    assert len(oke.AUTOSCALER_KEYS) == len(set(oke.AUTOSCALER_KEYS))
    assert set(oke.COMMON_ADDON_KEYS) < set(oke.AUTOSCALER_KEYS)


OKE_DAEMONSETS = (
    *OKE_NODE_DAEMONSETS,
    *OKE_NATIVE_NETWORK_DAEMONSETS,
    *OKE_FLANNEL_DAEMONSETS,
    *OKE_GPU_PLUGIN_DAEMONSETS,
    *OKE_OBSERVABILITY_DAEMONSETS,
)


@pytest.mark.parametrize("request_", OKE_DAEMONSETS, ids=lambda request_: request_.name)
def test_an_oke_daemonset_takes_something_and_little(request_: DaemonSetRequest) -> None:
    assert 0 < request_.cpu_m <= 100
    assert 0 < request_.memory_mib <= 128
    assert request_.owner.partition(" ")[0] == "oke"
    assert request_.declared or "inferred" in request_.source or "not seen" in request_.source


def test_the_daemonsets_of_an_oke_node_have_names_of_their_own() -> None:
    names = [request.name for request in OKE_DAEMONSETS]
    assert len(names) == len(set(names))


def test_the_declared_requests_are_those_of_a_described_node() -> None:
    declared = [request for request in OKE_DAEMONSETS if request.declared]
    assert sum(request.cpu_m for request in declared) == 80
    assert sum(request.memory_mib for request in declared) == 134
