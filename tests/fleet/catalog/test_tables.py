"""Rules over the small tables: charts, images, DaemonSets, EKS, CUDA, limits."""

import re
import subprocess
import sys

import pytest

from fleet.catalog import charts, cuda, daemonsets, images, limits
from fleet.catalog.daemonsets import DaemonSetRequest
from fleet.catalog.eks import (
    ADDONS_AFTER_NODES,
    ADDONS_BEFORE_NODES,
    AMI_TYPES,
    CAPACITY_TYPES,
    DEAD_AMI_TYPES,
    KUBERNETES_VERSIONS,
    LOG_TYPES,
    TAINT_EFFECTS,
    AmiType,
    KubernetesVersion,
)
from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.limits import NameLimit

EVERY_VERSION = pytest.mark.parametrize(
    "version", KUBERNETES_VERSIONS.values(), ids=lambda version: version.minor
)
DAEMONSETS = [
    request
    for group in (
        daemonsets.EKS_NODE_DAEMONSETS,
        daemonsets.NODE_MONITORING_DAEMONSETS,
        daemonsets.DEVICE_PLUGIN_DAEMONSETS,
        daemonsets.GPU_OPERATOR_DAEMONSETS,
        daemonsets.GPU_OPERATOR_DEVICE_PLUGIN_DAEMONSETS,
        daemonsets.EFA_DAEMONSETS,
    )
    for request in group
]


def test_the_charts_stand_at_the_versions_that_were_agreed() -> None:
    assert {name: pin.version for name, pin in charts.CHARTS.items()} == {
        "gpu-operator": "v26.7.0",
        "nvidia-device-plugin": "0.20.0",
        "gha-runner-scale-set-controller": "0.14.2",
        "gha-runner-scale-set": "0.14.2",
        "gitlab-runner": "0.86.0",
        "cluster-autoscaler": "9.59.0",
        "aws-efa-k8s-device-plugin": "v0.5.30",
    }


@pytest.mark.parametrize("pin", charts.CHARTS.values(), ids=lambda pin: pin.name)
def test_a_chart_has_a_repository_unless_its_reference_is_an_oci_one(
    pin: charts.ChartPin,
) -> None:
    if pin.repository is None:
        assert pin.chart == f"oci://ghcr.io/actions/actions-runner-controller-charts/{pin.name}"
    else:
        assert pin.repository.startswith("https://")
        assert pin.chart == pin.name


def test_the_crds_of_arc_come_from_the_tag_of_the_chart() -> None:
    urls = charts.arc_crd_urls("0.14.2")
    assert len(urls) == 4
    assert urls[1] == (
        "https://raw.githubusercontent.com/actions/actions-runner-controller/"
        "gha-runner-scale-set-0.14.2/charts/gha-runner-scale-set-controller/crds/"
        "actions.github.com_autoscalingrunnersets.yaml"
    )


def test_the_crds_of_arc_come_from_the_folder_of_a_mirror_where_one_is_named() -> None:
    assert charts.arc_crd_urls("0.14.2", "https://mirror.example.com/arc/") == tuple(
        f"https://mirror.example.com/arc/{file}" for file in charts.ARC_CRD_FILES
    )


@pytest.mark.parametrize("image", [images.GITHUB_RUNNER, images.DOCKER_IN_DOCKER, images.CUDA_BASE])
def test_an_image_is_fully_qualified_and_pinned_to_a_patch_release(image: images.Image) -> None:
    registry, _, rest = image.reference.partition("/")
    assert "." in registry, "OKE refuses short names"
    assert re.search(r":\d+\.\d+\.\d+(-|$)", rest), "a tag that moves is no pin"


def test_the_default_cuda_image_runs_on_every_gpu_with_the_driver_of_the_pinned_amis() -> None:
    tag = re.search(r":(\d+)\.(\d+)", images.CUDA_BASE.reference)
    assert tag is not None
    major, minor = int(tag[1]), int(tag[2])
    assert all((major, minor) >= model.first_cuda for model in GPU_MODELS.values())
    assert all(major <= (model.last_cuda_major or 99) for model in GPU_MODELS.values())
    for version in KUBERNETES_VERSIONS.values():
        driver = tuple(map(int, version.nvidia_driver.split(".")))
        assert driver >= cuda.TOOLKIT_DRIVER[major, minor]


@pytest.mark.parametrize("request_", DAEMONSETS, ids=lambda request_: request_.name)
def test_a_daemonset_leaves_most_of_the_smallest_gpu_node_to_jobs(
    request_: DaemonSetRequest,
) -> None:
    assert 0 < request_.cpu_m <= 100
    assert 0 < request_.memory_mib <= 512
    assert request_.owner.startswith(("eks addon ", "chart "))


