"""Relations between and within the small tables: charts, images, DaemonSets, EKS."""

import re
import subprocess
import sys

from fleet.catalog import charts, cuda, daemonsets, images
from fleet.catalog.daemonsets import DaemonSetRequest
from fleet.catalog.eks import AMI_TYPES, DEAD_AMI_TYPES, KUBERNETES_VERSIONS, KubernetesVersion
from fleet.catalog.gpus import GPU_MODELS
from tests.cases import for_each

EVERY_VERSION = for_each("version", KUBERNETES_VERSIONS.values(), ids=lambda version: version.minor)


@for_each("pin", charts.CHARTS.values(), ids=lambda pin: pin.name)
def test_a_chart_has_a_repository_or_an_oci_reference(pin: charts.ChartPin) -> None:
    if pin.repository is None:
        assert pin.chart == f"oci://ghcr.io/actions/actions-runner-controller-charts/{pin.name}"
    else:
        assert pin.repository.startswith("https://")
        assert pin.chart == pin.name


def test_arcs_crds_come_from_the_tag_of_the_chart() -> None:
    urls = charts.arc_crd_urls("0.14.2")
    assert len(urls) == 4
    assert urls[1] == (
        "https://raw.githubusercontent.com/actions/actions-runner-controller/"
        "gha-runner-scale-set-0.14.2/charts/gha-runner-scale-set-controller/crds/"
        "actions.github.com_autoscalingrunnersets.yaml"
    )


def test_arcs_crds_come_from_the_mirror_if_there_is_one() -> None:
    assert charts.arc_crd_urls("0.14.2", "https://mirror.example.com/arc/") == tuple(
        f"https://mirror.example.com/arc/{file}" for file in charts.ARC_CRD_FILES
    )


@for_each("image", [images.GITHUB_RUNNER, images.DOCKER_IN_DOCKER, images.CUDA_BASE])
def test_an_image_has_a_registry_and_a_patch_release(image: str) -> None:
    registry, _, rest = image.partition("/")
    assert "." in registry, "OKE refuses short names"
    assert re.search(r":\d+\.\d+\.\d+(-|$)", rest), "the tag must not move"


def test_the_default_cuda_image_runs_on_every_gpu_with_the_driver_of_the_pinned_amis() -> None:
    tag = re.search(r":(\d+)\.(\d+)", images.CUDA_BASE)
    assert tag is not None
    major, minor = int(tag[1]), int(tag[2])
    assert all((major, minor) >= model.first_cuda for model in GPU_MODELS.values())
    assert all(major <= (model.last_cuda_major or 99) for model in GPU_MODELS.values())
    for version in KUBERNETES_VERSIONS.values():
        driver = tuple(map(int, version.nvidia_driver.split(".")))
        assert driver >= cuda.TOOLKIT_DRIVER[major, minor]


@EVERY_VERSION
def test_the_pinned_versions_have_the_kubernetes_minor(version: KubernetesVersion) -> None:
    assert version.ami_release.startswith(f"{version.minor}.")
    assert version.autoscaler_image_tag.startswith(f"v{version.minor}.")
    assert re.fullmatch(r"1\.\d\d\.\d+-20\d{6}", version.ami_release)


DAEMONSETS = [
    request
    for name, group in vars(daemonsets).items()
    if name.endswith("_DAEMONSETS")
    for request in group
]


@for_each("daemonset", DAEMONSETS, ids=lambda daemonset: daemonset.name)
def test_a_daemonset_leaves_most_of_the_smallest_gpu_node_to_jobs(
    daemonset: DaemonSetRequest,
) -> None:
    assert 0 < daemonset.cpu_m <= 100
    assert 0 < daemonset.memory_mib <= 512


def test_support_of_a_newer_minor_ends_later() -> None:
    ends = [version.standard_support_end for version in KUBERNETES_VERSIONS.values()]
    assert ends == sorted(set(ends))


def test_a_deprecated_ami_type_names_a_supported_one() -> None:
    assert not set(DEAD_AMI_TYPES) & set(AMI_TYPES)
    for reason in DEAD_AMI_TYPES.values():
        assert reason.rpartition("use ")[2] in AMI_TYPES


def test_the_catalog_imports_no_slow_module() -> None:
    program = (
        "import sys, importlib, pkgutil, fleet.catalog as c\n"
        "for module in pkgutil.iter_modules(c.__path__, 'fleet.catalog.'):\n"
        "    importlib.import_module(module.name)\n"
        "print(sorted({'pydantic', 'pulumi', 'yaml', 'difflib'} & set(sys.modules)))"
    )
    result = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
