import re

import pytest

from fleet.catalog.gpus import GPU_MODELS, GpuModel, usable_gpu_memory_mib
from fleet.catalog.mig import MIG_INSTANCES, mig_usable_mib

# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


def test_every_model_of_the_facts_sheet_is_known() -> None:
    assert set(GPU_MODELS) == {
        "P100", "V100", "V100-32GB", "T4", "A10", "A10G", "A100-40GB", "A100-80GB",
        "L4", "L40S", "H100", "H200", "B200", "RTX PRO 6000",
        "P40", "A2", "A16", "A30", "A40", "RTX A5000", "RTX A6000", "RTX 3090", "L20", "L40",
        "RTX 4000 Ada", "RTX 6000 Ada", "RTX 4090", "H100-NVL", "RTX 5090",
    }  # fmt: skip


@pytest.mark.parametrize("model", GPU_MODELS.values(), ids=lambda model: model.name)
def test_the_labels_of_a_model_are_valid_label_values(model: GpuModel) -> None:
    assert LABEL_VALUE.fullmatch(model.accelerator_label)
    assert model.product is None or LABEL_VALUE.fullmatch(model.product)


def test_no_two_models_share_a_product_label() -> None:
    products = [model.product for model in GPU_MODELS.values() if model.product]
    assert len(products) == len(set(products)), "a node's label must name one model"


def test_a_t4_node_is_found_by_the_labels_that_nvidia_and_the_autoscaler_use() -> None:
    t4 = GPU_MODELS["T4"]
    assert t4.product == "Tesla-T4"
    assert t4.accelerator_label == "nvidia-tesla-t4"


def test_only_pascal_and_volta_end_with_the_580_driver_and_cuda_12() -> None:
    ended = {name for name, model in GPU_MODELS.items() if model.last_driver_branch == 580}
    assert ended == {"P100", "V100", "V100-32GB", "P40"}
    assert ended == {name for name, model in GPU_MODELS.items() if model.last_cuda_major == 12}


def test_blackwell_is_newer_than_ada_by_compute_capability() -> None:
    assert GPU_MODELS["B200"].compute_capability > GPU_MODELS["L40S"].compute_capability


def test_only_some_large_cards_from_ampere_on_can_be_partitioned() -> None:
    partitionable = {name for name, model in GPU_MODELS.items() if model.mig}
    assert partitionable == {
        *("A30", "A100-40GB", "A100-80GB", "H100", "H100-NVL", "H200", "B200", "RTX PRO 6000")
    }
    assert partitionable == set(MIG_INSTANCES), "each has its profiles"


@pytest.mark.parametrize("model", GPU_MODELS.values(), ids=lambda model: model.name)
def test_a_job_has_a_little_less_of_a_card_than_the_vendor_says(model: GpuModel) -> None:
    assert 0.93 < model.usable_mib / (model.memory_gb * 1024) <= 1


def test_a_fraction_of_a_card_has_its_share_of_what_jobs_can_have() -> None:
    assert usable_gpu_memory_mib("L4", 24) == 23034
    assert usable_gpu_memory_mib("L4", 3) == 23034 // 8
    assert usable_gpu_memory_mib(None, 0) == 0


@pytest.mark.parametrize(("profile", "shown"), [("1g.5gb", 4864), ("3g.40gb", 40448)])
def test_an_instance_of_mig_has_about_what_nvidia_smi_shows(profile: str, shown: int) -> None:
    assert mig_usable_mib(profile) == pytest.approx(shown, rel=0.03)


def test_the_table_of_models_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        GPU_MODELS["T4"] = GPU_MODELS["L4"]  # type: ignore[index]