def test_daemonset_owners_are_addons_and_charts_that_exist() -> None:
    owners = {request.owner for request in DAEMONSETS}
    assert {owner.removeprefix("eks addon ") for owner in owners if "addon" in owner} <= {
        *ADDONS_BEFORE_NODES,
        *ADDONS_AFTER_NODES,
    }
    assert {owner.removeprefix("chart ") for owner in owners if owner.startswith("chart")} <= set(
        charts.CHARTS
    )


def test_the_daemonsets_of_one_node_have_names_of_their_own() -> None:
    names = [request.name for request in DAEMONSETS]
    assert len(names) == len(set(names))


@EVERY_VERSION
def test_the_pins_of_a_kubernetes_version_are_of_that_minor(version: KubernetesVersion) -> None:
    assert version.ami_release.startswith(f"{version.minor}.")
    assert version.autoscaler_image_tag.startswith(f"v{version.minor}.")
    assert re.fullmatch(r"1\.\d\d\.\d+-20\d{6}", version.ami_release)


def test_support_of_a_newer_minor_ends_later() -> None:
    ends = [version.standard_support_end for version in KUBERNETES_VERSIONS.values()]
    assert list(KUBERNETES_VERSIONS) == ["1.33", "1.34", "1.35", "1.36"]
    assert ends == sorted(set(ends))


@pytest.mark.parametrize("ami", AMI_TYPES.values(), ids=lambda ami: ami.name)
def test_the_attributes_of_an_ami_type_agree_with_its_name(ami: AmiType) -> None:
    assert ami.gpu == ("NVIDIA" in ami.name)
    assert (ami.architecture == "arm64") == ("ARM_64" in ami.name)
    assert ami.family == ami.name.partition("_")[0].lower()
    assert (ami.plugin == "ami") == (ami.gpu and ami.family == "bottlerocket")


def test_a_dead_ami_type_names_a_living_one_to_use_instead() -> None:
    assert "AL2_x86_64_GPU" in DEAD_AMI_TYPES
    assert not set(DEAD_AMI_TYPES) & set(AMI_TYPES)
    for reason in DEAD_AMI_TYPES.values():
        assert reason.rpartition("use ")[2] in AMI_TYPES


def test_the_spellings_of_the_eks_api_are_kept() -> None:
    assert CAPACITY_TYPES == ("ON_DEMAND", "SPOT", "CAPACITY_BLOCK")
    assert TAINT_EFFECTS["PreferNoSchedule"] == "PREFER_NO_SCHEDULE"
    assert set(LOG_TYPES) == {"api", "audit", "authenticator", "controllerManager", "scheduler"}


def test_every_addon_of_the_design_stands_on_one_side_of_the_nodes() -> None:
    assert set(ADDONS_BEFORE_NODES) == {
        "vpc-cni", "kube-proxy", "eks-pod-identity-agent", "eks-node-monitoring-agent",
    }  # fmt: skip
    assert set(ADDONS_AFTER_NODES) == {"coredns", "metrics-server", "aws-ebs-csi-driver"}


NAME_LIMITS = [value for value in vars(limits).values() if isinstance(value, NameLimit)]


@pytest.mark.parametrize("limit", NAME_LIMITS, ids=lambda limit: limit.subject)
def test_a_plain_name_keeps_to_the_pattern_of_every_limit(limit: NameLimit) -> None:
    if limit.pattern is not None:
        # OCI's DNS labels take no hyphen.
        plain = "gput4" if limit is limits.OCI_DNS_LABEL else "gpu-t4"
        assert re.fullmatch(limit.pattern, plain)
        assert not re.fullmatch(limit.pattern, "gpu t4")


def test_the_limits_have_the_lengths_that_their_owners_enforce() -> None:
    assert limits.SCALE_SET.max_length == 45
    assert limits.EKS_CLUSTER.max_length == 100
    assert limits.EKS_NODE_GROUP.max_length == 63
    assert limits.KUBERNETES_SUBDOMAIN.max_length == 253
    assert limits.LABEL_VALUE.max_length == 63
    assert limits.IAM_ROLE.max_length == 64
    assert limits.LAUNCH_TEMPLATE.max_length == 128
    assert limits.HELM_RELEASE.max_length == 53
    assert limits.GITLAB_RUNNER_DESCRIPTION.max_length == 1024
    assert limits.GITLAB_TAG.max_length == 255
    assert limits.GITHUB_RUNNER.max_length == 64


def test_the_catalog_is_plain_python() -> None:
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
