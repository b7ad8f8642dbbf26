import re

import pytest

from fleet.catalog.gpus import GPU_MODELS, GpuModel

# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


def test_every_model_of_the_facts_sheet_is_known() -> None:
    assert set(GPU_MODELS) == {
        "P100", "V100", "V100-32GB", "T4", "A10", "A10G", "A100-40GB", "A100-80GB",
        "L4", "L40S", "H100", "H200", "B200", "RTX PRO 6000",
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
    assert ended == {"P100", "V100", "V100-32GB"}
    assert ended == {name for name, model in GPU_MODELS.items() if model.last_cuda_major == 12}


def test_blackwell_is_newer_than_ada_by_compute_capability() -> None:
    assert GPU_MODELS["B200"].compute_capability > GPU_MODELS["L40S"].compute_capability


def test_only_data_centre_cards_from_ampere_on_can_be_partitioned() -> None:
    partitionable = {name for name, model in GPU_MODELS.items() if model.mig}
    assert partitionable == {"A100-40GB", "A100-80GB", "H100", "H200", "B200", "RTX PRO 6000"}


def test_the_table_of_models_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        GPU_MODELS["T4"] = GPU_MODELS["L4"]  # type: ignore[index]
