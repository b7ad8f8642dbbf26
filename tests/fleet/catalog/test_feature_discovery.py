import re

import pytest

from fleet.catalog.feature_discovery import expected_label, owned_label
from fleet.catalog.gpus import GPU_MODELS
from fleet.catalog.mig import MIG_INSTANCES
from tests.cases import for_each

PRODUCT = "nvidia.com/gpu.product"
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


@for_each(
    "key",
    [
        PRODUCT,
        "nvidia.com/gpu.count",
        "nvidia.com/gpu.memory",
        "nvidia.com/gpu.compute.major",
        "nvidia.com/cuda.driver.major",
        "nvidia.com/cuda.runtime-version.full",
        "nvidia.com/gfd.timestamp",
        "nvidia.com/mig-3g.20gb.count",
        "nvidia.com/mig.config.state",
        "feature.node.kubernetes.io/pci-10de.present",
    ],
)
def test_labels_that_discovery_sets_are_owned(key: str) -> None:
    assert owned_label(key)


@for_each(
    "key",
    [
        "nvidia.com/gpu",
        "nvidia.com/mig.config",
        "nvidia.com/device-plugin.config",
        "nvidia.com/gpu.deploy.driver",
        "nvidia.com/gpu.deploy.operands",
        "nvidia.com/gpu.workload.config",
        "k8s.amazonaws.com/accelerator",
        "example.com/gpu.product",
        "gpu.product",
    ],
)
def test_configuration_labels_and_other_labels_are_not_owned(key: str) -> None:
    assert not owned_label(key)


# The examples of NVIDIA's documents, and labels seen on public nodes.
@for_each(
    ("key", "model", "gpus", "slices", "mig", "value"),
    [
        (PRODUCT, "T4", 1, 1, None, "Tesla-T4"),
        (PRODUCT, "T4", 1, 4, None, "Tesla-T4-SHARED"),
        (PRODUCT, "A100-40GB", 8, 1, "1g.5gb", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"),
        (PRODUCT, "A100-40GB", 8, 2, "1g.5gb", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED"),
        ("nvidia.com/gpu.count", "A100-40GB", 8, 1, "1g.5gb", "56"),
        ("nvidia.com/gpu.count", "A100-40GB", 8, 1, None, "8"),
        ("nvidia.com/gpu.count", "T4", 4, 4, None, "4"),
        ("nvidia.com/gpu.replicas", "T4", 4, 4, None, "4"),
        ("nvidia.com/gpu.replicas", "T4", 4, 1, None, "1"),
        ("nvidia.com/gpu.family", "T4", 1, 1, None, "turing"),
        ("nvidia.com/gpu.family", "V100", 1, 1, None, "volta"),
        ("nvidia.com/gpu.compute.minor", "L4", 1, 1, None, "9"),
        ("nvidia.com/mig.strategy", "H100", 8, 1, "3g.40gb", "single"),
        ("nvidia.com/mig.capable", "A10G", 1, 1, None, "false"),
        ("nvidia.com/gpu.present", "A10G", 1, 1, None, "true"),
    ],
)
def test_the_expected_value_of_a_label(
    key: str, model: str, gpus: int, slices: int, mig: str | None, value: str
) -> None:
    assert expected_label(key, model=model, gpus=gpus, slices=slices, mig=mig) == value


@for_each(
    "key",
    [
        "nvidia.com/gpu.memory",
        "nvidia.com/gpu.machine",
        "nvidia.com/cuda.driver.major",
        "nvidia.com/mig.strategy",
        "example.com/gpu.product",
    ],
)
def test_a_value_that_depends_on_the_node_is_unknown(key: str) -> None:
    assert expected_label(key, model="A100-80GB", gpus=8) is None


def test_an_unconfirmed_product_is_unknown() -> None:
    assert expected_label(PRODUCT, model="P100", gpus=1, slices=2) is None


def test_the_family_of_ada_and_blackwell_is_unknown() -> None:
    unknown = {
        name
        for name in GPU_MODELS
        if expected_label("nvidia.com/gpu.family", model=name, gpus=1) is None
    }
    architectures = {GPU_MODELS[name].architecture for name in unknown}
    assert architectures == {"Ada", "Blackwell"}


@for_each("model", MIG_INSTANCES)
def test_every_mig_product_is_a_valid_label_value(model: str) -> None:
    for profile in MIG_INSTANCES[model]:
        value = expected_label(PRODUCT, model=model, gpus=1, slices=2, mig=profile)
        assert value is not None
        assert LABEL_VALUE.fullmatch(value), value


@for_each("key", ["nvidia.com/gpu.present", PRODUCT, "nvidia.com/gpu.replicas"])
def test_expected_labels_are_owned(key: str) -> None:
    assert expected_label(key, model="T4", gpus=1) is not None
    assert owned_label(key)


def test_an_unknown_model_or_profile_raises_key_error() -> None:
    with pytest.raises(KeyError):
        expected_label(PRODUCT, model="K80", gpus=1)
    with pytest.raises(KeyError):
        expected_label(PRODUCT, model="T4", gpus=1, mig="1g.5gb")
